/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-helper.h"

#include "ns3/atp-wire-format.h"
#include "ns3/boolean.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <memory>
#include <sstream>

namespace ns3::training
{

namespace
{

/// Maximum number of servers: 2 bits in the released packets.
constexpr std::size_t MAX_SERVERS = 4;
/// Number of bits in the bitmaps.
constexpr std::size_t MAX_CHILDREN = 32;
/// Packets in flight per thread of the released client.
constexpr uint32_t WINDOW_OF_THREAD = 100;
/// Marking threshold of the released program: 1000 cells of 80 bytes, at 100 Gbit/s.
constexpr double ECN_STEP_PER_GBPS = 800;
/// Key for the server hosts.
constexpr const char* SERVERS_KEY = "servers";
/// Attribute for the server hosts.
constexpr const char* SERVERS_ATTRIBUTE = "ParameterServers";
/// Value of both that leaves the hosts to the controller.
constexpr const char* AUTOMATIC = "auto";

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
        if (worker->GetServers() != AUTOMATIC)
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
        if (job.servers.size() > MAX_SERVERS)
        {
            throw ConfigurationError(std::to_string(job.servers.size()) +
                                     " servers (allowed: up to " + std::to_string(MAX_SERVERS) +
                                     ")");
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

/** @return index of a value */
template <typename T>
uint32_t
Find(const std::vector<T>& values, T value)
{
    return static_cast<uint32_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

} // namespace

void
AtpHelper::SetServerAttribute(const std::string& name, const AttributeValue& value)
{
    AttributeList attributes;
    attributes.Set(AtpServer::GetTypeId().GetName() + "::" + name, value);
    SetAttributes(attributes);
}

const std::vector<Ptr<AtpServer>>&
AtpHelper::GetServers(uint32_t job) const
{
    return m_servers.at(job);
}

uint32_t
AtpHelper::GetSwitch(uint32_t endpoint) const
{
    const TopologyGraph& topology = GetFabric().topology;
    const uint32_t host = GetFabric().hostOfEndpoint[endpoint];
    const uint32_t link = GetFabric().linkOfEndpoint[endpoint];
    uint32_t node = host;
    if (link != Fabric::NO_LINK)
    {
        node = TopologyGraph::GetPeer(topology.links[link], host);
    }
    if (node < topology.hosts)
    {
        throw ConfigurationError("topology '" + topology.name + "': host " + std::to_string(host) +
                                 " is linked to no switch that could add (allowed: all are)");
    }
    return node - topology.hosts;
}

std::vector<uint32_t>
AtpHelper::FindServers(const std::string& text, const std::vector<uint32_t>& endpoints) const
{
    if (text == AUTOMATIC)
    {
        for (uint32_t host = 0; host < GetFabric().topology.hosts; host++)
        {
            if (!m_busyHosts.count(host))
            {
                return {host};
            }
        }
        return {endpoints.back()};
    }
    return ReadServers(text);
}

std::vector<uint32_t>
AtpHelper::ReadServers(const std::string& text) const
{
    const uint32_t hosts = GetFabric().topology.hosts;
    std::vector<uint32_t> servers;
    std::istringstream list(text);
    for (std::string item; std::getline(list, item, ',');)
    {
        const auto host = ParseUnsigned(item);
        if (!host || *host >= hosts || std::count(servers.begin(), servers.end(), *host))
        {
            throw ConfigurationError("ns3::training::AtpCommunicator::ParameterServers=" + text +
                                     " (allowed: auto, or different hosts from 0 to " +
                                     std::to_string(hosts - 1) + ")");
        }
        servers.push_back(static_cast<uint32_t>(*host)); // the first endpoint equals the host
    }
    if (servers.empty() || servers.size() > MAX_SERVERS)
    {
        throw ConfigurationError("ns3::training::AtpCommunicator::ParameterServers=" + text +
                                 " (allowed: 1 to " + std::to_string(MAX_SERVERS) + " hosts)");
    }
    return servers;
}

Ptr<AtpProgram>
AtpHelper::InstallEverywhere(Fabric& fabric)
{
    UseFabric(fabric);
    const auto worker = GetAttributes().Create<AtpCommunicator>();
    Ptr<AtpProgram> program;
    for (uint32_t index = 0; index < fabric.devicesOfSwitches.size(); index++)
    {
        program = Install(index, *worker);
    }
    if (!program)
    {
        throw ConfigurationError("topology '" + fabric.topology.name +
                                 "' has no switch that could add (allowed: with switches)");
    }
    return program;
}

void
AtpHelper::RemoveJob(uint32_t number)
{
    InNetworkHelper::RemoveJob(number);
    for (const auto& server : m_servers[number])
    {
        server->Stop();
    }
}

Ptr<AtpProgram>
AtpHelper::Install(uint32_t index, const AtpCommunicator& worker)
{
    const auto program = InstallProgram(index, [&](AtpProgram& created) {
        if (worker.GetControl() == AtpWindow::Control::A2TP)
        {
            created.SetAttribute("StickyCollisions", BooleanValue(true));
        }
    });
    BooleanValue tells;
    program->GetAttribute("StickyCollisions", tells);
    if (worker.GetControl() == AtpWindow::Control::A2TP && !tells.Get())
    {
        throw ConfigurationError("WindowControl=a2tp at switches without "
                                 "ns3::training::AtpProgram::StickyCollisions (allowed: for their "
                                 "first job, or with that attribute)");
    }
    return program;
}

void
AtpHelper::InstallPrograms(Plan& plan, const AtpCommunicator& worker)
{
    for (const auto& [index, ranks] : plan.racks)
    {
        if (ranks.size() > MAX_CHILDREN)
        {
            throw ConfigurationError(plan.name + " has " + std::to_string(ranks.size()) +
                                     " workers at a switch (allowed: up to " +
                                     std::to_string(MAX_CHILDREN) + ")");
        }
        plan.programs[index] = Install(index, worker);
    }
    for (const auto& [index, there] : plan.serversOf)
    {
        plan.programs[index] = Install(index, worker);
    }
    for (const auto& [index, program] : plan.programs)
    {
        AtpJob job;
        job.number = plan.number;
        job.window = plan.window;
        job.servers = plan.servers;
        for (const auto& [other, ranks] : plan.racks)
        {
            if (other != index)
            {
                job.otherSwitches.push_back(plan.programs[other]->GetEndpoint());
                continue;
            }
            for (uint32_t rank : ranks)
            {
                job.workers.push_back(plan.endpoints[rank]);
            }
        }
        const auto there = plan.serversOf.find(index);
        if (there != plan.serversOf.end())
        {
            job.localServers = there->second;
        }
        program->AddJob(job);
    }
}

Ptr<AtpServer>
AtpHelper::InstallServer(const Plan& plan,
                         uint32_t server,
                         std::vector<AtpCommunicator::Session>& sessions) const
{
    const uint32_t here = GetSwitch(server);
    const Ptr<AtpProgram> program = plan.programs.at(here);
    AtpServer::Session session;
    session.job = plan.number;
    session.index = Find(plan.servers, server);
    session.servers = static_cast<uint32_t>(plan.servers.size());
    session.switchEndpoint = program->GetEndpoint();
    session.window = plan.window;
    session.slots = program->GetSlots();
    session.elements = program->GetElements();
    session.isExtended = plan.isExtended;
    for (const auto& [index, ranks] : plan.racks)
    {
        // Workers of the server's switch are its children, and so is a worker that is alone in its
        // rack.
        if (index != here && ranks.size() > 1)
        {
            session.children.push_back(ranks);
            continue;
        }
        for (uint32_t rank : ranks)
        {
            session.children.push_back({rank});
        }
    }
    if (session.children.size() > MAX_CHILDREN)
    {
        throw ConfigurationError(plan.name + " has " + std::to_string(session.children.size()) +
                                 " racks and workers at the switch of its server (allowed: up to " +
                                 std::to_string(MAX_CHILDREN) + ")");
    }
    for (uint32_t child = 0; child < session.children.size(); child++)
    {
        const auto& ranks = session.children[child];
        for (uint32_t rank : ranks)
        {
            AtpCommunicator::Route route;
            route.server = server;
            route.header.isRackSum = ranks.size() == 1;
            route.header.workers = 1U << Find(ranks, rank);
            route.header.children = 1U << child;
            route.header.fanIn[0] = static_cast<uint8_t>(ranks.size());
            route.header.fanIn[1] = static_cast<uint8_t>(session.children.size());
            sessions[rank].routes.push_back(route);
        }
    }
    auto object = GetAttributes().Create<AtpServer>();
    object->SetSession(session, GetFabric().devices[server]);
    return object;
}

std::vector<Ptr<AtpCommunicator>>
AtpHelper::AddJob(Fabric& fabric,
                  const std::vector<uint32_t>& endpoints,
                  const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                  uint32_t window,
                  std::vector<uint32_t> servers)
{
    UseFabric(fabric);
    Plan plan;
    plan.number = TakeNumber("atp");
    plan.name = "atp job " + std::to_string(plan.number);
    plan.endpoints = endpoints;
    std::vector<Ptr<AtpCommunicator>> workers;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        workers.push_back(GetAttributes().Create<AtpCommunicator>());
        plan.racks[GetSwitch(endpoints[rank])].push_back(rank);
        m_busyHosts.insert(GetFabric().hostOfEndpoint[endpoints[rank]]);
    }
    const AtpCommunicator& worker = *workers.front();
    plan.servers = servers.empty() ? FindServers(worker.GetServers(), endpoints) : servers;
    for (uint32_t server : plan.servers)
    {
        fabric.RouteTo(fabric.hostOfEndpoint[server]);
        plan.serversOf[GetSwitch(server)].push_back(server);
    }
    plan.window = window > 0 ? window : worker.GetThreads() * WINDOW_OF_THREAD;
    InstallPrograms(plan, worker);
    const Ptr<AtpProgram> program = plan.programs.begin()->second;
    BooleanValue preemption;
    program->GetAttribute("Preemption", preemption);
    plan.isExtended = preemption.Get() || worker.GetControl() == AtpWindow::Control::A2TP;

    AtpCommunicator::Session session;
    session.window = plan.window;
    session.slots = program->GetSlots();
    session.elements = program->GetElements();
    session.isExtended = plan.isExtended;
    session.sharesLines = std::any_of(endpoints.begin(), endpoints.end(), [&](uint32_t worker) {
        return std::any_of(plan.servers.begin(), plan.servers.end(), [&](uint32_t server) {
            return fabric.hostOfEndpoint[worker] == fabric.hostOfEndpoint[server];
        });
    });
    std::vector<AtpCommunicator::Session> sessions(endpoints.size(), session);
    for (uint32_t server : plan.servers)
    {
        m_servers[plan.number].push_back(InstallServer(plan, server, sessions));
    }
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        JoinGroup(*workers[rank], rank, plan.number, endpoints, hosts);
        workers[rank]->SetSession(sessions[rank]);
    }
    return workers;
}

} // namespace ns3::training
