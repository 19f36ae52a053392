/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/inceptionn-codec.h"

#include "codec/codec-bit-stream.h"

#include "ns3/abort.h"
#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::training
{

namespace
{

constexpr uint32_t BIAS = 127;         // of an exponent field
constexpr uint32_t MANTISSA_BITS = 23; // of a float32
constexpr uint32_t TAG_BITS = 16;      // of a group
constexpr uint32_t MAX_GROUP_BYTES = (TAG_BITS + 32 * InceptionnCodec::GROUP) / 8;

constexpr std::array<uint32_t, InceptionnCodec::TAGS> SIGN_BIT{0, 7, 15, 31};
constexpr std::array<uint32_t, InceptionnCodec::TAGS> MAGNITUDE{0, 0x7f, 0x7fff, 0x7fffffff};

/** @return what a reader of no such code reports */
CodecError
MakeError(uint64_t bytes, uint64_t count, const std::string& what)
{
    return CodecError("inceptionn: a code of " + std::to_string(bytes) + " bytes for " +
                      std::to_string(count) + " numbers " + what);
}

} // namespace

InceptionnCodec::InceptionnCodec(uint32_t level, Variant variant, const DeclaredSize& declared)
    : m_bound(BIAS - level),
      m_middle(BIAS - level / 2),
      m_fraction(variant == Variant::BOUNDED ? 7 + level / 2
                 : variant == Variant::GRACE ? 6
                                             : 7),
      m_declared(declared)
{
    NS_ABORT_MSG_UNLESS(level == 6 || level == 8 || level == 10, "no such bound");
    const uint32_t fraction16 = variant == Variant::GRACE ? 14 : 15;
    // A shift of 31 and more leaves nothing of 24 bits.
    constexpr uint32_t NOTHING = BIAS + 64;
    m_shift = {NOTHING,
               BIAS + MANTISSA_BITS - m_fraction,
               BIAS + MANTISSA_BITS - fraction16,
               NOTHING + 256};
    const auto scale = [](uint32_t exponentField, uint32_t fraction) { // to a fraction's integer
        const int power = static_cast<int>(exponentField + fraction) - static_cast<int>(BIAS);
        return static_cast<uint32_t>(std::ldexp(1, power)); // 0 below the last bit
    };
    m_least = {0, scale(m_bound, m_fraction), scale(m_middle, fraction16), BIAS << MANTISSA_BITS};
    m_span = {0,
              scale(m_middle, m_fraction) - 1 - m_least[1],
              scale(BIAS, fraction16) - 1 - m_least[2],
              MAGNITUDE[3] - m_least[3]};
    m_unit = {0,
              std::ldexp(1.0F, -static_cast<int>(m_fraction)),
              std::ldexp(1.0F, -static_cast<int>(fraction16)),
              0};
    m_ofZero = {0, variant == Variant::GRACE ? ToBits(0x1p-7F) : 0, 0, 0};
}

CodecTraits
InceptionnCodec::GetTraits() const
{
    CodecTraits traits;
    traits.elementwise = true;
    return traits;
}

uint32_t
InceptionnCodec::GetTag(uint32_t bits) const
{
    const uint32_t exponent = bits >> MANTISSA_BITS & 0xff;
    return uint32_t{exponent >= m_bound} + uint32_t{exponent >= m_middle} +
           uint32_t{exponent >= BIAS};
}

void
InceptionnCodec::Encode(const float* values,
                        uint64_t count,
                        const CodecKey&,
                        std::vector<uint8_t>& code) const
{
    code.resize((count + GROUP - 1) / GROUP * MAX_GROUP_BYTES + BIT_STREAM_SLACK);
    BitWriter writer(code.data());
    for (uint64_t at = 0; at < count; at += GROUP)
    {
        std::array<uint32_t, GROUP> group{}; // zeros have tag 0
        std::memcpy(group.data(), values + at, std::min<uint64_t>(GROUP, count - at) * 4);
        std::array<uint32_t, GROUP> tag;
        uint32_t tags = 0;
        for (uint32_t i = 0; i < GROUP; i++)
        {
            tag[i] = GetTag(group[i]);
            tags |= tag[i] << (2 * i);
        }
        writer.Put(tags, TAG_BITS);
        for (uint32_t i = 0; i < GROUP; i++)
        {
            const uint32_t bits = group[i];
            const uint32_t kind = tag[i];
            const uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
            const uint32_t exponent = bits >> MANTISSA_BITS & 0xff;
            const uint32_t fraction = mantissa >> std::min(m_shift[kind] - exponent, 31U);
            const uint32_t sign = (bits >> 31 << SIGN_BIT[kind]) & -uint32_t{kind != 0};
            const uint32_t raw = bits & -uint32_t{kind == 3};
            writer.Put(fraction | sign | raw, CODE_BITS[kind]);
        }
    }
    code.resize(writer.Finish() - code.data());
}

const uint8_t*
InceptionnCodec::DecodeGroup(const uint8_t* code,
                             uint32_t& bit,
                             float* values,
                             uint32_t count,
                             uint32_t& wrong) const
{
    BitReader reader(code);
    reader.Get(bit);
    const auto tags = static_cast<uint32_t>(reader.Get(TAG_BITS));
    std::array<uint32_t, GROUP> group;
    for (uint32_t i = 0; i < GROUP; i++)
    {
        const uint32_t kind = tags >> (2 * i) & 3;
        const auto field = static_cast<uint32_t>(reader.Get(CODE_BITS[kind]));
        const uint32_t magnitude = field & MAGNITUDE[kind];
        wrong |= uint32_t{magnitude - m_least[kind] > m_span[kind]};
        const uint32_t fixed =
            magnitude == 0
                ? m_ofZero[kind]
                : ToBits(static_cast<float>(static_cast<int32_t>(magnitude)) * m_unit[kind]);
        const uint32_t sign = (field >> SIGN_BIT[kind] << 31) & -uint32_t{fixed != 0};
        group[i] = kind == 3 ? field : fixed | sign;
    }
    wrong |= count < GROUP ? tags >> (2 * count) : 0;
    std::memcpy(values, group.data(), count * sizeof(float));
    bit = reader.GetPosition() % 8;
    return code + reader.GetPosition() / 8;
}

void
InceptionnCodec::Decode(const uint8_t* code,
                        uint64_t bytes,
                        const CodecKey&,
                        float* values,
                        uint64_t count) const
{
    // A group may be read whole while this many bytes are left; the last ones are read from a copy.
    constexpr uint64_t READ = MAX_GROUP_BYTES + 1 + BIT_STREAM_SLACK;
    std::array<uint8_t, 2 * READ> last{};
    const uint8_t* from = code;
    const uint8_t* end = code + bytes;
    uint32_t bit = 0; // of the first byte that is not yet read
    uint32_t wrong = 0;
    for (uint64_t at = 0; at < count; at += GROUP)
    {
        if (from != end && static_cast<uint64_t>(end - from) < READ && end == code + bytes)
        {
            const auto left = static_cast<uint64_t>(end - from);
            std::memcpy(last.data(), from, left);
            from = last.data();
            end = from + left;
        }
        if (from >= end)
        {
            throw MakeError(bytes, count, "ends after " + std::to_string(at) + " of them");
        }
        const auto size = static_cast<uint32_t>(std::min<uint64_t>(GROUP, count - at));
        from = DecodeGroup(from, bit, values + at, size, wrong);
        if (from + (bit > 0) > end)
        {
            throw MakeError(bytes,
                            count,
                            "ends within numbers " + std::to_string(at) + " to " +
                                std::to_string(at + size - 1));
        }
    }
    if (from + (bit > 0) != end)
    {
        throw MakeError(bytes, count, "is too long");
    }
    if (wrong != 0 || (bit > 0 && *from >> bit != 0))
    {
        throw MakeError(bytes, count, "is not one that the encoder writes");
    }
}

bool
InceptionnCodec::HasCodedBytes() const
{
    return m_declared.IsDeclared();
}

uint64_t
InceptionnCodec::GetCodedBytes(uint64_t count) const
{
    return m_declared.GetBytes(count);
}

double
InceptionnCodec::GetNamedError() const
{
    return std::ldexp(1, static_cast<int>(m_bound) - static_cast<int>(BIAS));
}

double
InceptionnCodec::GetLargestError() const
{
    return std::max<double>(GetNamedError(), m_unit[1]);
}

double
InceptionnCodec::GetErrorBound(double largest, uint32_t codings, uint32_t addends) const
{
    // Variant grace may enlarge a number, and with it the sums that are rounded.
    return codings * GetLargestError() + GetFloatSumError(largest + GetLargestError(), addends);
}

std::array<uint64_t, InceptionnCodec::TAGS>
InceptionnCodec::CountTags(const float* values, uint64_t count) const
{
    std::array<uint64_t, TAGS> tags{};
    for (uint64_t i = 0; i < count; i++)
    {
        tags[GetTag(ToBits(values[i]))]++;
    }
    return tags;
}

std::vector<CodecClass>
InceptionnCodec::CountClasses(const float* values, uint64_t count) const
{
    const std::array<uint64_t, TAGS> tags = CountTags(values, count);
    std::vector<CodecClass> classes;
    for (uint32_t tag = 0; tag < TAGS; tag++)
    {
        classes.push_back({std::to_string(CODE_BITS[tag]) + " bits",
                           static_cast<double>(CODE_BITS[tag]) + double{TAG_BITS} / GROUP,
                           tags[tag]});
    }
    return classes;
}

namespace
{

Ptr<GradientCodec>
MakeInceptionn(const KeyValues& keys)
{
    const std::string& variant = keys.GetText("variant");
    DeclaredSize declared(keys);
    if (keys.Has("shares"))
    {
        if (declared.IsDeclared())
        {
            throw ConfigurationError("codec '" + keys.GetSpelling() +
                                     "': ratio and shares both declare the size (allowed: one)");
        }
        constexpr auto& BITS = InceptionnCodec::CODE_BITS;
        declared = DeclaredSize(DeclaredSize::ParseShares(keys.GetText("shares")).value(),
                                {BITS.begin(), BITS.end()},
                                InceptionnCodec::GROUP,
                                TAG_BITS);
    }
    const auto level = static_cast<uint32_t>(-std::stoi(keys.GetText("bound")));
    return Create<InceptionnCodec>(level,
                                   variant == "bounded" ? InceptionnCodec::Variant::BOUNDED
                                   : variant == "grace" ? InceptionnCodec::Variant::GRACE
                                                        : InceptionnCodec::Variant::PAPER,
                                   declared);
}

const Registry<CodecEntry>::Entry g_inceptionn(
    "inceptionn",
    {"INCEPTIONN: 0, 8, 16 or 32 bits and a tag, by magnitude",
     {Key::Word("bound", "-10", {"-6", "-8", "-10"}, "power of two below which numbers are 0"),
      Key::Word("variant",
                "paper",
                {"paper", "bounded", "grace"},
                "weight of the last bit; only bounded keeps the error below every bound"),
      DeclaredSize::MakeSharesKey(InceptionnCodec::TAGS,
                                  "declared shares of numbers with 0, 8, 16 and 32 bits, for "
                                  "payload without numbers"),
      DeclaredSize::MakeRatioKey(32.0 / 34, 16)},
     &MakeInceptionn,
     // 8 floats a cycle of 100 MHz; GRACE's emulation on TensorFlow: T(N) = encode + N decode with
     // T(2) = 17.6 and T(8) = 57 ns.
     {CodecTime{4.5, 6.6},
      std::nullopt,
      CodecTime{1.25, 1.25},
      "GPU: emulation of GRACE on a V100, from its data for 2 and 8 workers. NIC: 8 lanes at 100 "
      "MHz (INCEPTIONN, 256-bit data path)"}});

} // namespace

} // namespace ns3::training
