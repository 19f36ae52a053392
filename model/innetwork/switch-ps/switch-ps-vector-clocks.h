/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_VECTOR_CLOCKS_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_VECTOR_CLOCKS_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The vector clocks of a job's key ranges, for bounded staleness (Ho et al., NIPS 2013): for each
 * range the steps that each worker has made, and the workers whose answer is held back because they
 * are too far ahead of the slowest one. The cost of a step does not depend on the number of ranges;
 * workers are searched only when the slowest one has made a step.
 */
class SwitchPsVectorClocks
{
  public:
    /// Workers of a job, bits of a bitmap.
    static constexpr uint32_t MAX_WORKERS = 64;

    /**
     * @param workers of the job
     * @param staleness steps that a worker may be ahead of the slowest one
     */
    void Configure(uint32_t workers, uint32_t staleness);

    /** Forgets all steps. */
    void Clear();

    /**
     * @param range key range
     * @param worker of the job
     * @return steps that the worker has made in that range
     */
    uint32_t GetSteps(uint32_t range, uint32_t worker) const;

    /**
     * @param range key range
     * @return steps of its slowest worker
     */
    uint32_t GetLeast(uint32_t range) const;

    /**
     * @param range key range
     * @param worker that has made a step there
     * @return number of the packet of the worker's latest step
     */
    uint32_t GetPacket(uint32_t range, uint32_t worker) const;

    /**
     * @param range key range
     * @param worker of the job
     * @return whether the worker's answer is held back
     */
    bool IsBlocked(uint32_t range, uint32_t worker) const;

    /**
     * A worker makes a step; if it is too far ahead afterwards, its answer is held back.
     * @param range key range
     * @param worker of the job
     * @param packet number of the packet that brought the step
     * @return bit w: the answer of worker w was held back until this step, and now is not
     */
    uint64_t Advance(uint32_t range, uint32_t worker, uint32_t packet);

  private:
    /** The progress of a worker in a key range. */
    struct Progress
    {
        uint32_t steps{0};  ///< that it has made
        uint32_t packet{0}; ///< of the latest one
    };

    /** The clock of a key range. */
    struct Clock
    {
        uint64_t blocked{0};            ///< bit w: worker w waits for slower ones
        uint32_t least{0};              ///< steps of the slowest worker
        uint32_t slowest{0};            ///< workers that have made so few
        std::vector<Progress> progress; ///< by worker
    };

    uint64_t Unblock(Clock& clock) const;

    uint32_t m_workers{0};
    uint32_t m_staleness{0};
    std::vector<Clock> m_clocks; // by key range, as far as used
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_VECTOR_CLOCKS_H
