/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RED_CURVE_H
#define DISTRIBUTED_TRAINING_RED_CURVE_H

#include "fabric-port.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The probability that a switch marks a frame (ECN) or drops it early (WRED) as a function of the
 * queue length: 0 up to Kmin, rising linearly to Pmax at Kmax, and 1 above. This is random early
 * detection (Floyd and Jacobson, 1993) on the instantaneous queue length. Kmin = Kmax gives a step
 * function.
 */
struct RedCurve
{
    double kminPerGbps; ///< Kmin, bytes per Gbit/s of the port
    double kmaxPerGbps; ///< Kmax, bytes per Gbit/s of the port
    double pmax;        ///< probability at Kmax

    /**
     * @param prefix prefix of the SwitchDevice attributes that set the curve, for the message
     * @throw ConfigurationError if Kmin is above Kmax
     */
    void Check(const std::string& prefix) const;

    /**
     * Lowers Kmin and Kmax, if Kmax is above a limit, in proportion.
     * @param most limit of Kmax, bytes per Gbit/s
     */
    void Limit(double most);

    /**
     * @param port egress port
     * @param priority traffic class of the queue
     * @return the probability for the current queue length
     */
    double GetProbability(const FabricPort& port, uint8_t priority) const
    {
        const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
        const auto queue = static_cast<double>(port.GetQueueBytes(priority));
        const double kmin = kminPerGbps * gbps;
        const double kmax = kmaxPerGbps * gbps;
        return queue > kmax ? 1 : queue > kmin ? pmax * (queue - kmin) / (kmax - kmin) : 0;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RED_CURVE_H
