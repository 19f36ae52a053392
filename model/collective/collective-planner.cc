/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-planner.h"

#include "schedule-interpreter.h"

#include "ns3/abort.h"
#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectivePlanner");

CollectivePlanner::CollectivePlanner(const std::string& algorithm, uint32_t ranks, uint32_t servers)
    : m_algorithm(algorithm),
      m_ranks(ranks),
      m_servers(servers)
{
}

CollectiveRequest
CollectivePlanner::MakeRequest(CollectiveOperation operation) const
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = m_ranks;
    request.servers = m_servers;
    return request;
}

void
CollectivePlanner::Check(CollectiveOperation operation) const
{
    CheckRequest(m_algorithm, MakeRequest(operation));
}

std::shared_ptr<const CollectiveSchedule>
CollectivePlanner::Get(CollectiveOperation operation, uint64_t bytes, uint32_t root)
{
    const bool broadcast = operation == CollectiveOperation::BROADCAST;
    const Key key{operation, broadcast ? bytes : 0, broadcast ? root : 0};
    auto& plan = m_plans[key];
    if (!plan)
    {
        CollectiveRequest request = MakeRequest(operation);
        request.bytes = bytes;
        request.root = root;
        CollectiveSchedule schedule = BuildSchedule(m_algorithm, request);
        if (m_ranks <= VERIFIED_RANKS)
        {
            const std::string fault = VerifySchedule(schedule);
            NS_ABORT_MSG_UNLESS(fault.empty(), m_algorithm << ": " << fault);
        }
        schedule.FillNext();
        plan = std::make_shared<const CollectiveSchedule>(std::move(schedule));
    }
    return plan;
}

} // namespace ns3::training
