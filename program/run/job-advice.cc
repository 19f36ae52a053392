/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/job-advice.h"

#include "ns3/training-gpu.h"
#include "ns3/training-quantity.h"

#include <boost/format.hpp>
#include <set>

namespace ns3::training
{

namespace
{

/// Rate of links below which groups that divide each layer are better in a server, bit/s.
constexpr uint64_t SLOW_FOR_TENSORS = 100'000'000'000;

/** @return what is said of the memory; empty: it suffices, or is not known */
std::string
AdviseMemory(const JobPlan& plan, const std::string& gpu)
{
    const uint64_t memory = Registry<GpuEntry>::Find(gpu).memoryBytes;
    if (memory == 0 || plan.memoryBytes <= memory)
    {
        return "";
    }
    return (boost::format("a GPU needs %.1f GB of memory, %s has %.0f GB (see --tensor, "
                          "--pipeline, --zero, --recompute and --micro-batch)") %
            (static_cast<double>(plan.memoryBytes) / 1e9) % gpu %
            (static_cast<double>(memory) / 1e9))
        .str();
}

/** @return what is said of groups that divide each layer; empty: nothing */
std::string
AdviseTensors(const JobPlan& plan,
              const TopologyGraph& topology,
              const DataRate& rate,
              const std::vector<uint32_t>& hosts)
{
    const uint32_t size = topology.shape.GetHostsPerServer();
    for (const TaskGroups& groups : plan.graph->GetGroups())
    {
        for (const auto& ranks : groups.groups)
        {
            std::set<uint32_t> servers;
            for (uint32_t rank : ranks)
            {
                servers.insert((hosts.empty() ? rank : hosts.at(rank)) / size);
            }
            const std::string of = "tensor groups of " + std::to_string(ranks.size()) + " ranks ";
            if (groups.parallelism != Parallelism::TENSOR || servers.size() == 1)
            {
                continue;
            }
            if (size > 1)
            {
                return of + "span " + std::to_string(servers.size()) + " servers of " +
                       std::to_string(size) + " GPUs, and send between them at " +
                       FormatRate(rate) + " (see --tensor, and --machine for larger servers)";
            }
            if (rate.GetBitRate() <= SLOW_FOR_TENSORS)
            {
                return of + "have no server, and send at " + FormatRate(rate) +
                       " (see --machine, and --topology=rail-optimized)";
            }
        }
    }
    return "";
}

} // namespace

std::vector<std::string>
AdviseJob(const JobPlan& plan,
          const std::string& gpu,
          const TopologyGraph& topology,
          const DataRate& rate,
          const std::vector<uint32_t>& hosts)
{
    std::vector<std::string> advice;
    for (const std::string& text :
         {AdviseMemory(plan, gpu), AdviseTensors(plan, topology, rate, hosts)})
    {
        if (!text.empty())
        {
            advice.push_back(text);
        }
    }
    return advice;
}

} // namespace ns3::training
