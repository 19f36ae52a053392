/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SERVER_MAP_H
#define DISTRIBUTED_TRAINING_SERVER_MAP_H

#include "host-model.h"

#include <algorithm>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The servers of a communicator's ranks, for host models: consecutive hosts form a server.
 */
class ServerMap
{
  public:
    /** @return key by which a host model groups hosts on any topology */
    static Key GetKey();

    /** @param request ranks and the value of GetKey() */
    explicit ServerMap(const HostModelRequest& request);

    /**
     * @param a a host
     * @param b another host
     * @return whether they are in the same server
     */
    bool IsLocal(uint32_t a, uint32_t b) const;

    /**
     * @param seconds latency from end to end within a server
     * @return the latency without the propagation delay to the nearest rank, which the network adds
     */
    Time GetLocalHop(double seconds) const;
    /** @param seconds latency between servers @return as GetLocalHop() */
    Time GetRemoteHop(double seconds) const;

    /** @return number of ranks */
    uint32_t GetRanks() const
    {
        return m_ranks;
    }

    /** @return number of servers with ranks */
    uint32_t GetServers() const
    {
        return m_servers;
    }

    /** @return whether the topology links the hosts of a server, directly or by a switch */
    bool HasLocalLinks() const
    {
        return m_hasLocalLinks;
    }

    /** @return rate of all links of a rank within its server, bytes/s; 0 without any */
    double GetLocalSum() const
    {
        return m_localSum;
    }

    /** @return propagation delay between the nearest ranks of two servers, s */
    double GetRemoteDelay() const
    {
        return m_remoteDelay;
    }

    /** @return rate between ranks of a server, bytes/s; 0 without any */
    double GetLocalRate() const
    {
        return m_localRate;
    }

    /** @return rate between ranks of different servers, bytes/s; 0 without any */
    double GetRemoteRate() const
    {
        return m_remoteRate;
    }

    /**
     * @param ranks of a server that send to others at the same time
     * @return rate of their NICs together, which ranks may share, bytes/s
     */
    double GetRemoteRate(double ranks) const
    {
        return m_remoteRate * std::max(1.0, ranks / m_ranksPerNic);
    }

  private:
    uint32_t m_ranks;
    uint32_t m_hostsPerServer;
    uint32_t m_servers;
    bool m_hasLocalLinks;
    double m_localDelay{0};  // from the first rank to the nearest one in its server, s
    double m_remoteDelay{0}; // from the first rank to the nearest one in another server, s
    double m_localRate{0};
    double m_localSum{0};
    double m_remoteRate{0};
    uint32_t m_ranksPerNic;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SERVER_MAP_H
