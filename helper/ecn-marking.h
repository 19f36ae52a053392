/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ECN_MARKING_H
#define DISTRIBUTED_TRAINING_ECN_MARKING_H

#include "cluster-options.h"
#include "fabric-helper.h"

#include "ns3/host-transport.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The ECN marking of a cluster's switches: the step that suits the in-network system, or otherwise
 * the congestion control, unless the user has chosen another curve.
 */
class EcnMarking
{
  public:
    /**
     * @param options of the cluster, with the congestion control resolved
     * @param transport of its hosts, set up
     */
    EcnMarking(const ClusterOptions& options, const HostTransport& transport);

    /**
     * @param attributes of the cluster's objects, which come first
     * @param fabric creates switches that mark
     */
    void SetUp(const AttributeList& attributes, FabricHelper& fabric) const;

    /**
     * Lowers thresholds, unless the user has set them, where the packet memory of a switch holds no
     * such queue: it would pause or drop, and never mark.
     * @param attributes of the cluster's objects
     * @param fabric of the cluster
     */
    static void Limit(const AttributeList& attributes, const Fabric& fabric);

    /**
     * @param fabric of the cluster
     * @param rate of a link
     * @return one line: who reacts, and where switches mark; empty: nobody does
     */
    std::string Describe(const Fabric& fabric, DataRate rate) const;

  private:
    std::string m_user; // who reacts to marks; empty: nobody
    double m_step{0};   // bytes per Gbit/s; 0: no recommendation
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ECN_MARKING_H
