/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-test-common.h"
#include "codec/eight-bit-float.h"

#include "ns3/training-float-bits.h"

namespace ns3::training::tests::codec_float_test
{

/** @return the number of a float format's code, from its definition */
double
GetNumber(uint32_t code, int exponentBits, int mantissaBits)
{
    const int mantissa = static_cast<int>(code) & ((1 << mantissaBits) - 1);
    const int exponent = static_cast<int>(code) >> mantissaBits & ((1 << exponentBits) - 1);
    const int bias = (1 << (exponentBits - 1)) - 1;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                      : std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
    return (code >> (exponentBits + mantissaBits)) != 0 ? -magnitude : magnitude;
}

/** A float format. */
struct Format
{
    std::string name;
    int exponentBits;
    int mantissaBits;
    uint32_t largest; ///< code of the largest number
    uint32_t (*encode)(float value);
    float (*decode)(uint32_t code);
};

const std::vector<Format>&
GetFormats()
{
    static const std::vector<Format> formats{
        {"fp16",
         5,
         10,
         0x7bff,
         [](float value) { return uint32_t{ToFloat16(value)}; },
         [](uint32_t code) { return FromFloat16(static_cast<uint16_t>(code)); }},
        {"bf16",
         8,
         7,
         0x7f7f,
         [](float value) { return uint32_t{ToBfloat16(value)}; },
         [](uint32_t code) { return FromBfloat16(static_cast<uint16_t>(code)); }},
        {"e4m3",
         4,
         3,
         0x7e,
         [](float value) {
             return uint32_t{EightBitFloat::Encode(EightBitFloat::Format::E4M3, value)};
         },
         [](uint32_t code) {
             return EightBitFloat::Decode(EightBitFloat::Format::E4M3, static_cast<uint8_t>(code));
         }},
        {"e5m2",
         5,
         2,
         0x7b,
         [](float value) {
             return uint32_t{EightBitFloat::Encode(EightBitFloat::Format::E5M2, value)};
         },
         [](uint32_t code) {
             return EightBitFloat::Decode(EightBitFloat::Format::E5M2, static_cast<uint8_t>(code));
         }}};
    return formats;
}

void
Check(const Format& format)
{
    const uint32_t signBit = 1U << (format.exponentBits + format.mantissaBits);
    uint32_t wrong = 0;
    for (uint32_t code = 0; code <= format.largest; code++)
    {
        const double number = GetNumber(code, format.exponentBits, format.mantissaBits);
        for (const uint32_t sign : {0U, signBit})
        {
            const auto exact = static_cast<float>(sign != 0 ? -number : number);
            wrong += ToBits(format.decode(code | sign)) != ToBits(exact);
            wrong += format.encode(exact) != (code | sign);
        }
        if (code == format.largest)
        {
            break;
        }
        const double next = GetNumber(code + 1, format.exponentBits, format.mantissaBits);
        const auto halfway = static_cast<float>((number + next) / 2);
        if (halfway != (number + next) / 2)
        {
            continue; // below the smallest float32
        }
        wrong += format.encode(halfway) != code + (code & 1);
        wrong += format.encode(-halfway) != (signBit | (code + (code & 1)));
        wrong += format.encode(std::nextafter(halfway, 0.0F)) != code;
        wrong +=
            format.encode(std::nextafter(halfway, std::numeric_limits<float>::max())) != code + 1;
    }
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, format.name);
}

/**
 * All codes of the four formats, the numbers halfway between neighbours, and those next to these.
 */
void
TestFloatFormat()
{
    for (const Format& format : GetFormats())
    {
        Check(format);
    }
    const float infinity = std::numeric_limits<float>::infinity();
    const float none = std::numeric_limits<float>::quiet_NaN();
    NS_TEST_EXPECT_MSG_EQ(ToFloat16(65519.996F), 0x7bff, "the largest of fp16");
    NS_TEST_EXPECT_MSG_EQ(ToFloat16(65520), 0x7c00, "rounds up to infinity");
    NS_TEST_EXPECT_MSG_EQ(ToFloat16(-infinity), 0xfc00, "infinity");
    NS_TEST_EXPECT_MSG_EQ(std::isnan(FromFloat16(ToFloat16(none))), true, "NaN");
    NS_TEST_EXPECT_MSG_EQ(ToBfloat16(infinity), 0x7f80, "infinity");
    NS_TEST_EXPECT_MSG_EQ(std::isnan(FromBfloat16(ToBfloat16(ToFloat(0x7f800001)))), true, "NaN");
    using Small = EightBitFloat;
    constexpr auto E4M3 = Small::Format::E4M3;
    constexpr auto E5M2 = Small::Format::E5M2;
    NS_TEST_EXPECT_MSG_EQ(Small::GetLargest(E4M3), 448, "e4m3");
    NS_TEST_EXPECT_MSG_EQ(Small::GetLargest(E5M2), 57344, "e5m2");
    NS_TEST_EXPECT_MSG_EQ(uint32_t{Small::Encode(E4M3, 1e9F)}, 0x7e, "saturates");
    NS_TEST_EXPECT_MSG_EQ(uint32_t{Small::Encode(E5M2, -1e9F)}, 0xfb, "saturates");
    NS_TEST_EXPECT_MSG_EQ(uint32_t{Small::Encode(E4M3, -infinity)}, 0xff, "NaN");
    NS_TEST_EXPECT_MSG_EQ(uint32_t{Small::Encode(E5M2, infinity)}, 0x7c, "infinity");
    NS_TEST_EXPECT_MSG_EQ(Small::Decode(E5M2, 0xfc), -infinity, "infinity");
    for (const uint8_t code : {0x7f, 0xff})
    {
        NS_TEST_EXPECT_MSG_EQ(std::isnan(Small::Decode(E4M3, code)), true, "NaN");
        NS_TEST_EXPECT_MSG_EQ(std::isnan(Small::Decode(E5M2, code)), true, "NaN");
    }
    NS_TEST_EXPECT_MSG_EQ(std::isnan(Small::Decode(E5M2, Small::Encode(E5M2, none))), true, "NaN");
}

void
CheckRing(const std::string& spec, uint32_t ranks, double sigma)
{
    constexpr uint64_t COUNT = 1000;
    const auto codec = MakeCodec(spec);
    std::vector<float> sum(COUNT, 0);
    std::vector<double> exact(COUNT, 0);
    double largest = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const auto values = MakeNormal(COUNT, sigma, rank + 1);
        for (uint64_t i = 0; i < COUNT; i++)
        {
            sum[i] += values[i];
            exact[i] += values[i];
            largest = std::max<double>(largest, std::abs(values[i]));
        }
        CodecKey key;
        key.rank = rank;
        codec->RoundTrip(sum.data(), COUNT, key);
    }
    double error = 0;
    for (uint64_t i = 0; i < COUNT; i++)
    {
        error = std::max(error, std::abs(exact[i] - sum[i]));
    }
    const double bound = codec->GetErrorBound(largest, ranks, ranks);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(error, bound, spec << ", " << ranks << " ranks, " << sigma);
    NS_TEST_EXPECT_MSG_EQ(std::isfinite(bound), true, spec);
}

void
CheckSizes(const std::string& spec)
{
    const auto codec = MakeCodec(spec);
    for (const uint64_t count : {0, 1, 2, 3, 7, 8, 9, 255, 256, 257, 1000})
    {
        const auto values = MakeNormal(count, 1, 1);
        const auto code = Encode(*codec, values);
        if (codec->GetTraits().fixedSize)
        {
            NS_TEST_EXPECT_MSG_EQ(code.size(), codec->GetCodedBytes(count), spec << count);
        }
        auto longer = code;
        longer.push_back(0);
        NS_TEST_EXPECT_MSG_NE(GetCodecError([&] { Decode(*codec, longer, count); }),
                              "",
                              spec << ", a byte too many for " << count);
        if (count > 0)
        {
            const std::vector<uint8_t> shorter(code.begin(), code.end() - 1);
            NS_TEST_EXPECT_MSG_NE(GetCodecError([&] { Decode(*codec, shorter, count); }),
                                  "",
                                  spec << ", a byte too few for " << count);
        }
        const auto decoded = Decode(*codec, code, count);
        if (!codec->GetTraits().random)
        {
            NS_TEST_EXPECT_MSG_EQ(Encode(*codec, values), code, spec);
        }
        NS_TEST_EXPECT_MSG_EQ(decoded.size(), count, spec);
    }
}

void
CheckAdd(const std::string& spec)
{
    const auto codec = MakeCodec(spec);
    const auto a = MakeNormal(1000, 1, 1);
    const auto b = MakeNormal(1000, 1, 2);
    auto sum = Encode(*codec, a);
    const auto other = Encode(*codec, b);
    const auto first = Decode(*codec, sum, 1000);
    const auto second = Decode(*codec, other, 1000);
    NS_TEST_EXPECT_MSG_EQ(codec->Add(sum.data(), other.data(), sum.size()), true, spec);
    std::vector<float> expected(1000);
    for (uint64_t i = 0; i < 1000; i++)
    {
        expected[i] = first[i] + second[i];
    }
    codec->RoundTrip(expected.data(), 1000, {});
    NS_TEST_EXPECT_MSG_EQ(Decode(*codec, sum, 1000), expected, spec);
    const float most = spec == "fp16" ? 65504 : 0x1.fep127F;
    auto large = Encode(*codec, {most});
    NS_TEST_EXPECT_MSG_EQ(codec->Add(large.data(), large.data(), 2), false, "out of range");
    NS_TEST_EXPECT_MSG_EQ(std::isinf(codec->GetErrorBound(most, 2, 2)), true, "no bound");
}

/**
 * Codecs that round each number: sizes, bounds of sums that are coded at each hop, sums of codes.
 */
void
TestRoundingCodec()
{
    for (const std::string& spec : Split("fp16|fp16:scale=16|bf16|fp8|fp8:format=e5m2,block=7|"
                                         "block-float|block-float:bits=2,block=32|"
                                         "block-float:bits=24,block=1|int4|int4:block=7|int8|"
                                         "int8:block=0|natural|top-k:keep=0.1|"
                                         "threshold:limit=0.01|omnireduce:block=4|truncation|"
                                         "truncation:drop=1|truncation:drop=22|"
                                         "truncation:drop=24|inceptionn:variant=bounded"))
    {
        for (const uint32_t ranks : {1U, 2U, 3U, 7U})
        {
            for (const double sigma : {1e-40, 1e-6, 1e-2, 30.0})
            {
                CheckRing(spec, ranks, sigma);
            }
        }
        CheckSizes(spec);
    }
    for (const std::string spec : {"fp16", "bf16"})
    {
        CheckAdd(spec);
    }
}

/** Definitions number by number. */
void
TestRoundingDefinition()
{
    // E = 3 for 8.5, so a mantissa of 4 bits has steps of 2^(3 + 2 - 4).
    const std::vector<float> values{8.5F, -1, 1, 3, 5, -7.1F, 15.9F, -15.9F};
    const auto blocks = MakeCodec("block-float:bits=4,block=8");
    const std::vector<float> expected{8, 0, 0, 4, 4, -8, 14, -16};
    NS_TEST_EXPECT_MSG_EQ(Decode(*blocks, Encode(*blocks, values), 8),
                          expected,
                          "ties to even; 7 is the largest mantissa");
    NS_TEST_EXPECT_MSG_EQ(Encode(*blocks, values).size(), 5, "8 bits and 8 times 4");

    const auto whole = MakeCodec("int8:block=0");
    const std::vector<float> steps{127, -126, 0.5F, 1.5F, -2.4F, 0};
    const std::vector<float> rounded{127, -126, 0, 2, -2, 0};
    NS_TEST_EXPECT_MSG_EQ(Decode(*whole, Encode(*whole, steps), 6), rounded, "steps of 1");
    const auto few = MakeCodec("int4:block=6");
    const std::vector<float> large{-7, 6, 0.5F, 1.5F, -2.4F, 0, 0, 0, 0};
    const std::vector<float> halves{-7, 6, 0, 2, -2, 0, 0, 0, 0};
    NS_TEST_EXPECT_MSG_EQ(Decode(*few, Encode(*few, large), 9),
                          halves,
                          "steps of 1, and a block of zeros");
    NS_TEST_EXPECT_MSG_EQ(Encode(*few, large).size(), 13, "two scales and nine halves");

    const auto dropped = MakeCodec("truncation:drop=16");
    const std::vector<float> some{1.5F, -3.14159274F, 1e-30F};
    const auto cut = Decode(*dropped, Encode(*dropped, some), 3);
    for (std::size_t i = 0; i < some.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(ToBits(cut[i]), (ToBits(some[i]) & 0xffff0000), "upper half");
    }

    // The largest number of a block becomes the largest number of the format.
    const auto small = MakeCodec("fp8:block=4");
    const std::vector<float> scaled{7, 3.5F, -7, 0};
    NS_TEST_EXPECT_MSG_EQ(Decode(*small, Encode(*small, scaled), 4),
                          scaled,
                          "powers of two of the largest");

    for (const std::string& spec : Split("fp8|block-float|int4|int8|qsgd|terngrad|natural|"
                                         "signsgd|1-bit|ef-sign|top-k|threshold"))
    {
        const auto codec = MakeCodec(spec);
        for (const float bad : {std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()})
        {
            ExpectPart(GetCodecError([&] {
                           Encode(*codec, {1, bad, 1});
                       }),
                       std::isnan(bad) ? "number 1 is not a number" : "number 1 is infinite");
        }
    }
    ExpectPart(GetCodecError([] { Encode(*MakeCodec("natural"), {0x1.8p127F}); }), "2^127");
    const auto bad = Split("fp16:scale=3|fp16:scale=0|fp8:format=e3m4|"
                           "fp8:block=0|block-float:bits=1|qsgd:levels=0|"
                           "truncation:drop=25|top-k:keep=0|top-k:keep=2|"
                           "threshold:limit=0|threshold:ratio=0.4");
    for (const std::string& spec : bad)
    {
        ExpectPart(GetRefusal([&] { MakeCodec(spec); }), "(allowed: ");
    }
    ExpectPart(GetRefusal([] { MakeCodec("powersgd"); }), "codes whole buckets");
}

const Suite g_suite("codec-float",
                    Duration::QUICK,
                    {{"all codes of float formats", TestFloatFormat},
                     {"errors of rounded sums", TestRoundingCodec},
                     {"values of rounding codecs", TestRoundingDefinition}});

} // namespace ns3::training::tests::codec_float_test
