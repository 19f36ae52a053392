/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RECEPTION_WINDOWS_H
#define DISTRIBUTED_TRAINING_RECEPTION_WINDOWS_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * Back-pressure between NICs, at one rank and for one collective: a message has at most as many
 * packets on the way and in the reception buffer as fit into the buffer. The receiver returns a
 * credit for each half of the buffer that it has used up. A message that fits needs no credits.
 *
 * Each message has a buffer of its own, so packets that wait never block those they wait for.
 * Messages are named by the number of their action at this rank, as in one segment.
 */
class ReceptionWindows
{
  public:
    /**
     * @param segments packets of each message
     * @param bufferBytes reception buffer of a message; 0: unlimited
     */
    ReceptionWindows(uint32_t segments, uint64_t bufferBytes);

    /**
     * Asks to send a packet.
     * @param message its message
     * @param packetBytes size of the message's packets
     * @param index of the packet
     * @return whether it may leave; if not, OnCredit() returns it later
     */
    bool Send(uint32_t message, uint64_t packetBytes, uint32_t index);

    /**
     * A credit has arrived.
     * @param message its message
     * @param packetBytes size of the message's packets
     * @return the packets that may leave now
     */
    std::vector<uint32_t> OnCredit(uint32_t message, uint64_t packetBytes);

    /**
     * A packet has left the buffer.
     * @param message its message
     * @param packetBytes size of the message's packets
     * @return whether the sender needs a credit
     */
    bool OnConsumed(uint32_t message, uint64_t packetBytes);

  private:
    /** A message that this rank sends. */
    struct Outgoing
    {
        uint32_t sent{0};
        uint32_t credits{0};
        std::vector<uint32_t> waiting; // in order
    };

    uint32_t GetWindow(uint64_t packetBytes) const;
    uint32_t GetGranted(uint32_t credits, uint32_t window) const;

    uint32_t m_segments;
    uint64_t m_bufferBytes;
    std::unordered_map<uint32_t, Outgoing> m_outgoing;
    std::unordered_map<uint32_t, uint32_t> m_consumed; // packets, by message
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RECEPTION_WINDOWS_H
