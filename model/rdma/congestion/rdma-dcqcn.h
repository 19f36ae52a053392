/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_DCQCN_H
#define DISTRIBUTED_TRAINING_RDMA_DCQCN_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015) in the
 * variant of the ConnectX firmware that HPCC's simulator implements, whose values are the defaults
 * of the attributes; the default preset has those of the firmware itself. Alpha is updated every
 * microsecond, the rate is cut at most every 4 us and raised every 300 us. The defaults come from
 * an mlxconfig dump (CLAMP_TGT_RATE 0, RPG_TIME_RESET 300 us, RPG_THRESHOLD 1, DCE_TCP_RTT 1 us,
 * RATE_REDUCE_MONITOR_PERIOD 4 us) with g = 1/256. The increase steps scale with the line rate, as
 * in HPCC's run.py.
 *
 * The three timers are not events: Advance() replays their expiries.
 *
 * With a byte counter, as in the paper and in ConnectX, each ByteCounter bytes sent are another
 * increase, with stages of their own: fast recovery while both stages are below
 * FastRecoveryStages, hyper increase from then on, additive increase between.
 */
class RdmaDcqcn : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    int64_t GetRateEnd() const override;
    uint64_t GetWindow() const override;
    void OnAck(const Ack& ack) override;
    void OnCnp(int64_t now) override;
    void OnSent(uint64_t bytes, int64_t now) override;
    int64_t GetByteQuota() const override;

    /**
     * @param now simulated time, ps
     * @return the congestion estimate alpha, 0 to 1
     */
    double GetAlpha(int64_t now);

  private:
    void Advance(int64_t now);
    void AdvanceAlpha(int64_t now);
    void Cut(int64_t now);
    void Raise();
    void Approach();
    void RaiseByBoth(uint32_t& stage);

    // attributes
    double m_gain;
    double m_largestCut;
    uint32_t m_fastRecoveryStages;
    bool m_clampTarget;
    DataRate m_minimumRate;
    double m_additiveFraction;
    double m_hyperFraction;
    Time m_alphaPeriod;
    Time m_decreasePeriod;
    Time m_increasePeriod;
    uint64_t m_byteCounter;
    bool m_hasWindow;

    // state
    int64_t m_baseRoundTrip{0}; // ps
    double m_lineRate{0};
    double m_rate{0};
    double m_target{0};
    double m_alpha{1};
    uint32_t m_stage{0};       // increases by the timer since the last cut
    uint32_t m_byteStage{0};   // increases by the byte counter since the last cut
    uint64_t m_sentBytes{0};   // since the last cut or increase by the byte counter
    bool m_started{false};     // the first CNP starts the timers
    bool m_cnpForAlpha{false}; // a CNP arrived since the last tick of the alpha timer
    bool m_cnpForDecrease{false};
    int64_t m_lastAlpha{0};     // last tick of the alpha timer, ps
    int64_t m_firstDecrease{0}; // first tick of the decrease timer, ps
    int64_t m_nextIncrease{0};  // next tick of the increase timer, ps
    int64_t m_nextDecrease{0};  // next tick of the decrease timer that cuts the rate, ps
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_DCQCN_H
