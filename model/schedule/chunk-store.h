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
 * The chunk values of one rank in one collective with real payload. Chunks that ChunkLayout places
 * in the rank's tensor stay in the tensor. Copies, and chunks that the rank only forwards, are
 * stored separately.
 */
class ChunkStore
{
  public:
    /**
     * @param layout layout of the collective; must outlive this
     * @param rank rank that owns the values
     * @param values tensor of the rank; must outlive this
     */
    ChunkStore(const ChunkLayout& layout, uint32_t rank, std::vector<float>& values);

    /**
     * @param action an action that reads chunks
     * @return the values of its chunks, in order, as bytes
     */
    std::vector<uint8_t> Read(const ScheduleAction& action);

    /**
     * Executes a receive.
     * @param action a RECEIVE or RECEIVE_REDUCE
     * @param bytes output of Read() at the sender, possibly with more behind it
     */
    void Receive(const ScheduleAction& action, const std::vector<uint8_t>& bytes);

    /**
     * Replaces the chunks of a send.
     * @param action an action that reads chunks
     * @param bytes new values, as Read() returns them, possibly with more behind them
     */
    void Overwrite(const ScheduleAction& action, const std::vector<uint8_t>& bytes);

    /**
     * Executes a COPY or REDUCE.
     * @param action a COPY or REDUCE
     */
    void Copy(const ScheduleAction& action);

    /**
     * Moves received chunks to their final positions in the tensor, after all actions have
     * completed.
     */
    void Finish();

  private:
    /** Contiguous values. */
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
