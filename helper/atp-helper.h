/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_HELPER_H
#define DISTRIBUTED_TRAINING_ATP_HELPER_H

#include "in-network-helper.h"

#include "ns3/atp-communicator.h"
#include "ns3/atp-program.h"
#include "ns3/atp-server.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The controller of ATP: before a job it installs the program in the switches of the job's workers
 * and servers, installs servers on hosts, and configures all of them. Jobs share the programs of
 * one helper and their slots.
 */
class AtpHelper : public InNetworkHelper<AtpProgram, AtpCommunicator>
{
  public:
    /// Maximum number of servers: 2 bits in the released packets.
    static constexpr std::size_t MAX_SERVERS = 4;
    /// Value of the attribute ParameterServers that leaves the hosts to the helper.
    static constexpr const char* AUTOMATIC = "auto";

    /**
     * @param name attribute of servers created from now on, such as Cores
     * @param value its value
     * @throw ConfigurationError if the attribute does not exist or does not allow the value
     */
    void SetServerAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param fabric its switches aggregate; must outlive the simulation
     * @param endpoints of each rank, the first of its host
     * @param hosts communicators of the ranks for collectives on hosts
     * @param window maximum packets in flight of a worker; 0: 100 per thread
     * @param servers endpoints of the servers, up to 4, the first of their hosts; empty: given by
     *        the attribute ParameterServers
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch lacks the resources or bits for so many workers, or the
     *        host of a server does not exist
     */
    std::vector<Ptr<AtpCommunicator>> AddJob(Fabric& fabric,
                                             const std::vector<uint32_t>& endpoints,
                                             const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                                             uint32_t window,
                                             std::vector<uint32_t> servers = {});

    /**
     * @param job number of a job, by default in order of addition
     * @return its servers
     */
    const std::vector<Ptr<AtpServer>>& GetServers(uint32_t job) const;

    /**
     * Installs the program in all switches, before jobs that may use any of them.
     * @param fabric its switches aggregate; must outlive the simulation
     * @return a program
     * @throw ConfigurationError if a switch lacks the resources, or there is none
     */
    Ptr<AtpProgram> InstallEverywhere(Fabric& fabric);

    /**
     * @param text value of the attribute ParameterServers, but not auto
     * @return the hosts
     * @throw ConfigurationError if they are not 1 to 4 different hosts of the fabric
     */
    std::vector<uint32_t> ReadServers(const std::string& text) const;

    /**
     * Hides that of InNetworkHelper.
     * @param number of a job that has ended: its slots are free, its servers stop
     */
    void RemoveJob(uint32_t number);

  private:
    /** A job during its setup. */
    struct Plan
    {
        std::string name; ///< for messages
        uint8_t number{0};
        uint32_t window{0};
        bool isExtended{false};          ///< with the extension byte of A2TP and ESA
        std::vector<uint32_t> endpoints; ///< by rank
        std::vector<uint32_t> servers;   ///< endpoints of the servers
        std::map<uint32_t, std::vector<uint32_t>> racks;     ///< ranks, by switch
        std::map<uint32_t, std::vector<uint32_t>> serversOf; ///< by switch
        std::map<uint32_t, Ptr<AtpProgram>> programs;        ///< by switch
    };

    std::vector<uint32_t> FindServers(const std::string& text,
                                      const std::vector<uint32_t>& endpoints) const;
    uint32_t GetSwitch(uint32_t endpoint) const;
    Ptr<AtpProgram> Install(uint32_t index, const AtpCommunicator& worker);
    void InstallPrograms(Plan& plan, const AtpCommunicator& worker);
    Ptr<AtpServer> InstallServer(const Plan& plan,
                                 uint32_t server,
                                 std::vector<AtpCommunicator::Session>& sessions) const;

    std::set<uint32_t> m_busyHosts;                            // hosts with ranks of any job
    std::map<uint32_t, std::vector<Ptr<AtpServer>>> m_servers; // by job
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_HELPER_H
