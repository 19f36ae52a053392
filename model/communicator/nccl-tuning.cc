/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/nccl-tuning.h"

#include "communicator/rccl-tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double GB = 1e9;
constexpr double US = 1e-6;

/// us, by algorithm and protocol.
constexpr double BASE[][3] = {{6.8, 14, 8.4}, {6.6, 14, 8.4}, {0, 0, 0}, {0, 0, 0}};
constexpr double NVLINK[][3] = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 25}, {0, 0, 25}};
constexpr double PCI[][3] = {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 0}, {0, 0, 0}};
constexpr double NETWORK[][3] = {{5.0, 8.5, 14}, {2.7, 4.0, 14}, {0, 0, 18}, {0, 0, 20.9}};

/// Caps in GB/s by generation of GPUs and by 1, 2 or more servers, of a channel of NCCL's search
/// (the first table: of all). There, several servers use the row of the CPU's vendor.
constexpr double MAX_LL[][3] = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
constexpr double MAX_RING_LL128[][3] = {{20, 20, 20},
                                        {20, 20, 20},
                                        {36.7, 36.7, 36.7},
                                        {40, 40, 40}};
constexpr double MAX_TREE_LL128[][3] = {{20, 20, 20},
                                        {20, 20, 20},
                                        {36.7, 36.7, 29},
                                        {55.6, 31.67, 20}};
constexpr double MAX_TREE[][3] = {{26.5, 18.5, 10},
                                  {24, 23.6, 17.8},
                                  {38.7, 41.4, 36},
                                  {70, 42.8, 24}};
constexpr double MAX_SWITCH_TREE[][3] = {{26.5, 18.5, 10},
                                         {24, 23.6, 17.8},
                                         {0, 57.7, 45.5},
                                         {0, 96, 80}};

/// A message of an exchange of at most this size uses LL (NCCL_P2P_LL_THRESHOLD), bytes.
constexpr uint64_t MAX_EXCHANGE_LL = 16384;

/// Rates of a channel in a server that NCCL's search tries, by generation of GPUs, GB/s.
const std::vector<double> HEAD_RATES[] = {{},
                                          {},
                                          {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
                                          {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}};
/// Efficiency of sums in the switch by generation of GPUs.
constexpr double SWITCH_EFFICIENCY[] = {0, 0, 0.85, 0.74};

/// Time to post to the network by the vendor of the CPU, us.
constexpr double POST[] = {1, 2};

/// Correction of a tree's bandwidth by protocol and by powers of two from 64 bytes on.
constexpr double TREE_CORRECTION[][24] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

uint32_t
GetLog2(uint64_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        log++;
    }
    return log;
}

template <class T>
constexpr uint32_t
Index(T value)
{
    return static_cast<uint32_t>(value);
}

bool
IsHalf(Operation operation)
{
    return operation == Operation::REDUCE_SCATTER || operation == Operation::ALL_GATHER;
}

/** @return steps of a ring */
uint32_t
GetSteps(Operation operation, uint32_t ranks)
{
    return operation == Operation::ALL_REDUCE ? 2 * (ranks - 1)
           : IsHalf(operation)                ? ranks - 1
                                              : ranks;
}

} // namespace

const std::vector<std::string>&
NcclTuning::GetGpus()
{
    static const std::vector<std::string> names{"volta", "ampere", "hopper", "blackwell"};
    return names;
}

const std::vector<std::string>&
NcclTuning::GetCpus()
{
    static const std::vector<std::string> names{"intel", "amd"};
    return names;
}

const std::vector<std::string>&
NcclTuning::GetProtocols()
{
    static const std::vector<std::string> names{"ll", "ll128", "simple"};
    return names;
}

std::string
NcclTuning::GetName(Operation operation, Algorithm algorithm, bool hasRings)
{
    switch (operation)
    {
    case Operation::ALL_TO_ALL:
    case Operation::ALL_TO_ALL_V:
        return "direct";
    case Operation::SEND_RECEIVE:
        return "ring";
    case Operation::BARRIER:
        return "double-binary-tree";
    default:
        return algorithm == Algorithm::TREE ? "nccl-tree"
               : hasRings                   ? "multi-ring:balanced=true"
                                            : "ring";
    }
}

std::vector<LibraryPlan>
NcclTuning::Describe(const std::vector<Plan>& plans, Operation operation, bool hasRings)
{
    std::vector<LibraryPlan> described;
    for (const Plan& plan : plans)
    {
        described.push_back({GetName(operation, plan.algorithm, hasRings),
                             GetProtocols()[Index(plan.protocol)],
                             plan.seconds});
    }
    return described;
}

NcclTuning::NcclTuning(const System& system)
    : m_system(system),
      m_perServer(system.ranks / system.servers),
      m_scale(std::min<uint32_t>(system.servers, 3) - 1)
{
}

double
NcclTuning::GetBaseLatency(Algorithm algorithm, Protocol protocol) const
{
    return m_system.isRccl ? RcclTables::GetBaseLatency(Index(protocol))
                           : BASE[Index(algorithm)][Index(protocol)];
}

double
NcclTuning::GetLocalLatency(Algorithm algorithm, Protocol protocol) const
{
    const auto& table = m_system.hasNvlink ? NVLINK : PCI;
    const auto hop = m_system.hasNvlink ? RcclTables::LINK : RcclTables::PCI;
    const double latency = m_system.isRccl
                               ? RcclTables::GetLatency(hop, Index(algorithm), Index(protocol))
                               : table[Index(algorithm)][Index(protocol)];
    if (algorithm != Algorithm::RING || m_system.servers == 1)
    {
        return latency;
    }
    // A ring between servers posts to the network at each of its steps.
    return std::max(latency, POST[m_system.cpu] * (protocol == Protocol::SIMPLE ? 3 : 1));
}

double
NcclTuning::GetRemoteLatency(Algorithm algorithm, Protocol protocol) const
{
    if (m_system.isRccl)
    {
        return RcclTables::GetLatency(RcclTables::NETWORK, Index(Algorithm::TREE), Index(protocol));
    }
    const auto row = m_perServer == 1 ? Algorithm::TREE : algorithm;
    return NETWORK[Index(row)][Index(protocol)];
}

double
NcclTuning::GetMaxLowLatencyBandwidth() const
{
    const uint32_t row = m_system.servers == 1 ? m_system.gpu : m_system.cpu;
    return MAX_LL[row][m_scale] * GB;
}

double
NcclTuning::GetMaxBusBandwidth(Algorithm algorithm, Protocol protocol) const
{
    if (m_system.isRccl)
    {
        return protocol == Protocol::SIMPLE
                   ? INFINITE
                   : GetGraphBandwidth() *
                         RcclTables::GetPart(m_system.servers, Index(algorithm), Index(protocol));
    }
    const double channels = m_system.channels * GB;
    // NCCL runs each channel that it has found twice (src/graph/connect.cc).
    const double searched = m_system.servers > 1 ? channels / 2 : channels;
    const uint32_t gpu = m_system.gpu;
    const bool isTree = algorithm == Algorithm::TREE;
    switch (protocol)
    {
    case Protocol::LL:
        return GetMaxLowLatencyBandwidth();
    case Protocol::LL128:
        return searched * (isTree ? MAX_TREE_LL128 : MAX_RING_LL128)[gpu][m_scale];
    case Protocol::SIMPLE:
        break;
    }
    return isTree                                ? searched * MAX_TREE[gpu][m_scale]
           : algorithm == Algorithm::SWITCH_TREE ? channels * MAX_SWITCH_TREE[gpu][m_scale]
                                                 : INFINITE;
}

double
NcclTuning::GetCopyRate(Algorithm algorithm, Protocol protocol) const
{
    // The bus bandwidth of a tree is twice the rate of its messages.
    return GetMaxBusBandwidth(algorithm, protocol) / (algorithm == Algorithm::TREE ? 2 : 1);
}

double
NcclTuning::GetWireFactor(Protocol protocol)
{
    return protocol == Protocol::LL ? 2 : protocol == Protocol::LL128 ? 128.0 / 120 : 1;
}

/** @return bandwidth of the links that all channels together use */
double
NcclTuning::GetGraphBandwidth() const
{
    const double local = m_system.localRate;
    return m_system.servers == 1 ? local
           : m_perServer > 1     ? std::min(local, m_system.remoteRate)
                                 : m_system.remoteRate;
}

/**
 * @return rate at which each head reads, bytes/s: the highest of NCCL's search at which the line of
 *         a GPU carries what it and the others read (src/graph/search.cc, ncclTopoSearchTryNvls)
 */
double
NcclTuning::GetHeadRate() const
{
    const auto& rates = HEAD_RATES[m_system.gpu];
    const auto found = std::find_if(rates.begin(), rates.end(), [this](double rate) {
        return (m_system.heads + 1) * rate * 1e9 <= m_system.localRate;
    });
    return found == rates.end() ? 0 : *found * 1e9;
}

double
NcclTuning::GetBusBandwidth(Operation operation, Algorithm algorithm, Protocol protocol) const
{
    const double most = GetMaxBusBandwidth(algorithm, protocol);
    const double local = m_system.localRate;
    const double graph = GetGraphBandwidth();
    if (m_system.isRccl)
    {
        const bool isKnown = algorithm == Algorithm::RING ||
                             (algorithm == Algorithm::TREE && operation == Operation::ALL_REDUCE);
        const bool hasRoot = operation == Operation::BROADCAST || operation == Operation::REDUCE;
        const double more = hasRoot && protocol == Protocol::LL && m_system.servers == 1 ? 1.65 : 1;
        return isKnown
                   ? more * graph *
                         RcclTables::GetPart(m_system.servers, Index(algorithm), Index(protocol))
                   : 0;
    }
    const bool isSimple = protocol == Protocol::SIMPLE;
    if (algorithm == Algorithm::RING)
    {
        const double share = isSimple ? 1 : protocol == Protocol::LL ? 0.5 : 0.92;
        return std::min(graph * share, most);
    }
    if (operation != Operation::ALL_REDUCE)
    {
        return 0;
    }
    if (algorithm == Algorithm::TREE)
    {
        const double tree = std::min(graph * 0.92, GetMaxBusBandwidth(algorithm, Protocol::SIMPLE));
        const double share = isSimple                   ? 1
                             : protocol == Protocol::LL ? 1 / 3.8
                             : m_system.servers == 1    ? 7.0 / 9
                                                        : 120.0 / 128;
        return std::min(tree * share, most);
    }
    const bool isSwitch = algorithm == Algorithm::SWITCH;
    if (!isSimple || !m_system.hasNvlink || m_system.channels < 2 ||
        isSwitch != (m_system.servers == 1))
    {
        return 0;
    }
    const double heads = m_system.heads > 0 ? m_system.heads : m_system.channels;
    const double read = m_system.heads > 0 ? heads * GetHeadRate() : local;
    const double inside = 2 * read * SWITCH_EFFICIENCY[m_system.gpu] * (heads - 1) / heads;
    const double between = m_system.remoteRate * (m_system.servers == 2 ? 2 : 1);
    return std::min({inside, isSwitch ? inside : between, most});
}

double
NcclTuning::GetLatency(Operation operation, Algorithm algorithm, Protocol protocol) const
{
    const double base = GetBaseLatency(algorithm, protocol);
    const double local = GetLocalLatency(algorithm, protocol);
    // Simple flushes what it has received, which takes the latency again.
    const double remote = GetRemoteLatency(algorithm, protocol) +
                          m_system.networkLatency * (protocol == Protocol::SIMPLE ? 2 : 1);
    const uint32_t servers = m_system.servers;
    switch (algorithm)
    {
    case Algorithm::TREE:
        return base + 2 * ((m_perServer - 1) * local + GetLog2(servers) * remote);
    case Algorithm::SWITCH:
        return local;
    case Algorithm::SWITCH_TREE:
        return base + local + 2 * GetLog2(servers) * remote;
    case Algorithm::RING:
        break;
    }
    const double fitted =
        m_system.isRccl
            ? RcclTables::GetLatency(RcclTables::NETWORK, Index(algorithm), Index(protocol))
            : remote;
    return base + GetRingLatency(operation, local, fitted);
}

/** @return latency of all steps of a ring, us */
double
NcclTuning::GetRingLatency(Operation operation, double local, double remote) const
{
    const uint32_t servers = m_system.servers;
    const uint32_t steps = GetSteps(operation, m_system.ranks);
    if (operation != Operation::ALL_REDUCE && !IsHalf(operation))
    {
        return steps * (servers > 1 ? remote : local);
    }
    const bool isReduced = operation == Operation::ALL_REDUCE;
    const uint32_t hops = m_system.isRccl && isReduced && servers > 1 ? servers : servers - 1;
    const uint32_t between = std::min(steps, hops * (isReduced ? 2 : 1));
    return (steps - between) * local + between * remote;
}

double
NcclTuning::GetSeconds(Operation operation,
                       Algorithm algorithm,
                       Protocol protocol,
                       uint64_t bytes) const
{
    double bandwidth = GetBusBandwidth(operation, algorithm, protocol);
    if (bandwidth <= 0)
    {
        return INFINITE;
    }
    double latency = GetLatency(operation, algorithm, protocol);
    const uint32_t size = GetLog2(bytes >> 6);
    if (m_system.isRccl)
    {
        bandwidth *=
            RcclTables::GetCorrection(m_system.servers, Index(algorithm), Index(protocol), size);
    }
    else if (algorithm == Algorithm::TREE && bytes >= 64 && size < 23)
    {
        bandwidth *= TREE_CORRECTION[Index(protocol)][size];
    }
    if (algorithm == Algorithm::RING && protocol == Protocol::SIMPLE && m_system.servers > 1 &&
        operation == Operation::ALL_REDUCE && !m_system.isRccl &&
        bytes / (uint64_t{m_system.channels} * m_system.ranks) >= 64)
    {
        latency *= m_system.gpu == 0 ? 1.9 : 1.4; // "plateau effect of ring"
    }
    const double ratio =
        algorithm == Algorithm::TREE
            ? 2
            : static_cast<double>(GetSteps(operation, m_system.ranks)) / m_system.ranks;
    return latency * US + static_cast<double>(bytes) * ratio / bandwidth;
}

NcclTuning::Protocol
NcclTuning::SelectProtocol(Operation operation, Algorithm algorithm, uint64_t bytes) const
{
    auto fastest = m_system.protocols.back();
    double least = INFINITE;
    for (const auto protocol : m_system.protocols)
    {
        const double seconds = GetSeconds(operation, algorithm, protocol, bytes);
        if (seconds < least)
        {
            least = seconds;
            fastest = protocol;
        }
    }
    return fastest;
}

NcclTuning::Protocol
NcclTuning::SelectExchangeProtocol(uint64_t bytes) const
{
    return bytes / m_system.ranks <= MAX_EXCHANGE_LL ? m_system.protocols.front()
                                                     : m_system.protocols.back();
}

std::vector<NcclTuning::Plan>
NcclTuning::GetPlans(Operation operation, uint64_t bytes, bool hasSwitches) const
{
    std::vector<Plan> plans;
    for (const auto algorithm :
         {Algorithm::TREE, Algorithm::RING, Algorithm::SWITCH, Algorithm::SWITCH_TREE})
    {
        const bool isBySwitches =
            algorithm == Algorithm::SWITCH || algorithm == Algorithm::SWITCH_TREE;
        const auto protocol =
            isBySwitches ? Protocol::SIMPLE : SelectProtocol(operation, algorithm, bytes);
        const double seconds = GetSeconds(operation, algorithm, protocol, bytes);
        if (std::isfinite(seconds) && (hasSwitches || !isBySwitches))
        {
            plans.push_back({algorithm, protocol, seconds});
        }
    }
    std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) {
        return a.seconds < b.seconds;
    });
    return plans;
}

} // namespace ns3::training
