/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-sizes.h"

#include "core/input-file.h"

#include "ns3/boolean.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace ns3::training
{

FlowSizes::FlowSizes(Points points)
    : m_points(std::move(points))
{
}

FlowSizes
FlowSizes::Read(const std::string& path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("flow sizes " + path + ": cannot be read");
    }
    Points points;
    std::istringstream lines(*text);
    std::string line;
    std::string where;
    for (uint64_t number = 1; std::getline(lines, line); number++)
    {
        where = path + ":" + std::to_string(number) + ": ";
        std::istringstream words(line.substr(0, line.find('#')));
        std::string size;
        std::string part;
        std::string more;
        if (!(words >> size))
        {
            continue;
        }
        words >> part;
        const std::optional<double> bytes = ParseDouble(size);
        const std::optional<double> fraction = ParseDouble(part);
        if (!bytes || !fraction || (words >> more) || !(*bytes >= 0) ||
            !(*bytes <= static_cast<double>(MAX_BYTES)) || !(*fraction >= 0) || !(*fraction <= 100))
        {
            throw ConfigurationError(where + "'" + line +
                                     "' (allowed: a size, 0 to 2^40 bytes, and the part of flows "
                                     "up to it, 0 to 100)");
        }
        if (!points.empty() && (*bytes < points.back().first || *fraction < points.back().second))
        {
            throw ConfigurationError(where + "'" + line +
                                     "' (allowed: neither size nor part below those before)");
        }
        points.emplace_back(*bytes, *fraction);
    }
    const double last = points.empty() ? 0 : points.back().second;
    if ((last != 1 && last != 100) || points.back().first < 1)
    {
        throw ConfigurationError((where.empty() ? path + ": " : where) + "the last part is " +
                                 FormatDouble(last) +
                                 " (allowed: 1 or 100, with a size of at least 1 byte)");
    }
    for (auto& point : points)
    {
        point.second /= last;
    }
    return FlowSizes(std::move(points));
}

double
FlowSizes::GetMean() const
{
    double mean = m_points.front().first * m_points.front().second;
    for (std::size_t i = 1; i < m_points.size(); i++)
    {
        mean += (m_points[i].first + m_points[i - 1].first) / 2 *
                (m_points[i].second - m_points[i - 1].second);
    }
    return mean;
}

double
FlowSizes::GetQuantile(double part) const
{
    for (std::size_t i = 0; i < m_points.size(); i++)
    {
        const auto& [bytes, upTo] = m_points[i];
        if (part <= upTo)
        {
            if (i == 0 || upTo == m_points[i - 1].second)
            {
                return bytes;
            }
            const auto& [before, from] = m_points[i - 1];
            return before + (bytes - before) * (part - from) / (upTo - from);
        }
    }
    return m_points.back().first;
}

Ptr<RandomVariableStream>
FlowSizes::MakeVariable() const
{
    auto variable = CreateObject<EmpiricalRandomVariable>();
    variable->SetInterpolate(true);
    for (const auto& [bytes, part] : m_points)
    {
        variable->CDF(bytes, part);
    }
    return variable;
}

} // namespace ns3::training
