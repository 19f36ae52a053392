/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TIMELY_H
#define DISTRIBUTED_TRAINING_RDMA_TIMELY_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * TIMELY (Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015),
 * algorithm 1 with the parameters of HPCC's simulator. Once per round trip the rate is cut if the
 * round-trip time is above a high threshold or grows. It is raised if the round-trip time is below
 * a low threshold or does not grow; consecutive raises get larger.
 *
 * The initial rate is the line rate. With `Window` it is "TIMELY+w" of HPCC's evaluation, without
 * it the algorithm of the paper, whose rates have no fixed point (Zhu et al., "ECN or delay",
 * CoNEXT 2016) and start with a queue of many round trips.
 */
class RdmaTimely : public RdmaCongestionControl
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
    double m_weight;
    double m_beta;
    double m_largestCut;
    Time m_low;
    Time m_high;
    Time m_minimumRoundTrip;
    double m_additiveFraction;
    double m_hyperFraction;
    uint32_t m_hyperStages;
    DataRate m_minimumRate;
    bool m_hasWindow;

    // state
    int64_t m_baseRoundTrip{0}; // ps
    double m_lineRate{0};
    double m_raiseScale{0}; // line rate, by the length of the path
    double m_rate{0};
    int64_t m_previous{0};  // last round-trip time, ps; 0 before the first
    double m_difference{0}; // smoothed difference of successive round-trip times, ps
    uint32_t m_stage{0};    // consecutive raises
    RoundTripMark m_mark;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_TIMELY_H
