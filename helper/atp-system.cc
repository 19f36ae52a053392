/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-helper.h"

#include "ns3/atp-wire-format.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <memory>

namespace ns3::training
{

namespace
{

/// Marking threshold of the released program: 1000 cells of 80 bytes, at 100 Gbit/s.
constexpr double ECN_STEP_PER_GBPS = 800;
/// Key for the server hosts.
constexpr const char* SERVERS_KEY = "servers";
/// Attribute for the server hosts.
constexpr const char* SERVERS_ATTRIBUTE = "ParameterServers";

/** @return what servers on hosts of ranks cost, one line; empty if there are none */
std::string
DescribeSharing(const std::vector<Ptr<AtpServer>>& servers,
                const Fabric& fabric,
                const std::vector<uint32_t>& endpoints)
{
    const std::vector<uint32_t> hosts = GetHosts(fabric, endpoints);
    std::string ranks;
    for (const auto& server : servers)
    {
        const auto host =
            std::find(hosts.begin(), hosts.end(), fabric.hostOfEndpoint[server->GetEndpoint()]);
        if (host != hosts.end())
        {
            ranks += (ranks.empty() ? "" : "/") + std::to_string(host - hosts.begin());
        }
    }
    if (ranks.empty())
    {
        return "";
    }
    // The line carries the rank's own packets and the server's part of them.
    const std::size_t count = servers.size();
    return "atp: a server shares the line of rank " + ranks + ", so the rate is at most " +
           std::to_string(count) + "/" + std::to_string(count + 1) +
           " of that with servers on hosts without ranks (more hosts than ranks avoid this)";
}

/** @return attributes of a request, with its servers */
AttributeList
GetAttributes(const InNetworkRequest& request)
{
    AttributeList attributes = request.attributes;
    const TypeId worker = AtpCommunicator::GetTypeId();
    if (request.values.IsGiven(SERVERS_KEY) && !attributes.Has(worker, SERVERS_ATTRIBUTE))
    {
        std::string servers = request.values.GetText(SERVERS_KEY);
        std::replace(servers.begin(), servers.end(), '/', ',');
        attributes.Set(worker.GetName() + "::" + SERVERS_ATTRIBUTE, servers);
    }
    return attributes;
}

std::vector<Ptr<InNetworkCommunicator>>
InstallAtp(const InNetworkRequest& request)
{
    const KeyValues& values = request.values;
    AtpHelper helper;
    helper.SetAttributes(GetAttributes(request));
    // Without the key, each thread has its own window.
    const auto workers =
        helper.AddJob(request.fabric, request.endpoints, request.hosts, GetWindow(values, 0));
    const std::string sharing =
        DescribeSharing(helper.GetServers(0), request.fabric, request.endpoints);
    if (!sharing.empty())
    {
        request.notes.push_back(sharing);
    }
    return {workers.begin(), workers.end()};
}

/**
 * Lets jobs share the slots of each switch. Their servers are on the hosts that no job may use, job
 * after job, unless hosts are given.
 */
class AtpController : public HelperController<AtpHelper>
{
  public:
    explicit AtpController(const InNetworkRequest& request)
        : HelperController(request.fabric),
          m_jobHosts(static_cast<uint32_t>(request.endpoints.size())),
          m_window(GetWindow(request.values, 0))
    {
        const AttributeList attributes = GetAttributes(request);
        m_helper.SetAttributes(attributes);
        m_slots = m_helper.InstallEverywhere(m_fabric)->GetSlots();
        const auto worker = attributes.Create<AtpCommunicator>();
        attributes.Create<AtpServer>(); // its attributes are valid, and used
        if (worker->GetServers() != AtpHelper::AUTOMATIC)
        {
            m_servers = m_helper.ReadServers(worker->GetServers());
        }
    }

    uint32_t GetDividedSlots() const override
    {
        return 0;
    }

    void Check(const InNetworkJob& job, uint32_t /* ranks */) const override
    {
        const uint32_t hosts = m_fabric.topology.hosts;
        if (job.servers.size() > AtpHelper::MAX_SERVERS)
        {
            throw ConfigurationError(std::to_string(job.servers.size()) +
                                     " servers (allowed: up to " +
                                     std::to_string(AtpHelper::MAX_SERVERS) + ")");
        }
        for (uint32_t host : job.servers)
        {
            if (host >= hosts)
            {
                throw ConfigurationError("server on host " + std::to_string(host) +
                                         " (allowed: 0 to " + std::to_string(hosts - 1) + ")");
            }
        }
    }

    bool HasRoom(const InNetworkJob& /* job */) const override
    {
        return true;
    }

    InNetworkShare GetShare(uint32_t number) const override
    {
        const AtpCounters counters = m_helper.GetCountersOf(number);
        InNetworkShare share;
        share.slots = m_slots;
        share.packets = counters.received - counters.refused - counters.multicasts;
        share.added = counters.added;
        share.repeated = counters.repeated;
        share.collisions = counters.collisions;
        share.passed = counters.passed;
        share.evicted = counters.evicted + counters.preempted;
        share.completed = counters.completed;
        return share;
    }

  private:
    std::vector<Ptr<InNetworkCommunicator>> InstallJob(const InNetworkJob& job,
                                                       std::vector<std::string>& notes) override
    {
        // The first endpoint of a host equals its number.
        std::vector<uint32_t> servers = job.servers.empty() ? m_servers : job.servers;
        if (servers.empty())
        {
            const uint32_t spare = m_fabric.topology.hosts - m_jobHosts;
            servers = {spare > 0 ? m_jobHosts + job.number % spare : job.endpoints.back()};
        }
        const auto workers = m_helper.AddJob(m_fabric, job.endpoints, job.hosts, m_window, servers);
        const std::string sharing =
            DescribeSharing(m_helper.GetServers(job.number), m_fabric, job.endpoints);
        if (!sharing.empty())
        {
            notes.push_back(sharing);
        }
        return {workers.begin(), workers.end()};
    }

    uint32_t m_jobHosts;             // hosts that jobs may use, the first ones
    uint32_t m_window;               // of a worker; 0: a window for each thread
    uint32_t m_slots{0};             // of each switch
    std::vector<uint32_t> m_servers; // hosts of the servers of all jobs; empty: automatic
};

std::unique_ptr<InNetworkController>
ControlAtp(const InNetworkRequest& request)
{
    return std::make_unique<AtpController>(request);
}

std::vector<Key>
GetAtpKeys()
{
    std::vector<Key> keys = GetAttributeKeys(AtpProgram::GetTypeId());
    Key window = MakeWindowKey(ATP_MAX_SLOTS);
    window.help = "packets in flight per worker; default: 100 per thread";
    keys.push_back(window);
    Key servers = Key::Attribute(AtpCommunicator::GetTypeId(), SERVERS_ATTRIBUTE, SERVERS_KEY);
    servers.help = "hosts with the job's servers, up to 4, such as 3/7; auto: the first host "
                   "without a rank, or else that of the last rank";
    servers.attribute.clear(); // the attribute separates them by commas
    keys.push_back(servers);
    for (const Key& key : GetAttributeKeys(AtpCommunicator::GetTypeId(), {SERVERS_ATTRIBUTE}))
    {
        keys.push_back(key);
    }
    for (Key key : GetAttributeKeys(AtpServer::GetTypeId()))
    {
        key.name = "server-" + key.name;
        keys.push_back(key);
    }
    return keys;
}

const Registry<InNetworkSystem>::Entry g_atp(
    "atp",
    {"switches add 32-bit integers as far as they have slots, servers the rest (ATP, NSDI 2021)",
     &InstallAtp,
     &GetAtpKeys,
     "all-reduce",
     ECN_STEP_PER_GBPS,
     &ControlAtp});

} // namespace

} // namespace ns3::training
