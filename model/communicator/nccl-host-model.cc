/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hosts that run NCCL. Its tuning (NcclTuning) gives the protocol, the base latency, the latency of
 * a hop and the limits of the copy rate. NCCL measures latencies end to end; each hop therefore
 * subtracts the propagation delay to the nearest rank, which the simulation adds. The thread blocks
 * of a channel copy one message after the other. The lanes of a schedule, such as the rings of
 * multi-ring, share the channels equally; the lanes of a ring together copy as fast as all NVLinks
 * of a GPU.
 *
 * NCCL's latencies between servers are those of InfiniBand; network-latency is what another network
 * adds to them. A network's plugin tells NCCL a latency to choose by (declared-latency), which need
 * not be the true one.
 *
 * An algorithm counts as a tree if its name contains "tree", except for multitree; otherwise as a
 * ring.
 */

#include "communicator/nccl-chunks.h"
#include "communicator/nccl-tuning.h"
#include "communicator/ofi-tuner.h"
#include "communicator/server-map.h"
#include "host-model.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace ns3::training
{

namespace
{

using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

/** @return position of a word */
uint32_t
Find(const std::vector<std::string>& words, const std::string& word)
{
    return static_cast<uint32_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

/** NCCL, for the ranks of one communicator. */
class NcclHostModel : public HostModel
{
  public:
    explicit NcclHostModel(const HostModelRequest& request);

    // HostModel
    HostCost GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const override;
    SwitchCost GetSwitchCost(uint64_t bytes) const override;
    SwitchCost GetSwitchTreeCost(uint64_t bytes) const override;
    HostCost GetSwitchTreeMessageCost(const CollectiveSchedule& schedule,
                                      uint64_t bytes) const override;
    bool PrefersSwitches(uint64_t bytes) const override;
    std::vector<LibraryPlan> GetLibraryPlans(CollectiveOperation operation,
                                             uint64_t bytes) const override;
    bool HasSwitches() const override;
    bool IsLocal(uint32_t a, uint32_t b) const override;

  private:
    NcclTuning MakeTuning(double rails) const;
    std::optional<NcclTuning::Plan> FindPluginChoice(CollectiveOperation operation,
                                                     uint64_t bytes) const;
    std::vector<NcclTuning::Plan> GetPlans(CollectiveOperation operation,
                                           uint64_t bytes,
                                           bool hasSwitches) const;
    bool IsAllowed(Algorithm algorithm) const;
    Protocol SelectProtocol(const NcclTuning& tuning,
                            CollectiveOperation operation,
                            Algorithm algorithm,
                            uint64_t bytes) const;
    NcclTuning MakeSwitchTuning() const;
    Time GetStart(const NcclTuning& tuning, Algorithm algorithm, Protocol protocol) const;
    Time GetRemoteHop(const NcclTuning& tuning, Algorithm algorithm, Protocol protocol) const;
    Time GetSwitchStart(Algorithm algorithm, const std::string& allowed) const;

    ServerMap m_map;
    NcclTuning::System m_system;  // without the rates
    bool m_hasSwitches;           // a switch in each server joins all its ranks
    bool m_isMesh;                // links join the ranks of a server directly
    double m_localRate;           // at which a GPU copies through all its links, bytes/s; 0: none
    bool m_asksPlugin;            // the network's plugin may choose
    std::string m_betweenServers; // what several servers may run, or "auto"
    Time m_localLatency;          // beyond NCCL's, of a hop within a server
    Time m_networkLatency;        // beyond NCCL's, of a hop between servers
    Time m_creditLatency;         // beyond the delay, until a slot is free
    Time m_messageOverhead;       // of a message between servers
    Time m_chunkOverhead;         // of its chunks, each
    std::array<std::optional<Time>, 3> m_starts{}; // by protocol; none: NCCL's
};

/** @return whether the model is the one of RCCL */
bool
IsRccl(const HostModelRequest& request)
{
    return request.keys.GetName() == "rccl";
}

NcclHostModel::NcclHostModel(const HostModelRequest& request)
    : m_map(request),
      m_hasSwitches(!request.topology.scaleUpSwitches.empty()),
      m_isMesh(m_map.HasLocalLinks() && !m_hasSwitches),
      m_localRate(m_map.GetLocalSum()),
      m_asksPlugin(!IsRccl(request) && request.keys.GetText("tuner") == "ofi-p5"),
      m_betweenServers(request.keys.GetText("between-servers")),
      m_localLatency(request.keys.GetTime("local-latency")),
      m_networkLatency(request.keys.GetTime("network-latency")),
      m_creditLatency(request.keys.GetTime("credit-latency")),
      m_messageOverhead(request.keys.GetTime("message-overhead")),
      m_chunkOverhead(request.keys.GetTime("chunk-overhead"))
{
    m_system.ranks = m_map.GetRanks();
    m_system.servers = m_map.GetServers();
    m_system.hasNvlink = m_map.HasLocalLinks();
    m_system.channels = static_cast<uint32_t>(request.keys.GetCount("channels"));
    m_system.heads = request.hosts.empty() ? 0 : m_system.ranks / m_system.servers;
    m_system.isRccl = IsRccl(request);
    if (m_system.isRccl)
    {
        m_system.protocols = {Protocol::LL, Protocol::SIMPLE};
    }
    const std::string protocol = request.keys.GetText("protocol");
    if (protocol != "auto")
    {
        m_system.protocols = {static_cast<Protocol>(Find(NcclTuning::GetProtocols(), protocol))};
    }
    if (request.keys.GetText("copy-rate") != "auto")
    {
        const double rate = static_cast<double>(request.keys.GetRate("copy-rate").GetBitRate()) / 8;
        m_localRate = m_localRate > 0 ? std::min(m_localRate, rate) : rate;
    }
    for (const auto one : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
    {
        const char* key = one == Protocol::SIMPLE ? "start" : "start-low-latency";
        if (request.keys.GetText(key) != "auto")
        {
            m_starts[static_cast<std::size_t>(one)] = request.keys.GetTime(key);
        }
    }
    m_system.networkLatency = request.keys.GetTime("declared-latency").GetSeconds() * 1e6;
    m_system.buffer = request.keys.GetBytes("buffer");
    m_system.exchangeChunk = request.keys.GetBytes("exchange-chunk");
    m_system.switchChunk = request.keys.GetBytes("switch-chunk");
    m_system.switchTreeChunk = request.keys.GetBytes("switch-tree-chunk");
    if (!m_system.isRccl)
    {
        m_system.gpu = Find(NcclTuning::GetGpus(), request.keys.GetText("gpu"));
    }
    m_system.cpu = Find(NcclTuning::GetCpus(), request.keys.GetText("cpu"));
}

bool
NcclHostModel::IsLocal(uint32_t a, uint32_t b) const
{
    return m_map.IsLocal(a, b);
}

HostCost
NcclHostModel::GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const
{
    const double lanes = schedule.GetLanes();
    const NcclTuning tuning = MakeTuning(lanes);
    const bool isTree =
        schedule.algorithm.find("tree") != std::string::npos && schedule.algorithm != "multitree";
    const auto algorithm = isTree ? Algorithm::TREE : Algorithm::RING;
    const auto protocol = IsExchange(schedule.operation)
                              ? tuning.SelectExchangeProtocol(bytes)
                              : SelectProtocol(tuning, schedule.operation, algorithm, bytes);

    HostCost cost;
    cost.start = GetStart(tuning, algorithm, protocol);
    cost.localHop = m_map.GetLocalHop(tuning.GetLocalLatency(algorithm, protocol) * 1e-6 +
                                      m_localLatency.GetSeconds());
    cost.remoteHop = GetRemoteHop(tuning, algorithm, protocol);
    cost.wireFactor = NcclTuning::GetWireFactor(protocol);
    double copy = tuning.GetCopyRate(algorithm, protocol);
    if (m_localRate > 0)
    {
        copy = std::min(copy, m_localRate);
    }
    // The line has taken its part of the copy's time when the message arrives. Links of a mesh
    // carry all lanes at the same time; through a switch, each message has the whole line.
    const auto rest = [&](double rate) {
        return rate > 0 ? std::max(0.0, lanes / copy - cost.wireFactor / rate) : 0;
    };
    const double localRate = m_map.GetLocalRate();
    const double ofLane = m_isMesh ? std::min(localRate, m_map.GetLocalSum() / lanes) : localRate;
    cost.localSecondsPerByte = rest(ofLane);
    cost.remoteSecondsPerByte = rest(m_map.GetRemoteRate());
    const auto onLine = [&](double rate) { return rate > 0 ? cost.wireFactor / rate : 0; };
    // Receivers see each line of LL and LL128 when it comes, by its flag. What this leaves out, the
    // copy of the last message, counts in the few steps of a server's ring.
    cost.passesOn = protocol != Protocol::SIMPLE && (isTree || m_system.servers > 1);
    cost.copySecondsPerByte = lanes / copy;
    cost.localLineSecondsPerByte = onLine(ofLane);
    cost.remoteLineSecondsPerByte = onLine(m_map.GetRemoteRate());
    if (IsExchange(schedule.operation) && m_map.GetRemoteRate() > 0)
    {
        // One thread takes in the chunks of all peers.
        cost.hasCommonChannel = true;
        cost.sendsFreely = true;
        cost.perMessage = m_messageOverhead;
        cost.perSlot = m_chunkOverhead;
        cost.slotBytes = m_system.exchangeChunk;
        cost.remoteSecondsPerByte = 0;
    }
    if (m_map.GetRemoteRate() > 0)
    {
        const NcclChunks chunks(m_system);
        // The next window leaves when the first one is copied and the sender knows it.
        const uint64_t window = chunks.GetWindow(protocol, IsExchange(schedule.operation));
        cost.windowBytes = std::max<uint64_t>(1, window * m_system.channels / schedule.GetLanes());
        const double latency =
            tuning.GetRemoteLatency(algorithm, protocol) * 1e-6 + m_networkLatency.GetSeconds();
        const double busy = static_cast<double>(cost.windowBytes) *
                            std::max(lanes / copy, cost.wireFactor / m_map.GetRemoteRate());
        const double roundTrip = std::max(latency, m_map.GetRemoteDelay()) +
                                 m_map.GetRemoteDelay() + m_creditLatency.GetSeconds();
        cost.perWindow = Seconds(std::max(0.0, roundTrip - busy));
        if (isTree)
        {
            // Small chunks follow each other through a tree, as many at a time as there are slots.
            const double inFlight =
                static_cast<double>(chunks.GetTreeWindow(protocol, bytes) * m_system.channels) /
                lanes;
            cost.remoteSecondsPerByte =
                std::max(cost.remoteSecondsPerByte,
                         roundTrip / inFlight - cost.wireFactor / m_map.GetRemoteRate());
        }
    }
    return cost;
}

/** @param rails ports by which a ring leaves a server @return the tuning of these ranks */
NcclTuning
NcclHostModel::MakeTuning(double rails) const
{
    NcclTuning::System system = m_system;
    system.localRate = m_localRate;
    system.remoteRate = m_map.GetRemoteRate(rails);
    return NcclTuning(system);
}

std::optional<NcclTuning::Plan>
NcclHostModel::FindPluginChoice(CollectiveOperation operation, uint64_t bytes) const
{
    return m_asksPlugin ? FindOfiChoice(operation, m_system.ranks, m_system.servers, bytes)
                        : std::nullopt;
}

std::vector<NcclTuning::Plan>
NcclHostModel::GetPlans(CollectiveOperation operation, uint64_t bytes, bool hasSwitches) const
{
    const NcclTuning tuning = MakeSwitchTuning();
    auto plans = tuning.GetPlans(operation, bytes, hasSwitches);
    const auto choice = FindPluginChoice(operation, bytes);
    if (choice && (hasSwitches || choice->algorithm != Algorithm::SWITCH_TREE))
    {
        plans.insert(plans.begin(), *choice);
        plans.front().seconds =
            tuning.GetSeconds(operation, choice->algorithm, choice->protocol, bytes);
    }
    const auto isForbidden = [this](const NcclTuning::Plan& plan) {
        return !IsAllowed(plan.algorithm);
    };
    if (!std::all_of(plans.begin(), plans.end(), isForbidden)) // a broadcast has no tree
    {
        plans.erase(std::remove_if(plans.begin(), plans.end(), isForbidden), plans.end());
    }
    return plans;
}

bool
NcclHostModel::IsAllowed(Algorithm algorithm) const
{
    return m_system.servers == 1 || m_betweenServers == "auto" ||
           algorithm == (m_betweenServers == "ring" ? Algorithm::RING : Algorithm::TREE);
}

NcclTuning::Protocol
NcclHostModel::SelectProtocol(const NcclTuning& tuning,
                              CollectiveOperation operation,
                              Algorithm algorithm,
                              uint64_t bytes) const
{
    const auto choice = FindPluginChoice(operation, bytes);
    return choice && choice->algorithm == algorithm && m_system.protocols.size() > 1
               ? choice->protocol
               : tuning.SelectProtocol(operation, algorithm, bytes);
}

NcclTuning
NcclHostModel::MakeSwitchTuning() const
{
    return MakeTuning(static_cast<double>(m_system.ranks) / m_system.servers);
}

Time
NcclHostModel::GetStart(const NcclTuning& tuning, Algorithm algorithm, Protocol protocol) const
{
    return m_starts[static_cast<std::size_t>(protocol)].value_or(
        Seconds(tuning.GetBaseLatency(algorithm, protocol) * 1e-6));
}

Time
NcclHostModel::GetRemoteHop(const NcclTuning& tuning, Algorithm algorithm, Protocol protocol) const
{
    return m_map.GetRemoteHop(tuning.GetRemoteLatency(algorithm, protocol) * 1e-6 +
                              m_networkLatency.GetSeconds());
}

Time
NcclHostModel::GetSwitchStart(Algorithm algorithm, const std::string& allowed) const
{
    if (m_system.isRccl)
    {
        throw ConfigurationError("host model",
                                 "rccl",
                                 " with sums in a switch (allowed: nccl with gpu=hopper or "
                                 "blackwell)");
    }
    const NcclTuning tuning = MakeSwitchTuning();
    const double seconds =
        tuning.GetSeconds(CollectiveOperation::ALL_REDUCE, algorithm, Protocol::SIMPLE, 0);
    if (!std::isfinite(seconds))
    {
        throw ConfigurationError(
            "host model",
            "nccl",
            " with sums in a switch, servers=" + std::to_string(m_system.servers) +
                ",gpu=" + NcclTuning::GetGpus()[m_system.gpu] +
                ",channels=" + std::to_string(m_system.channels) + " (allowed: " + allowed +
                " with NVLink, gpu=hopper or blackwell, 2 channels or more)");
    }
    return Seconds(1e-6 * (tuning.GetBaseLatency(algorithm, Protocol::SIMPLE) +
                           tuning.GetLocalLatency(algorithm, Protocol::SIMPLE)));
}

SwitchCost
NcclHostModel::GetSwitchCost(uint64_t bytes) const
{
    SwitchCost cost;
    if (m_system.ranks == 1)
    {
        return cost;
    }
    cost.start = GetSwitchStart(Algorithm::SWITCH, "one server");
    if (bytes > 0)
    {
        // The stages take turns with each other, so each takes as long as the traffic of a loop.
        cost.copies = 2 * static_cast<double>(NcclChunks(m_system).GetSwitchLoop(bytes)) /
                      static_cast<double>(bytes);
    }
    return cost;
}

SwitchCost
NcclHostModel::GetSwitchTreeCost(uint64_t bytes) const
{
    const NcclChunks chunks(m_system);
    SwitchCost cost;
    cost.start = GetSwitchStart(Algorithm::SWITCH_TREE, "several servers");
    cost.chunk = chunks.GetSwitchTreeChunk(bytes);
    cost.chunks = chunks.GetSwitchTreeSlots();
    // A copy takes as long as the traffic of a loop in the server, 1 + 1/n times the loop.
    const double share = 1 + static_cast<double>(m_system.servers) / m_system.ranks;
    cost.copyTime = Seconds(2 * share * static_cast<double>(chunks.GetSwitchTreeLoop(bytes)) /
                            m_map.GetLocalRate());
    return cost;
}

HostCost
NcclHostModel::GetSwitchTreeMessageCost([[maybe_unused]] const CollectiveSchedule& schedule,
                                        [[maybe_unused]] uint64_t bytes) const
{
    // NCCL's limit of the copies' rate is above that of NVLink, through which all data goes.
    HostCost cost;
    cost.remoteHop = GetRemoteHop(MakeSwitchTuning(), Algorithm::SWITCH_TREE, Protocol::SIMPLE);
    return cost;
}

bool
NcclHostModel::PrefersSwitches(uint64_t bytes) const
{
    const auto plans = GetPlans(CollectiveOperation::ALL_REDUCE, bytes, true);
    return plans.front().algorithm == Algorithm::SWITCH ||
           plans.front().algorithm == Algorithm::SWITCH_TREE;
}

std::vector<LibraryPlan>
NcclHostModel::GetLibraryPlans(CollectiveOperation operation, uint64_t bytes) const
{
    return NcclTuning::Describe(GetPlans(operation, bytes, false),
                                operation,
                                m_system.ranks > m_system.servers);
}

bool
NcclHostModel::HasSwitches() const
{
    const auto algorithm = m_system.servers == 1 ? Algorithm::SWITCH : Algorithm::SWITCH_TREE;
    return m_hasSwitches && IsAllowed(algorithm) && m_system.ranks % m_system.servers == 0 &&
           m_system.ranks > m_system.servers &&
           std::isfinite(MakeSwitchTuning().GetSeconds(CollectiveOperation::ALL_REDUCE,
                                                       algorithm,
                                                       Protocol::SIMPLE,
                                                       0));
}

/** @return key of a value that is automatic by default */
Key
MakeAutomaticKey(const std::string& name, Key::Type type, const std::string& help)
{
    Key key = Key::Of(name, type, "auto", help);
    key.words = {"auto"};
    return key;
}

Key
MakeBytesKey(const std::string& name, const std::string& initial, const std::string& help)
{
    Key key = Key::Of(name, Key::Type::BYTES, initial, help);
    key.max = 1ULL << 40;
    return key;
}

std::shared_ptr<const HostModel>
MakeNccl(const HostModelRequest& request)
{
    return std::make_shared<NcclHostModel>(request);
}

/** @return key of the protocols that a library has */
Key
MakeProtocolKey(const std::vector<std::string>& protocols, const std::string& library)
{
    std::vector<std::string> words{"auto"};
    words.insert(words.end(), protocols.begin(), protocols.end());
    return Key::Word("protocol",
                     "auto",
                     words,
                     "protocol; auto: as " + library + "'s tuning selects it");
}

/** @return keys of both libraries, behind those of one */
std::vector<Key>
AddCommonKeys(std::vector<Key> keys)
{
    const std::vector<Key> common{
        Key::Word("cpu", "intel", NcclTuning::GetCpus(), "vendor of the servers' CPUs"),
        Key::Word("between-servers",
                  "auto",
                  {"auto", "ring", "tree"},
                  "what --collective=nccl runs on several servers, as NCCL_ALGO tells NCCL"),
        Key::Count("channels", 16, 1, 64, "thread blocks of a GPU that copy at the same time"),
        MakeAutomaticKey(
            "copy-rate",
            Key::Type::RATE,
            "at which the threads of a GPU copy through all its links; auto: as the "
            "links are; NCCL counts 20.6 GB/s for an NVLink of a Hopper (src/graph/topo.h)"),
        Key::Of("local-latency",
                Key::Type::TIME,
                "0us",
                "what the links of a server add to NCCL's latency of a hop within it"),
        Key::Of("network-latency",
                Key::Type::TIME,
                "0us",
                "what the network adds to NCCL's latency of a hop between servers"),
        Key::Of("credit-latency",
                Key::Type::TIME,
                "0us",
                "what the network adds to the time until a sender knows that a slot is free"),
        Key::Of("declared-latency",
                Key::Type::TIME,
                "0us",
                "latency that the network's plugin tells NCCL, which chooses by it"),
        Key::Of("message-overhead",
                Key::Type::TIME,
                "0us",
                "of the network's thread, for each message of an exchange from another server"),
        Key::Of("chunk-overhead",
                Key::Type::TIME,
                "0us",
                "of that thread, for each chunk of such a message"),
        MakeAutomaticKey("start",
                         Key::Type::TIME,
                         "time before the first step with Simple; auto: as NCCL expects"),
        MakeAutomaticKey("start-low-latency",
                         Key::Type::TIME,
                         "time before the first step with LL and LL128; auto: as NCCL expects"),
        MakeBytesKey("buffer", "4MiB", "buffer of a connection with Simple (NCCL_BUFFSIZE)"),
        MakeBytesKey("exchange-chunk",
                     "128KiB",
                     "chunk of sends and receives (NCCL_P2P_NET_CHUNKSIZE)"),
        MakeBytesKey("switch-chunk", "128KiB", "most of a chunk of sums in a switch"),
        MakeBytesKey("switch-tree-chunk",
                     "0",
                     "most of a chunk between switches that add; 0: "
                     "128 KiB, or 64 KiB from 4 servers on"),
        ServerMap::GetKey()};
    keys.insert(keys.end(), common.begin(), common.end());
    return keys;
}

const Registry<HostModelEntry>::Entry g_nccl(
    "nccl",
    {"NCCL's protocols with their latencies, wire bytes and copy rates, by its published tuning",
     &MakeNccl,
     AddCommonKeys({MakeProtocolKey(NcclTuning::GetProtocols(), "NCCL"),
                    Key::Word("gpu", "hopper", NcclTuning::GetGpus(), "generation of the GPUs"),
                    Key::Word("tuner",
                              "nccl",
                              {"nccl", "ofi-p5"},
                              "who chooses algorithms and protocols: NCCL, or AWS's plugin for "
                              "servers p5")}),
     true,
     true,
     true});

const Registry<HostModelEntry>::Entry g_rccl(
    "rccl",
    {"RCCL on MI300X: as NCCL, with RCCL's latencies, and its choice of algorithms and protocols",
     &MakeNccl,
     AddCommonKeys({MakeProtocolKey({"ll", "simple"}, "RCCL")}),
     true,
     true,
     true});

} // namespace

} // namespace ns3::training
