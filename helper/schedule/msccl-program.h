/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H
#define DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H

#include "ns3/collective-operation.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::training
{

/** A place for chunks in a buffer of a gpu. */
struct MscclPlace
{
    char buffer; ///< i, o or s
    uint64_t offset;

    /** @param other place @return whether this one comes first */
    bool operator<(const MscclPlace& other) const
    {
        return std::tie(buffer, offset) < std::tie(other.buffer, other.offset);
    }
};

/** A step of a thread block. */
struct MscclStep
{
    std::string where; ///< in the file
    bool receives{false};
    bool sends{false};
    bool adds{false};
    bool copies{false}; ///< from a place to another
    bool stores{true};  ///< what is received
    MscclPlace source{};
    MscclPlace target{};
    uint32_t count{0};
    std::optional<uint32_t> block; ///< that of the step it waits for
    uint32_t step{0};              ///< the step it waits for
};

/** A thread block: steps in order. */
struct MscclBlock
{
    std::optional<uint32_t> send;    ///< the gpu it sends to
    std::optional<uint32_t> receive; ///< the gpu it receives from
    uint32_t channel;
    std::vector<MscclStep> steps;
};

/** What a gpu does. */
struct MscclGpu
{
    std::map<char, uint32_t> sizes;        ///< of buffers, chunks
    std::map<uint32_t, MscclBlock> blocks; ///< by id
};

/**
 * @ingroup distributed-training-helper
 *
 * An MSCCL algorithm as its file has it: what each thread block of each gpu does, in terms of
 * places in buffers.
 */
struct MscclProgram
{
    static constexpr uint64_t MOST_CHUNKS = 1 << 24; ///< of a buffer, and of a schedule

    std::string name; ///< of the algorithm
    CollectiveOperation operation;
    uint32_t root{0};
    bool inPlace{false}; ///< input and output are one buffer
    uint32_t chunks{0};  ///< of the whole vector, or of what one gpu has in an all-to-all
    std::vector<MscclGpu> gpus;
};

/**
 * @ingroup distributed-training-helper
 *
 * @param text of the file; see ReadMscclSchedule() for its forms
 * @param name of the file, for messages
 * @return the algorithm: peers, places and the steps that others wait for exist
 * @throw ConfigurationError that names the file and its line, or gpu, thread block and step
 */
MscclProgram ReadMscclProgram(const std::string& text, const std::string& name);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MSCCL_PROGRAM_H
