/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/protobuf-reader.h"

#include <cstring>

namespace ns3::training
{

ProtobufReader::ProtobufReader(std::string_view bytes)
    : m_rest(bytes)
{
}

uint64_t
ProtobufReader::TakeVarint(std::string_view& bytes)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7)
    {
        if (bytes.empty())
        {
            throw ProtobufError("ends in a number");
        }
        const auto byte = static_cast<uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        value |= uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80)
        {
            return value;
        }
    }
    throw ProtobufError("has a number of more than 10 bytes");
}

bool
ProtobufReader::Next()
{
    if (m_rest.empty())
    {
        return false;
    }
    const uint64_t key = TakeVarint(m_rest);
    if (key >> 3 == 0 || key >> 3 > 0x1FFFFFFF)
    {
        throw ProtobufError("has a field without a number");
    }
    m_field = static_cast<uint32_t>(key >> 3);
    m_type = static_cast<Type>(key & 7);
    const auto take = [this](uint64_t size) {
        if (size > m_rest.size())
        {
            throw ProtobufError("ends in field " + std::to_string(m_field));
        }
        const std::string_view taken = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return taken;
    };
    switch (m_type)
    {
    case Type::VARINT:
        m_integer = TakeVarint(m_rest);
        return true;
    case Type::FIXED64:
    case Type::FIXED32: {
        const std::string_view bytes = take(m_type == Type::FIXED64 ? 8 : 4);
        m_integer = 0;
        for (std::size_t i = bytes.size(); i-- > 0;)
        {
            m_integer = m_integer << 8 | static_cast<uint8_t>(bytes[i]);
        }
        return true;
    }
    case Type::BYTES:
        m_bytes = take(TakeVarint(m_rest));
        return true;
    }
    throw ProtobufError("has field " + std::to_string(m_field) + " of the unknown type " +
                        std::to_string(key & 7));
}

uint64_t
ProtobufReader::GetInteger() const
{
    if (m_type == Type::BYTES)
    {
        throw ProtobufError("has field " + std::to_string(m_field) + " that is no number");
    }
    return m_integer;
}

double
ProtobufReader::GetNumber() const
{
    const uint64_t bits = GetInteger();
    if (m_type == Type::FIXED32)
    {
        const auto low = static_cast<uint32_t>(bits);
        float value;
        std::memcpy(&value, &low, sizeof(value));
        return value;
    }
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

std::string_view
ProtobufReader::GetBytes() const
{
    if (m_type != Type::BYTES)
    {
        throw ProtobufError("has field " + std::to_string(m_field) + " that is a number");
    }
    return m_bytes;
}

} // namespace ns3::training
