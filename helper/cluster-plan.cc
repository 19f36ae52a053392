/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-plan.h"

#include "host-estimate.h"
#include "in-network-system.h"
#include "library-selector.h"
#include "nic-algorithm.h"
#include "schedule/schedule-file.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/collective-algorithm.h"
#include "ns3/path-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return the algorithm of schedules, if a system in the network or in NICs is chosen */
std::string
GetAlgorithmOfHosts(const std::string& algorithm)
{
    return IsInNetwork(algorithm) ? "ring"
           : IsInNic(algorithm)   ? GetAlgorithmOfNic(algorithm)
                                  : algorithm;
}

} // namespace

ClusterPlan::ClusterPlan(const ClusterOptions& options,
                         const TopologyGraph& topology,
                         const PacketSize& packet,
                         const NicHelper& engines)
    : m_options(options),
      m_topology(topology),
      m_limited(engines.IsInstalled()
                    ? std::make_unique<TopologyGraph>(engines.LimitHosts(topology, packet))
                    : nullptr),
      m_algorithm(GetAlgorithmOfHosts(options.algorithm)),
      m_algorithmName(options.algorithm)
{
    m_network.goodput = engines.GetGoodput(packet);
    m_network.packetBytes = engines.GetLineBytes(packet.payload);
    m_network.headerBytes = packet.headers;
    m_network.messageSeconds = engines.GetMessageTime(packet.payload).GetSeconds();
    m_network.sprays = GetPathChoice(options.path).sprays;
    if (!m_options.schedule.empty())
    {
        LoadFile();
        return;
    }
    m_planner = Make({}, m_algorithm);
    if (!m_planner->Chooses())
    {
        const std::string name = KeyValues::Split(m_algorithm).GetName();
        m_planner->Check(Registry<CollectiveAlgorithm>::Find(name).operations.front());
    }
}

void
ClusterPlan::LoadFile()
{
    auto schedule = std::make_shared<CollectiveSchedule>(LoadSchedule(m_options.schedule));
    if (schedule->GetSize() != m_options.ranks)
    {
        throw ConfigurationError("schedule",
                                 m_options.schedule,
                                 " with " + std::to_string(m_options.ranks) + " ranks (allowed: " +
                                     std::to_string(schedule->GetSize()) + ")");
    }
    if (m_options.segments > 0)
    {
        schedule->segments = static_cast<uint32_t>(m_options.segments);
        schedule->Close(false);
    }
    m_algorithmName = schedule->algorithm;
    m_planner =
        std::make_shared<CollectivePlanner>("schedule " + m_options.schedule, std::move(schedule));
}

std::shared_ptr<const HostModel>
ClusterPlan::GetHostModel(const std::vector<uint32_t>& hosts) const
{
    auto found = m_hostModels.find(hosts);
    if (found == m_hostModels.end())
    {
        const auto ranks = static_cast<uint32_t>(hosts.empty() ? m_options.ranks : hosts.size());
        const auto choice = Choose<HostModelEntry>(m_options.hostModel);
        found = m_hostModels
                    .emplace(hosts, choice.entry->make({m_topology, hosts, ranks, choice.values}))
                    .first;
    }
    return found->second;
}

/** @return what chooses for a group; null: the algorithm is chosen */
std::unique_ptr<AlgorithmSelector>
ClusterPlan::MakeSelector(const std::vector<uint32_t>& hosts, const std::string& algorithm) const
{
    if (algorithm == AlgorithmChooser::NAME)
    {
        return std::make_unique<AlgorithmChooser>(m_network,
                                                  AnswerForHosts(GetHostModel(hosts), hosts));
    }
    return algorithm == LibrarySelector::NAME
               ? std::make_unique<LibrarySelector>(GetHostModel(hosts))
               : nullptr;
}

std::shared_ptr<CollectivePlanner>
ClusterPlan::Make(const std::vector<uint32_t>& hosts, const std::string& algorithm) const
{
    CollectiveRequest request;
    request.segments = static_cast<uint32_t>(m_options.segments);
    request.ranks = static_cast<uint32_t>(hosts.empty() ? m_options.ranks : hosts.size());
    request.topology = &m_topology;
    request.hosts = hosts;
    if (auto selector = MakeSelector(hosts, algorithm))
    {
        if (algorithm == AlgorithmChooser::NAME && m_limited)
        {
            request.topology = m_limited.get();
        }
        m_choosers.push_back(
            std::make_shared<CollectivePlanner>(std::move(selector), request, m_options.verify));
        return m_choosers.back();
    }
    return std::make_shared<CollectivePlanner>(algorithm, request, m_options.verify);
}

const std::shared_ptr<CollectivePlanner>&
ClusterPlan::Get() const
{
    return m_planner;
}

const NetworkCost&
ClusterPlan::GetNetworkCost() const
{
    return m_network;
}

std::shared_ptr<CollectivePlanner>
ClusterPlan::MakeGathers() const
{
    try
    {
        m_planner->Check(CollectiveOperation::ALL_GATHER);
        return m_planner;
    }
    catch (const ConfigurationError&)
    {
        return Make({}, "ring");
    }
}

std::shared_ptr<CollectivePlanner>
ClusterPlan::MakeForGroup(const std::vector<uint32_t>& hosts, const std::string& algorithm) const
{
    if (!m_options.schedule.empty())
    {
        throw ConfigurationError("schedule",
                                 m_options.schedule,
                                 " with several groups of ranks (allowed: an algorithm)");
    }
    return Make(hosts, algorithm.empty() ? m_algorithm : algorithm);
}

std::vector<PlannedChoice>
ClusterPlan::GetChoices() const
{
    // Groups of as many ranks may be placed differently.
    using Key = std::tuple<uint32_t, CollectiveOperation, uint64_t, std::string, double>;
    std::map<Key, PlannedChoice> all;
    for (const auto& chooser : m_choosers)
    {
        for (const PlannedChoice& one : chooser->GetChoices())
        {
            const double seconds = one.choice.candidates.front().seconds;
            all.try_emplace({one.ranks, one.operation, one.bytes, one.choice.name, seconds}, one);
        }
    }
    std::vector<PlannedChoice> choices;
    for (const auto& [key, one] : all)
    {
        choices.push_back(one);
    }
    return choices;
}

const std::string&
ClusterPlan::GetAlgorithm() const
{
    return m_algorithmName;
}

} // namespace ns3::training
