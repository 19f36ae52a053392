/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_ROUND_TRIP_H
#define DISTRIBUTED_TRAINING_RDMA_ROUND_TRIP_H

#include <cstdint>
#include <cstdlib>

namespace ns3::training
{

/** A measured round trip and its deviation (RFC 6298). @ingroup distributed-training-rdma */
class RdmaRoundTrip
{
  public:
    /** @param roundTrip a sample, ps */
    void Add(int64_t roundTrip)
    {
        if (m_smoothed == 0)
        {
            m_smoothed = roundTrip;
            m_variation = roundTrip / 2;
            return;
        }
        m_variation += (std::abs(roundTrip - m_smoothed) - m_variation) / 4;
        m_smoothed += (roundTrip - m_smoothed) / 8;
    }

    /** @return the smoothed round trip, ps; 0: none was measured */
    int64_t Get() const
    {
        return m_smoothed;
    }

    /** @return the smoothed deviation from it, ps */
    int64_t GetVariation() const
    {
        return m_variation;
    }

    /** @return a time that hardly any round trip takes, ps */
    int64_t GetTimeout() const
    {
        return m_smoothed + 4 * m_variation;
    }

  private:
    int64_t m_smoothed{0};
    int64_t m_variation{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_ROUND_TRIP_H
