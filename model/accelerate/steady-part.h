/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STEADY_PART_H
#define DISTRIBUTED_TRAINING_STEADY_PART_H

#include "ns3/bucket-scheduler.h"
#include "ns3/event-id.h"
#include "ns3/state-visitor.h"
#include "ns3/steady-watch.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The steady states of a part of a network, which no link connects with the rest: see SteadyState.
 * Other parts affect it only by way of hosts, when one of their messages ends or arrives. That can
 * not be before the packets that are left have been sent.
 */
class SteadyPart : public SteadyWatch
{
  public:
    /** What belongs to a part. */
    struct Devices
    {
        std::vector<HostDevice*> ofHosts;
        std::vector<SwitchDevice*> ofSwitches;
    };

    /** The events of the part, and when others come. */
    struct Events
    {
        std::vector<BucketScheduler::Entry> ofPart; // when visited: the earliest first
        uint64_t nextOther{StateVisitor::NONE};     // time of the first event of no part, ps
        std::map<const SteadyPart*, uint64_t> next; // of other parts, likewise
        uint64_t hash{0};                           // of the events of the part
    };

    /**
     * @param fabric the network; must outlive this
     * @param devices of the part
     * @param verifies see SteadyState
     */
    SteadyPart(Fabric& fabric, Devices devices, bool verifies);
    ~SteadyPart() override;
    SteadyPart(const SteadyPart&) = delete;
    SteadyPart& operator=(const SteadyPart&) = delete;

    /**
     * @param now simulated time, ps
     * @param part whose events are wanted; null: those of all
     * @return the events
     */
    static Events ListEvents(uint64_t now, const SteadyPart* part);

    /**
     * Visits devices and events.
     * @param devices of a network or part
     * @param visitor visits them
     * @param events theirs, in order
     */
    static void Visit(const Devices& devices, StateVisitor& visitor, const Events& events);

    /** @return number of times that periods were skipped */
    uint64_t GetSkips() const
    {
        return m_skips;
    }

    /** @return number of periods that ended as predicted, if it verifies */
    uint64_t GetVerifiedPeriods() const
    {
        return m_verified;
    }

    // SteadyWatch
    void OnLongMessage(LongMessageSource& source, uint32_t flow) override;
    void OnPeriod() override;

  private:
    using Flow = std::pair<LongMessageSource*, uint32_t>;

    static bool IsLong(const Flow& flow);
    uint64_t GetLeastTimeToEnd() const;
    void WatchNext();
    void Look();
    void Record(StateVisitor& visitor, Events& events);
    uint64_t GetPeriods(const Events& events, bool likeBefore) const;
    void Skip(const Events& events, uint64_t periods);
    void Predict();
    void Verify(const Events& events);

    Fabric& m_fabric; // counts the packet-hops that are skipped
    const Devices m_devices;
    const std::vector<FabricPort*> m_ports; // of the devices, if hosts at their other ends act
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

#endif // DISTRIBUTED_TRAINING_STEADY_PART_H
