/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_CODER_H
#define DISTRIBUTED_TRAINING_MESSAGE_CODER_H

#include "coding-unit.h"
#include "training-communicator.h"

#include "ns3/gradient-codec.h"
#include "ns3/message-coding.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Codes the messages of a rank: each before it is sent, and again before its numbers are used. The
 * receiver knows the size of the numbers from the schedule, so codes travel without it.
 */
class MessageCoder : public SimpleRefCount<MessageCoder>
{
  public:
    /** A message as it is sent. */
    struct Code
    {
        uint64_t bytes;          ///< its size
        Ptr<ByteBuffer> payload; ///< its contents; null: virtual
    };

    /**
     * @param codec of the messages; with virtual payload it knows the size of codes
     * @param unit that codes; null: codes take no time and are not counted
     * @param seed of random numbers
     */
    MessageCoder(Ptr<const GradientCodec> codec, Ptr<CodingUnit> unit, uint64_t seed = 1);

    /**
     * @param operation of a collective
     * @return whether its messages are coded: it adds gradients, and does not copy weights
     */
    static bool Codes(CollectiveOperation operation);

    /**
     * @param bytes of a message
     * @return size of its code with virtual payload, bytes
     */
    uint64_t GetCodedBytes(uint64_t bytes) const;

    /**
     * @param tensor of the collective
     * @param place of the message
     * @param bytes of its numbers
     * @param payload the numbers; null: virtual
     * @return what is sent
     * @throw CodecError if a number cannot be coded
     */
    Code Encode(const Tensor& tensor,
                const MessagePlace& place,
                uint64_t bytes,
                const Ptr<ByteBuffer>& payload) const;

    /**
     * @param tensor of the collective
     * @param place of the message
     * @param bytes of its numbers
     * @param payload what arrived; null: virtual. Bytes behind a code of known size are ignored
     * @return the numbers
     * @throw CodecError if it is no code
     */
    Ptr<ByteBuffer> Decode(const Tensor& tensor,
                           const MessagePlace& place,
                           uint64_t bytes,
                           const Ptr<ByteBuffer>& payload) const;

    /**
     * @param bytes of numbers that are encoded now
     * @return time until they are
     */
    Time ReserveEncoding(uint64_t bytes) const;

    /**
     * @param bytes of numbers that are decoded now
     * @return time until they are
     */
    Time ReserveDecoding(uint64_t bytes) const;

    /**
     * What the receiver of a message gets.
     * @param codec of the message
     * @param key of the coding, see GetKey()
     * @param message numbers; receives what is decoded
     */
    static void RoundTrip(const GradientCodec& codec,
                          const CodecKey& key,
                          std::vector<uint8_t>& message);

    /**
     * @param seed of random numbers
     * @param iteration see Tensor
     * @param bucket see Tensor
     * @param place of a message
     * @return the key of its coding
     */
    static CodecKey GetKey(uint64_t seed,
                           uint32_t iteration,
                           uint32_t bucket,
                           const MessagePlace& place);

  private:
    Ptr<const GradientCodec> m_codec;
    Ptr<CodingUnit> m_unit;
    uint64_t m_seed;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_CODER_H
