/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_CONTROLLER_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_CONTROLLER_H

#include "ns3/in-network-communicator.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A job that asks for a share of the switches of a cluster. */
struct InNetworkJob
{
    uint32_t number{0};                            ///< in its packets; of no earlier job
    std::vector<uint32_t> endpoints;               ///< by rank
    std::vector<Ptr<ScheduledCommunicator>> hosts; ///< for collectives on hosts, by rank
    uint32_t slots{0};                             ///< of each pool, where pools are divided
    std::vector<uint32_t> servers; ///< hosts of its servers; empty: the controller's choice
};

/**
 * What switches have done for a job. A packet of a worker, or of a switch to the next one, is
 * added, a duplicate, or sent on: packets = added + repeated + collisions + passed, without those
 * that a switch refuses.
 */
struct InNetworkShare
{
    uint64_t slots{0};      ///< of each pool: those of the job, or all where jobs share them
    uint64_t packets{0};    ///< packets of workers and switches at switches
    uint64_t added{0};      ///< added to a sum in a slot
    uint64_t repeated{0};   ///< duplicates of packets in a sum, or of a sum that all have
    uint64_t collisions{0}; ///< sent on to a server, because another packet held the slot
    uint64_t passed{0};     ///< sent on to a server: retransmissions, or floats
    uint64_t evicted{0};    ///< partial sums sent to a server
    uint64_t completed{0};  ///< sums of all contributors of a switch
};

/**
 * @ingroup distributed-training-helper
 *
 * The controller of an in-network system whose switches serve several jobs, which come and go. It
 * installs one program in each switch, divides the slots of the pools among jobs, or lets jobs
 * share them, and frees them when a job ends.
 */
class InNetworkController
{
  public:
    InNetworkController() = default;
    virtual ~InNetworkController() = default;
    InNetworkController(const InNetworkController&) = delete;
    InNetworkController& operator=(const InNetworkController&) = delete;

    /** @return slots of each pool that are divided among jobs; 0: jobs share all slots */
    virtual uint32_t GetDividedSlots() const = 0;

    /**
     * Refuses a job that no switch could ever serve.
     * @param job with or without endpoints and communicators
     * @param ranks number of its ranks
     * @throw ConfigurationError with the keys of the job in place of options
     */
    virtual void Check(const InNetworkJob& job, uint32_t ranks) const = 0;

    /**
     * @param job that asks
     * @return whether its switches have its slots now
     */
    virtual bool HasRoom(const InNetworkJob& job) const = 0;

    /**
     * @param job for which there is room
     * @param notes receives what a reader of the results must know, by line
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch cannot serve the job
     */
    std::vector<Ptr<InNetworkCommunicator>> AddJob(const InNetworkJob& job,
                                                   std::vector<std::string>& notes)
    {
        auto workers = DoAddJob(job, notes);
        m_workers.insert(m_workers.end(), workers.begin(), workers.end());
        return workers;
    }

    /** @return the communicators of all jobs, those that have ended too */
    const std::vector<Ptr<InNetworkCommunicator>>& GetWorkers() const
    {
        return m_workers;
    }

    /**
     * Frees the slots of a job that has ended, or does nothing if it was never added.
     * @param number of the job
     */
    virtual void RemoveJob(uint32_t number) = 0;

    /**
     * @param number of a job that has not been removed
     * @return what the switches have done for it so far
     */
    virtual InNetworkShare GetShare(uint32_t number) const = 0;

  private:
    /** Does the work of AddJob(). */
    virtual std::vector<Ptr<InNetworkCommunicator>> DoAddJob(const InNetworkJob& job,
                                                             std::vector<std::string>& notes) = 0;

    std::vector<Ptr<InNetworkCommunicator>> m_workers;
};

/**
 * @ingroup distributed-training-helper
 *
 * A controller whose jobs are set up and removed by one helper.
 * @tparam Helper of the system, an InNetworkHelper
 */
template <typename Helper>
class HelperController : public InNetworkController
{
  public:
    /** @param fabric its switches aggregate; must outlive the simulation */
    explicit HelperController(Fabric& fabric)
        : m_fabric(fabric)
    {
    }

    void RemoveJob(uint32_t number) override
    {
        m_helper.RemoveJob(number);
    }

  protected:
    Fabric& m_fabric; ///< of all jobs
    Helper m_helper;  ///< of all jobs

  private:
    /** Does the work of AddJob() by the helper, which has the number of the job. */
    virtual std::vector<Ptr<InNetworkCommunicator>> InstallJob(const InNetworkJob& job,
                                                               std::vector<std::string>& notes) = 0;

    std::vector<Ptr<InNetworkCommunicator>> DoAddJob(const InNetworkJob& job,
                                                     std::vector<std::string>& notes) override
    {
        m_helper.SetNextNumber(job.number);
        return InstallJob(job, notes);
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_CONTROLLER_H
