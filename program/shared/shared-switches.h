/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_SWITCHES_H
#define DISTRIBUTED_TRAINING_SHARED_SWITCHES_H

#include "shared-job-result.h"
#include "shared-run-options.h"

#include "ns3/training-cluster.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The switches that sum for jobs of a cluster, and their slots, which the jobs divide.
 */
class SharedSwitches
{
  public:
    /**
     * @param cluster of the jobs; must outlive this object
     * @param options of the jobs; must outlive this object
     * @param ranks of each job
     * @throw ConfigurationError if a job cannot have its slots
     */
    SharedSwitches(const Cluster& cluster,
                   const SharedRunOptions& options,
                   const std::vector<uint32_t>& ranks);

    /** @return whether switches sum */
    bool AreUsed() const
    {
        return m_controller != nullptr;
    }

    /**
     * @param index of a job
     * @param hosts of its ranks
     * @return whether it may begin
     */
    bool HasRoom(std::size_t index, const std::vector<uint32_t>& hosts) const;

    /**
     * A job begins.
     * @param index of the job
     * @param hosts of its ranks
     * @param communicators of its ranks
     * @param notes receives what a reader of the results must know, by line
     * @return the communicators of its ranks that use switches; none: hosts sum
     * @throw ConfigurationError if switches cannot serve the job on these hosts
     */
    std::vector<Ptr<InNetworkCommunicator>> Join(
        std::size_t index,
        const std::vector<uint32_t>& hosts,
        const std::vector<Ptr<ScheduledCommunicator>>& communicators,
        std::vector<std::string>& notes);

    /** @param index of a job, which has ended */
    void Leave(std::size_t index);

    /**
     * @param index of a job
     * @param workers that Join() returned
     * @return what they and the switches have counted; none: hosts sum
     */
    std::optional<SharedSwitchFigures> GetFigures(
        std::size_t index,
        const std::vector<Ptr<InNetworkCommunicator>>& workers) const;

  private:
    void Divide(const std::vector<uint32_t>& ranks);
    uint32_t GetNumber(std::size_t index) const;
    InNetworkJob MakeRequest(std::size_t index, const std::vector<uint32_t>& hosts) const;

    const Cluster& m_cluster;
    const SharedRunOptions& m_options;
    InNetworkController* m_controller; // or null
    std::vector<uint32_t> m_slots;     // by job, that it asks for
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_SWITCHES_H
