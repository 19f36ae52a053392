/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_POISSON_FLOWS_H
#define DISTRIBUTED_TRAINING_POISSON_FLOWS_H

#include "flow-pattern.h"
#include "flow-sizes.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-traffic
 * Flows of a distribution of sizes, between hosts of a pattern, with Poisson arrivals.
 */
class PoissonFlows
{
  public:
    /** A flow starts. (ends, bytes) */
    using Starter = std::function<void(const HostPair& ends, uint64_t bytes)>;

    /// Random streams of an object.
    static constexpr int64_t STREAMS = 3;

    /**
     * @param sizes distribution of the sizes
     * @param pattern between which hosts
     * @param meanGap mean time between two events of a process of the pattern, s
     * @param stream first random stream; STREAMS are used
     * @param start called for each flow
     */
    PoissonFlows(const FlowSizes& sizes,
                 std::unique_ptr<FlowPattern> pattern,
                 double meanGap,
                 int64_t stream,
                 Starter start);
    PoissonFlows(const PoissonFlows&) = delete;
    PoissonFlows& operator=(const PoissonFlows&) = delete;

    /**
     * Starts arrivals.
     * @param begin time from now until they begin
     * @param end simulated time from which on there are none
     */
    void Run(Time begin, Time end);

    /** @return number of flows that have started */
    uint64_t GetFlows() const
    {
        return m_flows;
    }

  private:
    void ScheduleEvent(uint32_t process, Time delay);
    void OnEvent(uint32_t process);

    std::unique_ptr<FlowPattern> m_pattern;
    Starter m_start;
    Ptr<ExponentialRandomVariable> m_gap;
    Ptr<RandomVariableStream> m_size;
    Ptr<UniformRandomVariable> m_choice;
    std::vector<HostPair> m_ends; // of the flows of an event
    Time m_end;
    uint64_t m_flows{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_POISSON_FLOWS_H
