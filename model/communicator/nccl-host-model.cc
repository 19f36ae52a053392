/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Latencies of NCCL (src/graph/tuning.cc), us, for its protocols LL, LL128, Simple: base of a tree
 * 6.8, 14, 8.4 and of a ring 6.6, 14, 8.4; NVLink hop of a tree 0.6, 1.25, 4.0 and of a ring 0.6,
 * 1.9, 3.4; network hop of a tree 5, 8.5, 14 and of a ring 2.7, 4, 14. NCCL measures end-to-end
 * latencies. Each hop therefore subtracts the propagation delay to the nearest rank, which the
 * simulation adds. LL sends two bytes per byte, LL128 128 per 120. Like NCCL, the model selects the
 * fastest protocol for the steps and bytes of the collective.
 *
 * An algorithm counts as a tree if its name contains "tree", except for multitree; otherwise as a
 * ring.
 */

#include "host-model.h"

#include "ns3/shortest-paths.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

namespace
{

/** Constants of a protocol: latencies, us, and bytes sent per byte of data. */
struct Protocol
{
    double base;
    double local;
    double remote;
    double inflation;
};

constexpr Protocol RING[] = {{6.6, 0.6, 2.7, 2.0}, {14, 1.9, 4, 128.0 / 120}, {8.4, 3.4, 14, 1.0}};
constexpr Protocol TREE[] = {{6.8, 0.6, 5, 2.0}, {14, 1.25, 8.5, 128.0 / 120}, {8.4, 4.0, 14, 1.0}};

/** Latencies of NCCL, for the ranks of one communicator. */
class NcclHostModel : public HostModel
{
  public:
    explicit NcclHostModel(const HostModelRequest& request);

    // HostModel
    HostCost GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const override;
    bool IsLocal(uint32_t a, uint32_t b) const override;

  private:
    uint32_t m_ranks;
    uint32_t m_hostsPerServer;
    uint32_t m_servers;      // number of servers with ranks
    double m_localDelay{0};  // from the first rank to the nearest one in its server, s
    double m_remoteDelay{0}; // from the first rank to the nearest one in another server, s
    double m_localRate{0};   // bytes/s of a host within its server
    double m_remoteRate{0};  // bytes/s of a host's slowest port
};

NcclHostModel::NcclHostModel(const HostModelRequest& request)
    : m_ranks(request.ranks),
      m_hostsPerServer(request.topology.shape.GetHostsPerServer())
{
    std::set<uint32_t> servers;
    ShortestPaths paths(request.topology);
    const auto& hosts = request.hosts;
    const uint32_t first = hosts.empty() ? 0 : hosts[0];
    paths.Search(first);
    const auto best = paths.GetPaths();
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        const uint32_t host = hosts.empty() ? rank : hosts[rank];
        servers.insert(host / m_hostsPerServer);
        const bool isLocal = IsLocal(first, host);
        double& delay = isLocal ? m_localDelay : m_remoteDelay;
        double& rate = isLocal ? m_localRate : m_remoteRate;
        if (host != first)
        {
            const double seconds = best[host].delay.GetSeconds();
            const double bytes = static_cast<double>(best[host].rate) / 8;
            delay = rate == 0 ? seconds : std::min(delay, seconds);
            rate = rate == 0 ? bytes : std::min(rate, bytes);
        }
    }
    m_servers = static_cast<uint32_t>(servers.size());
}

bool
NcclHostModel::IsLocal(uint32_t a, uint32_t b) const
{
    return a / m_hostsPerServer == b / m_hostsPerServer;
}

HostCost
NcclHostModel::GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const
{
    const uint32_t segments = std::max<uint32_t>(1, schedule.segments);
    const uint32_t all = schedule.GetSteps();
    const double steps = all < segments ? 0 : all - segments + 1;
    // In each phase, a chunk of a ring crosses server boundaries (servers - 1) times.
    const double remoteSteps = std::min(steps, 2.0 * (m_servers - 1));
    const double rate = m_servers > 1 ? m_remoteRate : m_localRate;
    const double perByte = rate > 0 ? 1 / rate : 0;
    const double sent = GetBusFactor(schedule.operation, m_ranks) * static_cast<double>(bytes);
    const bool tree =
        schedule.algorithm.find("tree") != std::string::npos && schedule.algorithm != "multitree";
    const Protocol* fastest = nullptr;
    double least = 0;
    for (const Protocol& protocol : tree ? TREE : RING)
    {
        const double seconds = 1e-6 * (protocol.base + remoteSteps * protocol.remote +
                                       (steps - remoteSteps) * protocol.local) +
                               sent * protocol.inflation * perByte;
        if (!fastest || seconds < least)
        {
            fastest = &protocol;
            least = seconds;
        }
    }
    const auto hop = [](double microseconds, double delay) {
        return Seconds(std::max(0.0, microseconds * 1e-6 - delay));
    };
    HostCost cost;
    cost.start = Seconds(fastest->base * 1e-6);
    cost.localHop = hop(fastest->local, m_localDelay);
    cost.remoteHop = hop(fastest->remote, m_remoteDelay);
    cost.secondsPerByte = (fastest->inflation - 1) * perByte;
    return cost;
}

std::shared_ptr<const HostModel>
MakeNccl(const HostModelRequest& request)
{
    return std::make_shared<NcclHostModel>(request);
}

const Registry<HostModelEntry>::Entry g_nccl(
    "nccl",
    {"latencies that NCCL's tuning assumes for its protocols LL, LL128 and Simple", &MakeNccl});

} // namespace

} // namespace ns3::training
