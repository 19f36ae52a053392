/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-test-common.h"
#include "codec/omnireduce-codec.h"

#include "ns3/bucket-codec.h"
#include "ns3/error-feedback.h"

#include <set>

namespace ns3::training::tests::codec_bucket_test
{

using Gradients = std::vector<std::vector<float>>;

/** @return normal gradients by rank */
Gradients
MakeGradients(uint32_t ranks, uint64_t count, double sigma, uint64_t seed)
{
    Gradients gradients;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        gradients.push_back(MakeNormal(count, sigma, seed * 1000 + rank));
    }
    return gradients;
}

/** @return the codecs of all ranks */
std::vector<Ptr<BucketCodec>>
MakeBuckets(const std::string& spec, uint32_t ranks, uint64_t count)
{
    std::vector<Ptr<BucketCodec>> codecs;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        codecs.push_back(MakeBucketCodec(spec, {ranks, rank, count}));
    }
    return codecs;
}

/** @return the exact sum */
std::vector<double>
AddUp(const Gradients& gradients)
{
    std::vector<double> sum(gradients[0].size(), 0);
    for (const auto& gradient : gradients)
    {
        std::transform(gradient.begin(), gradient.end(), sum.begin(), sum.begin(), std::plus<>());
    }
    return sum;
}

void
Check(const std::string& name, uint32_t ranks, uint64_t count)
{
    const std::string what =
        name + ", " + std::to_string(ranks) + " ranks, " + std::to_string(count) + " numbers";
    const auto codecs = MakeBuckets(name, ranks, count);
    ErrorFeedback feedback;
    std::vector<double> given(count, 0);
    std::vector<double> got(count, 0);
    double largest = 0;
    for (uint32_t iteration = 0; iteration < 5; iteration++)
    {
        auto gradients = MakeGradients(ranks, count, 0.1, iteration + 1);
        const auto exact = AddUp(gradients);
        std::transform(given.begin(), given.end(), exact.begin(), given.begin(), std::plus<>());
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            feedback.Add(rank, 0, gradients[rank]);
        }
        CodecKey key;
        key.iteration = iteration;
        ExchangeBuckets(codecs, gradients, key);
        std::vector<double> shares(count, 0);
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            const auto& sum = codecs[rank]->GetSum();
            NS_TEST_EXPECT_MSG_EQ(sum, codecs[0]->GetSum(), what);
            feedback.Keep(rank, 0, gradients[rank], codecs[rank]->GetOwn());
            const auto& own = codecs[rank]->GetOwn();
            std::transform(own.begin(), own.end(), shares.begin(), shares.begin(), std::plus<>());
        }
        const auto& sum = codecs[0]->GetSum();
        NS_TEST_EXPECT_MSG_EQ(sum.size(), count, what);
        for (const float value : sum)
        {
            largest = std::max<double>(largest, std::abs(value));
        }
        if (name != "signsgd") // a vote is no sum
        {
            NS_TEST_EXPECT_MSG_LT(GetDistance(sum, shares), 1e-5 * (1 + largest), what);
        }
        std::transform(got.begin(), got.end(), shares.begin(), got.begin(), std::plus<>());
    }
    // Conservation: what was sent and the errors that are left are what was given.
    for (uint32_t rank = 0; rank < ranks && name != "dgc"; rank++)
    {
        const auto& error = feedback.GetError(rank, 0);
        std::transform(got.begin(), got.end(), error.begin(), got.begin(), std::plus<>());
    }
    if (name != "dgc") // keeps its own errors
    {
        NS_TEST_EXPECT_MSG_LT(GetDistance(got, given), 1e-4 * (1 + largest), what);
    }
}

/**
 * Every codec, by an exchange in memory: all ranks end with the same sum, which consists of their
 * shares, with error feedback nothing is lost, and phases have the sizes that they state.
 */
void
TestExchange()
{
    for (const auto& [name, entry] : Registry<CodecEntry>::All())
    {
        for (const uint32_t ranks : {1U, 2U, 3U, 7U})
        {
            for (const uint64_t count : {1, 7, 100, 1000})
            {
                Check(name, ranks, count);
            }
        }
    }
}

void
CheckSharedScales()
{
    for (const uint32_t ranks : {1U, 2U, 7U, 127U})
    {
        const auto codecs = MakeBuckets("int8:block=100", ranks, 250);
        const auto phases = codecs[0]->GetPhases();
        NS_TEST_ASSERT_MSG_EQ(phases.size(), 2, "scales, then integers");
        NS_TEST_EXPECT_MSG_EQ(phases[0].count, 3, "blocks");
        NS_TEST_EXPECT_MSG_EQ(phases[1].resultBits, 8, "the sum has 8 bits");
        const auto gradients = MakeGradients(ranks, 250, 1, 1);
        float scale = 0;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            codecs[rank]->Start(gradients[rank].data(), {});
            scale = std::max(scale, codecs[rank]->GetPart().numbers[0]);
        }
        ExchangeBuckets(codecs, gradients, {});
        const auto exact = AddUp(gradients);
        double error = 0;
        for (uint64_t i = 0; i < 100; i++) // the first block
        {
            error = std::max(error, std::abs(exact[i] - codecs[0]->GetSum()[i]));
        }
        const uint32_t steps = 127 / ranks;
        NS_TEST_EXPECT_MSG_LT(error, ranks * scale / steps / 2 * (1 + 1e-5), "N / 2 steps");
    }
    const auto ternary = MakeBuckets("terngrad", 7, 100)[0]->GetPhases();
    NS_TEST_EXPECT_MSG_EQ(ternary[1].bits, 2, "-1, 0 and 1");
    NS_TEST_EXPECT_MSG_EQ(ternary[1].resultBits, 4, "-7 to 7");

    // The mean over many exchanges is the sum.
    const auto codecs = MakeBuckets("terngrad:clip=0", 3, 20);
    const auto gradients = MakeGradients(3, 20, 1, 9);
    const auto exact = AddUp(gradients);
    std::vector<double> sum(20, 0);
    std::vector<double> squares(20, 0);
    constexpr uint32_t TRIALS = 4000;
    for (uint32_t i = 0; i < TRIALS; i++)
    {
        CodecKey key;
        key.iteration = i;
        ExchangeBuckets(codecs, gradients, key);
        for (uint32_t k = 0; k < 20; k++)
        {
            const double difference = codecs[0]->GetSum()[k] - exact[k];
            sum[k] += difference;
            squares[k] += difference * difference;
        }
    }
    for (uint32_t k = 0; k < 20; k++)
    {
        NS_TEST_EXPECT_MSG_LT(std::abs(sum[k]), 5 * std::sqrt(squares[k]), "mean of sums");
    }
}

void
CheckMajority()
{
    const Gradients gradients{{1, -1, 1, -1}, {2, -2, -2, -2}, {3, 3, -3, -3}};
    const auto codecs = MakeBuckets("signsgd:step=0.5", 3, 4);
    ExchangeBuckets(codecs, gradients, {});
    const std::vector<float> votes{0.5F, -0.5F, -0.5F, -0.5F};
    NS_TEST_EXPECT_MSG_EQ(codecs[2]->GetSum(), votes, "majority");
    NS_TEST_EXPECT_MSG_EQ(codecs[0]->GetPhases()[0].bits, 1, "a vote");
    NS_TEST_EXPECT_MSG_EQ(codecs[0]->GetPhases()[0].resultBits, 2, "0 to 3");
}

void
CheckPowerSgd()
{
    constexpr uint64_t ROWS = 30;
    constexpr uint64_t COLUMNS = 20;
    constexpr uint32_t RANKS = 3;
    const std::string spec = "powersgd:rank=4,columns=20";
    // Matrices of rank 4 with common columns, so that their sum has rank 4.
    const auto left = MakeNormal(ROWS * 4, 1, 1);
    Gradients gradients;
    for (uint32_t rank = 0; rank < RANKS; rank++)
    {
        const auto right = MakeNormal(COLUMNS * 4, 1, rank + 2);
        std::vector<float> matrix(ROWS * COLUMNS, 0);
        for (uint64_t i = 0; i < matrix.size(); i++)
        {
            for (uint64_t k = 0; k < 4; k++)
            {
                matrix[i] += left[i / COLUMNS * 4 + k] * right[i % COLUMNS * 4 + k];
            }
        }
        gradients.push_back(matrix);
    }
    const auto codecs = MakeBuckets(spec, RANKS, ROWS * COLUMNS);
    const auto exact = AddUp(gradients);
    for (uint32_t iteration = 0; iteration < 3; iteration++)
    {
        ExchangeBuckets(codecs, gradients, {});
        NS_TEST_EXPECT_MSG_LT(GetDistance(codecs[0]->GetSum(), exact), 1e-5 * 20, "rank 4");
    }
    const auto phases = codecs[0]->GetPhases();
    NS_TEST_ASSERT_MSG_EQ(phases.size(), 2, "two sums");
    NS_TEST_EXPECT_MSG_EQ(phases[0].count + phases[1].count, 4 * (ROWS + COLUMNS), "r (a + b)");

    // With zeros in between: Q starts anew.
    const Gradients zeros(RANKS, std::vector<float>(ROWS * COLUMNS, 0));
    ExchangeBuckets(codecs, zeros, {});
    NS_TEST_EXPECT_MSG_EQ(GetSquares(codecs[1]->GetSum()), 0, "zeros");
    ExchangeBuckets(codecs, gradients, {});
    NS_TEST_EXPECT_MSG_LT(GetDistance(codecs[0]->GetSum(), exact), 1e-5 * 20, "again");

    // Of a matrix of full rank, never more than all is lost, and power iteration loses less.
    const auto normal = MakeGradients(1, 400, 1, 4);
    const auto one = MakeBuckets("powersgd:rank=2", 1, 400);
    double before = GetSquares(normal[0]);
    for (uint32_t iteration = 0; iteration < 10; iteration++)
    {
        ExchangeBuckets(one, normal, {});
        auto rest = normal[0];
        const auto& own = one[0]->GetOwn();
        std::transform(rest.begin(), rest.end(), own.begin(), rest.begin(), std::minus<>());
        NS_TEST_EXPECT_MSG_LT(GetSquares(rest), before * (1 + 1e-6), iteration);
        before = GetSquares(rest);
    }
    const auto small = MakeBuckets("powersgd:rank=4", 2, 7);
    NS_TEST_EXPECT_MSG_EQ(small[0]->GetPhases().size(), 1, "sent as it is");
}

void
CheckThc()
{
    for (const std::string spec : {"thc", "thc:granularity=30"})
    {
        constexpr uint64_t COUNT = 100; // turned with 28 zeros
        const auto codecs = MakeBuckets(spec, 3, COUNT);
        const auto phases = codecs[0]->GetPhases();
        NS_TEST_ASSERT_MSG_EQ(phases.size(), 2, "norm, then levels");
        NS_TEST_EXPECT_MSG_EQ(phases[1].count, 128, "a power of two");
        NS_TEST_EXPECT_MSG_EQ(phases[1].bits, 4, "up");
        NS_TEST_EXPECT_MSG_EQ(phases[1].resultBits, 8, "down");
        auto gradients = MakeGradients(3, COUNT, 1, 2);
        gradients[1].assign(COUNT, 0);
        const auto exact = AddUp(gradients);
        std::vector<double> sum(COUNT, 0);
        std::set<float> levels;
        constexpr uint32_t TRIALS = 2000;
        for (uint32_t i = 0; i < TRIALS; i++)
        {
            CodecKey key;
            key.iteration = i; // other signs, so that clamping hits others
            ExchangeBuckets(codecs, gradients, key);
            const auto& one = codecs[0]->GetSum();
            std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
            const auto& part = codecs[0]->GetPart().numbers;
            levels.insert(part.begin(), part.end());
        }
        for (double& value : sum)
        {
            value /= TRIALS;
        }
        // Clamping takes a few percent of the norm.
        std::vector<double> rest(COUNT);
        std::transform(sum.begin(), sum.end(), exact.begin(), rest.begin(), std::minus<>());
        NS_TEST_EXPECT_MSG_LT(GetSquares(rest), 0.01 * GetSquares(exact), spec);
        NS_TEST_EXPECT_MSG_EQ(*levels.rbegin(), (spec == "thc" ? 16 : 30), "granularity");
        NS_TEST_EXPECT_MSG_EQ(levels.size(), (spec == "thc" ? 15 : 16), "levels, one twice");
    }
    const auto zeros = MakeBuckets("thc", 2, 10);
    ExchangeBuckets(zeros, Gradients(2, std::vector<float>(10, 0)), {});
    NS_TEST_EXPECT_MSG_EQ(GetSquares(zeros[0]->GetSum()), 0, "zeros");
}

void
CheckDgc()
{
    constexpr uint64_t COUNT = 100000;
    const auto codecs = MakeBuckets("dgc:keep=0.01,momentum=0", 2, COUNT);
    std::vector<double> given(COUNT, 0);
    std::vector<double> got(COUNT, 0);
    for (uint32_t iteration = 0; iteration < 4; iteration++)
    {
        const auto gradients = MakeGradients(2, COUNT, 1, iteration + 1);
        CodecKey key;
        key.iteration = iteration;
        ExchangeBuckets(codecs, gradients, key);
        for (const auto& codec : codecs)
        {
            const std::size_t sent = codec->GetPart().code.size() / 8;
            NS_TEST_EXPECT_MSG_GT_OR_EQ(sent, 700, "0.7 k");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(sent, 1300, "1.3 k");
        }
        const auto exact = AddUp(gradients);
        std::transform(given.begin(), given.end(), exact.begin(), given.begin(), std::plus<>());
        const auto& sum = codecs[0]->GetSum();
        std::transform(got.begin(), got.end(), sum.begin(), got.begin(), std::plus<>());
    }
    // With all that is left, everything has arrived: a gradient of 0 and all numbers sent.
    const auto rest = MakeBuckets("dgc:keep=1,momentum=0", 1, 3);
    ExchangeBuckets(rest, {{1, -2, 3}}, {});
    NS_TEST_EXPECT_MSG_EQ(GetSquares(rest[0]->GetSum()), 14, "all are sent");
    ExchangeBuckets(rest, {{0, 0, 0}}, {});
    NS_TEST_EXPECT_MSG_EQ(GetSquares(rest[0]->GetSum()), 0, "nothing is left");
    NS_TEST_EXPECT_MSG_EQ(rest[0]->GetPart().code.size(), 0, "zeros are not sent");

    // By hand: u = 0.5 u + g, v = v + u, the largest is sent and cleared.
    const auto hand = MakeBuckets("dgc:keep=0.3,momentum=0.5", 1, 3);
    ExchangeBuckets(hand, {{4, 2, 1}}, {});
    NS_TEST_EXPECT_MSG_EQ(hand[0]->GetSum(), (std::vector<float>{4, 0, 0}), "4");
    ExchangeBuckets(hand, {{0, 0, 4}}, {}); // u = 0, 1, 4.5; v = 0, 3, 5.5
    NS_TEST_EXPECT_MSG_EQ(hand[0]->GetSum(), (std::vector<float>{0, 0, 5.5F}), "5.5");
    ExchangeBuckets(hand, {{0, 0, 0}}, {}); // u = 0, 0.5, 0; v = 0, 3.5, 0
    NS_TEST_EXPECT_MSG_EQ(hand[0]->GetSum(), (std::vector<float>{0, 3.5F, 0}), "3.5");

    // Few numbers, around which the factors jump: as many as wanted are sent.
    const auto few = MakeBuckets("dgc:keep=0.001", 1, 1001);
    for (uint32_t iteration = 0; iteration < 20; iteration++)
    {
        CodecKey key;
        key.iteration = iteration;
        ExchangeBuckets(few, MakeGradients(1, 1001, 1, iteration), key);
        NS_TEST_EXPECT_MSG_EQ(few[0]->GetPart().code.size(), 8, "one number");
    }

    // The warm-up sends a quarter, then a sixteenth.
    const auto warm = MakeBuckets("dgc:keep=0.01,warm-up=2", 1, 1000);
    for (const uint32_t iteration : {0, 1, 2, 3, 10})
    {
        CodecKey key;
        key.iteration = iteration;
        ExchangeBuckets(warm, MakeGradients(1, 1000, 1, iteration), key);
        const double share = iteration < 2 ? 250 : iteration < 4 ? 62 : 10;
        const auto sent = static_cast<double>(warm[0]->GetPart().code.size()) / 8;
        NS_TEST_EXPECT_MSG_GT_OR_EQ(sent, 0.7 * share, iteration);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sent, 1.3 * share, iteration);
    }

    // Two ranks with a norm of 5 each, clipped to 1 / sqrt(2).
    const auto clipped = MakeBuckets("dgc:keep=1,clip=1", 2, 2);
    ExchangeBuckets(clipped, {{3, 4}, {3, 4}}, {});
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSquares(clipped[0]->GetSum()), 2, 1e-6, "clipped");
}

void
CheckBlocks()
{
    const OmniReduceCodec codec(4);
    for (const uint64_t count : {0, 1, 3, 4, 5, 8, 30, 31})
    {
        std::vector<std::vector<uint8_t>> codes;
        Gradients gradients;
        uint64_t unionBytes = 0;
        std::vector<bool> inUnion((count + 3) / 4, false);
        for (uint32_t rank = 0; rank < 3; rank++)
        {
            auto values = MakeNormal(count, 1, rank);
            uint64_t bytes = 0;
            for (uint64_t block = 0; block < inUnion.size(); block++)
            {
                const bool isZero = MixBits(block * 3 + rank) % 3 != 0;
                const uint64_t size = std::min<uint64_t>(4, count - 4 * block);
                for (uint64_t i = 0; i < size && isZero; i++)
                {
                    values[4 * block + i] = 0;
                }
                const bool isSent = block == 0 || !isZero;
                bytes += isSent ? 4 * size + 4 : 0;
                inUnion[block] = inUnion[block] || isSent;
            }
            codes.push_back(Encode(codec, values));
            NS_TEST_EXPECT_MSG_EQ(codes.back().size(), bytes, "blocks that are not 0");
            double counted = 0;
            for (const CodecClass& one : codec.CountClasses(values.data(), count))
            {
                counted += one.bits * static_cast<double>(one.count);
            }
            if (count % 4 == 0)
            {
                NS_TEST_EXPECT_MSG_EQ(counted, 8.0 * static_cast<double>(bytes), "by class");
            }
            NS_TEST_EXPECT_MSG_EQ(Decode(codec, codes.back(), count), values, count);
            gradients.push_back(values);
        }
        for (uint64_t block = 0; block < inUnion.size(); block++)
        {
            unionBytes += inUnion[block] ? 4 * std::min<uint64_t>(4, count - 4 * block) + 4 : 0;
        }
        const auto sum = codec.Aggregate(codes, count);
        NS_TEST_EXPECT_MSG_EQ(sum.size(), unionBytes, "the union of blocks");
        std::vector<float> expected(count, 0);
        for (const auto& values : gradients)
        {
            std::transform(values.begin(),
                           values.end(),
                           expected.begin(),
                           expected.begin(),
                           std::plus<>());
        }
        NS_TEST_EXPECT_MSG_EQ(Decode(codec, sum, count), expected, "exact sums");
    }
    std::vector<float> values(16, 1);
    auto code = Encode(codec, values);
    code[16] = 9; // the next block
    ExpectPart(GetCodecError([&] { Decode(codec, code, 16); }), "block 9 follows block 0 of 4");
    ExpectPart(GetCodecError([&] { codec.Aggregate({code}, 16); }), "block 9");
}

/** The published properties of codecs with phases of their own. */
void
TestBucket()
{
    CheckSharedScales();
    CheckMajority();
    CheckPowerSgd();
    CheckThc();
    CheckDgc();
    CheckBlocks();
    ExpectPart(GetRefusal([] { MakeBucketCodec("int8", {128, 0, 1}); }), "128 ranks");
    ExpectPart(GetRefusal([] { MakeBucketCodec("thc", {16, 0, 1}); }), "up to 15 ranks");
    ExpectPart(GetRefusal([] {
                   MakeBucketCodec("thc:granularity=30", {9, 0, 1});
               }),
               "up to 8 ranks");
}

const Suite g_suite("codec-bucket",
                    Duration::QUICK,
                    {{"exchanges of all codecs", TestExchange},
                     {"codecs with phases of their own", TestBucket}});

} // namespace ns3::training::tests::codec_bucket_test
