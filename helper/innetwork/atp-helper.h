/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_HELPER_H
#define DISTRIBUTED_TRAINING_ATP_HELPER_H

#include "in-network-system.h"
#include "switch-programs.h"

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
 * What ATP needs before a job: the program in the switches that the job's workers and servers are
 * linked to, servers on hosts, and what each has to know of the others. Jobs share the programs of
 * one helper, and their slots.
 */
class AtpHelper
{
  public:
    /**
     * @param fabric whose switches are to add; must outlive the simulation
     * @param elements 32-bit integers in a packet; 0: as the program's default
     * @param slots of each switch; 0: as the program's default
     */
    AtpHelper(Fabric& fabric, uint32_t elements, uint32_t slots);

    /**
     * @param endpoints of each rank, the first of its host
     * @param hosts what the ranks do among themselves
     * @param window most packets in flight of a worker; 0: 100 for each of its threads
     * @param servers endpoints of the servers, up to 4, the first of their hosts; none: as the
     *        attribute ParameterServers says
     * @return a communicator for each rank
     * @throw ConfigurationError if a switch has not got the resources or bits for so many workers,
     *        or there is no such host for a server
     */
    std::vector<Ptr<AtpCommunicator>> AddJob(const std::vector<uint32_t>& endpoints,
                                             const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                                             uint32_t window,
                                             std::vector<uint32_t> servers = {});

    /**
     * @param index of a switch
     * @return the program there, or null
     */
    Ptr<AtpProgram> GetProgram(uint32_t index) const;

    /**
     * @param job number of a job, in the order they were added
     * @return its servers
     */
    const std::vector<Ptr<AtpServer>>& GetServers(uint32_t job) const;

  private:
    /** A job that is being set up. */
    struct Plan
    {
        std::string name; ///< for messages
        uint8_t number{0};
        uint32_t window{0};
        bool isExtended{false};                              ///< packets have A2TP's and ESA's byte
        std::vector<uint32_t> endpoints;                     ///< of ranks
        std::vector<uint32_t> servers;                       ///< their endpoints
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

    Fabric& m_fabric;
    uint32_t m_elements;
    uint32_t m_slots;
    std::set<uint32_t> m_busyHosts; // with ranks of any job
    SwitchPrograms<AtpProgram> m_programs;
    std::vector<std::vector<Ptr<AtpServer>>> m_servers; // by job
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_HELPER_H
