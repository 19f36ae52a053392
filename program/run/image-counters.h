/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
#define DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H

#include "ns3/training-cluster.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

class NetworkImages;

/**
 * @ingroup distributed-training-helper
 *
 * Counters of links that are images, and what was done at switches that several images use.
 */
class ImageCounters
{
  public:
    /** @param cluster with images; must outlive this */
    explicit ImageCounters(const Cluster& cluster);

    /**
     * Gives the ports of links that are images of others the counters of those.
     * @return packet-hops of all derived links
     */
    uint64_t Derive() const;

    /** @throw ConfigurationError if a switch has done what depends on all images */
    void Check() const;

    /** @return what of the counters is about right; empty: nothing */
    std::string FindInexact() const;

  private:
    const Cluster& m_cluster;
    std::shared_ptr<const NetworkImages> m_network;
    std::vector<uint32_t> m_users; // number of images, by index of a switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IMAGE_COUNTERS_H
