/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FAILURE_PLAN_H
#define DISTRIBUTED_TRAINING_FAILURE_PLAN_H

#include "ns3/failure-sequence.h"
#include "ns3/life-options.h"
#include "ns3/nstime.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A failure of a node of a job, or of a link.
 */
struct PlannedFailure
{
    Time time;                    ///< since the start of the job
    std::string target;           ///< what fails, such as rank3, node1, host3-switch0
    std::string cause;            ///< why
    std::optional<uint32_t> node; ///< that must be replaced; none: a link that must be repaired
    std::vector<uint32_t> ranks;  ///< that do nothing any more
    std::vector<uint32_t> links;  ///< that go down
};

/**
 * @ingroup distributed-training-helper
 *
 * All failures of a job, in the order of time: those that are given, and those that are drawn by
 * the rates of a log. The hosts of a server are a node; without servers each host is one.
 */
class FailurePlan
{
  public:
    /**
     * @param options of the job
     * @param topology of the cluster
     * @param ranks of the job, on the first hosts
     * @throw ConfigurationError if a failure is malformed, or its target does not exist
     */
    FailurePlan(const LifeOptions& options, const TopologyGraph& topology, uint32_t ranks);

    /** @return the next failure; nothing if there are no more, or too late to be simulated */
    std::optional<PlannedFailure> Next();

    /** @return failures that were given and not returned, as TARGET:TIME */
    std::vector<std::string> GetLeft() const;

    /** @return number of nodes that the ranks are on */
    uint32_t GetNodes() const;

  private:
    void FindNodes();
    void Add(const std::string& text);
    bool FindTarget(PlannedFailure& failure) const;
    void AddHost(uint32_t host, PlannedFailure& failure) const;
    std::optional<PlannedFailure> Draw();

    const TopologyGraph& m_topology;
    uint32_t m_ranks;
    std::vector<uint32_t> m_nodes;               // by rank
    std::deque<PlannedFailure> m_given;          // in the order of time
    std::optional<FailureModel> m_model;         // none: no failures are drawn
    std::unique_ptr<FailureSequence> m_sequence; // likewise null
    std::optional<PlannedFailure> m_drawn;       // the next of these
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FAILURE_PLAN_H
