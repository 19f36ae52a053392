/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_POWER_TCP_H
#define DISTRIBUTED_TRAINING_RDMA_POWER_TCP_H

#include "rdma-congestion-control.h"
#include "rdma/rdma-telemetry.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 * The rate update shared by both forms of PowerTCP. It smooths the measured power over a round trip
 * and moves the rate towards reference rate / power + increase with weight gamma. The reference
 * rate is updated once per round trip.
 */
class PowerRate
{
  public:
    /** Constants of a queue pair. */
    struct Parameters
    {
        double lineRate;   ///< bit/s
        double lowestRate; ///< bit/s
        double increase;   ///< bit/s
        double gamma;      ///< weight of the new rate, 0 to 1
    };

    /** @param parameters constants; the rate starts at the line rate */
    void Initialize(const Parameters& parameters);

    /**
     * @param power measured power, relative to the target power
     * @param interval length of the measurement, ps
     * @param roundTrip of the idle network, ps
     * @param roundTripOver whether the reference rate is updated now
     */
    void Update(double power, int64_t interval, int64_t roundTrip, bool roundTripOver);

    /** @return rate, bit/s */
    double GetRate() const
    {
        return m_rate;
    }

  private:
    Parameters m_parameters{};
    double m_power{1}; // smoothed
    double m_rate{0};
    double m_reference{0};
};

/**
 * @ingroup distributed-training-rdma
 *
 * PowerTCP (Addanki et al., "PowerTCP: pushing the performance limits of datacenter networks", NSDI
 * 2022) with in-band telemetry, as its simulator (inet-tub/ns3-datacenter) implements it. The power
 * of a link is current * voltage = (queue growth + throughput) * (queue + B T), in units of B^2 T;
 * the current is at least half the line rate. The rate steers the power of the most loaded link
 * towards `Eta`, see PowerRate. Window = rate * T.
 */
class RdmaPowerTcp : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    uint64_t GetWindow() const override;
    void OnAck(const Ack& ack) override;

  private:
    // attributes
    double m_eta;
    double m_gamma;
    double m_increaseFraction;
    DataRate m_minimumRate;

    // state
    int64_t m_roundTrip{0}; // of the idle network, ps
    PowerRate m_rate;
    RoundTripMark m_mark;
    TelemetryHistory m_history;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_POWER_TCP_H
