/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H
#define DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H

#include "ns3/data-rate.h"
#include "ns3/in-network-system.h"
#include "ns3/nstime.h"
#include "ns3/program-options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** What a cluster is made of, with the defaults of the example programs. */
struct ClusterOptions
{
    /// The algorithm that servers are of.
    static constexpr const char* SERVERS_OF = "parameter-server";

    uint64_t ranks{16};                    ///< ranks, on hosts 0 to ranks - 1
    std::string topology{"single-switch"}; ///< see BuildTopology()
    DataRate rate{100000000000};           ///< of each link, bit/s
    Time delay{NanoSeconds(500)};          ///< propagation on each link
    std::string mtu{"auto"};               ///< bytes: RDMA payload or IP packet; auto: 4096 or 9000
    std::string buffer{"auto"};            ///< of each switch, a size; auto: as it needs
    double loss{0};                        ///< probability of each frame on each link
    std::vector<std::string> faults;       ///< see FaultPlan
    bool printTopology{false};             ///< whether to describe the topology and end
    std::string exportTopology;            ///< file to write the topology to, or empty: none
    Time rerouteDelay{MilliSeconds(1)};    ///< from a link's death to new routes
    std::string path{"ecmp"};              ///< how switches choose among ports; see SwitchDevice
    std::string pcap;                      ///< prefix of capture files, or empty: none
    std::string lanes{"turns"};            ///< turns or stripe
    std::string transport{"rdma"};         ///< rdma or tcp
    std::string congestionControl{"auto"}; ///< auto: dcqcn or ns3::TcpCubic
    std::string recovery{"go-back-n"};     ///< RDMA: what is sent again after a loss
    std::string algorithm{"ring"};         ///< of the collectives
    uint64_t servers{1};                   ///< parameter server: shards
    std::string hostModel{"none"};         ///< none or nccl
    uint64_t segments{0};                  ///< parts of each chunk; 0: as the algorithm likes
    std::string schedule;                  ///< file with a schedule, or empty: by the algorithm
    std::string exportSchedule;            ///< file to write the schedule to, or empty: none
    bool printSchedule{false};             ///< whether to list the schedule and end
    bool verify{false};                    ///< schedules are proven whatever the number of ranks
    InNetworkOptions inNetwork;            ///< if the algorithm is an InNetworkSystem

    /**
     * Adds ranks and network as options of a program.
     * @param options the program's
     */
    void AddNetworkTo(ProgramOptions& options);

    /**
     * Adds everything as options of a program.
     * @param options the program's
     * @param algorithmOption name of the option for the algorithm
     */
    void AddTo(ProgramOptions& options, const std::string& algorithmOption);

    /**
     * Refuses the attributes that every Cluster sets, as a user's would be without effect.
     * @param options a program's that makes clusters, without options for them
     */
    static void ReserveAttributes(ProgramOptions& options);

    /**
     * Refuses what no cluster can have.
     * @throw ConfigurationError if an option is out of range
     */
    void Check() const;

    /** @return whether messages travel over RDMA, not TCP */
    bool IsRdma() const;

    /** @return the congestion control, "auto" resolved */
    std::string GetCongestionControl() const;

    /**
     * @return the MTU, "auto" resolved, bytes
     * @throw ConfigurationError if it is out of range
     */
    uint32_t GetMtu() const;

    /**
     * @return packet memory of a switch, bytes; 0: as it needs
     * @throw ConfigurationError if it is out of range
     */
    uint64_t GetBufferSize() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CLUSTER_OPTIONS_H
