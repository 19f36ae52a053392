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
 * Packs values for another process of the same simulation: whole numbers take 7 bits a byte, so
 * small ones take one byte. Negative numbers are allowed and take ten.
 */
class ByteWriter
{
  public:
    /** @param values whole numbers, truth values, enumerators, times, texts, in the reader's order
     */
    template <typename... T>
    void operator()(const T&... values)
    {
        (Put(values), ...);
    }

    /**
     * @param data bytes to copy
     * @param size how many
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

    /** @return the bytes so far */
    const uint8_t* GetData() const
    {
        return m_bytes.data();
    }

    /** @return how many they are */
    std::size_t GetSize() const
    {
        return m_size;
    }

    /** @return the bytes so far, as a copy */
    std::string GetText() const
    {
        return {reinterpret_cast<const char*>(m_bytes.data()), m_size};
    }

    /** Forgets all, but keeps the memory. */
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

    void Put(const Time& time)
    {
        Put(time.GetTimeStep());
    }

    void Put(const std::string& text)
    {
        Put(text.size());
        Append(text.data(), text.size());
    }

    std::vector<uint8_t> m_bytes; // more than are in use
    std::size_t m_size{0};
};

/**
 * @ingroup distributed-training-fabric
 * Unpacks what a ByteWriter has packed.
 */
class ByteReader
{
  public:
    /**
     * @param data what a ByteWriter of this build has packed; must outlive this
     * @param size bytes of it
     */
    ByteReader(const void* data, std::size_t size)
        : m_at(static_cast<const uint8_t*>(data)),
          m_end(m_at + size)
    {
    }

    /** @param values set in the order in which they were written */
    template <typename... T>
    void operator()(T&... values)
    {
        (Get(values), ...);
    }

    /** @return the value of a type that comes next */
    template <typename T>
    T Next()
    {
        T value{};
        Get(value);
        return value;
    }

    /**
     * @param size of what comes next
     * @return its first byte
     */
    const uint8_t* Skip(std::size_t size)
    {
        NS_ASSERT_MSG(size <= static_cast<std::size_t>(m_end - m_at), "truncated");
        m_at += size;
        return m_at - size;
    }

    /** @return whether all has been read */
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
