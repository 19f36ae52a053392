/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-input-file.h"

namespace ns3::training
{

std::string
FindWorkloadFormat(const std::string& path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        return "";
    }
    const std::string begin = text->substr(0, MAX_FORMAT_PROBE);
    for (const auto& [name, entry] : Registry<WorkloadFormatEntry>::All())
    {
        if (entry.recognizes(path, begin))
        {
            return name;
        }
    }
    return "";
}

FormatResult
ReadWorkloadFormat(const std::string& text, uint32_t ranks, bool lenient)
{
    const std::string name = text.substr(0, text.find(':'));
    std::string spec = text;
    if (Registry<WorkloadFormatEntry>::All().count(name) == 0)
    {
        const std::string format = FindWorkloadFormat(text);
        if (format.empty())
        {
            throw ConfigurationError(text + ": no known format (allowed: files of the formats " +
                                     Registry<WorkloadFormatEntry>::Names() + ")");
        }
        spec = format + ":" + text;
    }
    const auto choice = Choose<WorkloadFormatEntry>(spec);
    FormatRequest request{choice.values.GetFirst(), ranks, lenient};
    FormatResult result = choice.entry->read(request, choice.values);
    if (ranks > 0 && result.graph->GetRanks() != ranks)
    {
        throw ConfigurationError("ranks",
                                 std::to_string(ranks),
                                 " with " + text +
                                     " (allowed: " + std::to_string(result.graph->GetRanks()) +
                                     ", those of the file)");
    }
    return result;
}

} // namespace ns3::training
