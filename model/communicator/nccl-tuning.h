/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NCCL_TUNING_H
#define DISTRIBUTED_TRAINING_NCCL_TUNING_H

#include "host-model.h"

#include "ns3/collective-operation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * NCCL's own model of its time, with the constants and formulas of NCCL 2.30 (src/graph/tuning.cc):
 * a base latency, a latency per step within a server and between servers, and a bandwidth with caps
 * for each algorithm and protocol. NCCL selects the algorithm and the protocol with the least time.
 */
class NcclTuning
{
  public:
    /** Algorithms of NCCL. */
    enum class Algorithm
    {
        TREE,       ///< two binary trees between servers, chains within them
        RING,       ///< rings through all GPUs
        SWITCH,     ///< sums in the switch of one server
        SWITCH_TREE ///< sums in the switches of the servers, trees between servers
    };

    /** Protocols of NCCL. */
    enum class Protocol
    {
        LL,    ///< a flag of 4 bytes after every 4 bytes
        LL128, ///< a flag of 8 bytes after every 120 bytes
        SIMPLE ///< flags apart from the data
    };

    /** What NCCL could run, and the time that it expects. */
    struct Plan
    {
        Algorithm algorithm;
        Protocol protocol;
        double seconds;
    };

    /**
     * @param operation operation
     * @param algorithm TREE or RING
     * @param hasRings whether a server has several ranks
     * @return our algorithm, with keys, that does what NCCL's does
     */
    static std::string GetName(CollectiveOperation operation, Algorithm algorithm, bool hasRings);

    /**
     * @param plans what NCCL could run, by rising time
     * @param operation operation
     * @param hasRings whether a server has several ranks
     * @return the same by our names
     */
    static std::vector<LibraryPlan> Describe(const std::vector<Plan>& plans,
                                             CollectiveOperation operation,
                                             bool hasRings);

    /** @return names of the generations of GPUs */
    static const std::vector<std::string>& GetGpus();
    /** @return names of the vendors of CPUs */
    static const std::vector<std::string>& GetCpus();
    /** @return names of the protocols, by Protocol */
    static const std::vector<std::string>& GetProtocols();

    /** The ranks of a communicator and what connects them. */
    struct System
    {
        uint32_t ranks{1};     ///< number of ranks
        uint32_t servers{1};   ///< number of servers with ranks
        uint32_t channels{16}; ///< channels: thread blocks that copy at the same time
        /// GPUs of a group in a server that read sums of its switch; 0: as many as the channels.
        uint32_t heads{0};
        uint32_t gpu{2};      ///< index into GetGpus()
        uint32_t cpu{0};      ///< index into GetCpus()
        bool isRccl{false};   ///< whether RCCL runs: RcclTables in place of NCCL's tables
        bool hasNvlink{true}; ///< whether NVLink connects the GPUs of a server; otherwise PCIe
        double localRate{0};  ///< of a GPU to the others of its server, bytes/s
        double remoteRate{0}; ///< of all ports together that a ring leaves a server by, bytes/s
        /// What the network tells NCCL of its latency, us. It counts for expected times only.
        double networkLatency{0};
        /// Usable ones, at least one, in the order of Protocol.
        std::vector<Protocol> protocols{Protocol::LL, Protocol::LL128, Protocol::SIMPLE};
        uint64_t buffer{4 << 20};          ///< of a connection with Simple (NCCL_BUFFSIZE), bytes
        uint64_t exchangeChunk{128 << 10}; ///< NCCL_P2P_NET_CHUNKSIZE, bytes
        uint64_t switchChunk{128 << 10};   ///< most of a chunk of sums in a switch, bytes
        /// Most of a chunk between such switches, bytes; 0: 64 KiB from 4 servers on, otherwise 128
        /// KiB.
        uint64_t switchTreeChunk{0};
    };

    /** @param system the ranks */
    explicit NcclTuning(const System& system);

    /**
     * @param algorithm of a collective
     * @param protocol of its messages
     * @return time from the start of a collective to its first step, us
     */
    double GetBaseLatency(Algorithm algorithm, Protocol protocol) const;

    /**
     * @param algorithm of a collective
     * @param protocol of its messages
     * @return latency of a step within a server, us
     */
    double GetLocalLatency(Algorithm algorithm, Protocol protocol) const;

    /**
     * @param algorithm of a collective
     * @param protocol of its messages
     * @return latency of a step between servers, us
     */
    double GetRemoteLatency(Algorithm algorithm, Protocol protocol) const;

    /**
     * @param algorithm of a collective
     * @param protocol of its messages
     * @return limit of the rate at which all channels of a GPU copy what they send in a direction,
     *         bytes of data per second
     */
    double GetCopyRate(Algorithm algorithm, Protocol protocol) const;

    /** @param protocol of its messages @return bytes sent per byte of data */
    static double GetWireFactor(Protocol protocol);

    /**
     * @param operation operation; for SWITCH, SWITCH_TREE and TREE an all-reduce
     * @param algorithm algorithm
     * @param protocol protocol; for SWITCH and SWITCH_TREE Protocol::SIMPLE
     * @param bytes size of the whole vector
     * @return the time that NCCL expects, s; infinite if it does not support the combination
     */
    double GetSeconds(CollectiveOperation operation,
                      Algorithm algorithm,
                      Protocol protocol,
                      uint64_t bytes) const;

    /**
     * @param operation operation
     * @param algorithm algorithm
     * @param bytes size of the whole vector
     * @return the fastest protocol
     */
    Protocol SelectProtocol(CollectiveOperation operation,
                            Algorithm algorithm,
                            uint64_t bytes) const;

    /**
     * @param bytes size of the whole vector of an exchange
     * @return the protocol of its messages, which only their size decides
     */
    Protocol SelectExchangeProtocol(uint64_t bytes) const;

    /**
     * @param operation operation
     * @param bytes size of the whole vector
     * @param hasSwitches whether the switches of the servers can add
     * @return what it could run, by rising time
     */
    std::vector<Plan> GetPlans(CollectiveOperation operation,
                               uint64_t bytes,
                               bool hasSwitches) const;

  private:
    double GetBusBandwidth(CollectiveOperation operation,
                           Algorithm algorithm,
                           Protocol protocol) const;
    double GetGraphBandwidth() const;
    double GetHeadRate() const;
    double GetLatency(CollectiveOperation operation, Algorithm algorithm, Protocol protocol) const;
    double GetRingLatency(CollectiveOperation operation, double local, double remote) const;
    double GetMaxBusBandwidth(Algorithm algorithm, Protocol protocol) const;
    double GetMaxLowLatencyBandwidth() const;

    System m_system;
    uint32_t m_perServer; // ranks per server
    uint32_t m_scale;     // column of the caps: 1, 2 or more servers
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NCCL_TUNING_H
