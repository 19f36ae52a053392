/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_REPORT_H
#define DISTRIBUTED_TRAINING_RUN_REPORT_H

#include "ns3/report-page.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The page of --report, and the results file that it is made from: that of --results, or a
 * temporary one, which is removed with this object.
 */
class RunReport
{
  public:
    /**
     * @param page the page
     * @param results results file; empty: a temporary one
     * @throw ConfigurationError as ReportPage::Check(), or if there is no place for a temporary
     * file
     */
    RunReport(std::string page, std::string results);
    ~RunReport();
    RunReport(const RunReport&) = delete;
    RunReport& operator=(const RunReport&) = delete;

    /** @return the results file, into which runs are to be recorded */
    const std::string& GetResults() const;

    /** @param run number of a run in the results file that is drawn */
    void Add(int64_t run);

    /**
     * Writes the page. Call when the runs are in the results file.
     * @throw std::runtime_error as ReportPage::Write()
     * @throw ConfigurationError if there are none
     */
    void Write() const;

  private:
    std::string m_page;
    std::string m_results;
    std::string m_folder; // temporary; empty: none
    std::vector<int64_t> m_runs;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_REPORT_H
