/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sum-checker.h"

#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

namespace ns3::training
{

std::string
FindDifference(const std::vector<float>& actual,
               const std::vector<float>& expected,
               std::size_t begin,
               std::size_t end)
{
    if (actual.size() != expected.size())
    {
        return std::to_string(actual.size()) + " elements, expected " +
               std::to_string(expected.size());
    }
    // Compares bits, not values: 0 and -0 differ, and NaN equals itself.
    if (begin == end ||
        std::memcmp(&actual[begin], &expected[begin], (end - begin) * sizeof(float)) == 0)
    {
        return "";
    }
    std::size_t index = begin;
    while (std::memcmp(&actual[index], &expected[index], sizeof(float)) == 0)
    {
        index++;
    }
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<float>::max_digits10) << "element " << index
         << " of " << actual.size() << " is " << actual[index] << ", expected " << expected[index];
    return text.str();
}

SumChecker::SumChecker(uint32_t ranks, Inputs inputs, Reference reference)
    : m_ranks(ranks),
      m_inputs(std::move(inputs)),
      m_reference(std::move(reference)),
      m_reporters(ranks)
{
}

void
SumChecker::SetAlternative(Reference alternative)
{
    m_alternative = std::move(alternative);
}

void
SumChecker::OnExpected(Listener listener)
{
    m_listener = std::move(listener);
}

void
SumChecker::SetReporters(uint32_t reporters)
{
    m_reporters = reporters;
}

void
SumChecker::Clear()
{
    m_expected.clear();
}

bool
SumChecker::Check(uint32_t rank, uint32_t iteration, uint32_t tensor, const Tensor& sum)
{
    const auto key = std::make_pair(iteration, tensor);
    auto entry = m_expected.find(key);
    if (entry == m_expected.end())
    {
        entry = m_expected.emplace(key, MakeExpected(rank, iteration, tensor, sum)).first;
        if (m_listener)
        {
            m_listener(iteration, tensor, entry->second.values);
        }
    }
    Expected& expected = entry->second;
    const std::string difference =
        FindDifference(sum.values,
                       expected.values[expected.values.size() == 1 ? 0 : rank],
                       0,
                       sum.values.size());
    if (!difference.empty())
    {
        AddMismatch("wrong sum at rank " + std::to_string(rank) + ", iteration " +
                    std::to_string(iteration) + ", bucket " + std::to_string(tensor) + ": " +
                    difference);
    }
    expected.reports++;
    if (expected.reports == m_reporters)
    {
        m_expected.erase(entry);
    }
    return difference.empty();
}

SumChecker::Expected
SumChecker::MakeExpected(uint32_t rank,
                         uint32_t iteration,
                         uint32_t tensor,
                         const Tensor& sum) const
{
    const std::size_t elements = sum.bytes / sizeof(float);
    std::vector<std::vector<float>> inputs;
    for (uint32_t input = 0; input < m_ranks; input++)
    {
        inputs.push_back(m_inputs(input, iteration, tensor, elements));
    }
    Expected expected;
    expected.values = m_reference(iteration, tensor, inputs, sum.values);
    if (m_alternative)
    {
        auto other = m_alternative(iteration, tensor, inputs, sum.values);
        if (!other.empty() && other[other.size() == 1 ? 0 : rank] == sum.values)
        {
            expected.values = std::move(other);
        }
    }
    return expected;
}

const std::string&
SumChecker::GetMismatch() const
{
    return m_mismatch;
}

void
SumChecker::AddMismatch(const std::string& mismatch)
{
    if (m_mismatch.empty())
    {
        m_mismatch = mismatch;
    }
}

} // namespace ns3::training
