/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ENDPOINT_TABLE_H
#define DISTRIBUTED_TRAINING_ENDPOINT_TABLE_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Maps endpoints to their index in insertion order, in constant time.
 */
class EndpointTable
{
  public:
    /// Index of an endpoint that is not in the table.
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    /** @param endpoint to append; at most once */
    void Add(uint32_t endpoint)
    {
        m_places.resize(std::max<std::size_t>(m_places.size(), endpoint + 1), NONE);
        m_places[endpoint] = m_count++;
    }

    /**
     * @param endpoint any endpoint
     * @return its index in insertion order, or NONE
     */
    uint32_t Find(uint32_t endpoint) const
    {
        return endpoint < m_places.size() ? m_places[endpoint] : NONE;
    }

    /** @return number of endpoints */
    uint32_t GetCount() const
    {
        return m_count;
    }

  private:
    std::vector<uint32_t> m_places; // by endpoint
    uint32_t m_count{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ENDPOINT_TABLE_H
