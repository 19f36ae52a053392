/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/gradient-values.h"
#include "test-case.h"

#include "ns3/gradient-source.h"

#include <cmath>
#include <fstream>
#include <limits>

namespace ns3::training::tests::gradient_source_test
{

using ns3::training::tests::GetRefusal;

/** @param kurtosis fourth moment / sigma^4 */
void
CheckMoments(const std::string& name, double sigma, double kurtosis)
{
    constexpr std::size_t COUNT = 200000;
    const auto source = MakeGradientSource(name);
    const auto values = source->Make({1, 2, 3, 4, 0}, COUNT);
    NS_TEST_EXPECT_MSG_EQ(values,
                          source->Make({1, 2, 3, 4, 5}, COUNT),
                          "a function of seed, rank, iteration and bucket");
    double mean = 0;
    double square = 0;
    double fourth = 0;
    for (const float value : values)
    {
        const double x = value / sigma;
        mean += x / COUNT;
        square += x * x / COUNT;
        fourth += x * x * x * x / COUNT;
    }
    const double deviation = 5 / std::sqrt(COUNT);
    NS_TEST_EXPECT_MSG_EQ_TOL(mean, 0, deviation, name);
    NS_TEST_EXPECT_MSG_EQ_TOL(square, 1, deviation * std::sqrt(kurtosis - 1), name);
    NS_TEST_EXPECT_MSG_EQ_TOL(fourth, kurtosis, 0.1 * kurtosis, name);
    // Correlation with other places.
    for (const GradientPlace& place : {GradientPlace{2, 2, 3, 4, 0},
                                       GradientPlace{1, 3, 3, 4, 0},
                                       GradientPlace{1, 2, 4, 4, 0},
                                       GradientPlace{1, 2, 3, 5, 0}})
    {
        const auto others = source->Make(place, COUNT);
        double product = 0;
        for (std::size_t i = 0; i < COUNT; i++)
        {
            product += values[i] / sigma * others[i] / sigma / COUNT;
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(product, 0, deviation, name);
    }
}

/**
 * Moments of the distributions, by z-tests of 5 standard deviations, and independence of places.
 */
void
TestGradientDistribution()
{
    CheckMoments("normal", 0.001, 3);
    CheckMoments("normal:sigma=2.5", 2.5, 3);
    CheckMoments("laplace:sigma=0.25", 0.25, 6);

    const auto hash = MakeGradientSource("hash")->Make({7, 1, 2, 3, 99}, 100);
    NS_TEST_EXPECT_MSG_EQ(hash, MakeGradients(7, 1, 2, 3, 100), "as ever");

    for (const std::string part : {"sigma=0", "sigma=x", "mean=1"})
    {
        ExpectPart(GetRefusal([&] { MakeGradientSource("normal:" + part); }), part);
    }
    ExpectPart(GetRefusal([] { MakeGradientSource("gauss"); }), "laplace", "lists the sources");
}

/** Files by rank, iteration and bucket, or with all buckets in turn; and files that are refused. */
struct GradientFileTestCase
{
    void Run()
    {
        folder = CreateTempDirFilename("");
        Write("r0.f32", {0, 1, 2, 3, 4});
        Write("r1.f32", {10, 11, 12, 13, 14});
        const auto byRank = MakeGradientSource("file:" + folder + "r{rank}.f32");
        byRank->Check(2, 1000, {2, 3});
        Expect(byRank->Make({1, 1, 7, 1, 2}, 3), {12, 13, 14}, "the second bucket");
        Expect(byRank->Make({1, 0, 0, 0, 0}, 2), {0, 1}, "the first bucket");
        Expect(byRank->Make({1, 0, 0, 0, 0}, 0), {}, "nothing");

        Write("0,1-2", {5});
        const auto whole = MakeGradientSource("file:" + folder + "{rank},{iteration}-{bucket}");
        Expect(whole->Make({1, 0, 1, 2, 77}, 1), {5}, "a file of its own, a comma in its name");

        const auto refuse = [&](const auto& source, uint64_t count, const std::string& part) {
            const std::string refusal = GetRefusal([&] { source->Check(2, 1, {count}); });
            ExpectPart(refusal, part);
        };
        refuse(byRank, 6, "r0.f32 has 20 bytes (allowed: float32, at least 6 of them)");
        refuse(whole, 1, "cannot read " + folder + "0,0-0");
        Write("nan.f32", {1, 2, std::numeric_limits<float>::quiet_NaN()});
        const auto notANumber = MakeGradientSource("file:" + folder + "nan.f32");
        refuse(notANumber, 3, "number 2 is nan (allowed: finite numbers)");
        notANumber->Check(2, 1, {2});
        std::ofstream(folder + "odd.f32") << "12345";
        refuse(MakeGradientSource("file:" + folder + "odd.f32"), 1, "5 bytes");
        ExpectPart(GetRefusal([] { MakeGradientSource("file"); }), "PATH", "no path");
    }

    /** Writes numbers to a file. */
    void Write(const std::string& name, const std::vector<float>& values)
    {
        std::ofstream file(folder + name, std::ios::binary);
        file.write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * sizeof(float)));
    }

    /** Compares numbers. */
    void Expect(const std::vector<float>& actual,
                const std::vector<float>& expected,
                const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ(actual, expected, what);
    }

    std::string folder; ///< with a slash at its end
};

const Suite g_suite("gradient-source",
                    Duration::QUICK,
                    {{"distributions", TestGradientDistribution},
                     {"files", RunTest<GradientFileTestCase>}});

} // namespace ns3::training::tests::gradient_source_test
