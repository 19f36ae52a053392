/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FAULT_PLAN_H
#define DISTRIBUTED_TRAINING_FAULT_PLAN_H

#include "link-impairment.h"
#include "training-fabric.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The faults of a run: link impairments, link failures, switch restarts, and slow receivers. A
 * fault is written `TARGET:key=value,...` with the keys of GetKeys() and a target:
 *
 *     *                     all links
 *     host3, switch1        all links of a host or switch, or the node itself
 *     host3-switch1         a link (or several parallel ones)
 *
 * `@FILE` reads the faults from a file, one per line; # starts a comment.
 */
class FaultPlan
{
  public:
    /**
     * Parses a fault, or a file of faults.
     * @param text TARGET:key=value,... or `@FILE`
     * @throw ConfigurationError if it is malformed
     */
    void Add(const std::string& text);

    /**
     * Adds random frame loss for the whole run.
     * @param target target: all links, a node or a link, as above
     * @param probability loss probability of each frame on each link
     */
    void AddLoss(const std::string& target, double probability);

    /**
     * Schedules the faults in a simulation that is about to run. When a link or switch fails or
     * recovers, neighboring switches reroute locally at once, and all routes are recomputed after a
     * delay.
     * @param fabric the fabric; it and this object must outlive the simulation
     * @param rerouteDelay delay from a link change to the update of all routes; Time::Max(): never
     * @throw ConfigurationError if a target is not in the topology
     */
    void Apply(Fabric& fabric, Time rerouteDelay);

    /**
     * Refuses duplication that grows along a path until it fills the memory. Call after Apply().
     * @param links number of links of the longest path
     * @throw ConfigurationError if a frame is expected to arrive more than MAX_COPIES times
     */
    void CheckDuplication(uint32_t links) const;

    /** @return the keys of a fault */
    static const std::vector<Key>& GetKeys();

    /** @return whether there are no faults */
    bool IsEmpty() const
    {
        return m_faults.empty();
    }

    /// Maximum expected number of copies of a frame at its destination.
    static constexpr double MAX_COPIES = 1000;

  private:
    /** One fault. */
    struct Fault
    {
        std::string text;  ///< as written
        std::string where; ///< "file:line: "; empty: not from a file
        std::string target;
        LinkImpairment::Configuration impairment;
        bool impairs{false}; ///< whether it impairs links
        bool restart{false};
        DataRate receiveRate{0};
        DataRate usualRate{0}; ///< receive rate of the host without faults
        Time from;
        Time until{Time::Max()};
        bool isActive{false};
        uint32_t node{0};                                    ///< target, if a node
        std::vector<uint32_t> links;                         ///< target links of the topology
        std::vector<FabricChannel::Impairments> impairments; ///< impairments of each link
    };

    void Add(const std::string& text, const std::string& where);
    void AddFile(const std::string& path);
    static ConfigurationError Refuse(const Fault& fault, const std::string& rest);
    void FindTarget(Fault& fault) const;
    void Begin(std::size_t index);
    void End(std::size_t index);
    void SetReceiveRate(const Fault& changed);
    void ScheduleRoutes();

    std::vector<Fault> m_faults;
    Fabric* m_fabric{nullptr};
    Time m_rerouteDelay;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FAULT_PLAN_H
