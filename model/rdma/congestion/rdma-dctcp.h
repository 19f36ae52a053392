/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_DCTCP_H
#define DISTRIBUTED_TRAINING_RDMA_DCTCP_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * DCTCP (Alizadeh et al., "Data center TCP", SIGCOMM 2010; RFC 8257) for RDMA as HPCC's simulator
 * does it: a window that is also a pace, rate = window / T. Once per round trip the part of marked
 * bytes is taken into alpha; the first mark after a cut has been answered cuts the window by
 * alpha / 2; a round trip without a cut raises it by one packet.
 *
 * A flow starts with one bandwidth-delay product, which is also the largest window: there is no
 * slow start. A loss counts as a mark with alpha 1, a timeout leaves the smallest window (RFC 8257,
 * section 3.5).
 */
class RdmaDctcp : public RdmaCongestionControl
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

    /** @return the congestion estimate alpha, 0 to 1 */
    double GetAlpha() const
    {
        return m_alpha;
    }

  private:
    void Cut(double part);

    // attributes
    double m_gain;
    double m_increasePackets;
    DataRate m_minimumRate;

    // state; windows in bytes
    int64_t m_roundTrip{0}; // ps
    double m_increase{0};   // bytes
    double m_largest{0};
    double m_smallest{0};
    double m_window{0};
    double m_alpha{1};
    uint64_t m_ackedBytes{0};  // this round trip
    uint64_t m_markedBytes{0}; // of these
    uint64_t m_nextPsn{0};     // next to send, when last heard of
    uint64_t m_cutPsn{0};      // next to send at the last cut
    bool m_reduced{false};     // the last cut is not answered yet
    RoundTripMark m_mark;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_DCTCP_H
