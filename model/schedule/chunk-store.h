/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHUNK_STORE_H
#define DISTRIBUTED_TRAINING_CHUNK_STORE_H

#include "chunk-layout.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The numbers of one rank in one collective with real payload. A chunk that ChunkLayout places in
 * the rank's tensor stays there; copies, and chunks that the rank only forwards, are kept apart.
 */
class ChunkStore
{
  public:
    /**
     * @param layout of the collective; must outlive this
     * @param rank owner of the numbers
     * @param values its tensor; must outlive this
     */
    ChunkStore(const ChunkLayout& layout, uint32_t rank, std::vector<float>& values);

    /**
     * @param action that uses the chunks
     * @return their numbers, in order, as bytes
     */
    std::vector<uint8_t> Read(const ScheduleAction& action);

    /**
     * Executes a receive.
     * @param action a RECEIVE or RECEIVE_REDUCE
     * @param bytes result of Read() at the sender
     */
    void Receive(const ScheduleAction& action, const std::vector<uint8_t>& bytes);

    /**
     * Executes a COPY or REDUCE.
     * @param action one of them
     */
    void Copy(const ScheduleAction& action);

    /** Moves received chunks to their places in the tensor, when all actions are complete. */
    void Finish();

  private:
    /** Numbers in a row. */
    struct Span
    {
        float* first;
        uint64_t count;
    };

    Span Find(uint32_t chunk, uint32_t segment);

    const ChunkLayout& m_layout;
    uint32_t m_rank;
    std::vector<float>& m_values;
    std::unordered_map<uint64_t, std::vector<float>> m_others; // by chunk and segment
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHUNK_STORE_H
