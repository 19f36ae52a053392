/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_FLOW_MEASUREMENT_H

#include "ns3/flow-file.h"
#include "ns3/flow-pattern.h"
#include "ns3/flow-sizes.h"
#include "ns3/flow-statistics.h"
#include "ns3/guarded-run.h"
#include "ns3/idle-paths.h"
#include "ns3/multi-port-transport.h"
#include "ns3/nstime.h"
#include "ns3/poisson-flows.h"
#include "ns3/result-rows.h"
#include "ns3/training-cluster.h"
#include "ns3/training-key-values.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** The flows of a measurement. @ingroup distributed-training-helper */
struct FlowSettings
{
    std::vector<ListedFlow> listed;   ///< all flows, by rising start; empty: random ones
    FlowSizes sizes;                  ///< random flows: their sizes
    double load;                      ///< random flows: see FlowPattern::GetMeanGap()
    Choice<FlowPatternEntry> pattern; ///< random flows: between which hosts
    Time warmUp;                      ///< random flows: time before those that are measured
    Time duration; ///< random flows: time in which measured ones start; others do for as long after
    bool isAcknowledged{false}; ///< RDMA: whether a flow ends with its last acknowledgement

    /** Incasts beside the random flows: some hosts send to another one at once. */
    struct Incasts
    {
        double load{0};         ///< payload as part of the rate of all hosts' ports; 0: none
        uint32_t senders{60};   ///< of an incast
        uint64_t bytes{500000}; ///< that each of them sends
    };

    Incasts incasts{}; ///< beside random flows
};

/**
 * @ingroup distributed-training-helper
 *
 * Flows between the hosts of a cluster, one per rank, and nothing else. With RDMA each flow is a
 * WRITE of a queue pair of its own, as in HPCC's simulator. With TCP and Ultra Ethernet it is a
 * message; hosts keep up to MAX_CONNECTIONS connections between two ports, and a flow takes the one
 * with the fewest messages. A flow ends when its last byte has arrived, or when its sender knows.
 * With RDMA the priority of a listed flow is the traffic class of its packets and acknowledgements.
 * Flows of incasts beside the random ones (as in figure 11a of HPCC's paper) have statistics of
 * their own.
 */
class FlowMeasurement
{
  public:
    /// Maximum number of random flows that are expected.
    static constexpr double MAX_FLOWS = 1 << 23;
    /// Maximum number of connections of TCP and Ultra Ethernet between two ports.
    static constexpr uint32_t MAX_CONNECTIONS = 16;

    /**
     * @param cluster its ranks send; must outlive this object
     * @param settings what they send
     * @throw ConfigurationError if the flows are not possible
     */
    FlowMeasurement(const Cluster& cluster, const FlowSettings& settings);
    FlowMeasurement(const FlowMeasurement&) = delete;
    FlowMeasurement& operator=(const FlowMeasurement&) = delete;

    /** @param ended called for each flow that has ended */
    void SetHandler(std::function<void(const FlowRow&)> ended);

    /**
     * Simulates until all measured flows have ended. Call once.
     * @throw SimulationStuck if one cannot end
     */
    void Run();

    /** @return slowdowns and completion times of the measured flows that have ended */
    const FlowStatistics& GetStatistics() const
    {
        return m_statistics;
    }

    /** @return the same of measured flows of incasts */
    const FlowStatistics& GetIncastStatistics() const
    {
        return m_incastStatistics;
    }

    /** @return incasts that have started */
    uint64_t GetIncasts() const
    {
        return m_incasts ? m_incasts->GetFlows() / m_settings.incasts.senders : 0;
    }

    /**
     * @param isIncast of which flows
     * @return payload of the measured flows that have started, as part of what all hosts' ports
     *         could send while they start: the load as it was drawn
     */
    double GetOfferedLoad(bool isIncast) const;

    /** @return number of measured flows, without incasts */
    uint64_t GetMeasured() const
    {
        return m_measured;
    }

    /** @return number of flows that have started */
    uint64_t GetStarted() const
    {
        return m_flows.size();
    }

    /** @return number of flows that have ended */
    uint64_t GetEnded() const
    {
        return m_ended;
    }

    /** @return payload of the flows that have started, bytes */
    uint64_t GetStartedBytes() const
    {
        return m_startedBytes;
    }

    /** @return payload of the flows that have ended, bytes */
    uint64_t GetEndedBytes() const
    {
        return m_endedBytes;
    }

    /** @return number of flows that must end, as listed or expected */
    double GetExpectedFlows() const
    {
        return m_expected;
    }

    /** @return payload of these flows, bytes */
    double GetExpectedBytes() const;

    /** @return sizes, bytes: each row holds a tenth of the flows that are expected, or listed */
    std::vector<uint64_t> GetBins() const;

  private:
    /** A flow that has started. */
    struct Flow
    {
        FlowRow row;
        Time start;
        uint64_t left; // bytes that have not arrived
    };

    void ConnectTransports();
    void CheckPriorities() const;
    void SetPriority(const HostPair& ends, uint8_t priority);
    void StartListed();
    double AddArrivals();
    void Start(const HostPair& ends,
               uint64_t bytes,
               std::optional<uint8_t> priority,
               uint64_t incast = 0);
    void Write(uint64_t number);
    void Arrive(uint64_t number, uint64_t bytes);
    void CheckEnd();
    bool IsComing() const;
    double GetProgress() const;

    const Cluster& m_cluster;
    FlowSettings m_settings;
    const bool m_hasQueuePairs; // of which each flow gets one
    IdlePaths m_idle;
    GuardedRun m_run;
    std::function<void(const FlowRow&)> m_handler;
    std::unique_ptr<PoissonFlows> m_arrivals;                  // null: listed flows
    std::unique_ptr<PoissonFlows> m_incasts;                   // null: none
    std::size_t m_next{0};                                     // the next listed flow
    std::vector<Flow> m_flows;                                 // by number
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_turns; // RDMA: flows of a pair of hosts
    std::map<uint32_t, uint8_t> m_priorities;                  // RDMA: of the last listed flow
    uint64_t m_listedBytes{0};
    double m_expected{0};  // flows
    double m_meanBytes{0}; // of random flows and incasts
    bool m_isDone{false};  // all measured flows have ended
    uint64_t m_measured{0};
    uint64_t m_measuredIncasts{0};               // flows of incasts
    std::array<uint64_t, 2> m_measuredStarted{}; // bytes, of incasts last
    uint64_t m_measuredArrived{0};               // bytes of the measured flows
    uint64_t m_ended{0};
    uint64_t m_startedBytes{0};
    uint64_t m_endedBytes{0};
    FlowStatistics m_statistics;
    FlowStatistics m_incastStatistics;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_MEASUREMENT_H
