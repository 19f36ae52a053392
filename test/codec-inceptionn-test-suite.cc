/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-test-common.h"
#include "codec/inceptionn-codec.h"
#include "inceptionn-vectors.h"

#include "ns3/training-float-bits.h"

#include <array>
#include <boost/crc.hpp>

namespace ns3::training::tests::codec_inceptionn_test
{

constexpr std::array<uint32_t, 3> LEVELS{6, 8, 10};
constexpr std::array<const char*, 3> VARIANTS{"paper", "bounded", "grace"};

/** @return the codec of a bound and a variant */
Ptr<InceptionnCodec>
MakeInceptionn(uint32_t level, const std::string& variant)
{
    return DynamicCast<InceptionnCodec>(
        MakeCodec("inceptionn:bound=-" + std::to_string(level) + ",variant=" + variant));
}

/** @return bytes in hexadecimal */
std::string
ToHex(const std::vector<uint8_t>& bytes)
{
    std::string text;
    for (const uint8_t byte : bytes)
    {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

/** @return float32 in hexadecimal */
std::string
ToHex(const std::vector<float>& values)
{
    std::string text;
    for (const float value : values)
    {
        const uint32_t bits = ToBits(value);
        text += ToHex(std::vector<uint8_t>{static_cast<uint8_t>(bits >> 24),
                                           static_cast<uint8_t>(bits >> 16),
                                           static_cast<uint8_t>(bits >> 8),
                                           static_cast<uint8_t>(bits)});
    }
    return text;
}

/** @return float32 from hexadecimal */
std::vector<float>
ToFloats(const std::string& text)
{
    std::vector<float> values;
    for (std::size_t at = 0; at < text.size(); at += 8)
    {
        values.push_back(
            ToFloat(static_cast<uint32_t>(std::stoul(text.substr(at, 8), nullptr, 16))));
    }
    return values;
}

/** @return CRC-32 of bytes */
uint32_t
GetCrc(const void* data, std::size_t bytes)
{
    boost::crc_32_type crc;
    crc.process_bytes(data, bytes);
    return crc.checksum();
}

/** @return numbers of every exponent with mantissas of few bits and random ones */
std::vector<float>
MakeAllExponents()
{
    std::vector<float> values;
    for (uint32_t exponent = 0; exponent < 255; exponent++)
    {
        for (uint32_t bit = 0; bit <= 23; bit++)
        {
            const uint32_t ones = (1U << bit) - 1;
            for (const uint32_t mantissa : {ones, 0x7fffffU ^ ones, 0x7fffffU & (1U << bit)})
            {
                values.push_back(ToFloat(exponent << 23 | mantissa));
                values.push_back(ToFloat(0x80000000U | exponent << 23 | mantissa));
            }
        }
        for (uint32_t i = 0; i < 100; i++)
        {
            const auto random = static_cast<uint32_t>(MixBits(exponent * 100 + i));
            values.push_back(ToFloat((random & 0x807fffffU) | exponent << 23));
        }
    }
    return values;
}

/** Codes and decoded numbers are those of the vectors, bit by bit. */
void
TestInceptionnVector()
{
    for (const InceptionnVector& vector : GetInceptionnVectors())
    {
        const auto codec = MakeInceptionn(std::stoul(vector.bound.substr(1)), vector.variant);
        const std::string name = vector.variant + vector.bound + ", " + vector.name;
        const std::vector<float> input = ToFloats(vector.input);
        const auto code = Encode(*codec, input);
        NS_TEST_EXPECT_MSG_EQ(ToHex(code), vector.code, name);
        NS_TEST_EXPECT_MSG_EQ(ToHex(Decode(*codec, code, input.size())), vector.decoded, name);
    }
    for (const InceptionnSegment& segment : GetInceptionnSegments())
    {
        std::vector<float> values;
        for (uint64_t i = 0; i < 362; i++)
        {
            double sum = 0;
            for (uint64_t k = 12 * i; k < 12 * (i + 1); k++)
            {
                const uint64_t state = segment.seed + k * 0x9e3779b97f4a7c15ULL;
                sum += static_cast<double>(MixBits(state) >> 40) * 0x1p-24;
            }
            values.push_back(static_cast<float>(0.01 * (sum - 6)));
        }
        NS_TEST_ASSERT_MSG_EQ(GetCrc(values.data(), 4 * values.size()),
                              segment.inputCrc,
                              "floats of seed " << segment.seed);
        const auto codec = MakeInceptionn(std::stoul(segment.bound.substr(1)), "paper");
        const auto code = Encode(*codec, values);
        NS_TEST_EXPECT_MSG_EQ(code.size(), segment.bytes, segment.bound);
        NS_TEST_EXPECT_MSG_EQ(GetCrc(code.data(), code.size()), segment.codeCrc, segment.bound);
        const auto decoded = Decode(*codec, code, values.size());
        NS_TEST_EXPECT_MSG_EQ(GetCrc(decoded.data(), 4 * decoded.size()),
                              segment.decodedCrc,
                              segment.bound);
    }
}

void
Check(uint32_t level, const std::string& variant, const std::vector<float>& values)
{
    const auto codec = MakeInceptionn(level, variant);
    const std::string name = variant + std::to_string(level);
    NS_TEST_EXPECT_MSG_EQ(codec->GetNamedError(), std::ldexp(1, -static_cast<int>(level)), name);
    const auto decoded = Decode(*codec, Encode(*codec, values), values.size());
    const auto again = Decode(*codec, Encode(*codec, decoded), values.size());
    double largest = 0;
    bool isTowardZero = true;
    bool isStable = true;
    for (std::size_t i = 0; i < values.size(); i++)
    {
        const double value = values[i];
        largest = std::max(largest, std::abs(value - decoded[i]));
        isTowardZero &= std::abs(decoded[i]) <= std::abs(values[i]) && value * decoded[i] >= 0;
        isStable &= ToBits(again[i]) == ToBits(decoded[i]);
    }
    NS_TEST_EXPECT_MSG_LT(largest, codec->GetLargestError(), name);
    NS_TEST_EXPECT_MSG_GT(largest, codec->GetLargestError() * (1 - 1e-6), name);
    // A fraction of 0 is decoded as 2^-7, which is of tag 1 with smaller bounds only.
    const bool enlarges = variant == "grace" && level != 6;
    NS_TEST_EXPECT_MSG_EQ(isTowardZero, !enlarges, name);
    NS_TEST_EXPECT_MSG_EQ(isStable, true, name);
}

/**
 * Errors of one coding: below the stated supremum, and at it. Variant bounded alone keeps the
 * bounds 2^-8 and 2^-10. Truncation goes toward zero, and coding twice changes nothing more.
 */
void
TestInceptionnError()
{
    const std::vector<float> values = MakeAllExponents();
    for (const uint32_t level : LEVELS)
    {
        for (const std::string variant : VARIANTS)
        {
            Check(level, variant, values);
        }
    }
    for (const uint32_t level : {8U, 10U})
    {
        for (const std::string broken : {"paper", "grace"})
        {
            const auto codec = MakeInceptionn(level, broken);
            NS_TEST_EXPECT_MSG_GT(codec->GetLargestError(),
                                  codec->GetNamedError(),
                                  broken << level);
        }
        const auto codec = MakeInceptionn(level, "bounded");
        NS_TEST_EXPECT_MSG_EQ(codec->GetLargestError(), codec->GetNamedError(), level);
    }
}

void
Run(const InceptionnCodec& codec,
    const std::vector<std::vector<float>>& parts,
    const std::string& name)
{
    const std::size_t count = parts[0].size();
    std::vector<float> sum = parts[0];
    for (std::size_t rank = 1; rank <= parts.size(); rank++) // the last coding is of the sum
    {
        codec.RoundTrip(sum.data(), count, {});
        for (std::size_t i = 0; rank < parts.size() && i < count; i++)
        {
            sum[i] += parts[rank][i];
        }
    }
    double largest = 0;
    double error = 0;
    for (std::size_t i = 0; i < count; i++)
    {
        double exact = 0;
        for (const auto& part : parts)
        {
            exact += part[i];
            largest = std::max<double>(largest, std::abs(part[i]));
        }
        error = std::max(error, std::abs(exact - sum[i]));
    }
    const auto ranks = static_cast<uint32_t>(parts.size());
    NS_TEST_EXPECT_MSG_LT_OR_EQ(error, codec.GetErrorBound(largest, ranks, ranks), name);
}

/** Error of sums in a ring that codes at each hop. */
void
TestInceptionnRing()
{
    constexpr uint64_t COUNT = 40000;
    constexpr double SIGMA = 1e-3;
    for (const uint32_t ranks : {1U, 2U, 3U, 7U, 16U})
    {
        for (const std::string variant : VARIANTS)
        {
            const auto codec = MakeInceptionn(10, variant);
            std::vector<std::vector<float>> parts;
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                parts.push_back(MakeNormal(COUNT, SIGMA, rank));
            }
            Run(*codec, parts, variant + std::to_string(ranks));
        }
    }
}

/** Size of codes of normal numbers against the closed form, within five standard deviations. */
void
TestInceptionnRatio()
{
    constexpr uint64_t COUNT = 80000;
    for (const uint32_t level : LEVELS)
    {
        for (const double sigma : {1e-4, 1e-3, 2e-3, 5e-3, 1e-2, 3e-2, 0.1, 1.0, 100.0})
        {
            const auto codec = MakeInceptionn(level, "paper");
            const auto values = MakeNormal(COUNT, sigma, level);
            const auto bits = 8.0 * static_cast<double>(Encode(*codec, values).size());
            const double mean = GetMeanBits(level, sigma);
            // A number takes 2 to 34 bits.
            const double deviation = std::sqrt((mean - 2) * (34 - mean) * COUNT);
            NS_TEST_EXPECT_MSG_EQ_TOL(bits, mean * COUNT, 5 * deviation + 8, sigma);

            double counted = 0;
            for (const CodecClass& one : codec->CountClasses(values.data(), COUNT))
            {
                counted += one.bits * static_cast<double>(one.count);
            }
            NS_TEST_EXPECT_MSG_EQ(counted, bits, "bits by class");
        }
    }
    // The table of the reference: bits of a number at 2^-10, and at 2^-8.
    NS_TEST_EXPECT_MSG_EQ_TOL(GetMeanBits(10, 1e-3), 4.630, 5e-4, "sigma 0.001");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetMeanBits(10, 1), 22.871, 5e-4, "sigma 1");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetMeanBits(8, 1e-2), 7.569, 5e-4, "sigma 0.01");
}

/** Declared sizes are those of codes with these shares. */
void
TestInceptionnDeclared()
{
    // The published shares of AlexNet.
    const std::string alexNet = "inceptionn:shares=74.9/3.9/21.1/0.1";
    std::vector<float> values(749, 0);
    values.insert(values.end(), 39, 0.01F);
    values.insert(values.end(), 211, 0.5F);
    values.push_back(2);
    const auto codec = MakeCodec(alexNet);
    NS_TEST_EXPECT_MSG_EQ(codec->HasCodedBytes(), true, "declared");
    for (const uint64_t thousands : {1, 2, 3, 17})
    {
        std::vector<float> all;
        for (uint64_t i = 0; i < thousands; i++)
        {
            all.insert(all.end(), values.begin(), values.end());
        }
        NS_TEST_EXPECT_MSG_EQ(codec->GetCodedBytes(all.size()),
                              Encode(*codec, all).size(),
                              thousands << " thousand numbers");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(4e9 / codec->GetCodedBytes(1000000000), 5.59, 0.005, "ratio");
    NS_TEST_EXPECT_MSG_EQ(codec->GetCodedBytes(0), 0, "no numbers");
    NS_TEST_EXPECT_MSG_EQ(codec->GetCodedBytes(1), 3, "16 bits of tags, 4 bits rounded up");
    // 5.72 bits each of 2^40.
    NS_TEST_EXPECT_MSG_EQ(codec->GetCodedBytes(uint64_t{1} << 40), 786150813860ULL, "many");

    const auto half = MakeCodec("inceptionn:ratio=2");
    NS_TEST_EXPECT_MSG_EQ(half->GetCodedBytes(1001), 2002, "half");
    const auto third = MakeCodec("inceptionn:ratio=3");
    NS_TEST_EXPECT_MSG_EQ(third->GetCodedBytes(1), 2, "4/3 bytes");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("inceptionn")->HasCodedBytes(), false, "not declared");

    const auto refuse = [](const std::string& keys) {
        return GetRefusal([&] { MakeCodec("inceptionn:" + keys); });
    };
    ExpectPart(refuse("shares=74.9/3.9/21.1/0.2"), "4 percentages that add to 100");
    ExpectPart(refuse("shares=50/50"), "'shares=50/50'");
    ExpectPart(refuse("shares=110/-10/0/0"), "'shares=110/-10/0/0'");
    ExpectPart(refuse("shares=100/0/0/0/"), "'shares=100/0/0/0/'");
    ExpectPart(refuse("shares=100/0/0/nan"), "'shares=100/0/0/nan'");
    ExpectPart(refuse("ratio=0.9"), "'ratio=0.9'");
    ExpectPart(refuse("ratio=16.1"), "'ratio=16.1'");
    ExpectPart(refuse("ratio=4,shares=100/0/0/0"), "ratio and shares");
    ExpectPart(refuse("bound=-7"), "'bound=-7'");
    ExpectPart(refuse("variant=exact"), "'variant=exact'");
    ExpectPart(GetRefusal([] { MakeCodec("zip"); }), "unknown codec 'zip' (allowed: ");
}

void
ExpectRefused(const GradientCodec& codec, const std::vector<uint8_t>& code, uint64_t count)
{
    NS_TEST_EXPECT_MSG_NE(GetCodecError([&] { Decode(codec, code, count); }),
                          "",
                          code.size() << " bytes for " << count << " numbers");
}

void
CheckDamaged(const GradientCodec& codec,
             const std::vector<uint8_t>& code,
             uint64_t count,
             bool isOneToOne)
{
    std::vector<float> decoded;
    if (GetCodecError([&] { decoded = Decode(codec, code, count); }).empty() && isOneToOne)
    {
        NS_TEST_EXPECT_MSG_EQ(ToHex(Encode(codec, decoded)), ToHex(code), "an encoder's code");
    }
}

/** What no encoder writes is refused: all that is decoded has exactly the code that was read. */
void
TestInceptionnCorrupt()
{
    for (const std::string variant : VARIANTS)
    {
        for (const uint64_t count : {1, 7, 8, 9, 31, 64, 100})
        {
            const auto codec = MakeInceptionn(10, variant);
            // Sums of two sizes, so that there are codes of every class.
            std::vector<float> values = MakeNormal(count, 0.02, 1);
            for (uint64_t i = 0; i < count; i += 3)
            {
                values[i] *= static_cast<float>(i + 1);
            }
            const auto code = Encode(*codec, values);
            for (std::size_t bytes = 0; bytes < code.size(); bytes++)
            {
                ExpectRefused(*codec, {code.begin(), code.begin() + bytes}, count);
            }
            for (const uint8_t more : {0, 255})
            {
                auto longer = code;
                longer.push_back(more);
                ExpectRefused(*codec, longer, count);
            }
            ExpectRefused(*codec, code, count + 8);
            for (std::size_t bit = 0; bit < 8 * code.size(); bit++)
            {
                auto damaged = code;
                damaged[bit / 8] ^= 1U << bit % 8;
                CheckDamaged(*codec, damaged, count, variant == "bounded");
            }
        }
    }
    for (uint64_t i = 0; i < 20000; i++) // random bytes
    {
        std::vector<uint8_t> bytes(MixBits(i) % 80);
        for (std::size_t k = 0; k < bytes.size(); k++)
        {
            bytes[k] = static_cast<uint8_t>(MixBits(i * 100 + k) & MixBits(i * 100 + k + 1));
        }
        CheckDamaged(*MakeInceptionn(8, "bounded"), bytes, MixBits(~i) % 33, true);
    }
    NS_TEST_EXPECT_MSG_EQ(Encode(*MakeInceptionn(6, "paper"), {}).size(), 0, "no numbers");
    ExpectRefused(*MakeInceptionn(6, "paper"), {0}, 0);
}

const Suite g_suite("codec-inceptionn",
                    Duration::QUICK,
                    {{"test vectors", TestInceptionnVector},
                     {"errors of one coding", TestInceptionnError},
                     {"a ring that codes at each hop", TestInceptionnRing},
                     {"size of codes of normal numbers", TestInceptionnRatio},
                     {"declared sizes", TestInceptionnDeclared},
                     {"truncated, extended and corrupt codes", TestInceptionnCorrupt}});

} // namespace ns3::training::tests::codec_inceptionn_test
