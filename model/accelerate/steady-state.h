/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STEADY_STATE_H
#define DISTRIBUTED_TRAINING_STEADY_STATE_H

#include "ns3/bucket-scheduler.h"
#include "ns3/event-id.h"
#include "ns3/state-visitor.h"
#include "ns3/steady-watch.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Skips what a network in a steady state would repeat. While hosts send long messages and nothing
 * else happens, the network often returns to the same state again and again: the same frames at the
 * same places of the same links, with other sequence numbers. If its state at two moments is equal
 * in that sense, all between them is a period, and what follows are the same periods until a
 * message ends or an event from outside comes. These periods are not simulated: all times in the
 * network move by them, and all counters and sequence numbers grow as in the period that was
 * simulated. The results are those of the whole simulation, to the picosecond.
 *
 * The moments compared are arrivals of acknowledgements at one queue pair that sends a long
 * message. A state repeats only if it consists of RoCE data without contents and of
 * acknowledgements on links without faults, at rates that do not change, through switches without
 * programs. StateVisitor names what is compared.
 */
class SteadyState : public SteadyWatch
{
  public:
    /**
     * Watches a network; its scheduler must be a BucketScheduler, and this process must simulate
     * all of it.
     * @param fabric the network; must outlive this
     * @param verifies whether one more period is simulated before any is skipped; if its end is not
     *        as predicted, the program ends and names the first value that differs
     */
    explicit SteadyState(Fabric& fabric, bool verifies = false);
    ~SteadyState() override;
    SteadyState(const SteadyState&) = delete;
    SteadyState& operator=(const SteadyState&) = delete;

    /** @return number of times that periods were skipped */
    uint64_t GetSkips() const
    {
        return m_skips;
    }

    /**
     * @param fabric a network
     * @param visitor records its state at the visitor's time, which is now
     */
    static void Record(const Fabric& fabric, StateVisitor& visitor);

    /** @return number of periods that ended as predicted, with `verifies` */
    uint64_t GetVerifiedPeriods() const
    {
        return m_verified;
    }

    // SteadyWatch
    void OnLongMessage(LongMessageSource& source, uint32_t flow) override;
    void OnPeriod() override;

  private:
    using Flow = std::pair<LongMessageSource*, uint32_t>;

    /** The events of the network, and when others come. */
    struct Events
    {
        std::vector<BucketScheduler::Entry> ofNetwork; // when visited: the earliest first
        uint64_t nextOther{StateVisitor::NONE};        // time of the first other event, ps
        uint64_t hash{0};                              // of the events of the network
    };

    static bool IsLong(const Flow& flow);
    void WatchNext();
    void Look();
    static Events ListEvents(uint64_t now);
    static void Visit(const Fabric& fabric, StateVisitor& visitor, const Events& events);
    uint64_t GetPeriods(const Events& events, bool likeBefore) const;
    void Skip(const Events& events, uint64_t periods);
    void Predict();
    void Verify(const Events& events);

    Fabric& m_fabric; // counts the packet-hops that are skipped
    const bool m_verifies;
    std::deque<Flow> m_flows; // with long messages, perhaps over; the last one is watched
    EventId m_look;
    uint64_t m_wait{0};                     // periods to let pass before the next look
    uint64_t m_failures{0};                 // looks in vain since the last skip
    std::vector<uint64_t> m_hashes;         // of the last looks
    StateVisitor m_before;                  // state that may have come again
    StateVisitor m_after;                   // the present state
    std::optional<uint64_t> m_hashOfBefore; // none: m_before is not valid
    uint64_t m_otherOfBefore{0};            // Events::nextOther then
    uint64_t m_period{0};                   // whose growth m_before knows, ps; 0: none
    uint64_t m_skips{0};
    StateVisitor m_predicted;
    bool m_isPredicted{false}; // m_predicted will be compared when its time has come
    uint64_t m_verified{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STEADY_STATE_H
