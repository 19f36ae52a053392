/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
#define DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H

#include "ns3/training-cluster.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Gives the ports of links that are images of others the counters of those.
 *
 * @param cluster with images
 * @return packet-hops of all derived links
 */
uint64_t DeriveCounters(const Cluster& cluster);

/**
 * @ingroup distributed-training-helper
 *
 * The switches that several images use.
 */
class SwitchesOfImages
{
  public:
    /** @param cluster with images; must outlive this */
    explicit SwitchesOfImages(const Cluster& cluster);

    /** @throw ConfigurationError if one of them has done what depends on all images */
    void Check() const;

  private:
    const Cluster& m_cluster;
    std::vector<std::size_t> m_users; // number of images, by index of a switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
