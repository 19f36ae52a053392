/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * INCEPTIONN (Li et al., A network-centric hardware/algorithm co-design to accelerate distributed
 * training of deep neural networks, MICRO 2018): its published figures next to closed forms and to
 * simulations.
 *
 *   ./ns3w run inceptionn
 */

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// Workers, besides an aggregator if there is one.
constexpr uint32_t WORKERS = 4;
/// Iterations of the published times.
constexpr double ITERATIONS = 100;
/// Rate of every link, bit/s.
constexpr double LINE = 10e9;
/// A TCP segment of an MTU of 1500, without timestamps, bytes: payload, and the rest on the line.
constexpr double PAYLOAD = 1460;
constexpr double HEADERS = 78;
/// Shortest frame on the line, bytes.
constexpr double LEAST_FRAME = 84;
/// Rate of uncoded data through an engine: 8 floats in each cycle of 10 ns, bit/s.
constexpr double ENGINE = 25.6e9;
/// Rate at which hosts take in gradients, bit/s: a fit to the published times.
constexpr double HOSTS = 8.3e9;
/// Where figures come from.
constexpr const char* ABSTRACT = "abstract";
constexpr const char* UNVERIFIED = "not verified";

/** A network of the paper. */
struct Network
{
    const char* name;
    uint64_t parameters;
    std::array<double, 4> shares; ///< of tags 0 to 3 with a bound of 2^-10, %
    double star;                  ///< published exchange with an aggregator, s
};

/// Published times are of 100 iterations; class shares add up to 100 in each row.
const std::vector<Network> NETWORKS{{"AlexNet", 60965224, {74.9, 3.9, 21.1, 0.1}, 148.71},
                                    {"HDC", 648010, {92.0, 6.5, 1.5, 0}, 1.36},
                                    {"ResNet-50", 25557032, {81.6, 17.9, 0.5, 0}, NONE},
                                    {"VGG-16", 138357544, {94.2, 0.9, 4.9, 0}, NONE}};

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    uint64_t scale{10};
    std::string json;
};

/** The figures of INCEPTIONN, simulated next to the published ones. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table({{"figure", "", -74},
                   {"unit", "unit", 0, "", "  ", true},
                   {"source", "source", 0, "", "  ", true},
                   {"published", "published", 10, "%.5g"},
                   {"expected", "expected", 10, "%.5g"},
                   {"ours", "ours", 10, "%.5g"}},
                  setting.json == "-" ? PublishedTable::Printing::NEVER
                                      : PublishedTable::Printing::AT_ONCE)
    {
    }

    /** Ratios and errors of the codec. */
    void CompareCodec();
    /** Exchanges of gradients, 100 iterations. */
    void CompareExchanges();
    /** Exchanges by the number of workers. */
    void CompareScalability();
    /** Iterations with their compute phases. */
    void CompareTraining();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    /** How long 100 exchanges take, s. */
    struct Exchange
    {
        double expected; ///< by a closed form
        double ours;     ///< simulated
    };

    Exchange GetStar(const Network& network, uint32_t workers = WORKERS);
    Exchange GetBinomial(const Network& network, const std::string& nic = "none");
    Exchange GetRing(const Network& network,
                     uint32_t workers = WORKERS,
                     const std::string& nic = "none",
                     double engine = 0,
                     double hosts = 0);
    double GetSeconds(const Network& network,
                      const ClusterOptions& options,
                      CollectiveOperation operation = CollectiveOperation::ALL_REDUCE);
    void AddRow(const std::string& figure,
                const char* unit,
                const char* source,
                double published,
                double expected,
                double ours);

    const Setting& m_setting;
    PublishedTable m_table;
};

/** @return spec of the codec with the published shares of a network */
std::string
GetCodec(const Network& network)
{
    std::string shares;
    for (const double share : network.shares)
    {
        shares += (shares.empty() ? "" : "/") + FormatDouble(share);
    }
    return "inceptionn:bound=-10,shares=" + shares;
}

/** @return ratio of the codec for these shares: 2 bits of tag, then 0, 8, 16 or 32 */
double
GetRatio(const Network& network)
{
    double bits = 2;
    for (std::size_t tag = 0; tag < network.shares.size(); tag++)
    {
        bits += network.shares[tag] / 100 * InceptionnCodec::CODE_BITS[tag];
    }
    return 32 / bits;
}

/** @return full segments per coded one on the line, in time */
double
GetWireRatio(double ratio)
{
    return (PAYLOAD + HEADERS) / std::max(LEAST_FRAME, HEADERS + PAYLOAD / ratio);
}

/** @return time of a copy of all gradients on the line, 100 times, s */
double
GetCopySeconds(const Network& network)
{
    return ITERATIONS * 32 * static_cast<double>(network.parameters) / LINE * (PAYLOAD + HEADERS) /
           PAYLOAD;
}

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.transport = "tcp";
    options.rate = DataRate(static_cast<uint64_t>(LINE));
    options.mtu = 1500;
    return options;
}

double
Comparison::GetSeconds(const Network& network,
                       const ClusterOptions& options,
                       CollectiveOperation operation)
{
    const uint64_t bytes = 4 * std::max<uint64_t>(1, network.parameters / m_setting.scale);
    const CollectiveRun run =
        RunCollectives(options, operation, {bytes, bytes}); // the first opens connections
    m_table.AddCost(run.cost);
    return run.measurements.back().seconds * ITERATIONS * 4 *
           static_cast<double>(network.parameters) / static_cast<double>(bytes);
}

Comparison::Exchange
Comparison::GetStar(const Network& network, uint32_t workers)
{
    // The aggregator receives all gradients, then sends all weights.
    return {2 * workers * GetCopySeconds(network),
            GetSeconds(network, MakeOptions(workers + 1, "parameter-server"))};
}

Comparison::Exchange
Comparison::GetBinomial(const Network& network, const std::string& nic)
{
    const double rounds = std::ceil(std::log2(WORKERS + 1));
    ClusterOptions gather = MakeOptions(WORKERS + 1, "direct");
    gather.nic = nic;
    const double coded = nic == "none" ? 1
                                       : std::max(1 / GetWireRatio(GetRatio(network)),
                                                  PAYLOAD / (PAYLOAD + HEADERS) * LINE / ENGINE);
    return {(WORKERS * coded + rounds) * GetCopySeconds(network),
            GetSeconds(network, gather, CollectiveOperation::REDUCE) +
                GetSeconds(network,
                           MakeOptions(WORKERS + 1, "binomial"),
                           CollectiveOperation::BROADCAST)};
}

Comparison::Exchange
Comparison::GetRing(const Network& network,
                    uint32_t workers,
                    const std::string& nic,
                    double engine,
                    double hosts)
{
    ClusterOptions options = MakeOptions(workers, "ring");
    options.nic = nic;
    const double part = 2.0 * (workers - 1) / workers;
    const double uncoded = part * ITERATIONS * 32 * static_cast<double>(network.parameters);
    double expected = part * GetCopySeconds(network);
    if (nic != "none")
    {
        expected /= GetWireRatio(GetRatio(network));
    }
    if (engine > 0)
    {
        expected = std::max(expected, uncoded / engine);
    }
    if (hosts > 0)
    {
        expected = std::max(expected, uncoded / hosts);
        options.attributes["ns3::training::HostDevice::ReceiveRate"] =
            std::to_string(static_cast<uint64_t>(hosts)) + "bps";
    }
    return {expected, GetSeconds(network, options)};
}

void
Comparison::AddRow(const std::string& figure,
                   const char* unit,
                   const char* source,
                   double published,
                   double expected,
                   double ours)
{
    m_table.AddRow({figure, unit, source, published, expected, ours});
}

void
Comparison::CompareCodec()
{
    m_table.PrintHeadings("Codec; expected: closed forms\n");
    for (const Network& network : NETWORKS)
    {
        constexpr uint64_t COUNT = 1 << 20;
        AddRow(std::string("ratio at 2^-10 with the published class shares of ") + network.name,
               "",
               UNVERIFIED,
               NONE,
               GetRatio(network),
               4.0 * COUNT /
                   static_cast<double>(MakeCodec(GetCodec(network))->GetCodedBytes(COUNT)));
    }
    AddRow("largest ratio, at 2^-6: all gradients in class 0",
           "",
           UNVERIFIED,
           14.9,
           16,
           4096.0 * 4 /
               static_cast<double>(
                   MakeCodec("inceptionn:bound=-6,shares=100/0/0/0")->GetCodedBytes(4096)));

    constexpr double SIGMA = 0.001;
    const auto values = MakeGradientSource("normal:sigma=0.001")->Make({}, 1 << 20);
    for (const int level : {6, 8, 10})
    {
        // Shares of a normal distribution below a magnitude.
        const auto below = [](double magnitude) {
            return std::erf(magnitude / (SIGMA * std::sqrt(2.0)));
        };
        const double middle = std::ldexp(1, -level / 2);
        const double bits = 2 + 8 * (below(middle) - below(std::ldexp(1, -level))) +
                            16 * (below(1) - below(middle)) + 32 * (1 - below(1));
        const std::string codec = "inceptionn:bound=-" + std::to_string(level);
        std::vector<uint8_t> code;
        MakeCodec(codec)->Encode(values.data(), values.size(), {}, code);
        AddRow("ratio at 2^-" + std::to_string(level) + " of normal gradients, sigma 0.001",
               "",
               "",
               NONE,
               32 / bits,
               4.0 * static_cast<double>(values.size()) / static_cast<double>(code.size()));
    }
    // The largest error is that of the largest number below a step of the 8-bit code.
    for (const char* variant : {"paper", "bounded"})
    {
        for (const int level : {6, 8, 10})
        {
            const std::string spec =
                "inceptionn:bound=-" + std::to_string(level) + ",variant=" + std::string(variant);
            const auto codec = MakeCodec(spec);
            double largest = 0;
            for (float value = std::ldexp(1.0F, -14); value < 1; value *= 1.0001F)
            {
                float coded = value;
                codec->RoundTrip(&coded, 1, {});
                largest = std::max(largest, static_cast<double>(value - coded));
            }
            AddRow("largest error / bound of 2^-" + std::to_string(level) + ", variant " + variant,
                   "",
                   ABSTRACT,
                   1,
                   std::string(variant) == "paper" ? std::ldexp(1, level - std::min(level, 7)) : 1,
                   std::ldexp(largest, level));
        }
    }
}

void
Comparison::CompareExchanges()
{
    m_table.PrintHeadings("\n100 exchanges of 4 workers at 10 Gbit/s over TCP; expected: closed "
                          "forms\n");
    for (const Network& network : NETWORKS)
    {
        const Exchange star = GetStar(network);
        AddRow(std::string(network.name) + ": workers and an aggregator that sends one by one",
               "s",
               UNVERIFIED,
               network.star,
               star.expected,
               star.ours);
    }
    const Network& alexNet = NETWORKS[0];
    const std::string codec = GetCodec(alexNet);
    const std::string noLimit = codec + ",lanes=64";
    const auto add = [&](const std::string& what, double published, const Exchange& exchange) {
        AddRow("AlexNet: " + what, "s", UNVERIFIED, published, exchange.expected, exchange.ours);
    };
    add("the aggregator broadcasts in rounds", alexNet.star, GetBinomial(alexNet));
    add("likewise, gradients coded, weights not", NONE, GetBinomial(alexNet, codec));
    add("ring of workers", NONE, GetRing(alexNet));
    add("ring, coded, engines without limit", NONE, GetRing(alexNet, WORKERS, noLimit));
    const Exchange engines = GetRing(alexNet, WORKERS, codec, ENGINE);
    add("ring, coded, engines of 8 lanes at 100 MHz", NONE, engines);
    const Exchange hosts = GetRing(alexNet, WORKERS, codec, ENGINE, HOSTS);
    add("likewise, hosts that take in 8.3 Gbit/s, a fit", NONE, hosts);
    const auto change = [&](const Exchange& exchange) {
        return Exchange{100 * (exchange.expected / alexNet.star - 1),
                        100 * (exchange.ours / alexNet.star - 1)};
    };
    for (const double published : {-70.9, -80.7})
    {
        AddRow(published > -80 ? "least change from the published aggregator, hosts by the fit"
                               : "largest change from the published aggregator, hosts by the fit",
               "%",
               ABSTRACT,
               published,
               change(hosts).expected,
               change(hosts).ours);
    }
}

void
Comparison::CompareScalability()
{
    m_table.PrintHeadings("\nExchange by workers, AlexNet, over that of an aggregator and 4 "
                          "workers; published: linear, and flat\n");
    const Network& alexNet = NETWORKS[0];
    const Exchange base = GetStar(alexNet);
    for (const uint32_t workers : {4U, 6U, 8U})
    {
        const Exchange star = GetStar(alexNet, workers);
        const Exchange ring = GetRing(alexNet, workers);
        AddRow(std::to_string(workers) + " workers and an aggregator",
               "",
               UNVERIFIED,
               NONE,
               star.expected / base.expected,
               star.ours / base.ours);
        AddRow(std::to_string(workers) + " workers in a ring",
               "",
               UNVERIFIED,
               NONE,
               ring.expected / base.expected,
               ring.ours / base.ours);
    }
}

void
Comparison::CompareTraining()
{
    m_table.PrintHeadings("\n100 iterations of AlexNet; phases as published, exchange simulated\n");
    const Network& alexNet = NETWORKS[0];
    // Forward, backward, copy from the GPU, update; the sum of 4 workers' gradients.
    constexpr double PHASES = 3.13 + 16.22 + 5.68 + 13.67;
    constexpr double SUM = 8.94;
    const double before = PHASES + SUM + alexNet.star;
    AddRow("iterations with an aggregator", "s", UNVERIFIED, 196.35, before, NONE);
    const Exchange ring = GetRing(alexNet, WORKERS, GetCodec(alexNet), ENGINE, HOSTS);
    // An aggregator adds p - 1 gradients, each worker of a ring (p - 1) / p of one.
    constexpr double RING_SUM = SUM / WORKERS;
    const Exchange after{PHASES + RING_SUM + ring.expected, PHASES + RING_SUM + ring.ours};
    AddRow("iterations with a ring, engines, and hosts by the fit",
           "s",
           UNVERIFIED,
           NONE,
           after.expected,
           after.ours);
    for (const double published : {2.2, 3.1})
    {
        AddRow(published < 3 ? "least speed-up of training" : "largest speed-up of training",
               "",
               ABSTRACT,
               published,
               before / after.expected,
               before / after.ours);
    }
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_table.GetRows());
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("inceptionn", "INCEPTIONN: published figures beside ours.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "codec: ratios and errors; exchange: gradients of 4 workers; scalability: of "
                      "4 to 8; training: with the phases of computation",
                      setting.part,
                      {"all", "codec", "exchange", "scalability", "training"});
    options.AddUnsigned("scale",
                        "simulated exchanges have this fraction of the gradients",
                        setting.scale,
                        1,
                        1000);
    options.AddJson(setting.json);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.part,
        {{"codec", [&] { comparison.CompareCodec(); }},
         {"exchange", [&] { comparison.CompareExchanges(); }},
         {"scalability", [&] { comparison.CompareScalability(); }},
         {"training", [&] { comparison.CompareTraining(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("inceptionn", [&] { return Compare(argc, argv); });
}
