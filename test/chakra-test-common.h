/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H

#include <cstdint>
#include <string>

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

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_CHAKRA_TEST_COMMON_H
