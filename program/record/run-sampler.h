/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_SAMPLER_H
#define DISTRIBUTED_TRAINING_RUN_SAMPLER_H

#include "ns3/event-id.h"
#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Reads the state of ports, queue pairs and switches at regular times, and writes what has changed
 * into a results file and a timeline. It reads only, so a run has the same simulated times without
 * it. A single process sees the whole network.
 */
class RunSampler
{
  public:
    /// Without a given interval: the first one, us.
    static constexpr int64_t FIRST_INTERVAL_US = 1;
    /// Samples of an interval that is not given.
    static constexpr uint32_t MAX_SAMPLES = 300;
    /// Changed values of an interval that is not given.
    static constexpr uint32_t MAX_ROWS = 20000;

    /**
     * Starts. Further samples follow until this object ends.
     * @param cluster is sampled; must outlive this object
     * @param interval between two samples; 0: it begins with FIRST_INTERVAL_US, and doubles after
     *        MAX_SAMPLES samples, or MAX_ROWS values, so that short and long runs, and small and
     *        large networks, have a similar number
     * @param store results file, or null
     * @param timeline trace file, or null
     */
    RunSampler(const Cluster& cluster, Time interval, ResultStore* store, TimelineTrace* timeline);

    /**
     * Samples ports and switches without a cluster, as long as there are other events.
     * @param fabric is sampled; must outlive this object
     * @param interval as above
     * @param store results file, or null
     * @param timeline trace file, or null
     */
    RunSampler(const Fabric& fabric, Time interval, ResultStore* store, TimelineTrace* timeline);
    ~RunSampler();
    RunSampler(const RunSampler&) = delete;
    RunSampler& operator=(const RunSampler&) = delete;

  private:
    RunSampler(const Fabric& fabric,
               const Cluster* cluster,
               Time interval,
               ResultStore* store,
               TimelineTrace* timeline);

    /** Last values of a port. */
    struct PortState
    {
        SampleRow row{};       ///< names of the port
        uint64_t lineBytes{0}; ///< sent until the last sample
        double utilization{0}; ///< since the sample before
        double queues[PRIORITIES]{};
        double pauses[PRIORITIES]{};
    };

    /** Last values of a queue pair or connection. */
    struct ConnectionState
    {
        uint64_t packets{0}; ///< sent until the last sample
        double rate{0};      ///< since the sample before, bit/s
        double window{0};    ///< of its congestion control, bytes
    };

    void Sample();
    void SampleConnections();
    void SamplePort(const FabricPort& port, PortState& state);
    void SampleConnection(uint32_t rank, const HostConnection& connection);
    void SampleSlots();
    void Report(const SampleRow& series, const char* quantity, double value, double& last);

    const Fabric& m_fabric;
    const Cluster* m_cluster; // null: none
    Time m_interval;
    ResultStore* m_store;
    TimelineTrace* m_timeline;
    Time m_last;           // time of the last sample
    bool m_stretches;      // whether the interval doubles
    uint32_t m_samples{0}; // since it has doubled
    uint32_t m_rows{0};    // likewise
    EventId m_next;
    std::vector<PortState> m_ports; // by link and end
    std::map<const FabricPort*, std::size_t> m_indices;
    /// By rank, rail and number.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, ConnectionState> m_connections;
    std::map<std::pair<uint32_t, uint32_t>, double> m_slots; // by switch and job
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_SAMPLER_H
