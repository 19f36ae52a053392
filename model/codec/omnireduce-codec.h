/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OMNIREDUCE_CODEC_H
#define DISTRIBUTED_TRAINING_OMNIREDUCE_CODEC_H

#include "codec/declared-size.h"
#include "gradient-codec.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 *
 * The blocks of OmniReduce (Fei et al.: Efficient sparse collective communication and its
 * application to accelerate distributed deep learning, SIGCOMM 2021): a tensor is cut into blocks,
 * and only those with a number that is not 0 are sent. A block is its float32, and 32 bits with the
 * index of the next block that this sender has, or NONE. The first block is always sent.
 */
class OmniReduceCodec : public GradientCodec
{
  public:
    /// Index behind the last block.
    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * @param block numbers of a block; the last one may be shorter
     * @param declared size for virtual payload, if any
     */
    explicit OmniReduceCodec(uint32_t block, const DeclaredSize& declared = {});

    CodecTraits GetTraits() const override;
    void Encode(const float* values,
                uint64_t count,
                const CodecKey& key,
                std::vector<uint8_t>& code) const override;
    void Decode(const uint8_t* code,
                uint64_t bytes,
                const CodecKey& key,
                float* values,
                uint64_t count) const override;
    bool HasCodedBytes() const override;
    uint64_t GetCodedBytes(uint64_t count) const override;
    double GetErrorBound(double largest, uint32_t codings, uint32_t addends) const override;
    std::vector<CodecClass> CountClasses(const float* values, uint64_t count) const override;

    /**
     * Adds codes block by block, as the aggregator does: it needs the sums of one block at a time,
     * and goes on to the least of the next blocks that the senders have announced.
     * @param codes of the senders
     * @param count of the numbers
     * @return code of the sums: the union of the blocks
     * @throw CodecError if a code is not one that Encode() writes
     */
    std::vector<uint8_t> Aggregate(const std::vector<std::vector<uint8_t>>& codes,
                                   uint64_t count) const;

  private:
    uint64_t GetSize(uint64_t block, uint64_t count) const;
    uint64_t GetNext(const float* values, uint64_t block, uint64_t count) const;
    uint32_t ReadNext(const uint8_t* code,
                      uint64_t bytes,
                      uint64_t at,
                      uint64_t block,
                      uint64_t count) const;

    uint64_t m_block;        // numbers of a block
    DeclaredSize m_declared; // for virtual payload
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OMNIREDUCE_CODEC_H
