/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-helper.h"

#include "ns3/boolean.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <sstream>

namespace ns3::training
{

namespace
{

/// Number of bits in the bitmaps.
constexpr std::size_t MAX_CHILDREN = 32;
/// Packets in flight per thread of the released client.
constexpr uint32_t WINDOW_OF_THREAD = 100;

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
