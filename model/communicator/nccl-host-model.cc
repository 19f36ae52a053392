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
 * multi-ring, share the channels equally; the lanes of a ring together copy as fast as NVLink.
 *
 * An algorithm counts as a tree if its name contains "tree", except for multitree; otherwise as a
 * ring.
 */

#include "communicator/nccl-tuning.h"
#include "communicator/server-map.h"
#include "host-model.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

/// A message of an exchange of at most this size uses LL (NCCL_P2P_LL_THRESHOLD).
constexpr uint64_t MAX_EXCHANGE_LL = 16384;

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
    bool IsLocal(uint32_t a, uint32_t b) const override;

  private:
    NcclTuning MakeSwitchTuning() const;
    Time GetSwitchStart(Algorithm algorithm, const std::string& allowed) const;

    ServerMap m_map;
    NcclTuning::System m_system; // without the rates
    std::string m_protocol;
};

NcclHostModel::NcclHostModel(const HostModelRequest& request)
    : m_map(request),
      m_protocol(request.keys.GetText("protocol"))
{
    m_system.ranks = m_map.GetRanks();
    m_system.servers = m_map.GetServers();
    m_system.hasNvlink = m_map.HasLocalLinks();
    m_system.channels = static_cast<uint32_t>(request.keys.GetCount("channels"));
    m_system.gpu = Find(NcclTuning::GetGpus(), request.keys.GetText("gpu"));
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
    NcclTuning::System system = m_system;
    system.localRate = m_map.GetLocalRate();
    system.remoteRate = m_map.GetRemoteRate() * lanes;
    const NcclTuning tuning(system);
    const bool isTree =
        schedule.algorithm.find("tree") != std::string::npos && schedule.algorithm != "multitree";
    const auto algorithm = isTree ? Algorithm::TREE : Algorithm::RING;
    auto protocol = Protocol::SIMPLE;
    if (m_protocol != "auto")
    {
        protocol = static_cast<Protocol>(Find(NcclTuning::GetProtocols(), m_protocol));
    }
    else if (IsExchange(schedule.operation))
    {
        protocol = bytes / system.ranks <= MAX_EXCHANGE_LL ? Protocol::LL : Protocol::SIMPLE;
    }
    else
    {
        protocol = tuning.SelectProtocol(schedule.operation, algorithm, bytes);
    }

    HostCost cost;
    cost.start = Seconds(NcclTuning::GetBaseLatency(algorithm, protocol) * 1e-6);
    cost.localHop = m_map.GetLocalHop(tuning.GetLocalLatency(algorithm, protocol) * 1e-6);
    cost.remoteHop = m_map.GetRemoteHop(tuning.GetRemoteLatency(algorithm, protocol) * 1e-6);
    cost.wireFactor = NcclTuning::GetWireFactor(protocol);
    double copy = tuning.GetCopyRate(algorithm, protocol);
    if (system.localRate > 0)
    {
        copy = std::min(copy, system.localRate);
    }
    // The line has taken its part of the copy's time when the message arrives.
    const auto rest = [&](double rate) {
        return rate > 0 ? std::max(0.0, lanes / copy - cost.wireFactor / rate) : 0;
    };
    cost.localSecondsPerByte = rest(m_map.GetLocalRate());
    cost.remoteSecondsPerByte = rest(m_map.GetRemoteRate());
    if (m_map.GetRemoteRate() > 0)
    {
        // The next window leaves when the first one is copied and the sender knows it.
        const uint64_t window = NcclTuning::GetWindow(protocol, IsExchange(schedule.operation));
        cost.windowBytes = std::max<uint64_t>(1, window * system.channels / schedule.GetLanes());
        const double latency = tuning.GetRemoteLatency(algorithm, protocol) * 1e-6;
        const double busy = static_cast<double>(cost.windowBytes) *
                            std::max(lanes / copy, cost.wireFactor / m_map.GetRemoteRate());
        const double roundTrip = std::max(latency, m_map.GetRemoteDelay()) + m_map.GetRemoteDelay();
        cost.perWindow = Seconds(std::max(0.0, roundTrip - busy));
    }
    return cost;
}

NcclTuning
NcclHostModel::MakeSwitchTuning() const
{
    NcclTuning::System system = m_system;
    system.localRate = m_map.GetLocalRate();
    system.remoteRate = m_map.GetRemoteRate() * system.ranks / system.servers;
    return NcclTuning(system);
}

Time
NcclHostModel::GetSwitchStart(Algorithm algorithm, const std::string& allowed) const
{
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
    return Seconds(1e-6 * (NcclTuning::GetBaseLatency(algorithm, Protocol::SIMPLE) +
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
        cost.copies = 2 * static_cast<double>(MakeSwitchTuning().GetSwitchLoop(bytes)) /
                      static_cast<double>(bytes);
    }
    return cost;
}

SwitchCost
NcclHostModel::GetSwitchTreeCost(uint64_t bytes) const
{
    const NcclTuning tuning = MakeSwitchTuning();
    SwitchCost cost;
    cost.start = GetSwitchStart(Algorithm::SWITCH_TREE, "several servers");
    cost.chunk = tuning.GetSwitchTreeChunk(bytes);
    cost.chunks = tuning.GetSwitchTreeSlots();
    // A copy takes as long as the traffic of a loop in the server, 1 + 1/n times the loop.
    const double share = 1 + static_cast<double>(m_system.servers) / m_system.ranks;
    cost.copyTime = Seconds(2 * share * static_cast<double>(tuning.GetSwitchTreeLoop(bytes)) /
                            m_map.GetLocalRate());
    return cost;
}

HostCost
NcclHostModel::GetSwitchTreeMessageCost([[maybe_unused]] const CollectiveSchedule& schedule,
                                        [[maybe_unused]] uint64_t bytes) const
{
    // NCCL's limit of the copies' rate is above that of NVLink, through which all data goes.
    HostCost cost;
    cost.remoteHop = m_map.GetRemoteHop(
        1e-6 * MakeSwitchTuning().GetRemoteLatency(Algorithm::SWITCH_TREE, Protocol::SIMPLE));
    return cost;
}

bool
NcclHostModel::PrefersSwitches(uint64_t bytes) const
{
    const NcclTuning tuning = MakeSwitchTuning();
    const auto expect = [&](Algorithm algorithm) {
        constexpr auto OPERATION = CollectiveOperation::ALL_REDUCE;
        return tuning.GetSeconds(OPERATION,
                                 algorithm,
                                 tuning.SelectProtocol(OPERATION, algorithm, bytes),
                                 bytes);
    };
    const auto bySwitches = m_system.servers == 1 ? Algorithm::SWITCH : Algorithm::SWITCH_TREE;
    return expect(bySwitches) < std::min(expect(Algorithm::RING), expect(Algorithm::TREE));
}

std::shared_ptr<const HostModel>
MakeNccl(const HostModelRequest& request)
{
    return std::make_shared<NcclHostModel>(request);
}

std::vector<std::string>
GetProtocolWords()
{
    std::vector<std::string> words{"auto"};
    const auto& protocols = NcclTuning::GetProtocols();
    words.insert(words.end(), protocols.begin(), protocols.end());
    return words;
}

const Registry<HostModelEntry>::Entry g_nccl(
    "nccl",
    {"NCCL's protocols with their latencies, wire bytes and copy rates, by its published tuning",
     &MakeNccl,
     {Key::Word("protocol",
                "auto",
                GetProtocolWords(),
                "protocol; auto: as NCCL's tuning selects it"),
      Key::Word("gpu", "hopper", NcclTuning::GetGpus(), "generation of the GPUs"),
      Key::Word("cpu", "intel", NcclTuning::GetCpus(), "vendor of the servers' CPUs"),
      Key::Count("channels", 16, 1, 64, "thread blocks of a GPU that copy at the same time"),
      ServerMap::GetKey()},
     true,
     true});

} // namespace

} // namespace ns3::training
