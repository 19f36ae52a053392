/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_SWIFT_H
#define DISTRIBUTED_TRAINING_RDMA_SWIFT_H

#include "rdma-congestion-control.h"

#include "ns3/nstime.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Swift (Kumar et al., "Swift: delay is simple and effective for congestion control in the
 * datacenter", SIGCOMM 2020), algorithm 1, with the parameters of htsim (Broadcom/csg-htsim). The
 * window grows by `AdditiveIncrease` packets per round trip while the delay is below the target.
 * Otherwise it is cut in proportion to the excess, at most once per round trip. The target grows
 * with the hops of the path, and as the window shrinks (flow scaling).
 *
 * The delay is the whole round trip because hosts add no delay. A window below one packet paces
 * one packet per round trip / window. The maximum window is the bytes that the line sends in the
 * longest target delay: more would only accumulate while the application is idle. A flow starts
 * with a window of one bandwidth-delay product.
 */
class RdmaSwift : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    uint64_t GetWindow() const override;
    void OnAck(const Ack& ack) override;
    void OnLoss(int64_t now) override;
    void OnTimeout(int64_t now) override;
    std::string DescribeLimit() const override;

    /** @return target delay at the current window, ps */
    int64_t GetTargetDelay() const;

    /** @return the window before it is rounded down to whole packets, bytes */
    double GetCongestionWindow() const;

  private:
    void Cut(double factor, int64_t now);

    // attributes; windows in packets
    Time m_baseTarget;
    Time m_hopTarget;
    Time m_scalingRange;
    double m_scalingFrom;
    double m_scalingTo;
    double m_increase;
    double m_beta;
    double m_largestCut;
    double m_smallest;
    uint32_t m_resetTimeouts;

    // state; windows in packets
    double m_mtu{0};          // bytes
    double m_lineRate{0};     // bit/s
    int64_t m_pathTarget{0};  // target delay without flow scaling, ps
    int64_t m_roundTrip{0};   // last round-trip time, ps
    double m_scalingAlpha{0}; // ps
    double m_largest{0};
    double m_window{0};
    int64_t m_lastCut{0};   // ps
    uint32_t m_timeouts{0}; // consecutive timeouts
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_SWIFT_H
