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

/** A slot for a chunk in a buffer of a GPU. */
struct MscclPlace
{
    char buffer; ///< i, o or s
    uint64_t offset;

    /** @param other slot @return whether this one is before it */
    bool operator<(const MscclPlace& other) const
    {
        return std::tie(buffer, offset) < std::tie(other.buffer, other.offset);
    }
};

/** A step of a thread block. */
struct MscclStep
{
    std::string where; ///< location in the file
    bool receives{false};
    bool sends{false};
    bool adds{false};
    bool copies{false}; ///< copies from one slot to another
    bool stores{true};  ///< stores the chunks that it receives
    MscclPlace source{};
    MscclPlace target{};
    uint32_t count{0};
    std::optional<uint32_t> block; ///< thread block of the step that it waits for
    uint32_t step{0};              ///< step that it waits for
};

/** A thread block: steps in order. */
struct MscclBlock
{
    std::optional<uint32_t> send;    ///< GPU that it sends to
    std::optional<uint32_t> receive; ///< GPU that it receives from
    uint32_t channel;
    std::vector<MscclStep> steps;
};

/** The program of one GPU. */
struct MscclGpu
{
    std::map<char, uint32_t> sizes;        ///< size of each buffer, chunks
    std::map<uint32_t, MscclBlock> blocks; ///< thread blocks by id
};

/**
 * @ingroup distributed-training-helper
 *
 * An MSCCL algorithm in the terms of its file: the steps of each thread block of each GPU, on slots
 * of buffers.
 */
struct MscclProgram
{
    static constexpr uint64_t MAX_CHUNKS = 1 << 24; ///< most chunks of a buffer or a schedule

    std::string name; ///< name of the algorithm
    CollectiveOperation operation;
    uint32_t root{0};
    bool inPlace{false}; ///< input and output are one buffer
    uint32_t chunks{0};  ///< chunks of the whole vector; all-to-all: of the data of one GPU
    std::vector<MscclGpu> gpus;
};

/**
 * @ingroup distributed-training-helper
 *
 * @param text of the file; see ReadMscclSchedule() for its forms
 * @param name of the file, for messages
 * @return the algorithm, whose peers, slots and steps waited for exist
 * @throw ConfigurationError that names the file and its line, or GPU, thread block and step
 */
MscclProgram ReadMscclProgram(const std::string& text, const std::string& name);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H
