/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/goal-reader.h"
#include "formats/workload-format.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <string>

namespace ns3::training
{

namespace
{

bool
RecognizeGoal(const std::string& /* path */, const std::string& begin)
{
    std::size_t at = 0;
    for (std::size_t end = 0; end != std::string::npos && at != std::string::npos;)
    {
        at = begin.find_first_not_of(" \t\r\n", end);
        const std::string start = at == std::string::npos ? "" : begin.substr(at, 2);
        if (start != "//" && start != "/*")
        {
            break;
        }
        end = begin.find(start == "//" ? "\n" : "*/", at + 2);
        end += end == std::string::npos || start == "//" ? 0 : 2;
    }
    return IsGoalBinary(begin) ||
           (at != std::string::npos && begin.compare(at, 9, "num_ranks") == 0);
}

FormatResult
ReadGoal(const FormatRequest& request, const KeyValues& /* values */)
{
    const auto text = ReadPackedFile(request.path);
    if (!text)
    {
        throw ConfigurationError(request.path + ": cannot be read (allowed: a GOAL file)");
    }
    FormatResult result;
    FormatProblems problems;
    problems.SetFile(InputManifest::Begin(request.path));
    result.graph = IsGoalBinary(*text) ? ReadGoalBinary(request.path, *text, problems)
                                       : ReadGoalText(request.path, *text, problems);
    result.problems = problems.GetLines();
    return result;
}

const Registry<WorkloadFormatEntry>::Entry g_goal("goal",
                                                  {"GOAL of LogGOPSim and ATLAHS, text or binary",
                                                   &RecognizeGoal,
                                                   &ReadGoal,
                                                   {},
                                                   FirstValue{"PATH", "the file", true, true, {}}});

} // namespace

} // namespace ns3::training
