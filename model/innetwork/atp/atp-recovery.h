/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_RECOVERY_H
#define DISTRIBUTED_TRAINING_ATP_RECOVERY_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Decides which packets of a tensor an ATP worker sends again. A packet is lost if results for
 * later packets to its server have arrived. After a timeout all packets may be lost: two of them go
 * for each result of a packet sent again, which doubles them every round trip.
 */
class AtpRecovery
{
  public:
    /**
     * Starts a tensor.
     * @param first number of its first packet in the job
     * @param servers number of servers: packet p of the job goes to server p modulo that
     * @param threshold results for later packets that show a loss; 0: none do
     */
    void Begin(uint64_t first, uint64_t servers, uint32_t threshold)
    {
        m_first = first;
        m_threshold = threshold;
        m_streams.assign(servers, Stream());
        for (uint64_t packet = 0; packet < servers; packet++)
        {
            m_streams[(first + packet) % servers].base = packet;
        }
        m_next = 0;
        m_end = 0;
    }

    /**
     * The first packet without a result has timed out, and is sent again.
     * @param base its number
     * @param next first packet not sent
     */
    void OnTimeout(uint64_t base, uint64_t next)
    {
        m_next = base + 1;
        m_end = next;
    }

    /**
     * @param packet whose result has arrived
     * @return whether results for later packets to its server were first: some worker's packet, or
     *         this worker's result, was lost
     */
    bool IsLate(uint64_t packet) const
    {
        return packet < m_streams[(m_first + packet) % m_streams.size()].highest;
    }

    /**
     * A result has arrived.
     * @param packet of the result, which waits no more
     * @param base first packet without a result
     * @param next first packet not sent
     * @param isWaiting tells of a packet whether it waits for its result
     * @param resend sends a packet again
     */
    template <class IsWaiting, class Resend>
    void OnResult(uint64_t packet,
                  uint64_t base,
                  uint64_t next,
                  const IsWaiting& isWaiting,
                  const Resend& resend)
    {
        FillGaps(packet, next, isWaiting, resend);
        uint32_t allowed = packet < m_next && m_next < m_end ? PACKETS_FOR_RESULT : 0;
        for (m_next = std::max(m_next, base); allowed > 0 && m_next < m_end; m_next++)
        {
            if (isWaiting(m_next))
            {
                allowed--;
                resend(m_next);
            }
        }
    }

  private:
    /// Packets to send again per result after a timeout.
    static constexpr uint32_t PACKETS_FOR_RESULT = 2;

    /** Packets to one server, whose results come in order. Those of servers come in any order. */
    struct Stream
    {
        uint64_t base{0};     ///< first packet without a result
        uint64_t highest{0};  ///< last packet after a gap with a result
        uint64_t repaired{0}; ///< gaps below this packet are sent again
        uint32_t past{0};     ///< results for later packets since base advanced
    };

    template <class IsWaiting, class Resend>
    void FillGaps(uint64_t packet, uint64_t next, const IsWaiting& isWaiting, const Resend& resend)
    {
        const uint64_t servers = m_streams.size();
        Stream& stream = m_streams[(m_first + packet) % servers];
        if (packet == stream.base)
        {
            while (stream.base < next && !isWaiting(stream.base))
            {
                stream.base += servers;
            }
            stream.past = 0;
            return;
        }
        stream.highest = std::max(stream.highest, packet);
        if (m_threshold == 0 || ++stream.past < m_threshold)
        {
            return;
        }
        for (stream.repaired = std::max(stream.repaired, stream.base);
             stream.repaired < stream.highest;
             stream.repaired += servers)
        {
            if (isWaiting(stream.repaired))
            {
                resend(stream.repaired);
            }
        }
    }

    uint64_t m_first{0};
    uint32_t m_threshold{0};
    std::vector<Stream> m_streams; // by server
    uint64_t m_next{0};            // next packet to send again after a timeout
    uint64_t m_end{0};             // end of these packets, exclusive
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_RECOVERY_H
