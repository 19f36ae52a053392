/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPORT_PAGE_H
#define DISTRIBUTED_TRAINING_REPORT_PAGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Maker of a page (HTML) that draws runs of a results file: what limits them, their iterations,
 * buckets, critical path, timelines, links and queues. The page contains all it needs, and opens
 * without a network.
 *
 * The folder `report` beside this file has its parts: `queries.sql` names the rows that the page
 * gets, at most a number of each; `page.html` draws them; a library of charts. The Python package
 * makes the same page from the same parts.
 */
class ReportPage
{
  public:
    /// Maximum number of runs on a page; of more, the last ones are drawn.
    static constexpr std::size_t MAX_RUNS = 20;

    /**
     * Checks before a run that a page can be made and written. Creates and changes nothing.
     * @param path the page
     * @throw ConfigurationError if it cannot be written, or a part of the page is missing
     */
    static void Check(const std::string& path);

    /**
     * Writes the page as a whole: it is either complete or unchanged.
     * @param results the results file
     * @param runs its runs that are drawn
     * @param path the page
     * @throw std::runtime_error if the file cannot be read or the page cannot be written
     */
    static void Write(const std::string& results,
                      const std::vector<int64_t>& runs,
                      const std::string& path);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPORT_PAGE_H
