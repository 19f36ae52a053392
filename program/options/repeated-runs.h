/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPEATED_RUNS_H
#define DISTRIBUTED_TRAINING_REPEATED_RUNS_H

#include "program-options.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The option --runs of a program: the same simulation with the run numbers --RngRun, --RngRun + 1
 * and so on.
 */
class RepeatedRuns
{
  public:
    /// Maximum number of runs.
    static constexpr uint64_t MAX_RUNS = 10000;

    RepeatedRuns() = default;
    ~RepeatedRuns();
    RepeatedRuns(const RepeatedRuns&) = delete;
    RepeatedRuns& operator=(const RepeatedRuns&) = delete;

    /** @param options receives the option --runs */
    void AddTo(ProgramOptions& options);

    /**
     * @param options of the program
     * @param excluded names of options for a single run, without dashes
     * @throw ConfigurationError if there are several runs, and several processes or an excluded
     *        option that is given
     */
    void Check(const ProgramOptions& options, const std::vector<std::string>& excluded) const;

    /** @return number of runs */
    uint64_t GetCount() const;

    /** @return the option that asks for more runs, if the program makes one; otherwise empty */
    static std::string GetOptionOfOne();

    /**
     * Calls work once for each run, with ns-3's run number set. The number is that of the first run
     * afterwards.
     * @param work called with the run number; returns whether to go on
     */
    void ForEach(const std::function<bool(uint64_t run)>& work) const;

  private:
    static const RepeatedRuns* g_latest; // of the program; null: it has no such option

    uint64_t m_count{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPEATED_RUNS_H
