/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_HPCC_H
#define DISTRIBUTED_TRAINING_RDMA_HPCC_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/rdma-telemetry.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * HPCC (Li et al., "HPCC: high precision congestion control", SIGCOMM 2019), algorithm 1: each
 * acknowledgement brings the load of every link on the path by in-band telemetry. The window is set
 * so that the most loaded link is used to the part eta. It moves away from a reference window,
 * which follows it once per round trip, so that an acknowledgement is not acted upon twice.
 *
 * The load of a link is min(queue, previous queue) / (B T) + throughput / B, the largest of the
 * path is smoothed over a round trip T. Rate = window / T. A flow starts with one bandwidth-delay
 * product, which is also the largest window. Telemetry costs 2 + 8 bytes a hop on the wire, room
 * for five at least.
 */
class RdmaHpcc : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    uint64_t GetWindow() const override;
    void OnAck(const Ack& ack) override;

    /** @return smoothed load of the most loaded link; 1: full, above: a queue */
    double GetUtilization() const
    {
        return m_utilization;
    }

  private:
    // attributes
    double m_eta;
    uint32_t m_maxStage;
    double m_increaseFraction;
    DataRate m_minimumRate;

    // state; windows in bytes
    int64_t m_roundTrip{0}; // ps
    double m_largest{0};
    double m_smallest{0};
    double m_window{0};
    double m_reference{0};
    double m_utilization{1};
    uint32_t m_stage{0}; // round trips of additive increase since the last multiplicative change
    RoundTripMark m_mark;
    TelemetryHistory m_history;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_HPCC_H
