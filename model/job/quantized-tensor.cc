/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/quantized-tensor.h"

#include "ns3/abort.h"

#include <cstring>
#include <string>

namespace ns3::training
{

QuantizedTensor::QuantizedTensor(const GraphTask& task, uint32_t ranks, uint32_t place)
    : m_code(*task.code),
      m_isGather(task.operation == CollectiveOperation::ALL_GATHER),
      m_ranks(ranks),
      m_place(place),
      m_words(m_code.GetPartBytes() / sizeof(float)),
      m_codec(
          MakeCodec("int" + std::to_string(m_code.bits) + ":block=" + std::to_string(m_code.block)))
{
    NS_ABORT_MSG_UNLESS(m_isGather || task.operation == CollectiveOperation::ALL_TO_ALL,
                        "an all-gather or all-to-all in code");
    NS_ABORT_MSG_UNLESS(task.bytes == ranks * m_code.GetPartBytes(), "a part for each rank");
}

uint64_t
QuantizedTensor::GetCount() const
{
    return (m_isGather ? 1 : m_ranks) * m_code.count;
}

std::vector<float>
QuantizedTensor::Encode(const std::vector<float>& numbers) const
{
    NS_ABORT_MSG_UNLESS(numbers.size() == GetCount(), "the numbers of the rank");
    std::vector<float> words(m_ranks * m_words);
    for (uint64_t part = 0; part < numbers.size() / m_code.count; part++)
    {
        std::vector<uint8_t> code;
        m_codec->Encode(numbers.data() + part * m_code.count, m_code.count, {}, code);
        NS_ABORT_MSG_UNLESS(code.size() <= m_words * sizeof(float), "a code in its words");
        std::memcpy(words.data() + (m_isGather ? m_place : part) * m_words,
                    code.data(),
                    code.size());
    }
    return words;
}

std::vector<float>
QuantizedTensor::Decode(const std::vector<float>& words) const
{
    NS_ABORT_MSG_UNLESS(words.size() == m_ranks * m_words, "the words of the collective");
    const uint64_t bytes = m_codec->GetCodedBytes(m_code.count);
    std::vector<float> numbers(m_ranks * m_code.count);
    std::vector<uint8_t> code(bytes);
    for (uint32_t part = 0; part < m_ranks; part++)
    {
        std::memcpy(code.data(), words.data() + part * m_words, bytes);
        m_codec->Decode(code.data(), bytes, {}, numbers.data() + part * m_code.count, m_code.count);
    }
    for (uint64_t i = m_code.count; i < numbers.size() && !m_isGather; i++)
    {
        numbers[i % m_code.count] += numbers[i];
    }
    if (!m_isGather)
    {
        numbers.resize(m_code.count);
    }
    return numbers;
}

} // namespace ns3::training
