/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/job-advice.h"

#include "ns3/parallel-command-line.h"
#include "ns3/training-gpu.h"
#include "ns3/training-quantity.h"

#include <boost/format.hpp>
#include <cmath>
#include <set>

namespace ns3::training
{

namespace
{

/// Rate of links below which groups that divide each layer are better in a server, bit/s.
constexpr uint64_t SLOW_FOR_TENSORS = 100'000'000'000;

/// Part by which a model may differ from what is expected: names of models are rounded.
constexpr double MOST_DIFFERENCE = 0.005;

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
    auto advice = AdviseModel(plan.memoryBytes, plan.parameters, plan.expectedParameters, gpu);
    const std::string tensors = AdviseTensors(plan, topology, rate, hosts);
    if (!tensors.empty())
    {
        advice.push_back(tensors);
    }
    return advice;
}

std::vector<std::string>
AdviseModel(uint64_t memory, uint64_t parameters, double expected, const std::string& gpu)
{
    std::vector<std::string> advice;
    const uint64_t most = Registry<GpuEntry>::Find(gpu).memoryBytes;
    if (most > 0 && memory > most)
    {
        advice.push_back((boost::format("a GPU needs %.1f GB of memory, %s has %.0f GB (see "
                                        "--tensor, --pipeline, --zero, --recompute and "
                                        "--micro-batch)") %
                          (static_cast<double>(memory) / 1e9) % gpu %
                          (static_cast<double>(most) / 1e9))
                             .str());
    }
    const auto count = static_cast<double>(parameters);
    if (expected > 0 && std::abs(count / expected - 1) > MOST_DIFFERENCE)
    {
        advice.push_back("the model has " + std::to_string(parameters) + " parameters" +
                         CompareParameters(count, expected) + " (see --expect-parameters)");
    }
    return advice;
}

} // namespace ns3::training
