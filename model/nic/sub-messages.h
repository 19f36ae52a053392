/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SUB_MESSAGES_H
#define DISTRIBUTED_TRAINING_SUB_MESSAGES_H

#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * How MULTITREE's network interface (Huang et al., ISCA 2021, and its public simulator) puts a
 * message on the line: sub-messages of 256 bytes, in flits of 16 bytes. Packet-based flow control
 * sends a head flit before each sub-message; message-based flow control sends one before the first.
 * A head flit has the flow, the offset of the numbers behind it, their size, and whether they are
 * the last of the flow, in four little-endian words. Only the last ones clear the dependency of
 * other messages.
 */
class SubMessages
{
  public:
    static constexpr uint64_t FLIT = 16; ///< bytes of a flit

    /** Head flits. */
    enum class FlowControl
    {
        NONE,   ///< no head flits: the numbers only
        PACKET, ///< one for each sub-message
        MESSAGE ///< one for each message
    };

    /**
     * @param flowControl head flits
     * @param bytes of a sub-message
     * @throw ConfigurationError if that is not a positive number of whole flits
     */
    explicit SubMessages(FlowControl flowControl = FlowControl::NONE, uint64_t bytes = 256);

    /** @return whether there are head flits */
    bool HasHeads() const
    {
        return m_flowControl != FlowControl::NONE;
    }

    /** @return bytes of a full sub-message, without a head flit */
    uint64_t GetFullBytes() const
    {
        return m_bytes;
    }

    /** @return bytes on the line per byte of a long message */
    double GetShare() const;

    /**
     * @param bytes of a message; an empty one has a head flit, too
     * @return its bytes with head flits, in whole flits
     */
    uint64_t GetLineBytes(uint64_t bytes) const;

    /**
     * Adds head flits.
     * @param flow of the message
     * @param numbers its contents
     * @return both
     */
    Ptr<ByteBuffer> Frame(uint32_t flow, Ptr<ByteBuffer> numbers) const;

    /**
     * Takes off head flits.
     * @param flow of the message
     * @param line contents that Frame() has made
     * @return the numbers; null if the head flits are not those of the flow, in order, with an end
     */
    Ptr<ByteBuffer> Unframe(uint32_t flow, Ptr<ByteBuffer> line) const;

  private:
    FlowControl m_flowControl;
    uint64_t m_bytes;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SUB_MESSAGES_H
