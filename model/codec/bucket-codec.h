/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUCKET_CODEC_H
#define DISTRIBUTED_TRAINING_BUCKET_CODEC_H

#include "gradient-codec.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-codec
 * What ranks do with their parts in one phase. Afterwards each has the same result.
 */
enum class BucketExchange
{
    SUM,   ///< adds up the numbers, element by element
    MAX,   ///< takes the largest, element by element
    GATHER ///< collects the codes, in the order of ranks
};

/**
 * @ingroup distributed-training-codec
 * One phase of an exchange.
 */
struct BucketPhase
{
    BucketExchange exchange; ///< what the ranks do
    uint64_t count;          ///< numbers; GATHER: bytes of a code, about, or 0 if they vary freely
    uint32_t bits;           ///< of a number as a rank sends it: 32, a float32; less: an integer
    uint32_t resultBits;     ///< of a number of the result
    bool isSigned{false};    ///< whether such an integer may be negative
};

/**
 * @ingroup distributed-training-codec
 * What a rank gives to a phase.
 */
struct BucketPart
{
    std::vector<float> numbers; ///< SUM, MAX: numbers, whole ones if they are sent as integers
    std::vector<uint8_t> code;  ///< GATHER
};

/**
 * @ingroup distributed-training-codec
 * What a rank gets from a phase.
 */
struct BucketResult
{
    std::vector<float> numbers;              ///< SUM, MAX
    std::vector<std::vector<uint8_t>> codes; ///< GATHER: by rank
};

/**
 * @ingroup distributed-training-codec
 * The exchange for which a BucketCodec is created.
 */
struct BucketRequest
{
    uint32_t ranks{1}; ///< number of ranks
    uint32_t rank{0};  ///< this one
    uint64_t count{0}; ///< numbers of the bucket
};

/**
 * @ingroup distributed-training-codec
 *
 * Sums a bucket of gradients over the ranks in coded form: what a codec needs that has a state, or
 * that changes the collective. One object for each rank and bucket, kept from one iteration to the
 * next.
 *
 * @code
 *   codec->Start(gradient, key);
 *   for (const BucketPhase& phase : codec->GetPhases())
 *   {
 *       codec->Continue(exchange(phase, codec->GetPart())); // with the other ranks
 *   }
 *   codec->GetSum();
 * @endcode
 */
class BucketCodec : public SimpleRefCount<BucketCodec>
{
  public:
    virtual ~BucketCodec() = default;

    /** @return the phases of every exchange */
    virtual std::vector<BucketPhase> GetPhases() const = 0;

    /**
     * Begins an exchange.
     * @param gradient the bucket of this rank
     * @param key of this coding
     * @throw CodecError if a number cannot be coded
     */
    virtual void Start(const float* gradient, const CodecKey& key) = 0;

    /** @return what this rank gives to the next phase */
    const BucketPart& GetPart() const
    {
        return m_part;
    }

    /**
     * Ends a phase.
     * @param result of the phase
     * @throw CodecError if a code is not one that an encoder writes
     */
    virtual void Continue(const BucketResult& result) = 0;

    /** @return after the last phase: the sum over all ranks, as decoded; equal at all */
    const std::vector<float>& GetSum() const
    {
        return m_sum;
    }

    /** @return after the last phase: this rank's share of the sum, as decoded */
    const std::vector<float>& GetOwn() const
    {
        return m_own;
    }

  protected:
    /** @param numbers of the next phase */
    void SetPart(std::vector<float> numbers);

    /** @param code of the next phase */
    void SetPart(std::vector<uint8_t> code);

    std::vector<float> m_sum; ///< see GetSum()
    std::vector<float> m_own; ///< see GetOwn()

  private:
    BucketPart m_part; // of the next phase
};

/**
 * @ingroup distributed-training-codec
 *
 * Sums codes that each rank decodes for itself: all codes reach all ranks, which add in the order
 * of ranks.
 */
class GatheringBucket final : public BucketCodec
{
  public:
    /**
     * @param codec of the numbers
     * @param request the exchange
     */
    GatheringBucket(Ptr<const GradientCodec> codec, const BucketRequest& request);

    std::vector<BucketPhase> GetPhases() const override;
    void Start(const float* gradient, const CodecKey& key) override;
    void Continue(const BucketResult& result) override;

  private:
    Ptr<const GradientCodec> m_codec;
    BucketRequest m_request;
    CodecKey m_key; // of the coding
};

/**
 * @ingroup distributed-training-codec
 * @param spec `NAME` or `NAME:key=value,...`
 * @param request the exchange
 * @return codec of one rank and bucket: that of the entry, or a GatheringBucket
 * @throw ConfigurationError if there is no such codec, or a value is not allowed
 */
Ptr<BucketCodec> MakeBucketCodec(const std::string& spec, const BucketRequest& request);

/**
 * @ingroup distributed-training-codec
 * Adds up the numbers of all ranks. (numbers by rank, whether they are whole numbers) Returns the
 * sum of each rank, or a single one for all.
 */
using BucketAdder =
    std::function<std::vector<std::vector<float>>(const std::vector<std::vector<float>>&, bool)>;

/**
 * @ingroup distributed-training-codec
 * Runs an exchange in memory: the reference of one over a network.
 * @param codecs by rank
 * @param gradients by rank
 * @param key of the coding; its rank is set
 * @param add order of additions; empty: that of the ranks
 * @throw CodecError if a number cannot be coded
 */
void ExchangeBuckets(const std::vector<Ptr<BucketCodec>>& codecs,
                     const std::vector<std::vector<float>>& gradients,
                     CodecKey key,
                     const BucketAdder& add = nullptr);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUCKET_CODEC_H
