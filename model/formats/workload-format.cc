/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/workload-format.h"

#include "formats/listed-graph.h"
#include "graph/graph-agreement.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>

namespace ns3::training
{

uint64_t
MultiplySize(uint64_t bytes, uint64_t count, const std::string& where)
{
    constexpr uint64_t MOST = uint64_t{1} << 62;
    if (bytes > MOST / count)
    {
        throw ConfigurationError(where + ": " + std::to_string(bytes) + " bytes of each of " +
                                 std::to_string(count) + " ranks (allowed: 2^62 for all together)");
    }
    return bytes * count;
}

uint32_t
CountRankFiles(const std::string& prefix,
               const std::vector<std::string>& ends,
               uint32_t ranks,
               uint32_t most)
{
    const std::size_t slash = prefix.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : prefix.substr(0, slash + 1);
    const std::string stem = slash == std::string::npos ? prefix : prefix.substr(slash + 1);
    std::map<uint32_t, std::string> paths; // by rank
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    {
        const std::string name = entry.path().filename().string();
        const std::size_t begin = stem.size();
        const std::size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
        const std::string digits = begin < name.size() ? name.substr(begin, end - begin) : "";
        if (name.compare(0, begin, stem) != 0 || digits.empty() || digits.size() > 7 ||
            (digits[0] == '0' && digits.size() > 1))
        {
            continue;
        }
        for (const std::string& rest : ends)
        {
            const std::string path = prefix + digits + rest;
            if (name.substr(end) == rest.substr(0, rest.find('/')) &&
                !ReadPackedBegin(path, 1).empty())
            {
                paths.emplace(std::stoul(digits), path);
            }
        }
    }
    uint32_t number = 0;
    for (const auto& [rank, path] : paths)
    {
        if (rank != number)
        {
            throw ConfigurationError(prefix + std::to_string(number) + ends[0] +
                                     ": is missing or empty, and there is " + path +
                                     " (allowed: files of all ranks)");
        }
        number++;
    }
    if (number > most || (ranks > 0 && number > ranks))
    {
        const auto allowed = ranks > 0 ? number : most;
        throw ConfigurationError("ranks",
                                 std::to_string(ranks > 0 ? ranks : number),
                                 " with " + std::to_string(number) + " files " + prefix + "0" +
                                     ends[0] + " and so on (allowed: " + std::to_string(allowed) +
                                     ")");
    }
    return ranks > 0 && number > 0 ? ranks : number;
}

void
FormatProblems::Add(const std::string& what, const std::string& where)
{
    auto& [count, first] = m_all[what];
    if (count++ == 0)
    {
        first = where;
    }
    m_file->Assume(what, where);
}

std::vector<std::string>
FormatProblems::GetLines() const
{
    std::vector<std::string> lines;
    for (const auto& [what, place] : m_all)
    {
        lines.push_back(place.second + ": " + what + ", " + std::to_string(place.first) +
                        (place.first == 1 ? " time" : " times"));
    }
    return lines;
}

std::string
FindWorkloadFormat(const std::string& path)
{
    // The number of a rank in a path, see the format `kineto`
    const std::string first = boost::replace_all_copy(path, "{rank}", "0");
    std::string begin = ReadPackedBegin(first, MAX_FORMAT_PROBE);
    std::string name = path;
    for (const char* end : {".0.et", ".0.et.gz"}) // a prefix, see the format `chakra`
    {
        if (begin.empty())
        {
            name = path + end;
            begin = ReadPackedBegin(name, MAX_FORMAT_PROBE);
        }
    }
    for (const auto& [format, entry] : Registry<WorkloadFormatEntry>::All())
    {
        if (!begin.empty() && entry.recognizes(name, begin))
        {
            return format;
        }
    }
    return "";
}

FormatResult
ReadWorkloadFormat(const std::string& text,
                   uint32_t ranks,
                   bool lenient,
                   const std::vector<uint32_t>& dimensions)
{
    const std::string name = text.substr(0, text.find(':'));
    std::string spec = text;
    std::string path;
    if (Registry<WorkloadFormatEntry>::All().count(name) == 0)
    {
        const std::string format = FindWorkloadFormat(text);
        if (format.empty())
        {
            throw ConfigurationError(text + ": no known format (allowed: files of the formats " +
                                     Registry<WorkloadFormatEntry>::Names() + ")");
        }
        spec = format + ":PATH"; // with its initial values; a path may contain commas
        path = text;
    }
    const auto choice = Choose<WorkloadFormatEntry>(spec);
    const FormatRequest request{path.empty() ? choice.values.GetFirst() : path,
                                ranks,
                                lenient,
                                dimensions};
    FormatResult result = choice.entry->read(request, choice.values);
    if (result.format.empty())
    {
        result.format = spec.substr(0, spec.find(':'));
    }
    CheckAgreement(*result.graph, result.isUniform);
    if (auto* listed = dynamic_cast<ListedGraph*>(result.graph.get()))
    {
        listed->SeparateSizes();
    }
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
