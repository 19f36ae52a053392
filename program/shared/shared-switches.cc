/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared/shared-switches.h"

#include "ns3/in-network-figures.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

SharedSwitches::SharedSwitches(const Cluster& cluster,
                               const SharedRunOptions& options,
                               const std::vector<uint32_t>& ranks)
    : m_cluster(cluster),
      m_options(options),
      m_controller(cluster.GetCommunicators().GetController()),
      m_slots(ranks.size())
{
    if (m_controller)
    {
        Divide(ranks);
    }
}

void
SharedSwitches::Divide(const std::vector<uint32_t>& ranks)
{
    const uint32_t pool = m_controller->GetDividedSlots();
    uint64_t asked = 0;
    uint64_t weights = 0;
    for (const SharedJob& job : m_options.jobs)
    {
        if (pool == 0 && (job.slots > 0 || job.slotWeight))
        {
            throw ConfigurationError("job " + job.name + ": slots or slot-weight with collective " +
                                     m_options.cluster.algorithm +
                                     ", whose jobs share all slots "
                                     "(allowed: with switchml)");
        }
        asked += job.slots;
        weights += job.slots > 0 ? 0 : job.slotWeight.value_or(1);
    }
    const uint64_t rest = pool - std::min<uint64_t>(pool, asked);
    for (std::size_t i = 0; i < m_slots.size(); i++)
    {
        const SharedJob& job = m_options.jobs[i];
        m_slots[i] = job.slots;
        if (pool > 0 && job.slots == 0)
        {
            m_slots[i] = static_cast<uint32_t>(rest * job.slotWeight.value_or(1) / weights);
        }
        try
        {
            m_controller->Check(MakeRequest(i, {}), ranks[i]);
        }
        catch (const ConfigurationError& error)
        {
            throw ConfigurationError("job " + job.name + ": " + error.what());
        }
    }
}

uint32_t
SharedSwitches::GetNumber(std::size_t index) const
{
    return m_options.firstNumber + static_cast<uint32_t>(index);
}

InNetworkJob
SharedSwitches::MakeRequest(std::size_t index, const std::vector<uint32_t>& hosts) const
{
    InNetworkJob request;
    request.number = GetNumber(index);
    request.slots = m_slots[index];
    request.servers = m_options.jobs[index].servers;
    for (uint32_t host : hosts)
    {
        request.endpoints.push_back(m_cluster.GetFabric().devices[host]->GetEndpoint());
    }
    return request;
}

bool
SharedSwitches::HasRoom(std::size_t index, const std::vector<uint32_t>& hosts) const
{
    return !m_controller || m_controller->HasRoom(MakeRequest(index, hosts));
}

std::vector<Ptr<InNetworkCommunicator>>
SharedSwitches::Join(std::size_t index,
                     const std::vector<uint32_t>& hosts,
                     const std::vector<Ptr<ScheduledCommunicator>>& communicators,
                     std::vector<std::string>& notes)
{
    if (!m_controller)
    {
        return {};
    }
    InNetworkJob request = MakeRequest(index, hosts);
    request.hosts = communicators;
    try
    {
        return m_controller->AddJob(request, notes);
    }
    catch (const ConfigurationError& error)
    {
        throw ConfigurationError("job " + m_options.jobs[index].name + ": " + error.what());
    }
}

void
SharedSwitches::Leave(std::size_t index)
{
    if (m_controller)
    {
        m_controller->RemoveJob(GetNumber(index));
    }
}

std::optional<SharedSwitchFigures>
SharedSwitches::GetFigures(std::size_t index,
                           const std::vector<Ptr<InNetworkCommunicator>>& workers) const
{
    return workers.empty()
               ? std::nullopt
               : std::optional(SharedSwitchFigures{SumFigures(workers),
                                                   m_controller->GetShare(GetNumber(index))});
}

} // namespace ns3::training
