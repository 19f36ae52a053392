/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHAKRA_TRACE_H
#define DISTRIBUTED_TRAINING_CHAKRA_TRACE_H

#include "core/input-manifest.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Kinds of nodes of a Chakra trace, as its schema numbers them today.
 */
enum class ChakraType : uint32_t
{
    INVALID,
    METADATA,
    MEMORY_LOAD,
    MEMORY_STORE,
    COMPUTE,
    SEND,
    RECEIVE,
    COLLECTIVE,
    STORAGE,
    BATCH,
    CHECKPOINT
};

/**
 * @ingroup distributed-training-formats
 * Collectives of a Chakra trace, as its schema numbers them today.
 */
enum class ChakraCollective : uint32_t
{
    ALL_REDUCE,
    REDUCE,
    ALL_GATHER,
    GATHER,
    SCATTER,
    BROADCAST,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER
};

/**
 * @ingroup distributed-training-formats
 * Attributes of nodes that are numbers. Others are skipped.
 */
enum class ChakraNumber : uint8_t
{
    IS_CPU,     ///< is_cpu_op
    OPERATIONS, ///< num_ops
    MEMORY,     ///< tensor_size, bytes
    COLLECTIVE, ///< comm_type, a ChakraCollective
    BYTES,      ///< comm_size
    SOURCE,     ///< comm_src, a rank
    TARGET,     ///< comm_dst, a rank
    TAG,        ///< comm_tag
    PRIORITY,   ///< comm_priority
    GROUP,      ///< comm_group
    ROOT,       ///< root, by rank in the group
    STREAM      ///< stream
};

/**
 * @ingroup distributed-training-formats
 * @param number kind of a number in a trace
 * @return its name in a trace
 */
const char* GetName(ChakraNumber number);

/**
 * @ingroup distributed-training-formats
 * A node of a Chakra trace. Numbers that it does not have are none.
 */
struct ChakraNode
{
    uint64_t id{0};                            ///< its number
    std::string name;                          ///< its name
    ChakraType type{ChakraType::INVALID};      ///< its kind
    std::vector<uint64_t> dataDependencies;    ///< nodes whose results it needs
    std::vector<uint64_t> controlDependencies; ///< nodes that were issued before
    uint64_t startMicros{0};                   ///< when it began, us
    uint64_t durationMicros{0};                ///< how long it took, us
    uint32_t writtenType{0};                   ///< its kind as written, also if it is unknown
    /// Attributes, and fields of the old schema.
    std::vector<std::pair<ChakraNumber, int64_t>> numbers;
    std::vector<bool> dimensions; ///< involved_dim: whether a collective goes through each
    std::string group;            ///< name of its process group, attribute pg_name
    std::string groups;           ///< JSON list of all process groups, of a METADATA node

    /**
     * @param name of an attribute
     * @return its number, or none
     */
    std::optional<int64_t> Find(ChakraNumber name) const;
};

/**
 * @ingroup distributed-training-formats
 *
 * Reads a trace of one rank: messages of protocol buffers, each behind its size (MLCommons Chakra,
 * et_def.proto). The schema before 1.0, with fields instead of attributes, is translated.
 *
 * @param path of the file, for messages
 * @param bytes of the file
 * @param file receives the attributes of its nodes
 * @return its nodes, in the order of the file
 * @throw ConfigurationError with the number and the offset of the message if it is damaged
 */
std::vector<ChakraNode> ReadChakraTrace(const std::string& path,
                                        const std::string& bytes,
                                        InputManifest::File& file);

/**
 * @ingroup distributed-training-formats
 * @param bytes first ones of a file
 * @return whether it looks like a Chakra trace
 */
bool IsChakraTrace(const std::string& bytes);

/**
 * @ingroup distributed-training-formats
 * @param node a node
 * @return an attribute that its communication needs and that it does not have; or none
 */
std::optional<ChakraNumber> FindMissingNumber(const ChakraNode& node);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHAKRA_TRACE_H
