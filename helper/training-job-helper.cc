/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-job-helper.h"

#include "ns3/log.h"
#include "ns3/node.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingJobHelper");

TrainingJobHelper::TrainingJobHelper()
{
    m_application.SetTypeId(TrainingApplication::GetTypeId());
}

void
TrainingJobHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_application.Set(name, value);
}

ApplicationContainer
TrainingJobHelper::Install(const Cluster& cluster,
                           const Workload& workload,
                           const std::vector<GradientBucket>& buckets) const
{
    ApplicationContainer applications;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        if (!cluster.IsLocal(rank))
        {
            continue;
        }
        auto application = m_application.Create<TrainingApplication>();
        application->SetTask(cluster.GetCommunicator(rank), workload, buckets);
        cluster.GetFabric().hosts.Get(rank)->AddApplication(application);
        applications.Add(application);
    }
    return applications;
}

} // namespace ns3::training
