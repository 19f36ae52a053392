/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H
#define DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H

#include "queued-event.h"

#include "ns3/scheduler.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * A calendar queue for packet networks, where nearly all events lie at most a few link delays
 * ahead. Time is divided into buckets. An event is appended to its bucket, and a bucket is sorted
 * when its time comes. Events that are inserted into it afterwards go to a small heap, which is
 * merged into the bucket when it has grown. Events beyond the last bucket are kept in a heap. The
 * bucket width adapts to the event density. On dequeuing an event, the scheduler prefetches the
 * data of later events, which dominates the performance when the frames of a thousand hosts exceed
 * the cache.
 *
 * Simultaneous events have the order of QueuedEvent.
 */
class BucketScheduler : public Scheduler
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    BucketScheduler();
    ~BucketScheduler() override;

    /**
     * Makes this scheduler the default of the global value SchedulerType. Must be called before any
     * event is scheduled, and before the command line is parsed so that a user can still select
     * another scheduler.
     */
    static void UseByDefault();

    /** @return the scheduler of the running simulation, or null if it has another one */
    static BucketScheduler* GetCurrent();

    // Scheduler
    void Insert(const Event& ev) override;

    bool IsEmpty() const override
    {
        return m_size == 0;
    }

    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& ev) override;

    using Entry = QueuedEvent; ///< an event with its sort keys

    /** @return all events, in any order */
    std::vector<Entry> GetEntries() const;

    /**
     * Delays events.
     * @param moves tells which ones
     * @param delay by which time, time steps
     */
    void Delay(const EventFilter& moves, uint64_t delay);

    /** @return the next event, or null; valid until the next call of another function */
    const Entry* Peek();

    /**
     * As Peek(), but does not enter a bucket that begins later, so that events before it can still
     * be inserted at low cost.
     * @param time end of the interest, time steps
     * @return the next event if it is before that time, or null
     */
    const Entry* PeekBefore(uint64_t time);

    /** @return a time not after the next event, time steps; the largest number if there is none */
    uint64_t GetEarliestTime() const;

    /** Removes the event that Peek() or PeekBefore() has returned. */
    void Pop();

  private:
    static constexpr uint64_t BUCKETS = 4096;
    using Bucket = std::vector<Entry>;

    /** @return whether no event up to the end of the current bucket is left */
    bool IsNowEmpty() const
    {
        return m_now.empty() && m_added.empty();
    }

    void Insert(const Entry& entry);
    const Entry& FindFirst();
    void Merge();
    void Advance();
    void PrefetchEvents() const;
    void Prefetch() const;
    void AdaptWidth();
    void ChangeWidth(uint32_t shift);
    Bucket TakeAll();
    uint64_t FindNext() const;

    uint32_t m_shift{17};       // a bucket is 2^shift time steps wide
    uint64_t m_current{0};      // number of the bucket being dequeued
    uint64_t m_size{0};         // total number of events
    Bucket m_now;               // sorted events up to the end of the current bucket, latest first
    Bucket m_added;             // heap of a few more of them, inserted later
    Bucket m_merged;            // empty, with the memory of the last Merge()
    bool m_isFirstAdded{false}; // whether the event that FindFirst() has found is in m_added
    std::vector<Bucket> m_buckets; // bucket b is at b modulo BUCKETS
    std::vector<Bucket> m_spare;   // LIFO list of empty buckets with memory, still cached
    std::array<uint64_t, BUCKETS / 64> m_occupied{}; // bit s: m_buckets[s] is non-empty
    Bucket m_far;                                    // heap of the events beyond the last bucket
    uint64_t m_advances{0}; // buckets dequeued since the last width adjustment
    uint64_t m_handed{0};   // events in these buckets
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUCKET_SCHEDULER_H
