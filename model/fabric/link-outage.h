/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINK_OUTAGE_H
#define DISTRIBUTED_TRAINING_LINK_OUTAGE_H

#include "training-fabric.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Links that are down for a time that is not known in advance. When they fail, neighboring switches
 * reroute locally at once, and all routes are recomputed after a delay, as with FaultPlan. When
 * they are brought up again, all routes are up to date at once: nobody is told before.
 */
class LinkOutage
{
  public:
    /**
     * Takes links down. A link may be down for several reasons at a time.
     * @param fabric that has the links; must outlive this object and the simulation
     * @param links indices of links of the topology
     * @param rerouteDelay delay until the update of all routes; Time::Max(): never
     */
    LinkOutage(Fabric& fabric, const std::vector<uint32_t>& links, Time rerouteDelay);
    LinkOutage(const LinkOutage&) = delete;
    LinkOutage& operator=(const LinkOutage&) = delete;

    /** Brings the links up, unless there are other reasons. Call at most once. */
    void End();

  private:
    Fabric& m_fabric;
    std::vector<uint32_t> m_links;
    bool m_isStatic;
    std::vector<FabricChannel::Impairments> m_impairments; // by link
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LINK_OUTAGE_H
