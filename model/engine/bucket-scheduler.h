/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H
#define DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H

#include "ns3/scheduler.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * An event list for packet networks, where nearly all events lie a few link delays ahead. Time is
 * cut into buckets; an event is appended to its bucket, and a bucket is sorted when its time comes.
 * Events beyond the last bucket wait in a heap. The width of a bucket follows the density of
 * events. While it hands out an event it prefetches a later one, which is what counts
 * when frames of a thousand hosts do not fit into the cache.
 *
 * Events of one time are handed out by node (context), those of no node last. At a node, frames
 * that arrive come first, by the number of the port they come in by and then in the order of
 * insertion; after them all other events in the order of insertion. So a node sees the same
 * sequence of events whatever happens at other nodes, and however these are divided among processes
 * (MPI); with the order of insertion alone, as in ns-3's own schedulers, a tie between two frames
 * would be decided by what their senders did before.
 */
class BucketScheduler : public Scheduler
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    BucketScheduler();
    ~BucketScheduler() override;

    /**
     * Makes this the default of the global value SchedulerType; to be called before anything is
     * scheduled, and before the command line is read, so that a user can still choose another.
     */
    static void UseByDefault();

    // Scheduler
    void Insert(const Event& ev) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& ev) override;

    /** An event, and its place in the order. */
    struct Entry
    {
        EventImpl* impl; ///< its action
        uint64_t time;   ///< when, time steps
        /// At this time: context, whether it is no frame, number of the port or of the event.
        uint64_t order;
    };

  private:
    static constexpr uint64_t BUCKETS = 4096;
    using Bucket = std::vector<Entry>;

    void Insert(const Entry& entry);
    void Advance();
    void PrefetchEvents() const;
    void Prefetch() const;
    void Adapt();
    void ChangeWidth(uint32_t shift);
    uint64_t FindNext() const;

    uint32_t m_shift{17};  // a bucket is 2^shift time steps wide
    uint64_t m_current{0}; // number of the bucket that is being handed out
    uint64_t m_size{0};    // events in all
    Bucket m_now;          // events up to the end of the current bucket, the last one first out
    std::vector<Bucket> m_buckets; // bucket b is at b modulo BUCKETS
    std::vector<Bucket> m_spare; // empty, with memory, the one used last first: still in the cache
    std::array<uint64_t, BUCKETS / 64> m_occupied{}; // bit s: m_buckets[s] is not empty
    Bucket m_far;                                    // heap of the events beyond the last bucket
    uint64_t m_advances{0}; // buckets handed out since the width was judged
    uint64_t m_handed{0};   // events in them
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H
