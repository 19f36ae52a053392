/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_MESSAGE_STREAM_H
#define DISTRIBUTED_TRAINING_TCP_MESSAGE_STREAM_H

#include "multi-port-transport.h"

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <array>
#include <cstdint>
#include <deque>
#include <utility>

namespace ns3::training
{

/// Size of the header of a message in a stream, bytes; see TcpTransport.
constexpr uint32_t TCP_MESSAGE_HEADER_BYTES = 16;
/// The header itself.
using TcpMessageHeader = std::array<uint8_t, TCP_MESSAGE_HEADER_BYTES>;

/**
 * @ingroup distributed-training-transport
 *
 * Messages, or parts of them, as a stream of bytes.
 */
class TcpMessageWriter
{
  public:
    /** @param part a message that follows in the stream */
    void Add(Message part)
    {
        m_queue.push_back({std::move(part)});
    }

    /** @return whether all messages have been written */
    bool IsEmpty() const
    {
        return m_queue.empty();
    }

    /**
     * @param space for bytes
     * @param unit what does not end a message is a multiple of it
     * @return the next bytes of a message; null if there is no space
     */
    Ptr<Packet> Make(uint64_t space, uint64_t unit);

    /** The packet of Make() is on its way: calls `sent` of a message at its end. */
    void Pass();

  private:
    /** A message being written. */
    struct Outgoing
    {
        Message part;
        uint64_t written{0}; // bytes of header and contents
    };

    std::deque<Outgoing> m_queue;
    uint64_t m_made{0}; // bytes of the last packet
};

/**
 * @ingroup distributed-training-transport
 *
 * Messages out of the stream of a TcpMessageWriter.
 */
class TcpMessageReader
{
  public:
    /**
     * Takes bytes out of a packet, up to the end of a message.
     * @param packet the next bytes of the stream
     * @return whether a message has ended; if so, call it again
     */
    bool Take(const Ptr<Packet>& packet);

    /** @return the message that has ended */
    const Message& GetPart() const
    {
        return m_part;
    }

  private:
    TcpMessageHeader m_header{};
    uint32_t m_headerBytes{0}; // received bytes of the current header
    Message m_part{};          // being received
    uint64_t m_received{0};    // bytes of its contents
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_MESSAGE_STREAM_H
