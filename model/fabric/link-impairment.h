/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINK_IMPAIRMENT_H
#define DISTRIBUTED_TRAINING_LINK_IMPAIRMENT_H

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * What one direction of a bad link does to frames: independent loss, loss in bursts (Gilbert,
 * "Capacity of a burst-noise channel", 1960; Elliott, 1963), bit errors, duplicates and late
 * frames. Each frame's fate is drawn from one random stream.
 */
class LinkImpairment
{
  public:
    /** What is wrong with the link. Probabilities are for each frame. */
    struct Configuration
    {
        double loss{0};         ///< probability of loss
        double goodToBad{0};    ///< burst loss: probability to enter the bad state
        double badToGood{1};    ///< burst loss: probability to leave it
        double lossInBad{1};    ///< burst loss: probability of loss in the bad state
        double bitErrorRate{0}; ///< probability for each bit; a frame with a wrong bit is lost
        double duplicate{0};    ///< probability that a frame arrives twice
        double reorder{0};      ///< probability that a frame is late, so that others overtake it
        Time reorderDelay;      ///< by how much
        bool down{false};       ///< nothing gets through
    };

    /** What becomes of a frame. */
    struct Fate
    {
        bool lost{false};       ///< it does not arrive
        bool duplicated{false}; ///< it arrives twice
        int64_t delay{0};       ///< it arrives so much later, time steps
    };

    /**
     * @param configuration what is wrong
     * @param stream random number stream
     */
    LinkImpairment(const Configuration& configuration, int64_t stream);

    /**
     * @param bytes size of the frame
     * @return what becomes of it
     */
    Fate Decide(uint32_t bytes);

    /** @return whether nothing gets through */
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
