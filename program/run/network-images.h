/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_IMAGES_H
#define DISTRIBUTED_TRAINING_NETWORK_IMAGES_H

#include "ns3/rank-images.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What a shift of ranks by images makes of the network: an automorphism, found from the links of
 * the ranks upwards, and checked at each node. Of nodes that are images of one another, one is
 * simulated: the one that the links of image 0 reach first.
 */
class NetworkImages
{
  public:
    /**
     * @param topology with a host for each rank; must outlive this
     * @param ranks number of ranks
     * @param images how they shift
     */
    NetworkImages(const TopologyGraph& topology, uint32_t ranks, const RankImages& images);

    /** @return where the network is not the same after a shift; empty: nowhere */
    const std::string& GetObstacle() const
    {
        return m_obstacle;
    }

    /** @param node a node @param images number of an image @return the node in its place there */
    uint32_t Turn(uint32_t node, uint32_t images) const;

    /** @param node a node @return whether it is simulated, rather than an image of another one */
    bool IsSimulated(uint32_t node) const
    {
        return m_simulated[node] == node;
    }

    /** @param node a node @return number of images that use it alike */
    uint32_t GetUsers(uint32_t node) const;

    /**
     * Finds the images of a link whose ends are simulated.
     * @param link index of a link
     * @return links, each once, without the link itself; true: end b is the image of end a
     */
    std::set<std::pair<uint32_t, bool>> GetImages(uint32_t link) const;

  private:
    using Map = std::vector<uint32_t>; // image of each node

    Map FindMap(const std::function<uint32_t(uint32_t)>& turn);
    bool AddPeers(uint32_t node, uint32_t image, Map& map, Map& nodeOf, Map& queue) const;
    bool IsEqual(uint32_t node, const Map& map) const;
    void FindSimulated();

    const TopologyGraph& m_topology;
    uint32_t m_ranks;
    RankImages m_images;
    std::vector<std::vector<uint32_t>> m_linksOf; // by node
    Map m_next;                                   // a shift by one image within rows
    Map m_nextRow;                                // a shift by a row
    Map m_simulated;                              // by node: the image of it that is simulated
    std::string m_obstacle;
};

/**
 * @ingroup distributed-training-helper
 * @param reason why replicas are no images
 * @throw ConfigurationError always
 */
[[noreturn]] void RefuseImages(const std::string& reason);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_IMAGES_H
