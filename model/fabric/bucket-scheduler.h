/*
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
 * events. While it hands out an event it prefetches one that comes soon after, which is what counts
 * when frames of a thousand hosts do not fit into the cache.
 *
 * The order is that of every ns-3 scheduler: by time, then by order of insertion.
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

  private:
    static constexpr uint64_t BUCKETS = 4096;
    using Bucket = std::vector<Event>;

    void Place(const Event& ev);
    void Advance();
    void Adapt();
    void ChangeWidth(uint32_t shift);
    uint64_t FindNext() const;

    uint32_t m_shift{17};  // a bucket is 2^shift time steps wide
    uint64_t m_current{0}; // number of the bucket that is being handed out
    uint64_t m_size{0};    // events in all
    Bucket m_now;          // events up to the end of the current bucket, the last one first out
    std::vector<Bucket> m_buckets;                   // bucket b is at b modulo BUCKETS
    std::array<uint64_t, BUCKETS / 64> m_occupied{}; // bit s: m_buckets[s] is not empty
    std::vector<Event> m_far;                        // heap of the events beyond the last bucket
    uint64_t m_advances{0}; // buckets handed out since the width was judged
    uint64_t m_handed{0};   // events in them
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H
