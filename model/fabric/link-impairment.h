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
    /** Parameters. Probabilities are for each frame. */
    struct Configuration
    {
        double loss{0};         ///< probability of loss
        double goodToBad{0};    ///< burst loss: probability to enter the bad state
        double badToGood{1};    ///< burst loss: probability to leave it
        double lossInBad{1};    ///< burst loss: probability of loss in the bad state
        double bitErrorRate{0}; ///< probability for each bit; a frame with a wrong bit is lost
        double duplicate{0};    ///< probability that a frame arrives twice
        double reorder{0};      ///< probability that a frame is late, so that others overtake it
        Time reorderDelay;      ///< delay of a late frame
        bool down{false};       ///< every frame is lost
    };

    /** The fate of a frame. */
    struct Fate
    {
        bool lost{false};                         ///< it does not arrive
        DropReason reason{DropReason::LINK_LOSS}; ///< of a lost frame
        bool duplicated{false};                   ///< it arrives twice
        int64_t delay{0};                         ///< added to its delay, ps
    };

    /**
     * @param configuration parameters
     * @param stream random number stream
     */
    LinkImpairment(const Configuration& configuration, int64_t stream);

    /**
     * @param bytes size of the frame
     * @return its fate, drawn from the random stream
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
