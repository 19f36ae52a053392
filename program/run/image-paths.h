/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IMAGE_PATHS_H
#define DISTRIBUTED_TRAINING_IMAGE_PATHS_H

#include "run/network-images.h"

#include "ns3/training-cluster.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The paths of messages between ranks that are images. A frame for an image goes up as it would in
 * the whole network. Where its path leads to nodes that are images, the switch gives it the address
 * of the simulated rank: it comes down as one from the other side does.
 */
class ImagePaths
{
  public:
    /** @param cluster with images; must outlive this */
    explicit ImagePaths(const Cluster& cluster);

    /**
     * Checks the way from a rank to another one.
     * @param rank a simulated rank
     * @param peer any rank
     * @throw ConfigurationError if paths of images are no images, with the reason
     */
    void Add(uint32_t rank, uint32_t peer);

    /** Lets switches turn what takes the ways that were added. */
    void Apply() const;

    /** @return whether switches choose among ports, so that frames of images may take others */
    bool AreChosen() const
    {
        return m_isChosen;
    }

  private:
    using Ends = std::vector<uint32_t>; // nodes, sorted

    void AddPort(const PortPair& pair, uint32_t peer);
    uint32_t GetOtherEnd(uint32_t endpoint) const;
    Ends GetNext(uint32_t node, uint32_t endpoint) const;
    Ends Turn(Ends nodes, uint32_t images) const;
    std::size_t FindPlace(uint32_t host, uint32_t endpoint) const;
    void Walk(uint32_t node, uint32_t peer, uint32_t own, uint32_t simulated, bool isTurned);
    [[noreturn]] void Refuse(const std::string& reason) const;

    const Cluster& m_cluster;
    const RankImages m_images;
    NetworkImages m_network;
    std::vector<std::vector<uint32_t>> m_nodeOfPort; // by switch, then port
    bool m_followsQueues;                            // whether rates do
    bool m_sprays;                                   // whether frames of a flow take all ports
    std::set<std::pair<uint32_t, uint32_t>> m_pairs; // of ranks
    std::set<std::tuple<uint32_t, uint32_t, bool>> m_walked; // see Walk()
    std::vector<std::array<uint32_t, 3>> m_turns; // node, endpoint, that of the simulated rank
    std::string m_between;                        // which ranks, for messages
    bool m_isChosen{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IMAGE_PATHS_H
