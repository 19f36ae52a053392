/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROTOBUF_READER_H
#define DISTRIBUTED_TRAINING_PROTOBUF_READER_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Bytes that are not a protocol buffer.
 */
class ProtobufError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/**
 * @ingroup distributed-training-formats
 *
 * Walks through the fields of a protocol buffer (protobuf.dev, Encoding). Code generated from a
 * schema is bound to one version of its library; traces are not.
 *
 * @code
 *   ProtobufReader reader(message);
 *   while (reader.Next())
 *   {
 *       if (reader.GetField() == 1) { id = reader.GetInteger(); }
 *   }
 * @endcode
 */
class ProtobufReader
{
  public:
    /** How a field is written. */
    enum class Type : uint8_t
    {
        VARINT = 0,
        FIXED64 = 1,
        BYTES = 2,
        FIXED32 = 5
    };

    /** @param bytes of a message, which must outlive this */
    explicit ProtobufReader(std::string_view bytes);

    /**
     * Goes to the next field.
     * @return whether there is one
     * @throw ProtobufError if the bytes end in it, or are none
     */
    bool Next();

    /** @return number of the field */
    uint32_t GetField() const
    {
        return m_field;
    }

    /** @return how it is written */
    Type GetType() const
    {
        return m_type;
    }

    /** @return value of a field that is no BYTES; the bits of a fixed one */
    uint64_t GetInteger() const;

    /** @return value of a float or a double */
    double GetNumber() const;

    /** @return value of BYTES: text, a message, or packed numbers */
    std::string_view GetBytes() const;

    /**
     * Reads a varint, as those before each message of a file.
     * @param bytes begin with it; it is taken away
     * @return its value
     * @throw ProtobufError if there is none
     */
    static uint64_t TakeVarint(std::string_view& bytes);

  private:
    std::string_view m_rest;
    uint32_t m_field{0};
    Type m_type{Type::VARINT};
    uint64_t m_integer{0};
    std::string_view m_bytes;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROTOBUF_READER_H
