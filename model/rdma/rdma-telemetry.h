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

/** @ingroup distributed-training-rdma Load of one link between two packets' telemetry. */
struct LinkLoad
{
    double rate;          ///< line rate, bit/s
    double throughput;    ///< sent in between, bit/s
    double previousQueue; ///< bytes that waited when the first packet was sent
    double queue;         ///< bytes that waited when the second packet was sent
    int64_t interval;     ///< from the one to the other, ps
};

/**
 * @ingroup distributed-training-rdma
 * Remembers the telemetry of the last acknowledgement, for algorithms that need its changes.
 */
class TelemetryHistory
{
  public:
    /**
     * @param now telemetry of an acknowledgement
     * @return load of each link since the previous one, in the order of the hops; empty for the
     *         first, and if the two packets cannot have taken the same path in this order
     */
    const std::vector<LinkLoad>& Update(const TelemetryStack& now);

  private:
    TelemetryStack m_previous;
    std::vector<LinkLoad> m_loads;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TELEMETRY_H
