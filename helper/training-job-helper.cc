/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job-helper.h"

#include "ns3/double.h"
#include "ns3/node.h"

#include <set>
#include <vector>

namespace ns3::training
{

TrainingJobHelper::TrainingJobHelper()
{
    m_application.SetTypeId(TrainingApplication::GetTypeId());
}

void
TrainingJobHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_application.Set(name, value);
}

void
TrainingJobHelper::SetSlowdowns(std::map<uint32_t, double> slowdowns)
{
    m_slowdowns = std::move(slowdowns);
}

ApplicationContainer
TrainingJobHelper::Install(const Cluster& cluster,
                           const std::shared_ptr<const TrainingTask>& task,
                           const std::string& exchangeAlgorithm) const
{
    std::vector<std::vector<Ptr<ScheduledCommunicator>>> split; // by communicator, then by rank
    for (uint32_t number = 0; number < task->communicators.size(); number++)
    {
        std::set<CollectiveOperation> operations;
        for (uint32_t collective : task->GetCollectives(number))
        {
            operations.insert(task->collectives[collective].operation);
        }
        if (number == 0)
        {
            for (CollectiveOperation operation : operations)
            {
                cluster.GetPlanner().Check(operation);
            }
            continue;
        }
        const TaskCommunicator& communicator = task->communicators[number];
        split.push_back(cluster.Split(communicator.groups,
                                      number,
                                      communicator.exchanges ? exchangeAlgorithm : "",
                                      operations));
    }
    ApplicationContainer applications;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        if (!cluster.IsLocal(rank))
        {
            continue;
        }
        std::vector<Ptr<Communicator>> communicators{cluster.GetCommunicator(rank)};
        for (const auto& byRank : split)
        {
            communicators.push_back(byRank[rank]);
        }
        auto application = m_application.Create<TrainingApplication>();
        application->SetTask(task, communicators);
        application->AssignStreams(FIRST_STREAM + rank);
        const auto slow = m_slowdowns.find(rank);
        if (slow != m_slowdowns.end())
        {
            application->SetAttribute("Slowdown", DoubleValue(slow->second));
        }
        if (cluster.GetCodecs().DelaysLayers())
        {
            cluster.GetCodecs().GetUnits()[rank]->SetListener(
                [application = PeekPointer(application)](Time time) { application->Occupy(time); });
        }
        cluster.GetFabric().hosts.Get(rank)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

} // namespace ns3::training
