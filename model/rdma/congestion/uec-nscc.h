/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_NSCC_H
#define DISTRIBUTED_TRAINING_UEC_NSCC_H

#include "uec-congestion-control.h"

#include "ns3/nstime.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Network-signal congestion control (NSCC; Ultra Ethernet specification 1.0), a window moved by ECN
 * marks and queuing delay, with the rules and constants of the reference simulator
 * (ultraethernet/uet-htsim, htsim/sim/uec.cpp). An acknowledgement changes the window as follows:
 *
 * - no mark, delay below the target: proportional increase; fast increase, if the delay has stayed
 *   below 1 us for a whole window
 * - no mark, delay above the target: fair increase
 * - mark, delay above the target: multiplicative decrease, once per round trip
 * - mark, delay below the target: nothing; the sender avoids the path
 *
 * A NACK subtracts the trimmed packet. If few bytes arrive in a round trip with losses or a very
 * long delay, quick adapt sets the window to these bytes. Constants scale with the bandwidth-delay
 * product, relative to a network of 100 Gbit/s and 12 us.
 */
class UecNscc : public UecCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    void Initialize(const Path& path) override;
    bool NeedsCredit() const override;
    uint64_t GetWindow() const override;
    void OnAck(const Feedback& feedback) override;
    void OnNack(const Feedback& feedback) override;
    void OnTimeout(uint64_t bytes) override;

    /** @return target of the queuing delay, ps */
    int64_t GetTargetDelay() const;

    /** @return average queuing delay, ps */
    double GetAverageDelay() const;

  private:
    void SetBaseRoundTrip(int64_t roundTrip);
    void LowerBaseRoundTrip(const Feedback& feedback);
    void UpdateDelay(int64_t delay, bool isMarked);
    bool QuickAdapt(const Feedback& feedback, bool isLoss, bool isMarked, int64_t delay);
    void IncreaseProportionally(const Feedback& feedback, int64_t delay);
    bool IncreaseFast(const Feedback& feedback, int64_t delay);
    void Decrease(int64_t now);
    void Fulfill(int64_t now);
    void Bound();

    // attributes
    Time m_targetTime;
    double m_targetFraction;
    double m_gamma;
    double m_averageWeight;
    uint32_t m_gate;
    bool m_needsCredit;

    // parameters of the path; bytes and ps
    double m_lineRate{0}; // bytes/ps
    int64_t m_networkRoundTrip{0};
    int64_t m_target{0};
    double m_smallest{0};    // one packet
    double m_alpha{0};       // proportional increase, bytes/ps
    double m_fair{0};        // fair increase
    double m_eta{0};         // increase of each period
    double m_fast{0};        // fast increase, per acknowledged byte
    double m_periodBytes{0}; // bytes of an adjustment period
    int64_t m_baseRoundTrip{0};
    double m_largest{0};

    // state; bytes and ps
    double m_window{0};
    double m_average{0};   // average queuing delay
    double m_increase{0};  // increase of this period, times the window
    double m_fastBytes{0}; // acknowledged in a row with almost no delay
    bool m_isFast{false};
    double m_periodReceived{0};
    int64_t m_lastPeriod{0};
    int64_t m_lastDecrease{0};
    double m_achieved{0};    // arrived since the last check of quick adapt
    int64_t m_adaptAfter{0}; // time of the next check; 0: before the first one
    double m_ignored{0};
    double m_toIgnore{0}; // signals of so many bytes are ignored after quick adapt
    bool m_adapts{false}; // a packet was trimmed since the last quick adapt
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_NSCC_H
