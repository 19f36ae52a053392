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

#include "ns3/cluster-command-line.h"
#include "ns3/experiment.h"
#include "ns3/inceptionn-codec.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
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
/// Least numbers of a simulated exchange, if there are as many.
constexpr uint64_t LEAST_NUMBERS = 600000;
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
    double forward;               ///< published phases of computation, s
    double backward;              ///< likewise
    double copy;                  ///< likewise: between host and GPU
    double sum;                   ///< likewise: of the workers' gradients
    double update;                ///< likewise: of the weights
    double total;                 ///< published sum of all phases, s
    double epochs;                ///< published, to the final accuracy
    double codedEpochs;           ///< published, with coded gradients
    double speedUp;               ///< published, to the same accuracy

    /** @return phases beside exchange and sum, s */
    double GetOthers() const
    {
        return forward + backward + copy + update;
    }
};

/// Numbers of an update per second: AlexNet's, published.
constexpr double UPDATE_RATE = ITERATIONS * 60965224 / 13.67;

/**
 * Published times are of 100 iterations; class shares add up to 100 in each row. ResNet-50's phases
 * contradict its published duration. VGG-16's exchange and update are published as a sum, 617.1 s.
 */
const std::vector<Network> NETWORKS{
    {"AlexNet",
     60965224,
     {74.9, 3.9, 21.1, 0.1},
     148.71,
     3.13,
     16.22,
     5.68,
     8.94,
     13.67,
     196.35,
     64,
     65,
     3.1},
    {"HDC", 648010, {92.0, 6.5, 1.5, 0}, 1.36, 0.08, 0.07, 0, 0.09, 0.09, 1.7, 17, 18, 2.7},
    {"ResNet-50",
     25557032,
     {81.6, 17.9, 0.5, 0},
     NONE,
     NONE,
     NONE,
     NONE,
     NONE,
     NONE,
     NONE,
     90,
     92,
     3.0},
    {"VGG-16",
     138357544,
     {94.2, 0.9, 4.9, 0},
     NONE,
     32.25,
     142.34,
     12.09,
     19.89,
     ITERATIONS * 138357544 / UPDATE_RATE,
     823.65,
     74,
     75,
     2.2}};

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    uint64_t scale{50};
    std::string json;
    RunFilesOptions files;
};

/** The figures of INCEPTIONN, simulated next to the published ones. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table(PublishedTable::OfFigures(74, setting.json))
    {
    }

    /** Ratios and errors of the codec. */
    void CompareCodec();
    /** Exchanges of gradients, 100 iterations. */
    void CompareExchanges();
    /** Exchanges by the number of workers. */
    void CompareScalability();
    /** Groups of workers below an aggregator, or below a ring. */
    void CompareHierarchies();
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

        /** @return this exchange and another one after it */
        Exchange operator+(const Exchange& other) const
        {
            return {expected + other.expected, ours + other.ours};
        }
    };

    Exchange GetGather(const Network& network, uint32_t workers, const std::string& nic);
    Exchange GetBroadcast(const Network& network, uint32_t ranks);
    Exchange GetStar(const Network& network,
                     uint32_t workers = WORKERS,
                     const std::string& nic = "none");
    Exchange GetBinomial(const Network& network,
                         uint32_t workers = WORKERS,
                         const std::string& nic = "none");
    Exchange GetRings(const Network& network, const std::string& nic);
    void CompareIterations(const Network& network);
    Exchange GetRing(const Network& network,
                     uint32_t workers = WORKERS,
                     const std::string& nic = "none",
                     double engine = 0,
                     double hosts = 0);
    double GetSeconds(const Network& network,
                      const ClusterOptions& options,
                      CollectiveOperation operation = CollectiveOperation::ALL_REDUCE);

    const Setting& m_setting;
    PublishedTable m_table;
    std::map<std::string, double> m_seconds; // of what has been simulated
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

/** @return time of a copy through engines over that of an uncoded one */
double
GetCodedShare(const Network& network, const std::string& nic)
{
    return nic == "none" ? 1
                         : std::max(1 / GetWireRatio(GetRatio(network)),
                                    PAYLOAD / (PAYLOAD + HEADERS) * LINE / ENGINE);
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
    const uint64_t all = network.parameters;
    const uint64_t numbers = std::max(all / m_setting.scale, std::min(all, LEAST_NUMBERS));
    std::string key = std::to_string(numbers) + "|" + std::to_string(options.ranks) + "|" +
                      options.algorithm + "|" + options.nic + "|" + GetName(operation);
    for (const auto& [name, value] : options.attributes)
    {
        key += "|" + name + "=" + value;
    }
    const auto [known, isNew] = m_seconds.emplace(key, 0);
    if (isNew)
    {
        const CollectiveRun run = // the first opens connections
            RunCollectives(options, operation, {4 * numbers, 4 * numbers});
        m_table.AddCost(run.cost);
        known->second = run.measurements.back().seconds;
    }
    return ITERATIONS * known->second * static_cast<double>(all) / static_cast<double>(numbers);
}

Comparison::Exchange
Comparison::GetGather(const Network& network, uint32_t workers, const std::string& nic)
{
    ClusterOptions options = MakeOptions(workers + 1, "direct");
    options.nic = nic;
    return {workers * GetCodedShare(network, nic) * GetCopySeconds(network),
            GetSeconds(network, options, CollectiveOperation::REDUCE)};
}

Comparison::Exchange
Comparison::GetBroadcast(const Network& network, uint32_t ranks)
{
    return {std::ceil(std::log2(ranks)) * GetCopySeconds(network),
            GetSeconds(network, MakeOptions(ranks, "binomial"), CollectiveOperation::BROADCAST)};
}

Comparison::Exchange
Comparison::GetStar(const Network& network, uint32_t workers, const std::string& nic)
{
    // The aggregator receives all gradients, then sends all weights.
    return GetGather(network, workers, nic) +
           Exchange{workers * GetCopySeconds(network),
                    GetSeconds(network,
                               MakeOptions(workers + 1, "direct"),
                               CollectiveOperation::BROADCAST)};
}

Comparison::Exchange
Comparison::GetBinomial(const Network& network, uint32_t workers, const std::string& nic)
{
    return GetGather(network, workers, nic) + GetBroadcast(network, workers + 1);
}

Comparison::Exchange
Comparison::GetRings(const Network& network, const std::string& nic)
{
    ClusterOptions options = MakeOptions(2 * WORKERS, "hierarchical");
    options.topology = "leaf-spine:leaves=2,spines=1,hosts-per-leaf=4,uplink=40Gbps";
    options.nic = nic;
    // In each group a ring of 4, then between groups rings of 2 for a quarter of the gradients.
    const double copies = 2 * (3.0 / 4 + 1.0 / 2 / 4);
    return {copies * GetCodedShare(network, nic) * GetCopySeconds(network),
            GetSeconds(network, options)};
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
Comparison::CompareCodec()
{
    m_table.PrintHeadings("Codec; expected: closed forms\n");
    for (const Network& network : NETWORKS)
    {
        constexpr uint64_t COUNT = 1 << 20;
        m_table.AddFigure(
            std::string("ratio at 2^-10 with the published class shares of ") + network.name,
            "",
            UNVERIFIED,
            NONE,
            GetRatio(network),
            4.0 * COUNT / static_cast<double>(MakeCodec(GetCodec(network))->GetCodedBytes(COUNT)));
    }
    m_table.AddFigure(
        "largest ratio, at 2^-6: all gradients in class 0",
        "",
        UNVERIFIED,
        14.9,
        16,
        4096.0 * 4 /
            static_cast<double>(
                MakeCodec("inceptionn:bound=-6,shares=100/0/0/0")->GetCodedBytes(4096)));

    for (const auto& [drop, published] : {std::pair{16, 2.0}, {22, 3.2}, {24, 4.0}})
    {
        constexpr uint64_t COUNT = 1 << 20;
        const std::string spec = "truncation:drop=" + std::to_string(drop);
        m_table.AddFigure("ratio of truncation that drops " + std::to_string(drop) + " bits",
                          "",
                          UNVERIFIED,
                          published,
                          32.0 / (32 - drop),
                          4.0 * COUNT / static_cast<double>(MakeCodec(spec)->GetCodedBytes(COUNT)));
    }
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
        m_table.AddFigure(
            "ratio at 2^-" + std::to_string(level) + " of normal gradients, sigma 0.001",
            "",
            "",
            NONE,
            32 / bits,
            4.0 * static_cast<double>(values.size()) / static_cast<double>(code.size()));
        const InceptionnCodec counter(static_cast<uint32_t>(level),
                                      InceptionnCodec::Variant::PAPER);
        const auto tags = counter.CountTags(values.data(), values.size());
        m_table.AddFigure("class 0 of these, the share without a code",
                          "%",
                          "",
                          NONE,
                          100 * below(std::ldexp(1, -level)),
                          100 * static_cast<double>(tags[0]) / static_cast<double>(values.size()));
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
            m_table.AddFigure(
                "largest error / bound of 2^-" + std::to_string(level) + ", variant " + variant,
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
        m_table.AddFigure(std::string(network.name) +
                              ": workers and an aggregator that sends one by one",
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
        m_table.AddFigure("AlexNet: " + what,
                          "s",
                          UNVERIFIED,
                          published,
                          exchange.expected,
                          exchange.ours);
    };
    add("one by one, gradients coded, weights not", NONE, GetStar(alexNet, WORKERS, codec));
    add("the aggregator broadcasts in rounds", alexNet.star, GetBinomial(alexNet));
    add("likewise, gradients coded, weights not", NONE, GetBinomial(alexNet, WORKERS, codec));
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
        m_table.AddFigure(published > -80
                              ? "least change from the published aggregator, hosts by the fit"
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
        const Exchange binomial = GetBinomial(alexNet, workers);
        const Exchange ring = GetRing(alexNet, workers);
        const Exchange coded = GetRing(alexNet, workers, GetCodec(alexNet), ENGINE);
        m_table.AddFigure(std::to_string(workers) + " workers and an aggregator",
                          "",
                          UNVERIFIED,
                          NONE,
                          star.expected / base.expected,
                          star.ours / base.ours);
        m_table.AddFigure(std::to_string(workers) +
                              " workers and an aggregator that broadcasts in rounds",
                          "",
                          UNVERIFIED,
                          NONE,
                          binomial.expected / base.expected,
                          binomial.ours / base.ours);
        m_table.AddFigure(std::to_string(workers) + " workers in a ring",
                          "",
                          UNVERIFIED,
                          NONE,
                          ring.expected / base.expected,
                          ring.ours / base.ours);
        m_table.AddFigure(std::to_string(workers) + " workers in a ring, coded",
                          "",
                          UNVERIFIED,
                          NONE,
                          coded.expected / base.expected,
                          coded.ours / base.ours);
    }
}

void
Comparison::CompareHierarchies()
{
    m_table.PrintHeadings(
        "\n100 exchanges of AlexNet, 2 groups of 4 workers; figures of the paper's "
        "second part of Fig. 1 are not published\n");
    const Network& alexNet = NETWORKS[0];
    constexpr uint32_t GROUPS = 2;
    for (const std::string& nic : {std::string("none"), GetCodec(alexNet)})
    {
        const std::string engines = nic == "none" ? "" : ", with engines";
        const double engine = nic == "none" ? 0 : ENGINE;
        const auto add = [&](const std::string& what, const Exchange& exchange) {
            m_table
                .AddFigure(what + engines, "s", UNVERIFIED, NONE, exchange.expected, exchange.ours);
        };
        // Aggregators of groups below an aggregator: sums up, weights down, both levels in turn.
        add("aggregators of groups below an aggregator (Fig. 1a)",
            GetGather(alexNet, WORKERS, nic) + GetGather(alexNet, GROUPS, nic) +
                GetBroadcast(alexNet, GROUPS + 1) + GetBroadcast(alexNet, WORKERS + 1));
        // A worker of each ring sends its sum and passes the weights on.
        add("rings of groups below an aggregator (Fig. 1b)",
            GetRing(alexNet, WORKERS, nic, engine) + GetGather(alexNet, GROUPS, nic) +
                GetBroadcast(alexNet, GROUPS + 1) + GetBroadcast(alexNet, WORKERS));
        add("rings of groups and rings between them (Fig. 1c)", GetRings(alexNet, nic));
        add("a ring of all 8", GetRing(alexNet, GROUPS * WORKERS, nic, engine));
    }
}

void
Comparison::CompareIterations(const Network& network)
{
    const auto add =
        [&](const std::string& what, const char* unit, double published, const Exchange& values) {
            m_table.AddFigure(std::string(network.name) + ": " + what,
                              unit,
                              UNVERIFIED,
                              published,
                              values.expected,
                              values.ours);
        };
    const Exchange input{NONE, NONE};
    add("forward", "s", network.forward, input);
    add("backward", "s", network.backward, input);
    add("copy between host and GPU", "s", network.copy, input);
    add("sum of 4 workers' gradients by an aggregator", "s", network.sum, input);
    const double update = ITERATIONS * static_cast<double>(network.parameters) / UPDATE_RATE;
    const Exchange star = GetBinomial(network);
    const bool isSplit = !std::isnan(network.star);
    const double exchange =
        isSplit ? network.star : network.total - network.GetOthers() - network.sum;
    if (isSplit)
    {
        add("update; expected: as AlexNet's, by parameters", "s", network.update, {update, NONE});
        add("exchange by an aggregator that broadcasts in rounds", "s", network.star, star);
    }
    else
    {
        add("exchange and update; expected: update as AlexNet's, by parameters",
            "s",
            exchange + network.update,
            star + Exchange{update, update});
    }
    add("all phases; expected: their sum",
        "s",
        network.total,
        {network.GetOthers() + network.sum + exchange,
         network.GetOthers() + network.sum + star.ours});
    const double before = network.total;
    add("share of the exchange; expected: of published phases",
        "%",
        NONE,
        {100 * exchange / before, 100 * star.ours / (before - exchange + star.ours)});
    // An aggregator adds p - 1 gradients, each worker of a ring (p - 1) / p of one.
    const double phases = network.GetOthers() + network.sum / WORKERS;
    const Exchange plain = GetRing(network, WORKERS, "none", 0, HOSTS);
    const Exchange coded = GetRing(network, WORKERS, GetCodec(network), ENGINE, HOSTS);
    const Exchange engines = GetRing(network, WORKERS, GetCodec(network), ENGINE);
    const auto addRing = [&](const std::string& what, const Exchange& ring) {
        const Exchange after = ring + Exchange{phases, phases};
        add("iterations with a ring" + what, "s", NONE, after);
        return after;
    };
    addRing(", hosts by the fit", plain);
    addRing(", engines, hosts that take no time", engines);
    const Exchange after = addRing(", engines, hosts by the fit", coded);
    add("speed-up of iterations; published: 2.2 to 3.1 in the abstract",
        "",
        NONE,
        {before / after.expected, before / after.ours});
    // Fig. 13: published epochs are inputs.
    const double epochs = network.epochs / network.codedEpochs;
    add("speed-up to equal accuracy, by the published epochs",
        "",
        network.speedUp,
        {epochs * before / after.expected, epochs * before / after.ours});
    add("change of the exchange that this speed-up needs, of the published one",
        "%",
        NONE,
        {100 * ((epochs * before / network.speedUp - phases) / exchange - 1), NONE});
}

void
Comparison::CompareTraining()
{
    m_table.PrintHeadings("\n100 iterations; phases of computation as published, exchanges "
                          "simulated; ResNet-50's phases contradict its duration\n");
    for (const Network& network : NETWORKS)
    {
        if (!std::isnan(network.forward))
        {
            CompareIterations(network);
        }
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
                      "4 to 8; hierarchy: of 2 groups of 4; training: with the phases of "
                      "computation",
                      setting.part,
                      {"all", "codec", "exchange", "scalability", "hierarchy", "training"});
    options.AddUnsigned("scale",
                        "simulated exchanges have this fraction of the gradients, but not less "
                        "than 2.4 MB",
                        setting.scale,
                        1,
                        1000);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"codec", [&] { comparison.CompareCodec(); }},
         {"exchange", [&] { comparison.CompareExchanges(); }},
         {"scalability", [&] { comparison.CompareScalability(); }},
         {"hierarchy", [&] { comparison.CompareHierarchies(); }},
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
