/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_STATISTICS_H
#define DISTRIBUTED_TRAINING_FLOW_STATISTICS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-traffic
 * Slowdowns and completion times of flows by size. A slowdown is the completion time of a flow over
 * that on an idle path.
 */
class FlowStatistics
{
  public:
    /** Percentiles of a quantity; NaN without flows. */
    struct Percentiles
    {
        double p50;  ///< median
        double p95;  ///< 95th percentile
        double p99;  ///< 99th percentile
        double p999; ///< 99.9th percentile
    };

    /** Flows of a range of sizes. */
    struct Row
    {
        uint64_t largest;     ///< size up to which they are, bytes
        std::size_t flows;    ///< their number
        Percentiles slowdown; ///< of their slowdowns
        Percentiles seconds;  ///< of their completion times, s
    };

    /**
     * @param bytes size of a flow
     * @param slowdown its slowdown
     * @param seconds its completion time, s
     */
    void Add(uint64_t bytes, double slowdown, double seconds);

    /** @return number of flows */
    std::size_t GetFlows() const;

    /**
     * @param bins largest size of each row, rising, bytes
     * @return a row for each; each flow is in the first row that holds its size
     */
    std::vector<Row> GetRows(const std::vector<uint64_t>& bins) const;

    /** @return a row of all flows */
    Row GetTotal() const;

  private:
    /** A flow. */
    struct Flow
    {
        uint64_t bytes;
        double slowdown;
        double seconds;
    };

    std::vector<Flow> m_flows;
};

/**
 * @ingroup distributed-training-traffic
 * @param sorted values, rising
 * @param part 0 to 1
 * @return the quantile as in HPCC's fct_analysis.py: the value at index size * part; NaN without
 *         values
 */
double GetQuantile(const std::vector<double>& sorted, double part);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_STATISTICS_H
