/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CONTRIBUTION_CHECK_H
#define DISTRIBUTED_TRAINING_CONTRIBUTION_CHECK_H

#include "ns3/training-mix-bits.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Simulation-only checksum that proves that a sum contains each worker's contribution exactly once.
 * Each packet carries a number derived from its worker and packet number; switches add it with the
 * values.
 */
class ContributionCheck
{
  public:
    /**
     * @param job number of the job
     * @param rank this worker
     * @param workers number of workers
     */
    void Configure(uint8_t job, uint32_t rank, uint32_t workers)
    {
        m_job = job;
        m_mine = GetWeight(rank);
        m_all = 0;
        for (uint32_t i = 0; i < workers; i++)
        {
            m_all += GetWeight(i);
        }
    }

    /**
     * @param packet packet number
     * @return checksum of this worker's contribution
     */
    uint64_t GetPart(uint64_t packet) const
    {
        return GetFactor(packet) * m_mine;
    }

    /**
     * @param packet packet number
     * @return checksum of a sum with each worker's contribution exactly once
     */
    uint64_t GetWhole(uint64_t packet) const
    {
        return GetFactor(packet) * m_all;
    }

  private:
    /** @return an odd weight, unique to the worker */
    static uint64_t GetWeight(uint32_t rank)
    {
        return MixBits(rank) | 1;
    }

    uint64_t GetFactor(uint64_t packet) const
    {
        return MixBits(uint64_t{m_job} << 56 ^ packet) | 1;
    }

    uint8_t m_job{0};
    uint64_t m_mine{0};
    uint64_t m_all{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONTRIBUTION_CHECK_H
