/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/training-quantity.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ns3::training::tests::quantity_test
{

constexpr uint64_t MOST = std::numeric_limits<int64_t>::max();

/// Texts and what they mean.
template <typename T>
using Meanings = std::vector<std::pair<std::string, T>>;

/** Expects a parser to refuse texts. */
template <typename F>
void
ExpectRefused(const F& parse, const std::vector<std::string>& texts)
{
    for (const std::string& text : texts)
    {
        NS_TEST_EXPECT_MSG_EQ(parse(text).has_value(), false, "'" << text << "'");
    }
}

void
TestNumbers()
{
    const Meanings<uint64_t> wholes{{"0", 0},
                                    {"+7", 7},
                                    {"007", 7},
                                    {"18446744073709551615", ~uint64_t{0}}};
    for (const auto& [text, value] : wholes)
    {
        const auto parsed = ParseUnsigned(text);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ(*parsed, value, text);
    }
    ExpectRefused(ParseUnsigned,
                  Split("|+|-1|++1|1+| 1|1 |1.0|1e3|0x1|18446744073709551616|"
                        "99999999999999999999999"));
    const Meanings<double> decimals{{"-0.5", -0.5},
                                    {"1e-3", 1e-3},
                                    {"+2.", 2},
                                    {".25", 0.25},
                                    {"4.9406564584124654e-324", 4.9406564584124654e-324}};
    for (const auto& [text, value] : decimals)
    {
        const auto parsed = ParseDouble(text);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ(*parsed, value, text);
    }
    ExpectRefused(ParseDouble, Split("|-|.|e3|1e|1e999|nan|inf|0x1p3|1,5| 1|1 |1.2.3|1-2"));
    const Meanings<std::vector<uint32_t>> sides{{"4x8", {4, 8}},
                                                {"12", {12}},
                                                {"2x3x2", {2, 3, 2}}};
    for (const auto& [text, value] : sides)
    {
        const auto parsed = ParseSides(text, 32);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ((*parsed == value), true, text);
    }
    ExpectRefused([](const std::string& text) { return ParseSides(text, 32); },
                  Split("|x|4x|x4|4xx2|0|4x0|3x11|33|4X4|65536x65536|"
                        "4294967296x4294967296"));
}

void
TestBytes()
{
    const Meanings<uint64_t> meanings{{"0", 0},
                                      {"8", 8},
                                      {"8B", 8},
                                      {"64KiB", 65536},
                                      {"64K", 65536},
                                      {"64kB", 64000},
                                      {"64KB", 64000},
                                      {"1M", 1048576},
                                      {"100MB", 100000000},
                                      {"1.5G", 1610612736},
                                      {"0.5KiB", 512},
                                      {"2GB", 2000000000},
                                      {"1T", 1099511627776},
                                      {"1TB", 1000000000000},
                                      {"9007199254740993", 9007199254740993}, // 2^53 + 1
                                      {"9223372036854775807", MOST}};
    for (const auto& [text, value] : meanings)
    {
        const auto parsed = ParseBytes(text);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ(*parsed, value, text);
    }
    ExpectRefused(ParseBytes,
                  Split("|B|KiB|-1|1.5|0.3KiB|1 KiB|1kib|1Kb|1e3|1KiBs|"
                        "8388608TiB|9223372036854775808|1.2.3K|nanB"));
    const Meanings<uint64_t> texts{{"0", 0},
                                   {"1023", 1023},
                                   {"1KiB", 1024},
                                   {"25MiB", 26214400},
                                   {"1025KiB", 1049600},
                                   {"3TiB", 3298534883328},
                                   {"9223372036854775807", MOST}};
    for (const auto& [text, value] : texts)
    {
        NS_TEST_EXPECT_MSG_EQ(FormatBytes(value), text, "the largest unit that is exact");
    }
}

void
TestRates()
{
    const Meanings<uint64_t> meanings{{"1bps", 1},
                                      {"100Gbps", 100000000000},
                                      {"100Gbit/s", 100000000000},
                                      {"100Gb/s", 100000000000},
                                      {"12.5GB/s", 100000000000},
                                      {"12.5GBps", 100000000000},
                                      {"1.5Tbps", 1500000000000},
                                      {"3kbps", 3000},
                                      {"3Kbps", 3000},
                                      {"0.6bps", 1}, // rounded
                                      {"9223372036854775807bps", MOST}};
    for (const auto& [text, value] : meanings)
    {
        const auto parsed = ParseRate(text);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ(parsed->GetBitRate(), value, text);
    }
    ExpectRefused(ParseRate,
                  Split("|100|100G|Gbps|0bps|0.4bps|-1bps|1 Gbps|1gbps|"
                        "1Gbps |9223372036854775808bps|9223373Tbps"));
    NS_TEST_EXPECT_MSG_EQ(FormatRate(DataRate(100000000000)), "100Gbps", "exact");
    NS_TEST_EXPECT_MSG_EQ(FormatRate(DataRate(2500000)), "2500kbps", "exact");
    NS_TEST_EXPECT_MSG_EQ(FormatRate(DataRate(1)), "1bps", "exact");
}

void
TestTimes()
{
    const Meanings<int64_t> meanings{{"0", 0},
                                     {"0s", 0},
                                     {"500ns", 500000},
                                     {"1.5us", 1500000},
                                     {"0.0004ns", 0}, // rounded
                                     {"0.0006ns", 1},
                                     {"2ms", 2000000000},
                                     {"3s", 3000000000000},
                                     {"1min", 60000000000000},
                                     {"1h", 3600000000000000},
                                     {"9223372036854775807ps", static_cast<int64_t>(MOST)}};
    for (const auto& [text, value] : meanings)
    {
        const auto parsed = ParseTime(text);
        NS_TEST_ASSERT_MSG_EQ(parsed.has_value(), true, text);
        NS_TEST_EXPECT_MSG_EQ(parsed->GetPicoSeconds(), value, text);
    }
    ExpectRefused(ParseTime,
                  Split("|1|s|-1s|1 s|1S|1msec|2563h|9223372036854775808ps|"
                        "1e3s|infs"));
    const Meanings<int64_t> texts{{"0ps", 0},
                                  {"1ps", 1},
                                  {"500ns", 500000},
                                  {"-500ns", -500000},
                                  {"90s", 90000000000000},
                                  {"-9223372036854775808ps", std::numeric_limits<int64_t>::min()}};
    for (const auto& [text, value] : texts)
    {
        NS_TEST_EXPECT_MSG_EQ(FormatTime(TimeStep(static_cast<uint64_t>(value))), text, "exact");
    }
}

/** What is formatted is parsed as the same value, for numbers of all magnitudes. */
void
TestRoundTrips()
{
    std::mt19937_64 random(1);
    uint32_t differing = 0;
    const auto compare = [&differing](const auto& parsed, const auto& value) {
        differing += parsed && *parsed == value ? 0 : 1;
    };
    for (uint32_t i = 0; i < 5000; i++)
    {
        uint64_t value = random() >> (1 + i % 63);
        for (uint32_t zeros = i % 5; zeros > 0 && value < MOST / 1000; zeros--)
        {
            value *= zeros % 2 == 0 ? 1000 : 1024; // whole in larger units
            value = value > MOST ? MOST : value;
        }
        compare(ParseBytes(FormatBytes(value)), value);
        compare(ParseRate(FormatRate(DataRate(value + (value == 0)))),
                DataRate(value + (value == 0)));
        compare(ParseTime(FormatTime(TimeStep(value))), TimeStep(value));
        const uint64_t bits = random();
        double number;
        std::memcpy(&number, &bits, sizeof(number));
        if (std::isfinite(number))
        {
            compare(ParseDouble(FormatDouble(number)), number);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(differing, 0, "values that differ");
    for (const std::string text : {"0", "0.1", "100", "1e+30", "-2.5", "3.14159265358979"})
    {
        NS_TEST_EXPECT_MSG_EQ(FormatDouble(*ParseDouble(text)), text, "the shortest text");
    }
}

/** Numbers in the unit that a help text names. */
void
TestScaled()
{
    for (const auto& [help, unit] : std::vector<std::pair<std::string, std::string>>{
             {"clock of the adders, MHz", "MHz"},
             {"Clock of the lanes, MHz (NetFPGA-SUME's data path: 200)", "MHz"},
             {"of an idle GPU, W; of each", "W"},
             {"longest wait, in s", ""},
             {"numbers a cycle", ""},
             {"step, along the mean", ""}})
    {
        NS_TEST_EXPECT_MSG_EQ(FindUnit(help), unit, help);
    }
    for (const auto& [text, value] :
         std::vector<std::pair<std::string, double>>{{"100", 100},
                                                     {"100MHz", 100},
                                                     {"1GHz", 1000},
                                                     {"62.5MHz", 62.5},
                                                     {"0.2GHz", 200},
                                                     {"5e5kHz", 500},
                                                     {"200000000Hz", 200}})
    {
        const auto parsed = ParseScaled(text, "MHz");
        NS_TEST_EXPECT_MSG_EQ(parsed.value_or(-1), value, text);
    }
    for (const std::string text : {"1Gbps", "1GHZ", "GHz", "1 GHz", "1XHz", "-", "1GHzz"})
    {
        NS_TEST_EXPECT_MSG_EQ(ParseScaled(text, "MHz").has_value(), false, text);
    }
    NS_TEST_EXPECT_MSG_EQ(ParseScaled("1GHz", "").has_value(), false, "no unit");
}

const Suite g_suite("quantity",
                    Duration::QUICK,
                    {{"whole numbers, decimal numbers and sides", TestNumbers},
                     {"bytes", TestBytes},
                     {"rates", TestRates},
                     {"times", TestTimes},
                     {"numbers with the unit of a help text", TestScaled},
                     {"what is formatted is parsed as the same value", TestRoundTrips}});

} // namespace ns3::training::tests::quantity_test
