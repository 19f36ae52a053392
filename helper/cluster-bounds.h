/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_BOUNDS_H
#define DISTRIBUTED_TRAINING_CLUSTER_BOUNDS_H

#include "cluster-communicators.h"

#include "ns3/lower-bound.h"

#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Lower bounds of the times that collectives take on a cluster, with what its codecs, engines in
 * NICs and sums in switches leave of them.
 */
class ClusterBounds
{
  public:
    /**
     * @param topology of the cluster; must outlive this object, as all others
     * @param packet full packet of the transport
     * @param engines in the NICs
     * @param codecs of the hosts
     * @param communicators of the ranks
     */
    ClusterBounds(const TopologyGraph& topology,
                  const PacketSize& packet,
                  const NicHelper& engines,
                  const CodecHelper& codecs,
                  const ClusterCommunicators& communicators);

    /**
     * @param operation a collective of all ranks
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return lower bound of its time, s
     */
    double Get(CollectiveOperation operation,
               uint64_t bytes,
               const ByteMatrix& matrix = nullptr) const;

    /**
     * @param group some of the ranks
     * @param operation a collective
     * @param isJob whether they are all ranks of a job, for which switches may sum
     * @return lower bounds of its time among these ranks
     */
    LowerBound MakeForGroup(const std::vector<uint32_t>& group,
                            CollectiveOperation operation,
                            bool isJob = false) const;

  private:
    const TopologyGraph& m_topology;
    const PacketSize m_packet;
    const NicHelper& m_engines;
    const CodecHelper& m_codecs;
    const ClusterCommunicators& m_communicators;
    LowerBound m_plain;
    std::optional<LowerBound> m_coded; // of collectives that engines in NICs code
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_BOUNDS_H
