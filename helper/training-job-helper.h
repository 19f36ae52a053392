/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H
#define DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H

#include "cluster.h"

#include "ns3/application-container.h"
#include "ns3/object-factory.h"
#include "ns3/training-application.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * Installs a TrainingApplication for every rank of a cluster.
 */
class TrainingJobHelper
{
  public:
    TrainingJobHelper();

    /**
     * @param name attribute of TrainingApplication
     * @param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param cluster whose ranks train
     * @param workload the model
     * @param buckets its gradient buckets
     * @return the applications of the ranks of this process
     */
    ApplicationContainer Install(const Cluster& cluster,
                                 const Workload& workload,
                                 const std::vector<GradientBucket>& buckets) const;

  private:
    ObjectFactory m_application;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_JOB_HELPER_H
