/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-files-options.h"

#include "run-report.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"

#include <sstream>

namespace ns3::training
{

void
RunFilesOptions::AddTo(ProgramOptions& options)
{
    options.AddOutput("results",
                      "SQLite file to which the run is added",
                      results,
                      OutputKind::DATABASE);
    options.AddOutput(
        "trace",
        "file for a timeline, to be opened in ui.perfetto.dev; compressed if its name "
        "ends with .gz",
        trace,
        OutputKind::TIMELINE);
    options.AddString("trace-ranks",
                      "ranks in the timeline, such as 0-3,8; empty: all",
                      traceRanks);
    options.AddTime("sample",
                    "interval of samples of queues, pauses, utilization, rates, windows and slots "
                    "for --results, --trace and --report; 0: none, with --report chosen by it",
                    sample);
    options.AddOutput("report",
                      "page (HTML) that shows what limits the run: iterations, critical path, "
                      "timelines, links, queues",
                      report,
                      OutputKind::PAGE);
}

bool
RunFilesOptions::IsGiven() const
{
    return !results.empty() || !trace.empty() || !report.empty();
}

std::set<uint32_t>
RunFilesOptions::Check(uint64_t ranks) const
{
    const std::string interval = FormatTime(sample);
    if (!report.empty())
    {
        ReportPage::Check(report);
    }
    if (sample.IsStrictlyPositive() && !IsGiven())
    {
        throw ConfigurationError("sample",
                                 interval,
                                 " without results, trace and report (allowed: with one of them)");
    }
    if (sample.IsStrictlyPositive() && Processes::GetCount() > 1)
    {
        throw ConfigurationError("sample",
                                 interval,
                                 " with several processes (allowed: one, as none sees all ports)");
    }
    if (!traceRanks.empty() && trace.empty())
    {
        throw ConfigurationError("trace-ranks", traceRanks, " without trace (allowed: with it)");
    }
    std::set<uint32_t> chosen;
    std::istringstream stream(traceRanks.empty() ? "" : traceRanks + ",");
    for (std::string part; std::getline(stream, part, ',');)
    {
        const auto dash = part.find('-');
        const auto first = ParseUnsigned(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : ParseUnsigned(part.substr(dash + 1));
        if (!first || !last || *first > *last || *last >= ranks)
        {
            throw ConfigurationError("trace-ranks",
                                     traceRanks,
                                     " (allowed: ranks below " + std::to_string(ranks) +
                                         " and ranges of them, such as 0-3,8)");
        }
        for (uint64_t rank = *first; rank <= *last; rank++)
        {
            chosen.insert(static_cast<uint32_t>(rank));
        }
    }
    return chosen;
}

} // namespace ns3::training
