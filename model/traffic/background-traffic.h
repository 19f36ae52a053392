/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BACKGROUND_TRAFFIC_H
#define DISTRIBUTED_TRAINING_BACKGROUND_TRAFFIC_H

#include "flow-statistics.h"
#include "idle-paths.h"
#include "poisson-flows.h"

#include "ns3/message-transport.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/** What the background traffic is. @ingroup distributed-training-traffic */
struct BackgroundSettings
{
    FlowSizes sizes;                  ///< of its flows
    double load;                      ///< see FlowPattern::GetMeanGap()
    Choice<FlowPatternEntry> pattern; ///< between which hosts
    std::string hosts;                ///< all, ranks, or others
    Time start;                       ///< simulated time of the first flows
    Time stop;                        ///< simulated time from which on there are no new ones
};

/**
 * @ingroup distributed-training-traffic
 *
 * Flows between hosts beside the jobs. Each host has a transport for them. A flow is one message.
 * It ends when its last byte has arrived.
 */
class BackgroundTraffic
{
  public:
    /**
     * @param settings what it is
     * @param hosts its hosts, by number
     * @param transports of the hosts, in the order of `hosts`; a peer is a host's number
     * @param rate of the slowest port of the hosts, bit/s
     * @param idle their completion times on an idle network
     */
    BackgroundTraffic(const BackgroundSettings& settings,
                      std::vector<uint32_t> hosts,
                      std::vector<Ptr<MessageTransport>> transports,
                      uint64_t rate,
                      std::unique_ptr<IdlePaths> idle);
    ~BackgroundTraffic();
    BackgroundTraffic(const BackgroundTraffic&) = delete;
    BackgroundTraffic& operator=(const BackgroundTraffic&) = delete;

    /** Schedules the first flows. Call before the simulation. */
    void Start();

    /** @return what it is */
    const BackgroundSettings& GetSettings() const;

    /** @return slowdowns of the flows that have ended */
    const FlowStatistics& GetStatistics() const;

    /** @return number of flows that have started */
    uint64_t GetStartedFlows() const;

    /** @return payload of the flows that have started, bytes */
    uint64_t GetStartedBytes() const;

    /** @return payload of the flows that have ended, bytes */
    uint64_t GetEndedBytes() const;

    /** @return first reason why a flow has failed, or empty */
    const std::string& GetFailure() const;

    /** @return number of hosts whose ports carry the load */
    uint32_t GetLoadedHosts() const;

    /**
     * @param now simulated time
     * @return payload that has started until then, part of what the ports of the loaded hosts carry
     *         in the time in which flows arrive; 0 before the first one
     */
    double GetOfferedLoad(Time now) const;

  private:
    /** A flow that has not ended. */
    struct Flow
    {
        HostPair ends;
        uint64_t bytes;
        Time start;
    };

    void Begin(const HostPair& ends, uint64_t bytes);
    void End(uint64_t number);

    BackgroundSettings m_settings;
    std::vector<uint32_t> m_hosts;
    std::vector<Ptr<MessageTransport>> m_transports;
    std::unique_ptr<IdlePaths> m_idle;
    uint64_t m_rate;
    uint32_t m_loadedHosts;
    std::unique_ptr<PoissonFlows> m_arrivals;
    std::unordered_map<uint64_t, Flow> m_open; // by number
    uint64_t m_started{0};
    uint64_t m_startedBytes{0};
    uint64_t m_endedBytes{0};
    FlowStatistics m_statistics;
    std::string m_failure;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BACKGROUND_TRAFFIC_H
