/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H
#define DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H

#include "collective-operation.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::training
{

/** A buffer slot for a chunk at a GPU. */
struct MscclPlace
{
    char buffer;     ///< i, o or s
    uint64_t offset; ///< chunks from the start of the buffer

    /** @param other another slot @return whether this slot sorts before it */
    bool operator<(const MscclPlace& other) const
    {
        return std::tie(buffer, offset) < std::tie(other.buffer, other.offset);
    }
};

/** A step of a thread block. */
struct MscclStep
{
    std::string where;             ///< location in the file
    bool receives{false};          ///< whether it receives chunks
    bool sends{false};             ///< whether it sends chunks
    bool adds{false};              ///< whether it adds the received chunks
    bool copies{false};            ///< whether it copies from one slot to another
    bool stores{true};             ///< whether it stores the received chunks
    MscclPlace source{};           ///< first slot that is read
    MscclPlace target{};           ///< first slot that is written
    uint32_t count{0};             ///< number of chunks
    std::optional<uint32_t> block; ///< thread block of the dependency
    uint32_t step{0};              ///< step of the dependency
};

/** A thread block with its steps in order. */
struct MscclBlock
{
    std::optional<uint32_t> send;    ///< send peer
    std::optional<uint32_t> receive; ///< receive peer
    uint32_t channel;                ///< its messages match those of the same channel
    std::vector<MscclStep> steps;    ///< in order
};

/** The program of one GPU. */
struct MscclGpu
{
    std::map<char, uint32_t> sizes;        ///< size by buffer, chunks
    std::map<uint32_t, MscclBlock> blocks; ///< thread blocks by id
};

/**
 * @ingroup distributed-training-helper
 *
 * An MSCCL algorithm as in its file: per GPU and thread block, a list of steps that operate on
 * buffer slots.
 */
struct MscclProgram
{
    static constexpr uint64_t MAX_CHUNKS = 1 << 24; ///< maximum chunks of a buffer or schedule

    std::string name;              ///< algorithm name
    CollectiveOperation operation; ///< collective operation
    uint32_t root{0};              ///< of a rooted operation
    bool inPlace{false};           ///< whether input and output share one buffer
    uint32_t chunks{0};         ///< chunks of the whole vector; all-to-all: of the data of one GPU
    uint32_t protocol{0};       ///< see CollectiveSchedule
    std::vector<MscclGpu> gpus; ///< by rank
};

/**
 * @ingroup distributed-training-helper
 *
 * @param text contents of the file; see ReadMscclSchedule() for the formats
 * @param name file name, for messages
 * @return the algorithm; its peers, slots and dependencies have been checked to exist
 * @throw ConfigurationError that names the file and the line, or the GPU, thread block and step
 */
MscclProgram ReadMscclProgram(const std::string& text, const std::string& name);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H
