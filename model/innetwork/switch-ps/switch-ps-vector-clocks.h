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
 * Vector clocks of a job's key ranges, for bounded staleness (Ho et al., NIPS 2013). Each range has
 * the steps of each worker, and the workers whose answer is delayed because they are too far ahead
 * of the slowest one. The cost of a step is independent of the number of ranges. Workers are
 * scanned only when the slowest one makes a step.
 */
class SwitchPsVectorClocks
{
  public:
    /// Maximum workers of a job: bits of a bitmap.
    static constexpr uint32_t MAX_WORKERS = 64;

    /**
     * @param workers number of workers of the job
     * @param staleness steps that a worker may be ahead of the slowest one
     */
    void Configure(uint32_t workers, uint32_t staleness);

    /** Resets all clocks. */
    void Clear()
    {
        m_clocks.clear();
    }

    /**
     * @param range key range
     * @param worker of the job
     * @return the worker's steps in that range
     */
    uint32_t GetSteps(uint32_t range, uint32_t worker) const;

    /**
     * @param range key range
     * @return the steps of each worker in that range
     */
    std::vector<uint32_t> GetSteps(uint32_t range) const;

    /**
     * @param range key range
     * @return steps of its slowest worker
     */
    uint32_t GetLeast(uint32_t range) const
    {
        return range < m_clocks.size() ? m_clocks[range].least : 0;
    }

    /**
     * @param range key range
     * @param worker that has made a step in that range
     * @return packet number of the worker's last step
     */
    uint32_t GetPacket(uint32_t range, uint32_t worker) const
    {
        return m_clocks[range].progress[worker].packet;
    }

    /**
     * @param range key range
     * @param worker of the job
     * @return whether the worker's answer is delayed
     */
    bool IsBlocked(uint32_t range, uint32_t worker) const
    {
        return range < m_clocks.size() && m_clocks[range].blocked >> worker & 1;
    }

    /**
     * Counts a step of a worker. Delays its answer if the worker is then too far ahead.
     * @param range key range
     * @param worker of the job
     * @param packet number of the packet with the gradient
     * @return bit w: this step releases the delayed answer of worker w
     */
    uint64_t Advance(uint32_t range, uint32_t worker, uint32_t packet);

  private:
    /** Progress of a worker in a key range. */
    struct Progress
    {
        uint32_t steps{0};  ///< number of its steps
        uint32_t packet{0}; ///< packet number of the last step
    };

    /** The clock of a key range. */
    struct Clock
    {
        uint64_t blocked{0};            ///< bit w: the answer of worker w is delayed
        uint32_t least{0};              ///< steps of the slowest worker
        uint32_t slowest{0};            ///< number of workers at `least` steps
        std::vector<Progress> progress; ///< by worker
    };

    uint64_t Unblock(Clock& clock) const;

    uint32_t m_workers{0};
    uint32_t m_staleness{0};
    std::vector<Clock> m_clocks; // by key range, up to the highest one used
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_VECTOR_CLOCKS_H
