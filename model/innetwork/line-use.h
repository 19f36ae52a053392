/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINE_USE_H
#define DISTRIBUTED_TRAINING_LINE_USE_H

#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/** What keeps a worker from filling its line, besides the line. */
struct InNetworkLimits
{
    std::string key;               ///< of the system, that limits the packets in flight
    uint64_t value{0};             ///< of the key
    uint64_t window{0};            ///< packets of a worker in flight with this value; 0: unknown
    double lineSeconds{0};         ///< time that a packet takes on the slowest line
    double recirculationBits{0};   ///< that a packet takes on the busiest recirculation port
    uint64_t recirculationRate{0}; ///< of that port, bit/s
};

/**
 * @ingroup distributed-training-innetwork
 *
 * The share of its line that a worker fills in its fastest long operation, and what limits it.
 */
class LineUse
{
  public:
    /** @param limits of the worker */
    void SetLimits(const InNetworkLimits& limits)
    {
        m_limits = limits;
    }

    /**
     * Measures a complete operation.
     * @param packets of the operation that the window limits
     * @param time that they took
     */
    void Note(uint64_t packets, Time time);

    /** @return the share; 0 if no operation had the packets of several windows, or if the limits
     *          are unknown */
    double Get() const
    {
        return m_leastSeconds > 0 ? m_limits.lineSeconds / m_leastSeconds : 0;
    }

    /**
     * @param system its name
     * @return one line: what limited the worker, and the least value that would not; empty if it
     *         filled most of its line
     */
    std::string Describe(const std::string& system) const;

  private:
    InNetworkLimits m_limits;
    double m_leastSeconds{0}; // per packet, of the fastest long operation; 0: there was none
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LINE_USE_H
