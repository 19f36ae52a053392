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

#include "../hidden-global-values.h"
#include "codec/inceptionn-codec.h"
#include "measure/reproduction.h"

#include "ns3/training-program.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Workers, besides an aggregator if there is one, and groups of them.
constexpr uint32_t WORKERS = 4;
constexpr uint32_t GROUPS = 2;
/// Iterations of the published times.
constexpr double ITERATIONS = 100;
/// Rate of every link, bit/s.
constexpr double LINE = 10e9;
/// A TCP segment of an MTU of 1500, without timestamps, bytes: payload, and all of it on the line.
constexpr double PAYLOAD = 1460;
constexpr double SEGMENT = PAYLOAD + 78;
/// Shortest frame on the line, bytes.
constexpr double LEAST_FRAME = 84;
/// Lanes of an engine, each of a float in a cycle of 10 ns; and so many that the line limits.
constexpr uint32_t LANES = 8;
constexpr uint32_t NO_LIMIT = 64;
/// Rate at which hosts take in gradients, bit/s: a fit to the published times.
constexpr double HOSTS = 8.3e9;
/// Least numbers of a simulated exchange, if there are as many.
constexpr uint64_t LEAST_NUMBERS = 600000;

/** How long 100 exchanges take, s; or what follows from it. */
struct Exchange
{
    double expected; ///< by a closed form
    double ours;     ///< simulated

    /** @return this exchange and another one after it */
    Exchange operator+(const Exchange& other) const
    {
        return {expected + other.expected, ours + other.ours};
    }
};

/** The experiment. Engines of NICs have `lanes`; 0: NICs have none. */
class Inceptionn
{
  public:
    /** @return exit status */
    int Run(int argc, char* argv[]);

  private:
    void AddCodec();
    void AddNormal(uint32_t level);
    void AddExchanges();
    void AddScalability();
    void AddHierarchies();
    void AddIterations(const PublishedCase& network);
    void Add(const std::string& row, const Exchange& values, const PublishedCase& names);
    Exchange GetGather(const PublishedCase& network, uint32_t workers, uint32_t lanes);
    Exchange GetBroadcast(const PublishedCase& network, uint32_t ranks);
    Exchange GetStar(const PublishedCase& network, uint32_t workers = WORKERS, uint32_t lanes = 0);
    Exchange GetRounds(const PublishedCase& network,
                       uint32_t workers = WORKERS,
                       uint32_t lanes = 0);
    Exchange GetRing(const PublishedCase& network,
                     uint32_t workers = WORKERS,
                     uint32_t lanes = 0,
                     double hosts = 0);
    Exchange GetRings(const PublishedCase& network, uint32_t lanes);
    double GetSeconds(const PublishedCase& network,
                      const ClusterOptions& options,
                      CollectiveOperation operation = CollectiveOperation::ALL_REDUCE);

    Reproduction m_paper{"inceptionn"};
    const std::vector<PublishedCase> m_networks{m_paper.GetCases("networks")};
    const PublishedCase& m_alexNet{m_networks.front()};
    uint64_t m_scale{50};
    /// Times of what has been simulated.
    std::map<std::tuple<uint64_t, uint32_t, std::string, std::string, CollectiveOperation, bool>,
             double>
        m_seconds;
};

/** @return spec of the codec with the published shares of a network */
std::string
GetCodec(const PublishedCase& network)
{
    return network.Fill("inceptionn:bound=-10,shares={bits0}/{bits8}/{bits16}/{bits32}");
}

/** @return ratio of the codec for these shares: 2 bits of tag, then 0, 8, 16 or 32 */
double
GetRatio(const PublishedCase& network)
{
    double bits = 2;
    for (const uint32_t each : InceptionnCodec::CODE_BITS)
    {
        bits += network.Get("bits" + std::to_string(each)) / 100 * each;
    }
    return 32 / bits;
}

/** @return ratio of a codec for virtual gradients */
double
GetCodedRatio(const std::string& codec)
{
    constexpr uint64_t COUNT = 1 << 20;
    return 4.0 * COUNT / static_cast<double>(MakeCodec(codec)->GetCodedBytes(COUNT));
}

/** @return time of a copy of all gradients on the line or through engines, 100 times, s */
double
GetCopySeconds(const PublishedCase& network, uint32_t lanes = 0)
{
    const double bits = ITERATIONS * 32 * network.Get("parameters");
    const double segments = bits / LINE / PAYLOAD;
    return lanes == 0
               ? segments * SEGMENT
               : std::max(segments * std::max(LEAST_FRAME,
                                              SEGMENT - PAYLOAD + PAYLOAD / GetRatio(network)),
                          bits / (lanes * 32 * 100e6));
}

ClusterOptions
MakeOptions(const PublishedCase& network,
            uint32_t ranks,
            const std::string& algorithm,
            uint32_t lanes = 0)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.transport = "tcp";
    options.rate = DataRate(static_cast<uint64_t>(LINE));
    options.mtu = 1500;
    if (lanes > 0)
    {
        options.nic = GetCodec(network) + ",lanes=" + std::to_string(lanes);
    }
    return options;
}

int
Inceptionn::Run(int argc, char* argv[])
{
    m_paper.GetOptions().AddUnsigned(
        "scale",
        "simulated exchanges have this fraction of the gradients, but not less than 2.4 MB",
        m_scale,
        1,
        1000);
    m_paper.AddPart("codec", [&] { AddCodec(); });
    m_paper.AddPart("exchange", [&] { AddExchanges(); });
    m_paper.AddPart("scalability", [&] { AddScalability(); });
    m_paper.AddPart("hierarchy", [&] { AddHierarchies(); });
    m_paper.AddPart("training", [&] {
        for (const PublishedCase& network : m_networks)
        {
            if (!std::isnan(network.Get("forward")))
            {
                AddIterations(network);
            }
        }
    });
    return m_paper.Run(argc, argv);
}

void
Inceptionn::Add(const std::string& row, const Exchange& values, const PublishedCase& names)
{
    m_paper.Add(row, values.expected, values.ours, names);
}

double
Inceptionn::GetSeconds(const PublishedCase& network,
                       const ClusterOptions& options,
                       CollectiveOperation operation)
{
    const uint64_t all = network.GetCount("parameters");
    const uint64_t numbers = std::max(all / m_scale, std::min(all, LEAST_NUMBERS));
    const auto [known, isNew] = m_seconds.emplace(std::tuple(numbers,
                                                             options.ranks,
                                                             options.algorithm,
                                                             options.nic,
                                                             operation,
                                                             options.attributes.empty()),
                                                  0);
    if (isNew) // the first collective opens connections
    {
        known->second = m_paper.Measure(options, operation, {4 * numbers, 4 * numbers}).seconds;
    }
    return ITERATIONS * known->second * static_cast<double>(all) / static_cast<double>(numbers);
}

Exchange
Inceptionn::GetGather(const PublishedCase& network, uint32_t workers, uint32_t lanes)
{
    return {workers * GetCopySeconds(network, lanes),
            GetSeconds(network,
                       MakeOptions(network, workers + 1, "direct", lanes),
                       CollectiveOperation::REDUCE)};
}

Exchange
Inceptionn::GetBroadcast(const PublishedCase& network, uint32_t ranks)
{
    return {std::ceil(std::log2(ranks)) * GetCopySeconds(network),
            GetSeconds(network,
                       MakeOptions(network, ranks, "binomial"),
                       CollectiveOperation::BROADCAST)};
}

Exchange
Inceptionn::GetStar(const PublishedCase& network, uint32_t workers, uint32_t lanes)
{
    // The aggregator receives all gradients, then sends all weights.
    return GetGather(network, workers, lanes) +
           Exchange{workers * GetCopySeconds(network),
                    GetSeconds(network,
                               MakeOptions(network, workers + 1, "direct"),
                               CollectiveOperation::BROADCAST)};
}

Exchange
Inceptionn::GetRounds(const PublishedCase& network, uint32_t workers, uint32_t lanes)
{
    return GetGather(network, workers, lanes) + GetBroadcast(network, workers + 1);
}

Exchange
Inceptionn::GetRing(const PublishedCase& network, uint32_t workers, uint32_t lanes, double hosts)
{
    ClusterOptions options = MakeOptions(network, workers, "ring", lanes);
    double copy = GetCopySeconds(network, lanes);
    if (hosts > 0)
    {
        copy = std::max(copy, ITERATIONS * 32 * network.Get("parameters") / hosts);
        options.attributes["ns3::training::HostDevice::ReceiveRate"] =
            std::to_string(static_cast<uint64_t>(hosts)) + "bps";
    }
    return {2.0 * (workers - 1) / workers * copy, GetSeconds(network, options)};
}

Exchange
Inceptionn::GetRings(const PublishedCase& network, uint32_t lanes)
{
    ClusterOptions options = MakeOptions(network, GROUPS * WORKERS, "hierarchical", lanes);
    options.topology = "leaf-spine:leaves=2,spines=1,hosts-per-leaf=4,uplink=40Gbps";
    // In each group a ring of 4, then between groups rings of 2 for a quarter of the gradients.
    return {2 * (3.0 / 4 + 1.0 / 2 / 4) * GetCopySeconds(network, lanes),
            GetSeconds(network, options)};
}

void
Inceptionn::AddCodec()
{
    for (const PublishedCase& network : m_networks)
    {
        m_paper.Add("shares", GetRatio(network), GetCodedRatio(GetCodec(network)), network);
    }
    m_paper.Add("largest", 16, GetCodedRatio("inceptionn:bound=-6,shares=100/0/0/0"));
    for (const PublishedCase& each : m_paper.GetCases("truncations"))
    {
        m_paper.Add("truncation",
                    32 / (32 - each.Get("drop")),
                    GetCodedRatio(each.Fill("truncation:drop={drop}")),
                    each);
    }
    for (const uint32_t level : {6, 8, 10})
    {
        AddNormal(level);
    }
    // The largest error is that of the largest number below a step of the 8-bit code.
    for (const std::string variant : {"paper", "bounded"})
    {
        for (const int level : {6, 8, 10})
        {
            const PublishedCase names{{"level", std::to_string(level)}, {"variant", variant}};
            const auto codec = MakeCodec(names.Fill("inceptionn:bound=-{level},variant={variant}"));
            double largest = 0;
            for (float value = std::ldexp(1.0F, -14); value < 1; value *= 1.0001F)
            {
                float coded = value;
                codec->RoundTrip(&coded, 1, {});
                largest = std::max(largest, static_cast<double>(value - coded));
            }
            m_paper.Add("error",
                        variant == "paper" ? std::ldexp(1, level - std::min(level, 7)) : 1,
                        std::ldexp(largest, level),
                        names);
        }
    }
}

void
Inceptionn::AddNormal(uint32_t level)
{
    // Shares of a normal distribution below a magnitude.
    const auto below = [](double magnitude) {
        constexpr double SIGMA = 0.001;
        return std::erf(magnitude / (SIGMA * std::sqrt(2.0)));
    };
    const auto exponent = static_cast<int>(level);
    const double least = below(std::ldexp(1, -exponent));
    const double middle = below(std::ldexp(1, -exponent / 2));
    const double bits = 2 + 8 * (middle - least) + 16 * (below(1) - middle) + 32 * (1 - below(1));
    const auto values = MakeGradientSource("normal:sigma=0.001")->Make({}, 1 << 20);
    const auto count = static_cast<double>(values.size());
    const PublishedCase names{{"level", std::to_string(level)}};
    const InceptionnCodec codec(level, InceptionnCodec::Variant::PAPER);
    std::vector<uint8_t> code;
    codec.Encode(values.data(), values.size(), {}, code);
    m_paper.Add("normal", 32 / bits, 4 * count / static_cast<double>(code.size()), names);
    const auto tags = codec.CountTags(values.data(), values.size());
    m_paper.Add("class", 100 * least, 100 * static_cast<double>(tags[0]) / count);
}

void
Inceptionn::AddExchanges()
{
    for (const PublishedCase& network : m_networks)
    {
        Add("star", GetStar(network), network);
    }
    const Exchange hosts = GetRing(m_alexNet, WORKERS, LANES, HOSTS);
    Add("star-coded", GetStar(m_alexNet, WORKERS, LANES), m_alexNet);
    Add("rounds", GetRounds(m_alexNet), m_alexNet);
    Add("rounds-coded", GetRounds(m_alexNet, WORKERS, LANES), m_alexNet);
    Add("ring", GetRing(m_alexNet), m_alexNet);
    Add("ring-unlimited", GetRing(m_alexNet, WORKERS, NO_LIMIT), m_alexNet);
    Add("ring-coded", GetRing(m_alexNet, WORKERS, LANES), m_alexNet);
    Add("ring-hosts", hosts, m_alexNet);
    const double published = m_alexNet.Get("exchange");
    for (const std::string row : {"least", "most"})
    {
        m_paper.Add(row,
                    100 * (hosts.expected / published - 1),
                    100 * (hosts.ours / published - 1));
    }
}

void
Inceptionn::AddScalability()
{
    const Exchange base = GetStar(m_alexNet);
    for (const uint32_t workers : {4U, 6U, 8U})
    {
        for (const auto& [row, exchange] : {std::pair("star", GetStar(m_alexNet, workers)),
                                            {"rounds", GetRounds(m_alexNet, workers)},
                                            {"ring", GetRing(m_alexNet, workers)},
                                            {"ring-coded", GetRing(m_alexNet, workers, LANES)}})
        {
            m_paper.Add(row,
                        exchange.expected / base.expected,
                        exchange.ours / base.ours,
                        {{"workers", std::to_string(workers)}});
        }
    }
}

void
Inceptionn::AddHierarchies()
{
    const Exchange down = GetBroadcast(m_alexNet, GROUPS + 1);
    for (const uint32_t lanes : {0U, LANES})
    {
        const PublishedCase names{{"engines", lanes == 0 ? "" : ", with engines"}};
        const Exchange up = GetGather(m_alexNet, GROUPS, lanes);
        // Aggregators of groups below an aggregator: sums up, weights down, both levels in turn.
        Add("aggregators",
            GetGather(m_alexNet, WORKERS, lanes) + up + down + GetBroadcast(m_alexNet, WORKERS + 1),
            names);
        // A worker of each ring sends its sum and passes the weights on.
        Add("below",
            GetRing(m_alexNet, WORKERS, lanes) + up + down + GetBroadcast(m_alexNet, WORKERS),
            names);
        Add("rings", GetRings(m_alexNet, lanes), names);
        Add("ring", GetRing(m_alexNet, GROUPS * WORKERS, lanes), names);
    }
}

void
Inceptionn::AddIterations(const PublishedCase& network)
{
    for (const std::string input : {"forward", "backward", "copy", "sum"})
    {
        m_paper.Add(input, NONE, NONE, network);
    }
    const bool isSplit = !std::isnan(network.Get("exchange"));
    const double byParameters =
        network.Get("parameters") * m_alexNet.Get("update") / m_alexNet.Get("parameters");
    const double update = isSplit ? network.Get("update") : byParameters;
    const double exchange = isSplit ? network.Get("exchange") : network.Get("rest") - update;
    const Exchange star = GetRounds(network);
    if (isSplit)
    {
        m_paper.Add("update", byParameters, NONE, network);
        Add("exchange", star, network);
    }
    else
    {
        Add("exchange-update", star + Exchange{update, update}, network);
    }
    const double sum = network.Get("sum");
    const double total = network.Get("total");
    const double others =
        network.Get("forward") + network.Get("backward") + network.Get("copy") + update;
    Add("total", {others + sum + exchange, others + sum + star.ours}, network);
    Add("share",
        {100 * exchange / total, 100 * star.ours / (total - exchange + star.ours)},
        network);
    // An aggregator adds p - 1 gradients, each worker of a ring (p - 1) / p of one.
    const double phases = others + sum / WORKERS;
    const Exchange computation{phases, phases};
    const Exchange after = computation + GetRing(network, WORKERS, LANES, HOSTS);
    Add("ring", computation + GetRing(network, WORKERS, 0, HOSTS), network);
    Add("engines", computation + GetRing(network, WORKERS, LANES), network);
    Add("both", after, network);
    Add("speed-up", {total / after.expected, total / after.ours}, network);
    // Published epochs are inputs.
    const double equal = total * network.Get("epochs") / network.Get("coded-epochs");
    Add("accuracy", {equal / after.expected, equal / after.ours}, network);
    m_paper.Add("needed",
                100 * ((equal / network.Get("speed-up") - phases) / exchange - 1),
                NONE,
                network);
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("inceptionn", [&] { return Inceptionn().Run(argc, argv); });
}
