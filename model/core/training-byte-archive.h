/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BYTE_ARCHIVE_H
#define DISTRIBUTED_TRAINING_BYTE_ARCHIVE_H

#include "ns3/assert.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Serializes values for another process of the same simulation. Integers are encoded with 7 bits
 * per byte, so small integers take one byte. Negative integers are allowed and take ten bytes.
 */
class ByteWriter
{
  public:
    /**
     * @param values integers, booleans, enumerators, doubles, times and strings, in the order in
     *        which the reader reads them
     */
    template <typename... T>
    void operator()(const T&... values)
    {
        (Put(values), ...);
    }

    /**
     * @param data first byte to copy
     * @param size number of bytes
     */
    void Append(const void* data, std::size_t size)
    {
        Grow(size);
        if (size > 0)
        {
            std::memcpy(m_bytes.data() + m_size, data, size);
        }
        m_size += size;
    }

    /** @return the bytes written so far */
    const uint8_t* GetData() const
    {
        return m_bytes.data();
    }

    /** @return number of bytes written so far */
    std::size_t GetSize() const
    {
        return m_size;
    }

    /** @return a copy of the bytes written so far */
    std::string GetText() const
    {
        return {reinterpret_cast<const char*>(m_bytes.data()), m_size};
    }

    /** Discards all bytes but keeps the memory. */
    void Clear()
    {
        m_size = 0;
    }

  private:
    void Grow(std::size_t size)
    {
        if (m_bytes.size() - m_size < size)
        {
            m_bytes.resize(2 * m_bytes.size() + size);
        }
    }

    template <typename T>
    void Put(const T& value)
    {
        static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "not for this type");
        auto rest = static_cast<uint64_t>(value);
        Grow(10);
        uint8_t* to = m_bytes.data() + m_size;
        while (rest >= 0x80)
        {
            *to++ = static_cast<uint8_t>(rest) | 0x80;
            rest >>= 7;
        }
        *to++ = static_cast<uint8_t>(rest);
        m_size = static_cast<std::size_t>(to - m_bytes.data());
    }

    void Put(double number)
    {
        Append(&number, sizeof(number));
    }

    void Put(const Time& time)
    {
        Put(time.GetTimeStep());
    }

    void Put(const std::string& text)
    {
        Put(text.size());
        Append(text.data(), text.size());
    }

    std::vector<uint8_t> m_bytes; // capacity; may be larger than the used size
    std::size_t m_size{0};
};

/**
 * @ingroup distributed-training-fabric
 * Deserializes the output of a ByteWriter.
 */
class ByteReader
{
  public:
    /**
     * @param data output of a ByteWriter of the same build; must outlive this reader
     * @param size number of bytes
     */
    ByteReader(const void* data, std::size_t size)
        : m_at(static_cast<const uint8_t*>(data)),
          m_end(m_at + size)
    {
    }

    /** @param values variables to set, in the order in which they were written */
    template <typename... T>
    void operator()(T&... values)
    {
        (Get(values), ...);
    }

    /** @return the next value */
    template <typename T>
    T Next()
    {
        T value{};
        Get(value);
        return value;
    }

    /**
     * @param size number of bytes to skip
     * @return the first skipped byte
     */
    const uint8_t* Skip(std::size_t size)
    {
        NS_ASSERT_MSG(size <= static_cast<std::size_t>(m_end - m_at), "truncated");
        m_at += size;
        return m_at - size;
    }

    /** @return whether all bytes have been read */
    bool IsAtEnd() const
    {
        return m_at == m_end;
    }

  private:
    template <typename T>
    void Get(T& value)
    {
        static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "not for this type");
        uint64_t bits = 0;
        uint32_t shift = 0;
        do
        {
            NS_ASSERT_MSG(m_at < m_end, "truncated");
            bits |= uint64_t{*m_at & 0x7fU} << shift;
            shift += 7;
        } while (*m_at++ & 0x80);
        value = static_cast<T>(bits);
    }

    void Get(double& number)
    {
        std::memcpy(&number, Skip(sizeof(number)), sizeof(number));
    }

    void Get(Time& time)
    {
        time = TimeStep(static_cast<uint64_t>(Next<int64_t>()));
    }

    void Get(std::string& text)
    {
        const auto size = Next<std::size_t>();
        text.assign(reinterpret_cast<const char*>(Skip(size)), size);
    }

    const uint8_t* m_at;
    const uint8_t* m_end;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BYTE_ARCHIVE_H
