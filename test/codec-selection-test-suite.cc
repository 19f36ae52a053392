/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-test-common.h"

#include <set>

namespace ns3::training::tests::codec_selection_test
{

/** rank */

void
Check(const std::string& spec, const std::vector<float>& values, double variance)
{
    constexpr uint32_t TRIALS = 4000;
    const auto codec = MakeCodec(spec);
    NS_TEST_EXPECT_MSG_EQ(codec->GetTraits().unbiased, true, spec);
    NS_TEST_EXPECT_MSG_EQ(codec->GetTraits().random, true, spec);
    std::vector<double> sum(values.size(), 0);
    std::vector<double> squares(values.size(), 0);
    double error = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++)
    {
        CodecKey key;
        key.iteration = trial;
        const auto decoded = Decode(*codec, Encode(*codec, values, key), values.size(), key);
        for (std::size_t i = 0; i < values.size(); i++)
        {
            const double difference = double{decoded[i]} - values[i];
            sum[i] += difference;
            squares[i] += difference * difference;
            error += difference * difference;
        }
    }
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); i++)
    {
        worst = std::max(worst, std::abs(sum[i]) / std::sqrt(squares[i] + 1e-30));
    }
    // The largest of 64 standard normal numbers: above 5 once in 27,000 such tests.
    NS_TEST_EXPECT_MSG_LT(worst, 5, spec);
    NS_TEST_EXPECT_MSG_LT(error / TRIALS, variance * 1.05, spec);
    NS_TEST_EXPECT_MSG_GT(error, 0, spec);
}

/**
 * Unbiased codecs: means by z-test, variances below the published bounds, values that may occur.
 */
void
TestUnbiased()
{
    constexpr uint64_t COUNT = 64;
    const auto values = MakeNormal(COUNT, 0.01, 5);
    const double squares = GetSquares(values);
    double largest = 0;
    for (const float value : values)
    {
        largest = std::max<double>(largest, std::abs(value));
    }
    const double d = COUNT;
    // E err^2 <= min(d / s^2, sqrt(d) / s) norm^2
    Check("qsgd:levels=4,block=0", values, std::min(d / 16, std::sqrt(d) / 4) * squares);
    Check("qsgd:levels=127,block=16", values, 16.0 / (127 * 127) * squares);
    Check("terngrad:clip=0", values, largest * std::sqrt(d * squares));
    Check("natural", values, squares / 8);
    Check("random-k:keep=0.25", values, 3 * squares); // (n/k - 1) norm^2
}

void
ExpectDecoded(const std::string& spec,
              const std::vector<float>& values,
              const std::vector<float>& expected)
{
    const auto codec = MakeCodec(spec);
    const auto decoded = Decode(*codec, Encode(*codec, values), values.size());
    NS_TEST_EXPECT_MSG_EQ(GetDistance(decoded, expected), 0, spec);
}

void
CheckRandomSets()
{
    const auto codec = MakeCodec("random-k:keep=0.3,scaled=false");
    const std::vector<float> ones(10, 1);
    std::vector<uint32_t> chosen(10, 0);
    std::set<std::vector<float>> sets;
    constexpr uint32_t TRIALS = 12000;
    for (uint32_t i = 0; i < TRIALS; i++)
    {
        CodecKey key;
        key.iteration = i;
        CodecKey other = key;
        other.rank = 7;
        const auto decoded = Decode(*codec, Encode(*codec, ones, key), 10, other);
        NS_TEST_ASSERT_MSG_EQ(GetSquares(decoded), 3, "as many as wanted, at all ranks");
        std::transform(decoded.begin(),
                       decoded.end(),
                       chosen.begin(),
                       chosen.begin(),
                       std::plus<>());
        sets.insert(decoded);
    }
    NS_TEST_EXPECT_MSG_EQ(sets.size(), 120, "all sets of 3 of 10");
    for (const uint32_t times : chosen)
    {
        const double deviation = std::sqrt(TRIALS * 0.3 * 0.7);
        NS_TEST_EXPECT_MSG_EQ_TOL(times, 0.3 * TRIALS, 5 * deviation, "equally often");
    }
}

void
CheckCorrupt()
{
    const auto specs = Split("top-k:keep=0.2|top-k:keep=0.2,indices=packed|"
                             "top-k:keep=0.2,indices=bitmap|threshold:limit=1|"
                             "omnireduce:block=4|qsgd:levels=4|terngrad|natural|"
                             "int4|int8|fp8|1-bit|ef-sign|block-float");
    for (const std::string& spec : specs)
    {
        const auto codec = MakeCodec(spec);
        const auto values = MakeNormal(50, 1, 2);
        const auto code = Encode(*codec, values);
        uint32_t refused = 0;
        for (std::size_t bit = 0; bit < 8 * code.size(); bit++)
        {
            auto damaged = code;
            damaged[bit / 8] ^= 1U << bit % 8;
            refused += !GetCodecError([&] { Decode(*codec, damaged, 50); }).empty();
        }
        auto full = code;
        std::fill(full.begin(), full.end(), 0xff);
        refused += !GetCodecError([&] { Decode(*codec, full, 50); }).empty();
        NS_TEST_EXPECT_MSG_GT(refused, 0, spec);
    }
}

/** Codes of one rank by their definitions. */
void
TestSelection()
{
    const std::vector<float> values{3, -1, 0, -5, 1, 1};
    ExpectDecoded("signsgd:step=2", values, {2, -2, 2, -2, 2, 2});
    ExpectDecoded("1-bit", values, {1.25F, -3, 1.25F, -3, 1.25F, 1.25F});
    ExpectDecoded("ef-sign", {3, -1, 0, -4}, {2, -2, 2, -2});
    ExpectDecoded("1-bit", {-2, -4}, {-3, -3});
    for (const std::string indices : {"words", "packed", "bitmap"})
    {
        // Of the three 1, two of which are kept, those with the lower indices.
        ExpectDecoded("top-k:keep=0.67,indices=" + indices, values, {3, -1, 0, -5, 1, 0});
        ExpectDecoded("top-k:keep=0.01,indices=" + indices, values, {0, 0, 0, -5, 0, 0});
        ExpectDecoded("top-k:keep=1,indices=" + indices, values, values);
        ExpectDecoded("top-k:keep=1,indices=" + indices, {}, {});
    }
    ExpectDecoded("threshold:limit=1.5", values, {3, 0, 0, -5, 0, 0});
    ExpectDecoded("threshold:limit=9", values, {0, 0, 0, 0, 0, 0});
    ExpectDecoded("qsgd:levels=1", {0, 0, 0}, {0, 0, 0});
    ExpectDecoded("terngrad", {2, 2, -2}, {2, 2, -2});
    ExpectDecoded("natural", {0, 1, -0.5F, 0x1p127F}, {0, 1, -0.5F, 0x1p127F});

    const auto words = MakeCodec("top-k:keep=0.1");
    const auto packed = MakeCodec("top-k:keep=0.1,indices=packed");
    const auto bitmap = MakeCodec("top-k:keep=0.1,indices=bitmap");
    NS_TEST_EXPECT_MSG_EQ(words->GetCodedBytes(1000), 800, "64 bits each");
    NS_TEST_EXPECT_MSG_EQ(packed->GetCodedBytes(1000), 525, "42 bits each");
    NS_TEST_EXPECT_MSG_EQ(bitmap->GetCodedBytes(1000), 525, "32 bits each, and 1000");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("signsgd")->GetCodedBytes(9), 2, "a bit each");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("1-bit")->GetCodedBytes(9), 10, "and two means");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("ef-sign")->GetCodedBytes(9), 6, "and a mean");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("natural")->GetCodedBytes(8), 9, "9 bits each");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("terngrad")->GetCodedBytes(8), 6, "2 bits each, and m");
    NS_TEST_EXPECT_MSG_EQ(MakeCodec("qsgd:levels=4,block=8")->GetCodedBytes(16),
                          16,
                          "4 bits each, and two norms");

    for (const double keep : {0.001, 0.1, 0.5})
    {
        const auto normal = MakeNormal(1000, 1, 3);
        const auto codec = MakeCodec("top-k:keep=" + std::to_string(keep));
        auto rest = Decode(*codec, Encode(*codec, normal), 1000);
        std::transform(normal.begin(), normal.end(), rest.begin(), rest.begin(), std::minus<>());
        NS_TEST_EXPECT_MSG_LT_OR_EQ(GetSquares(rest), (1 - keep) * GetSquares(normal), keep);
    }
    CheckRandomSets();
    CheckCorrupt();
}

const Suite g_suite("codec-selection",
                    Duration::QUICK,
                    {{"means and variances of random codes", TestUnbiased},
                     {"signs, largest and random numbers", TestSelection}});

} // namespace ns3::training::tests::codec_selection_test
