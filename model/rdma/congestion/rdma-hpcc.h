/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_HPCC_H
#define DISTRIBUTED_TRAINING_RDMA_HPCC_H

#include "rdma-congestion-control.h"
#include "rdma/rdma-telemetry.h"

#include "ns3/data-rate.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * HPCC (Li et al., "HPCC: high precision congestion control", SIGCOMM 2019), algorithm 1: each
 * acknowledgement carries in-band telemetry of every link on the path. The window is set so that
 * the utilization of the most loaded link approaches eta. The window is computed from a reference
 * window that is updated once per round trip, so that no congestion signal is applied twice.
 *
 * The utilization of a link is min(queue, previous queue) / (B T) + throughput / B. The maximum
 * over the path is smoothed over a round trip T. Rate = window / T. A flow starts with a window of
 * one bandwidth-delay product, which is also the maximum. Telemetry costs 2 + 8 bytes per hop on
 * the wire, with room for at least five hops.
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

    /** @return smoothed utilization of the most loaded link; 1: full, above 1: a queue builds up */
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
