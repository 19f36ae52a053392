/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SPRAYED_BYTES_H
#define DISTRIBUTED_TRAINING_SPRAYED_BYTES_H

#include "ns3/path-choice.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Bytes that a switch has given to each port, by destination and traffic class. A count of all
 * frames together would lock in phase with the traffic: of two flows that alternate each would keep
 * to one port, and so would data and acknowledgements.
 */
class SprayedBytes
{
  public:
    /** @param context of the switch; must outlive this object */
    explicit SprayedBytes(const PathContext& context)
        : m_context(context)
    {
    }

    /**
     * @param frame frame to be sent
     * @param group ports to its destination
     * @return bytes by position in the group; they decide between ports, and grow by the frame
     */
    std::vector<int64_t>& Get(const Frame& frame, const ForwardingTable::Ports& group)
    {
        auto& bytes = m_bytes[uint64_t{frame.destination} << 8 | frame.priority];
        if (bytes.size() != group.size())
        {
            bytes.assign(group.size(), 0);
            // Switches and destinations must not all begin with the first port.
            const uint32_t seed = m_context.GetHashSeed();
            bytes[HashFlow(frame.destination, seed, 0) % group.size()] = -1;
        }
        return bytes;
    }

    /** Forgets everything. */
    void Clear()
    {
        m_bytes.clear();
    }

  private:
    const PathContext& m_context;
    std::unordered_map<uint64_t, std::vector<int64_t>> m_bytes; // by destination and class
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SPRAYED_BYTES_H
