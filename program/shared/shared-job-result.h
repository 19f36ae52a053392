/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_JOB_RESULT_H
#define DISTRIBUTED_TRAINING_SHARED_JOB_RESULT_H

#include "job-file.h"

#include "ns3/in-network-controller.h"
#include "ns3/in-network-figures.h"
#include "ns3/iteration-record.h"
#include "ns3/result-rows.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/** A job whose sums switches make. @ingroup distributed-training-helper */
struct SharedSwitchFigures
{
    InNetworkFigures workers; ///< of its ranks
    InNetworkShare switches;  ///< of its switches

    /** @return the JSON object `in_network` of a job */
    JsonValue ToJson() const;
};

/** What has become of a job. @ingroup distributed-training-helper */
struct SharedJobResult
{
    std::string workload;                         ///< what it trained
    std::vector<uint32_t> hosts;                  ///< of its ranks
    double startS{0};                             ///< when it got its hosts, s
    double endS{0};                               ///< when its last rank ended, s; 0: it has not
    std::vector<IterationRecord> iterations;      ///< all of them
    std::optional<SharedSwitchFigures> inNetwork; ///< none: hosts sum, or it has not started
    BindingRow binding; ///< what limited it; links of other jobs' hosts do not count

    /** @return whether it has got its hosts */
    bool HasStarted() const
    {
        return !hosts.empty();
    }

    /** @return mean time of an iteration, s; 0 if there is none */
    double GetIterationTime() const;

    /**
     * @param aloneS mean time of its iterations alone, s; 0: not simulated
     * @return how many times longer they take here; 0: not known
     */
    double GetSlowdown(double aloneS) const
    {
        return aloneS > 0 ? GetIterationTime() / aloneS : 0;
    }

    /** @param job its options @return time until it got its hosts, s */
    double GetWait(const SharedJob& job) const
    {
        return startS - job.arrival.GetSeconds();
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_JOB_RESULT_H
