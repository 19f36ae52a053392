/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H

#include "file-test-common.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/** @return a number as protobuf writes it */
inline std::string
Varint(uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
    {
        bytes += static_cast<char>(0x80 | (value & 0x7f));
    }
    return bytes + static_cast<char>(value);
}

/** @return a field that is a number; 0 is not written, as in proto3 */
inline std::string
Number(uint32_t field, uint64_t value)
{
    return value == 0 ? "" : Varint(field << 3) + Varint(value);
}

/** @return a field that is a text or a message */
inline std::string
Bytes(uint32_t field, const std::string& bytes)
{
    return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

/** @return an attribute; field 9 is an int64, 7 an int32, 13 a uint64, 27 a bool */
inline std::string
MakeAttribute(const std::string& name, uint64_t value, uint32_t field = 9)
{
    return Bytes(10, Bytes(1, name) + Varint(field << 3) + Varint(value));
}

/// Traces as files; not all suites that write attributes want these short names.
namespace chakra_files
{

inline std::string
Text(const std::string& name, const std::string& value)
{
    return Bytes(10, Bytes(1, name) + Bytes(29, value));
}

inline std::string
Node(uint64_t id, uint32_t type, const std::string& more, const std::string& name = "n")
{
    return Number(1, id) + Bytes(2, name) + Number(3, type) + more;
}

inline std::string
Trace(const std::vector<std::string>& messages)
{
    std::string bytes;
    for (const std::string& message : messages)
    {
        bytes += Varint(message.size()) + message;
    }
    return bytes;
}

inline const std::string METADATA = Bytes(1, "0.0.4"); ///< first message of today's traces

constexpr uint32_t COMPUTE = 4; ///< types of nodes, today's
constexpr uint32_t SEND = 5;
constexpr uint32_t RECEIVE = 6;
constexpr uint32_t COLLECTIVE = 7;

/** @return attributes of a collective */
inline std::string
Collective(uint64_t type, uint64_t bytes)
{
    return MakeAttribute("comm_type", type) + MakeAttribute("comm_size", bytes);
}

/** Writes the traces of ranks. */
inline std::string
Write(const std::string& name, const std::vector<std::string>& traces)
{
    for (std::size_t rank = 1; rank < traces.size(); rank++)
    {
        WriteFile(name + "." + std::to_string(rank) + ".et", traces[rank]);
    }
    return WriteFile(name + ".0.et", traces[0]);
}

} // namespace chakra_files

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H
