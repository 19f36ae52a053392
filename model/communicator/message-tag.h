/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_TAG_H
#define DISTRIBUTED_TRAINING_MESSAGE_TAG_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Identifies a message between two ranks. Sender and receiver compute the same tag independently;
 * the transport carries it as 64 opaque bits.
 */
struct MessageTag
{
    static constexpr uint32_t COMMUNICATOR_BITS = 8; ///< width of `communicator`, the highest bits
    static constexpr uint32_t COLLECTIVE_BITS = 18;  ///< width of `collective`
    static constexpr uint32_t STEP_BITS = 22;        ///< width of `step`
    static constexpr uint32_t MESSAGE_BITS = 16;     ///< width of `message`, the lowest bits
    /// Largest number of a communicator.
    static constexpr uint32_t MAX_COMMUNICATOR = (1 << COMMUNICATOR_BITS) - 1;
    /// Step of a point-to-point message (PeerMessages). `collective` counts the messages to the
    /// same rank; `message` is 0 in the ordered stream, 1 outside it, and 1 + the
    /// number of a channel in that channel.
    static constexpr uint32_t PEER_TO_PEER = (1 << STEP_BITS) - 1;
    /// Step of a message without payload by which rank 0 announces the next collective (TurnOrder).
    static constexpr uint32_t TURN = PEER_TO_PEER - 1;
    /// Added to the step of a message: a message without payload by which its receiver grants it.
    static constexpr uint32_t GRANT = 1 << (STEP_BITS - 1);

    uint32_t communicator; ///< number of the communicator
    uint64_t collective;   ///< number of the collective; packed modulo 2^18
    uint32_t step;         ///< step of the algorithm
    uint32_t message;      ///< index among the messages of this step to the same rank

    /** @return the tag as a 64-bit number */
    uint64_t Pack() const;

    /**
     * @param tag of a message
     * @return its fields
     */
    static MessageTag Unpack(uint64_t tag);

    /**
     * @param a number of a collective, complete or from a tag
     * @param b number of a collective, complete or from a tag
     * @return whether their tags are equal
     */
    static bool IsSameCollective(uint64_t a, uint64_t b);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_TAG_H
