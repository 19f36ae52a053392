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
 * implements it: the window also paces, rate = window / T. Once per round trip, alpha absorbs the
 * fraction of marked bytes. A marked ACK cuts the window by alpha / 2, at most once per round trip.
 * A round trip without a cut raises the window by one packet.
 *
 * A flow starts with a window of one bandwidth-delay product, which is also the maximum: there is
 * no slow start. A loss counts as a mark with alpha 1. A timeout resets the window to the minimum
 * (RFC 8257, section 3.5).
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
    uint64_t m_ackedBytes{0};  // in this round trip
    uint64_t m_markedBytes{0}; // marked part of m_ackedBytes
    uint64_t m_nextPsn{0};     // next PSN to send, as of the last ACK
    uint64_t m_cutPsn{0};      // next PSN to send at the last cut
    bool m_reduced{false};     // packets sent before the last cut are still unacknowledged
    RoundTripMark m_mark;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_DCTCP_H
