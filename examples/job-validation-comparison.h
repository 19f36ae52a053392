/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_COMPARISON_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_COMPARISON_H

#include "nccl-published.h"

#include "ns3/graph-timing.h"
#include "ns3/parallel-plan.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

/**
 * @file
 * What the parts of job-validation share: the table, and simulated times of collectives. Each part
 * is a member function of Comparison in a header of its own.
 */

namespace ns3::training
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// A vector is simulated whole up to this size, bytes.
constexpr uint64_t LARGE = 64 << 20;
/// Steps of a calibration, each of which reduces its error by far.
constexpr uint32_t ROUNDS = 3;

/** Parameters of the comparison. */
struct Setting
{
    std::string part{"all"};
    bool full{false};
    std::string json;
    RunFilesOptions files;
};

/** Where the collectives of a kind of groups run: alone, or as one of equal size. */
struct Place
{
    ClusterOptions cluster; ///< on which they are measured
    uint64_t factor{1};     ///< bytes there for a byte of the group
};

/** Published jobs, and ours. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table({{"figure", "", -76},
                   {"unit", "unit", 0, "", "  ", true},
                   {"role", "role", -11, "", "  ", true},
                   {"source", "source", 0, "", "  ", true},
                   {"published", "published", 10, "%.5g"},
                   {"expected", "expected", 10, "%.5g"},
                   {"ours", "ours", 10, "%.5g"},
                   {"error_percent", "error (%)", 10, "%+.1f"}},
                  setting.json == "-" ? PublishedTable::Printing::NEVER
                                      : PublishedTable::Printing::AT_ONCE)
    {
    }

    /** DeepSpeed: ZeRO-3 and ZeRO++ on 4 nodes with a NIC each. */
    void CompareZero();
    /** Megatron-LM: what replicas add to an iteration. */
    void CompareReplicas();
    /** MLPerf and Megatron Bridge: Llama 3.1 405B. */
    void CompareMlPerf();
    /** TorchTitan: FSDP on 8 and 128 GPUs, and two schedules. */
    void CompareTorchTitan();
    /** DeepEP: exchanges of tokens. */
    void CompareExperts();
    /** Likewise, those that forward tokens within a node. */
    void CompareNormalExperts();
    /** Megatron-LM: operations of ten models. */
    void CompareOperations();
    /** NCCL: collectives over kernel TCP. */
    void CompareSockets();

    /** @return the results */
    JsonValue ToJson() const
    {
        auto document = JsonValue::Object();
        document.Set("rows", m_table.GetRows());
        return document;
    }

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    void Add(const std::string& figure,
             const std::string& unit,
             Role role,
             const std::string& source,
             double published,
             double expected,
             double ours);
    double Simulate(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes);
    double GetSeconds(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes);
    double GetSeconds(const TaskGraph& graph, const std::map<PlanGroups, Place>& places);
    void CompareFsdp();

    const Setting& m_setting;
    PublishedTable m_table;
    std::map<std::tuple<std::string, CollectiveOperation, uint64_t>, double> m_seconds;
};

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

inline void
Comparison::Add(const std::string& figure,
                const std::string& unit,
                Role role,
                const std::string& source,
                double published,
                double expected,
                double ours)
{
    m_table.AddRow({figure,
                    unit,
                    role == Role::CALIBRATION ? "calibration" : "predicted",
                    source,
                    published,
                    expected,
                    ours,
                    100 * (ours / published - 1)});
}

/** @return simulated time of a collective whose connections are open, s */
inline double
Comparison::Simulate(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
{
    const std::string name = cluster.topology + "|" + std::to_string(cluster.rate.GetBitRate()) +
                             "|" + std::to_string(cluster.ranks) + "|" + cluster.algorithm + "|" +
                             cluster.transport + "|" + cluster.hostModel;
    const auto [known, isNew] = m_seconds.emplace(std::make_tuple(name, operation, bytes), 0);
    if (isNew)
    {
        const CollectiveRun run = RunCollectives(cluster, operation, {cluster.ranks * 4, bytes});
        m_table.AddCost(run.cost);
        known->second = run.measurements.back().seconds;
    }
    return known->second;
}

/** Likewise; the time of a large vector is on the line through those of two smaller ones. */
inline double
Comparison::GetSeconds(const ClusterOptions& cluster, CollectiveOperation operation, uint64_t bytes)
{
    if (m_setting.full || bytes <= LARGE)
    {
        return Simulate(cluster, operation, bytes);
    }
    const double half = Simulate(cluster, operation, LARGE / 2);
    const double whole = Simulate(cluster, operation, LARGE);
    return whole + (whole - half) * static_cast<double>(bytes - LARGE) / (LARGE / 2.0);
}

/** @return time of a graph whose collectives take the times of those simulated alone, s */
inline double
Comparison::GetSeconds(const TaskGraph& graph, const std::map<PlanGroups, Place>& places)
{
    CommunicationTimes times;
    times.collective = [&](const GraphTask& task, uint32_t) {
        const Place& place = places.at(static_cast<PlanGroups>(task.groups));
        return Seconds(GetSeconds(place.cluster, task.operation, task.bytes * place.factor));
    };
    return TimeGraph(graph, 1, times).end.GetSeconds();
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_COMPARISON_H
