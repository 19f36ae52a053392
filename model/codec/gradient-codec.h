/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_CODEC_H
#define DISTRIBUTED_TRAINING_GRADIENT_CODEC_H

#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/training-key-values.h"
#include "ns3/training-mix-bits.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-codec Gradient codecs
 *
 * Codes of gradients: real bits out, and the error that they make. No network.
 */
namespace ns3::training
{

/// Size of a number before it is coded, bytes.
constexpr uint64_t FLOAT_BYTES = sizeof(float);

/**
 * @ingroup distributed-training-codec
 * A number that a codec cannot code, or a code that no encoder makes. One line.
 */
class CodecError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/**
 * @ingroup distributed-training-codec
 *
 * What the random numbers of one coding depend on. They come from a counter, so coding the same
 * numbers again (a retransmission, the reference of a verification) gives the same code. The reader
 * of a code needs the key with which it was written.
 */
struct CodecKey
{
    uint64_t seed{1};      ///< of the run
    uint32_t rank{0};      ///< that codes
    uint32_t iteration{0}; ///< of the training
    uint64_t tensor{0};    ///< bucket; in a NIC the message
    uint64_t first{0};     ///< index of the first number in the tensor

    /** @return the key that all ranks share, for random choices in which they must agree */
    CodecKey GetShared() const;
};

/**
 * @ingroup distributed-training-codec
 * The random numbers of one coding, in any order.
 */
class CodecRandom
{
  public:
    /**
     * @param key of the coding
     * @param stream tells the uses of one key apart
     */
    explicit CodecRandom(const CodecKey& key, uint64_t stream = 0);

    /**
     * @param index of a number after the key's first one
     * @return 64 random bits
     */
    uint64_t GetBits(uint64_t index) const
    {
        return MixBits(m_base ^ (m_first + index));
    }

    /**
     * @param index of a number after the key's first one
     * @return uniform in [0, 1), a multiple of 2^-53
     */
    double GetUniform(uint64_t index) const
    {
        return static_cast<double>(GetBits(index) >> 11) * 0x1p-53;
    }

  private:
    uint64_t m_base;
    uint64_t m_first;
};

/**
 * @ingroup distributed-training-codec
 * What may be done with a codec's codes.
 */
struct CodecTraits
{
    bool sums{false};        ///< whether Add() sums codes without decoding them
    bool elementwise{false}; ///< whether a number's decoded value depends on that number alone
    bool fixedSize{false};   ///< whether the count of numbers alone determines the size of the code
    bool unbiased{false};    ///< whether the mean of the decoded values is the coded value
    bool random{false};      ///< whether a code depends on the CodecKey
    uint32_t block{1};       ///< numbers coded together; 0: all of a tensor
};

/**
 * @ingroup distributed-training-codec
 * Numbers that a codec codes alike.
 */
struct CodecClass
{
    std::string name;  ///< such as "16 bits"
    double bits;       ///< of each such number, what it shares with others included
    uint64_t count{0}; ///< numbers in this class
};

/**
 * @ingroup distributed-training-codec
 *
 * Codes float32 gradients in fewer bits: a pure function, without state and without a network.
 * Codes are bytes, least significant bit and byte first; they carry neither the count of numbers
 * nor the key.
 */
class GradientCodec : public SimpleRefCount<GradientCodec>
{
  public:
    virtual ~GradientCodec() = default;

    /** @return what may be done with the codes */
    virtual CodecTraits GetTraits() const = 0;

    /**
     * @param values the numbers
     * @param count of the numbers, may be 0
     * @param key of this coding
     * @param code receives the code in place of what it held
     * @throw CodecError if a number cannot be coded, such as an infinity by most codecs
     */
    virtual void Encode(const float* values,
                        uint64_t count,
                        const CodecKey& key,
                        std::vector<uint8_t>& code) const = 0;

    /**
     * @param code what Encode() wrote
     * @param bytes of the code
     * @param key of the coding
     * @param values receives the numbers
     * @param count of the numbers, as at Encode()
     * @throw CodecError if no numbers have this code; what `values` then holds is undefined
     */
    virtual void Decode(const uint8_t* code,
                        uint64_t bytes,
                        const CodecKey& key,
                        float* values,
                        uint64_t count) const = 0;

    /**
     * @return whether GetCodedBytes() knows the size without the numbers: it is fixed, or the user
     *         has declared it by `ratio=` or by shares of classes
     */
    virtual bool HasCodedBytes() const
    {
        return GetTraits().fixedSize;
    }

    /**
     * Size of a code of virtual payload. Integer arithmetic, for each packet.
     * @param count of numbers
     * @return size of their code, bytes
     * @pre HasCodedBytes()
     */
    virtual uint64_t GetCodedBytes(uint64_t count) const = 0;

    /**
     * Adds a code to a sum of codes, as a switch or NIC without a decoder does. Only if the codes
     * can be summed.
     * @param sum code of the sum so far, receives the new one
     * @param code a code of as many numbers
     * @param bytes of each
     * @return false if a sum is out of range, although its addends are not
     */
    virtual bool Add(uint8_t* sum, const uint8_t* code, uint64_t bytes) const;

    /**
     * Bound of the error of a sum that is coded on its way.
     * @param largest magnitude of an addend
     * @param codings of addends and partial sums that enter one sum: for n addends in a ring, in a
     *        tree or by an all-gather at most n
     * @param addends number of addends, summed in float32
     * @return bound of |coded sum - exact sum|; infinite if the codec has none
     */
    virtual double GetErrorBound([[maybe_unused]] double largest,
                                 [[maybe_unused]] uint32_t codings,
                                 [[maybe_unused]] uint32_t addends) const
    {
        return std::numeric_limits<double>::infinity();
    }

    /** @return error of one number that the codec is named by, held or not; infinite: none */
    virtual double GetNamedError() const
    {
        return std::numeric_limits<double>::infinity();
    }

    /**
     * @param values the numbers
     * @param count of the numbers
     * @return all classes of the codec, with the counts of these numbers; none if all numbers are
     *         coded alike
     */
    virtual std::vector<CodecClass> CountClasses([[maybe_unused]] const float* values,
                                                 [[maybe_unused]] uint64_t count) const
    {
        return {};
    }

    /**
     * Replaces numbers by what their receiver decodes.
     * @param values the numbers
     * @param count of the numbers
     * @param key of the coding
     * @return size of their code, bytes
     * @throw CodecError as Encode()
     */
    uint64_t RoundTrip(float* values, uint64_t count, const CodecKey& key) const;
};

/**
 * @ingroup distributed-training-codec
 * @param largest magnitude of an addend
 * @param addends number of addends
 * @return bound of the rounding of their sum in float32, in any order: largest n ((1 + 2^-24)^(n-1)
 *         - 1)
 */
double GetFloatSumError(double largest, uint32_t addends);

/**
 * @ingroup distributed-training-codec
 * Time that a codec takes for each number, ns.
 */
struct CodecTime
{
    double encode; ///< from numbers to code
    double decode; ///< from code to numbers
};

/**
 * @ingroup distributed-training-codec
 * Published times of a codec by the place where it runs; none: not published.
 */
struct CodecCost
{
    std::optional<CodecTime> gpu{}; ///< of a GPU
    std::optional<CodecTime> cpu{}; ///< of one core of a CPU
    std::optional<CodecTime> nic{}; ///< of an engine in a NIC
    std::string source{};           ///< where the times come from, and for which device
};

/**
 * @ingroup distributed-training-codec
 * Cost on a GPU as measured by GRACE (Xu et al., ICDCS 2021): TensorFlow on V100s, ResNet-50, 8
 * workers. A worker encodes once, and decodes 8 codes or their sum; its time is split evenly among
 * these.
 * @param time of a worker, ns for each number; 0: below the noise
 * @param decodings of a worker: 8, or 1 if codes are summed
 * @param what it was measured on, if not on the codec itself
 * @return the cost
 */
CodecCost MakeGraceCost(double time, uint32_t decodings = 8, const std::string& what = "");

/**
 * @ingroup distributed-training-codec
 * @param ratio of the data to its code
 * @param bandwidth of the memory, bytes/s
 * @return least time to encode or decode a number, which memory limits: 4 (1 + 1 / ratio) bytes, ns
 */
double GetMemoryTime(double ratio, double bandwidth);

class BucketCodec;
struct BucketRequest;

/**
 * @ingroup distributed-training-codec
 * A named codec, in Registry<CodecEntry>.
 */
struct CodecEntry
{
    static constexpr const char* KIND = "codec"; ///< for messages
    std::string help;                            ///< one line
    std::vector<Key> keys;                       ///< its keys
    /// Creates the codec from checked keys; null: it codes buckets only.
    Ptr<GradientCodec> (*make)(const KeyValues& keys);
    CodecCost cost{}; ///< its time
    /// Creates the codec of one rank and bucket; null: the ranks gather codes (GatheringBucket).
    Ptr<BucketCodec> (*makeBucket)(const KeyValues& keys, const BucketRequest& request){nullptr};
};

/**
 * @ingroup distributed-training-codec
 * @param spec `NAME` or `NAME:key=value,...`
 * @return the codec
 * @throw ConfigurationError if there is no such codec, if it codes buckets only, or if a value is
 *        not allowed
 */
Ptr<GradientCodec> MakeCodec(const std::string& spec);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_CODEC_H
