/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TELEMETRY_H
#define DISTRIBUTED_TRAINING_RDMA_TELEMETRY_H

#include "ns3/fabric-frame.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** Load of one link between two telemetry records. @ingroup distributed-training-rdma */
struct LinkLoad
{
    double rate;          ///< line rate, bit/s
    double throughput;    ///< average between the two records, bit/s
    double previousQueue; ///< queue length at the first record, bytes
    double queue;         ///< queue length at the second record, bytes
    int64_t interval;     ///< time between the records, ps
};

/**
 * @ingroup distributed-training-rdma
 * Stores the telemetry of the last acknowledgement of each path, for algorithms that need
 * differences. Where switches choose the path of each packet, counters of one link say nothing of
 * another; HPCC's header has a path ID for that.
 */
class TelemetryHistory
{
  public:
    /**
     * @param now telemetry of an acknowledgement
     * @return load of each link since the previous acknowledgement of a packet on the same path, in
     *         hop order; empty for the first acknowledgement, and if the order of the two packets
     *         has changed
     */
    const std::vector<LinkLoad>& Update(const TelemetryStack& now);

  private:
    TelemetryStack& FindPath(const TelemetryStack& now);

    std::vector<TelemetryStack> m_paths; // the last one first
    std::vector<LinkLoad> m_loads;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TELEMETRY_H
