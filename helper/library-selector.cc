/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "library-selector.h"

#include "ns3/sharp-program.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <cmath>
#include <utility>

namespace ns3::training
{

LibrarySelector::LibrarySelector(std::shared_ptr<const HostModel> hosts)
    : m_hosts(std::move(hosts))
{
    if (!m_hosts || m_hosts->GetLibraryPlans(CollectiveOperation::ALL_REDUCE, 0).empty())
    {
        throw ConfigurationError("collective",
                                 NAME,
                                 " with hosts that do not run NCCL (allowed: with a host model "
                                 "that does, such as nccl)");
    }
}

std::string
LibrarySelector::GetInNetwork(const TopologyGraph& topology, uint32_t ranks)
{
    // Frames of 8 KiB take as long as those of 1 KiB, and an eighth of the events.
    constexpr const char* KEYS = ":choice=tuning,elements-per-packet=2048,slots=128,children=";
    const uint32_t gpus = topology.shape.GetHostsPerServer();
    return gpus > SharpProgram::MAX_PORTS
               ? ""
               : (ranks <= gpus ? "nvls" : "nvls-tree") + (KEYS + std::to_string(gpus));
}

const AlgorithmChoice&
LibrarySelector::Choose(const CollectiveRequest& request)
{
    const auto [found, isNew] =
        m_choices.try_emplace({request.operation, request.bytes, request.root});
    AlgorithmChoice& choice = found->second;
    if (!isNew)
    {
        return choice;
    }
    for (const LibraryPlan& plan : m_hosts->GetLibraryPlans(request.operation, request.bytes))
    {
        AlgorithmCandidate candidate;
        candidate.name = plan.algorithm;
        candidate.seconds = plan.seconds;
        choice.candidates.push_back(candidate);
        choice.reason += (choice.reason.empty() ? "NCCL expects " : ", ") + plan.algorithm + " " +
                         plan.protocol + " " + FormatDouble(std::round(1e6 * plan.seconds)) + " us";
    }
    choice.name = choice.candidates.front().name;
    return choice;
}

} // namespace ns3::training
