/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SAMPLE_SCHEDULE_H
#define DISTRIBUTED_TRAINING_SAMPLE_SCHEDULE_H

#include "parallel-options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A sample, and the ranks that share it: neighbours among those of data and context. */
struct PlacedSample
{
    uint32_t sample; ///< its place in ParallelOptions::sampleLengths
    uint64_t tokens; ///< of the sample
    uint32_t first;  ///< place of the first of these ranks
    uint32_t ranks;  ///< how many they are
};

/**
 * Which ranks compute which samples of an iteration. Without ParallelOptions::hybridContext each
 * sample has as many ranks as context parallelism; replicas take samples in turn.
 *
 * Otherwise the ranks of data and context parallelism form new groups for each round, as in
 * Megatron-LM (--hybrid-context-parallel, BalancedCPScheduler). A sample has as few ranks as its
 * length needs, a power of two. The longest samples come first. When no rank is left, a sample goes
 * to the group of its size that has least to do, unless this would make the round longer: work is
 * the square of a length by the ranks. When samples are few, the smallest groups are doubled until
 * all ranks have one.
 */
class SampleSchedule
{
  public:
    /** @param options valid ones, which have lengths of samples */
    explicit SampleSchedule(const ParallelOptions& options);

    /** @return by round the samples in the order in which their ranks compute them */
    const std::vector<std::vector<PlacedSample>>& GetRounds() const
    {
        return m_rounds;
    }

    /** @param round its number @return whether it has the groups of the round before */
    bool KeepsGroups(std::size_t round) const;

  private:
    void TakeTurns(const ParallelOptions& options);
    void Balance(const ParallelOptions& options);

    std::vector<std::vector<PlacedSample>> m_rounds;
};

/**
 * @param text lengths with commas between them, each with *COUNT behind it if it repeats
 * @return the lengths
 * @throw ConfigurationError if it is no such text
 */
std::vector<uint64_t> ReadSampleLengths(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SAMPLE_SCHEDULE_H
