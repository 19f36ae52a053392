/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-report.h"

#include "core/lost-outputs.h"

#include "ns3/training-configuration-error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace ns3::training
{

RunReport::RunReport(std::string page, std::string results)
    : m_page(std::move(page)),
      m_results(std::move(results))
{
    ReportPage::Check(m_page);
    if (m_results.empty())
    {
        const char* temporary = std::getenv("TMPDIR");
        const std::string place = temporary && *temporary ? temporary : "/tmp";
        std::string folder = place + "/distributed-training-XXXXXX";
        if (!mkdtemp(&folder[0]))
        {
            throw ConfigurationError("report",
                                     m_page,
                                     ": no temporary folder in '" + place + "' (" +
                                         std::strerror(errno) +
                                         ") (allowed: with TMPDIR of a folder that can be "
                                         "written, or with results)");
        }
        m_folder = folder;
        m_results = folder + "/results.sqlite";
    }
}

RunReport::~RunReport()
{
    if (!m_folder.empty())
    {
        for (const char* suffix : {"", "-wal", "-shm"})
        {
            std::remove((m_results + suffix).c_str());
        }
        rmdir(m_folder.c_str());
    }
}

const std::string&
RunReport::GetResults() const
{
    return m_results;
}

void
RunReport::Add(int64_t run)
{
    m_runs.push_back(run);
}

void
RunReport::Write() const
{
    if (m_runs.empty())
    {
        throw ConfigurationError("report",
                                 m_page,
                                 ": nothing was simulated (allowed: with a simulation)");
    }
    LostOutputs::Try([this] { ReportPage::Write(m_results, m_runs, m_page); });
}

} // namespace ns3::training
