/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_TIMES_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_TIMES_H

#include "graph/graph-timing.h"
#include "measure/reproduction.h"

#include "ns3/parallel-plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

/**
 * @file
 * Simulated times of collectives that the parts of job-validation share.
 */

namespace ns3::training
{

/// A vector is simulated whole up to this size, bytes.
constexpr uint64_t LARGE = 64 << 20;
/// Steps of a calibration, each of which reduces its error by far.
constexpr uint32_t ROUNDS = 3;

/** Where the collectives of a kind of groups run: alone, or as one of equal size. */
struct Place
{
    ClusterOptions cluster; ///< on which they are measured
    uint64_t factor{1};     ///< bytes there for a byte of the group
};

/** Times of collectives, and of graphs with them. */
class JobTimes
{
  public:
    /** @param paper has the cost of the simulations */
    explicit JobTimes(Reproduction& paper)
        : m_paper(paper)
    {
    }

    /** @return simulated time of a collective whose connections are open, s */
    double Simulate(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
    {
        const std::string name = cluster.topology + "|" +
                                 std::to_string(cluster.rate.GetBitRate()) + "|" +
                                 std::to_string(cluster.ranks) + "|" + cluster.algorithm + "|" +
                                 cluster.transport + "|" + cluster.hostModel;
        const auto [known, isNew] = m_seconds.emplace(std::make_tuple(name, operation, bytes), 0);
        if (isNew)
        {
            known->second = m_paper.Measure(cluster, operation, {cluster.ranks * 4, bytes}).seconds;
        }
        return known->second;
    }

    /** Likewise; the time of a large vector is on the line through those of two smaller ones. */
    double GetSeconds(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
    {
        if (isFull || bytes <= LARGE)
        {
            return Simulate(cluster, operation, bytes);
        }
        const double half = Simulate(cluster, operation, LARGE / 2);
        const double whole = Simulate(cluster, operation, LARGE);
        return whole + (whole - half) * static_cast<double>(bytes - LARGE) / (LARGE / 2.0);
    }

    /** @return time of a graph whose collectives take the times of those simulated alone, s */
    double GetSeconds(const TaskGraph& graph, const std::map<PlanGroups, Place>& places)
    {
        CommunicationTimes times;
        times.collective = [&](const GraphTask& task, uint32_t) {
            const Place& place = places.at(static_cast<PlanGroups>(task.groups));
            return Seconds(GetSeconds(place.cluster, task.operation, task.bytes * place.factor));
        };
        return TimeGraph(graph, 1, times).end.GetSeconds();
    }

    bool isFull{false}; ///< large vectors are simulated whole, too

  private:
    Reproduction& m_paper;
    std::map<std::tuple<std::string, CollectiveOperation, uint64_t>, double> m_seconds;
};

/** @return a cluster of one rate */
inline ClusterOptions
MakeCluster(uint64_t ranks, const std::string& topology, double rate, const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.topology = topology;
    options.rate = DataRate(static_cast<uint64_t>(rate));
    options.algorithm = algorithm;
    return options;
}

/** @return a topology of servers */
inline std::string
MakeServers(uint64_t ranks, uint64_t gpus, const std::string& localRate)
{
    return "rail-optimized:gpus=" + std::to_string(gpus) +
           ",servers=" + std::to_string(ranks / gpus) + ",local-rate=" + localRate;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_TIMES_H
