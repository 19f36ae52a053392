/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODING_UNIT_H
#define DISTRIBUTED_TRAINING_CODING_UNIT_H

#include "ns3/nstime.h"
#include "ns3/simple-ref-count.h"
#include "ns3/training-busy-unit.h"
#include "ns3/training-record-field.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * Time that a GPU or a CPU takes to code.
 */
struct CodingTime
{
    Time start;       ///< of each coding, whatever its size
    double encode{0}; ///< from a number to its code, ns
    double decode{0}; ///< from a number's code to the number, ns
};

/**
 * @ingroup distributed-training-collective
 * What a rank has coded.
 */
struct CodingCounters
{
    uint64_t encodings{0};  ///< messages or buckets encoded
    uint64_t decodings{0};  ///< codes decoded
    uint64_t plainBytes{0}; ///< encoded numbers
    uint64_t codedBytes{0}; ///< what was sent of them, padding included
    Time encodeTime;        ///< of all encodings
    Time decodeTime;        ///< of all decodings

    /** @return all of them */
    static std::vector<RecordField<CodingCounters>> GetFields()
    {
        using C = CodingCounters;
        return {{"encodings", "", "messages or buckets encoded", &C::encodings},
                {"decodings", "", "codes decoded", &C::decodings},
                {"plain_bytes", "byte", "gradients before coding", &C::plainBytes},
                {"coded_bytes", "byte", "what was sent of them", &C::codedBytes},
                {"encode_time_s", "s", "time of encoding", &C::encodeTime},
                {"decode_time_s", "s", "time of decoding", &C::decodeTime}};
    }
};

/**
 * @ingroup distributed-training-collective
 *
 * The GPU or CPU of a rank as far as it codes: one coding at a time, in order.
 */
class CodingUnit : public SimpleRefCount<CodingUnit>
{
  public:
    /** @param time of a coding */
    explicit CodingUnit(const CodingTime& time)
        : m_time(time)
    {
    }

    /**
     * Encodes, behind all earlier codings.
     * @param numbers to encode
     * @return time from now to the end
     */
    Time Encode(uint64_t numbers)
    {
        m_counters.encodings++;
        return Reserve(numbers, m_time.encode, m_counters.encodeTime);
    }

    /**
     * Decodes, behind all earlier codings.
     * @param numbers in the code
     * @return time from now to the end
     */
    Time Decode(uint64_t numbers)
    {
        m_counters.decodings++;
        return Reserve(numbers, m_time.decode, m_counters.decodeTime);
    }

    /**
     * @param plain bytes of numbers that were encoded
     * @param coded bytes that were sent in their place
     */
    void Count(uint64_t plain, uint64_t coded)
    {
        m_counters.plainBytes += plain;
        m_counters.codedBytes += coded;
    }

    /** @return the counters */
    const CodingCounters& GetCounters() const
    {
        return m_counters;
    }

    /** @param listener called with the time of each coding, when it is ordered */
    void SetListener(std::function<void(Time)> listener)
    {
        m_listener = std::move(listener);
    }

    /** @return whether it is coding */
    bool IsBusy() const
    {
        return m_end > Simulator::Now();
    }

  private:
    Time Reserve(uint64_t numbers, double nanoseconds, Time& sum)
    {
        const Time time = m_time.start + Seconds(nanoseconds * 1e-9 * static_cast<double>(numbers));
        sum += time;
        if (m_listener)
        {
            m_listener(time);
        }
        const Time left = m_unit.Reserve(time);
        m_end = Simulator::Now() + left;
        return left;
    }

    CodingTime m_time;
    BusyUnit m_unit;
    Time m_end; // of the last coding
    CodingCounters m_counters;
    std::function<void(Time)> m_listener; // or empty
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODING_UNIT_H
