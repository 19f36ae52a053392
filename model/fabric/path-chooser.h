/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PATH_CHOOSER_H
#define DISTRIBUTED_TRAINING_PATH_CHOOSER_H

#include "path-choice.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * Applies the path choice of a switch and avoids links that are down.
 */
class PathChooser
{
  public:
    /**
     * @param ports ports of the switch
     * @param random random variable for random choices
     */
    PathChooser(const std::vector<Ptr<FabricPort>>& ports, Ptr<UniformRandomVariable> random);

    /**
     * @param path NAME or NAME:key=value,... of a registered PathChoiceEntry
     * @throw ConfigurationError if there is no such path choice, or a value is invalid
     */
    void SetPath(const std::string& path);

    /** @return the path choice as set */
    const std::string& GetPath() const;

    /** @return the switch data used by the path choice */
    PathContext& GetContext();

    /** Clears the state of the path choice. */
    void Clear();

    /**
     * @return whether the frames of a flow take the same path, while all links are up and
     *         GetChoices() stays
     */
    bool IsFixed() const
    {
        return m_isByHash || m_minPorts > 1;
    }

    /** @return frames whose port an algorithm other than the hash of flows has chosen */
    uint64_t GetChoices() const
    {
        return m_choices;
    }

    /**
     * @param frame frame with its addresses
     * @param group equal-cost ports to its destination
     * @return the egress port, or PathContext::NONE
     */
    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group)
    {
        if (!m_isByHash)
        {
            return ChooseByAlgorithm(frame, group);
        }
        return group.empty() ? PathContext::NONE
                             : AvoidFailedPort(m_context.ChooseByHash(frame, group), frame, group);
    }

    /**
     * Predicts the result of Choose(), for prefetching.
     * @param frame frame with its addresses
     * @param group equal-cost ports to its destination
     * @return the egress port, provided that its link is up; PathContext::NONE if the choice is not
     *         predictable
     */
    uint16_t PredictPort(const Frame& frame, const ForwardingTable::Ports& group) const
    {
        return m_isByHash && !group.empty() ? m_context.ChooseByHash(frame, group)
                                            : PathContext::NONE;
    }

  private:
    uint16_t AvoidFailedPort(uint16_t choice,
                             const Frame& frame,
                             const ForwardingTable::Ports& group) const
    {
        return m_context.IsUp(choice) ? choice : m_context.ChooseAlive(frame, group);
    }

    uint16_t ChooseByAlgorithm(const Frame& frame, const ForwardingTable::Ports& group);

    bool m_isByHash{true};       // adjacent to the hash seed for cache locality
    bool m_avoidsFailures{true}; // see PathChoice::AvoidsFailures()
    std::size_t m_minPorts{0};   // minimum group size of the choice
    uint64_t m_choices{0};       // see GetChoices()
    PathContext m_context;
    std::unique_ptr<PathChoice> m_choice;
    std::string m_path;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PATH_CHOOSER_H
