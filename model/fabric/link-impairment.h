/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINK_IMPAIRMENT_H
#define DISTRIBUTED_TRAINING_LINK_IMPAIRMENT_H

#include "drop-reason.h"

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Impairment of one direction of a link: independent loss, loss in bursts (Gilbert, "Capacity of a
 * burst-noise channel", 1960; Elliott, 1963), bit errors, duplication and reordering. The fate of
 * each frame is drawn from one random stream.
 */
class LinkImpairment
{
  public:
    /** Parameters. Probabilities are per frame unless noted. */
    struct Configuration
    {
        double loss{0};         ///< probability of loss
        double goodToBad{0};    ///< burst loss: probability of entering the bad state
        double badToGood{1};    ///< burst loss: probability of leaving the bad state
        double lossInBad{1};    ///< burst loss: probability of loss in the bad state
        double bitErrorRate{0}; ///< bit error rate; a frame with a bit error is lost
        double duplicate{0};    ///< probability that a frame arrives twice
        double reorder{0};      ///< probability of reordering: the frame is delayed and overtaken
        Time reorderDelay;      ///< extra delay of a reordered frame
        bool down{false};       ///< whether the link is down: every frame is lost
        bool retries{false};    ///< whether the link sends lost frames again, see FabricPort
        Time retryResponse;     ///< from the end of a lost frame to the request for it
    };

    /** The fate of a frame. */
    struct Fate
    {
        bool lost{false};                         ///< whether the frame is lost
        DropReason reason{DropReason::LINK_LOSS}; ///< drop reason of a lost frame
        bool duplicated{false};                   ///< whether the frame arrives twice
        int64_t delay{0};                         ///< extra delay, ps
        int64_t retry{NEVER};                     ///< lost: until the request for it, ps

        /// Value of `retry`: the link does not send the frame again.
        static constexpr int64_t NEVER = -1;
    };

    /**
     * @param configuration parameters
     * @param stream random number stream
     */
    LinkImpairment(const Configuration& configuration, int64_t stream);

    /**
     * @param bytes size of the frame
     * @return the fate of the frame, drawn from the random stream
     */
    Fate Decide(uint32_t bytes);

    /** @return whether every frame is lost */
    bool IsDown() const
    {
        return m_configuration.down;
    }

  private:
    bool Draw(double probability);

    Configuration m_configuration;
    Ptr<UniformRandomVariable> m_random;
    bool m_bad{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LINK_IMPAIRMENT_H
