/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPLICA_IMAGES_H
#define DISTRIBUTED_TRAINING_REPLICA_IMAGES_H

#include "job-plan.h"
#include "training-run-options.h"

#include "ns3/application-container.h"
#include "ns3/rank-images.h"
#include "ns3/training-cluster.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Finds replicas that are images of one another: a cyclic shift of ranks that maps hosts, links and
 * switches on such of the same kind, and groups and tasks on those of other ranks. The smallest
 * number of replicas that shifts so is simulated.
 *
 * @param options of the run, with all ranks
 * @param plan the job
 * @return the images; one if --replicas=simulate
 * @throw ConfigurationError if there are none, with the reason
 */
RankImages FindImages(const TrainingRunOptions& options, const JobPlan& plan);

/**
 * @ingroup distributed-training-helper
 *
 * Compares the schedules of collectives of several images, looks whether images share nothing but
 * switches, and lets these turn what is for an image.
 *
 * @param plan the job
 * @param cluster that runs it
 * @param applications of the simulated ranks
 * @return why images are not exact; empty: they are
 * @throw ConfigurationError if they are no images, with the reason
 */
std::string CheckImages(const JobPlan& plan,
                        const Cluster& cluster,
                        const ApplicationContainer& applications);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPLICA_IMAGES_H
