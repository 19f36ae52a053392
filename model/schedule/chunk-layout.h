/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHUNK_LAYOUT_H
#define DISTRIBUTED_TRAINING_CHUNK_LAYOUT_H

#include "collective-schedule.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::training
{

/** A range of bytes of a vector or tensor: [first, second). */
using ByteRange = std::pair<uint64_t, uint64_t>;

/**
 * @ingroup distributed-training-collective
 * Computes the byte range of one part of a vector. The sizes of the parts differ by at most one
 * element.
 * @param bytes size of the vector
 * @param parts number of parts
 * @param part index of the part
 * @return the range of the part, aligned to 4 bytes if the size is a multiple of 4
 */
ByteRange GetPartRange(uint64_t bytes, uint64_t parts, uint64_t part);

/**
 * @ingroup distributed-training-collective
 *
 * Maps the chunks of a schedule to byte ranges, for one execution of the schedule.
 *
 * All-to-all with S bytes per rank: S is divided into N parts whose sizes differ by at most one
 * element. The data from rank s to rank d has the size of part (s + d) mod N, so that every rank
 * sends and receives S bytes even if N does not divide S. It is part d of the sender's tensor and
 * part s of the receiver's tensor. All-to-all-v: the same with sizes from a matrix. Send-receive:
 * the chunk is the whole tensor.
 */
class ChunkLayout
{
  public:
    /**
     * @param schedule schedule to execute; must outlive this
     * @param bytes size of the tensor at each rank; ignored for all-to-all-v
     * @param matrix all-to-all-v: bytes from each rank to each
     */
    ChunkLayout(const CollectiveSchedule& schedule, uint64_t bytes, ByteMatrix matrix = nullptr);

    /**
     * @param action an action of the schedule
     * @return bytes of its chunks, which is the size of its message
     */
    uint64_t GetBytes(const ScheduleAction& action) const;

    /**
     * @param chunk number of a chunk or copy
     * @param segment segment index
     * @return bytes of the chunk in this segment
     */
    uint64_t GetBytes(uint32_t chunk, uint32_t segment) const;

    /**
     * @param rank rank that owns of the tensor
     * @param chunk number of a chunk or copy
     * @param segment segment index
     * @return the range of the tensor that holds the chunk at the start and during the collective;
     *         none if the tensor does not hold the chunk
     */
    std::optional<ByteRange> GetByteRange(uint32_t rank, uint32_t chunk, uint32_t segment) const;

    /**
     * @param rank rank that owns of the tensor
     * @return all-to-all, all-to-all-v, send-receive: the chunks of the final tensor, in order
     */
    std::vector<uint32_t> GetResult(uint32_t rank) const;

    /** @return whether messages without payload are sent, as in a barrier */
    bool HasEmptyMessages() const;

    /** @return the schedule */
    const CollectiveSchedule& GetSchedule() const
    {
        return m_schedule;
    }

  private:
    uint64_t GetPair(uint32_t from, uint32_t to) const;
    uint64_t GetOffset(uint32_t rank, uint32_t peer, bool sending) const;

    const CollectiveSchedule& m_schedule;
    uint64_t m_bytes;
    uint64_t m_equal; // size of every chunk in every segment if all are equal, else UNEQUAL
    ByteMatrix m_matrix;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHUNK_LAYOUT_H
