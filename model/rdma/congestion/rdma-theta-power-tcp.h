/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_THETA_POWER_TCP_H
#define DISTRIBUTED_TRAINING_RDMA_THETA_POWER_TCP_H

#include "rdma/congestion/rdma-power-tcp.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Theta-PowerTCP (Addanki et al., NSDI 2022): PowerTCP without telemetry, as its simulator
 * (inet-tub/ns3-datacenter) implements it. The growth of the round trip replaces the growth of the
 * queue: power = (growth + 1) * round trip, in units of 1.05 T; growth + 1 is at least 0.5. Window
 * = rate * T.
 *
 * As in algorithm 2 of the paper, the rate is updated once per round trip. The growth from one
 * acknowledgement to the next is no sign of a queue: they wait for data in the other direction.
 */
class RdmaThetaPowerTcp : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    uint64_t GetWindow() const override;
    void OnAck(const Ack& ack) override;
    std::string DescribeLimit() const override;

  private:
    // attributes
    double m_gamma;
    double m_increaseFraction;
    DataRate m_minimumRate;

    // state, ps
    int64_t m_roundTrip{0};     // without queues
    int64_t m_lastRoundTrip{0}; // 0 before the first ACK
    int64_t m_lastTime{0};
    PowerRate m_rate;
    RoundTripMark m_mark;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_THETA_POWER_TCP_H
