/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_PATTERN_H
#define DISTRIBUTED_TRAINING_FLOW_PATTERN_H

#include "ns3/random-variable-stream.h"
#include "ns3/training-key-values.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/** The ends of a flow, by index among the hosts. @ingroup distributed-training-traffic */
struct HostPair
{
    uint32_t source;      ///< sender
    uint32_t destination; ///< receiver, another host
};

/**
 * @ingroup distributed-training-traffic
 * Between which hosts flows run. Events of several independent processes start them.
 */
class FlowPattern
{
  public:
    virtual ~FlowPattern() = default;

    /** @return number of independent processes, all with the same rate */
    virtual uint32_t GetProcesses() const = 0;

    /** @return number of flows that an event starts */
    virtual uint32_t GetFlowsPerEvent() const = 0;

    /**
     * @return number of hosts whose ports carry the load: those that send, or those that receive if
     *         they are fewer
     */
    virtual uint32_t GetLoadedHosts() const = 0;

    /**
     * @param process 0 to GetProcesses() - 1
     * @param random source of random numbers
     * @param flows receives the flows of an event of the process
     */
    virtual void Draw(uint32_t process,
                      UniformRandomVariable& random,
                      std::vector<HostPair>& flows) = 0;

    /**
     * @param load part of the rate of a loaded host's port, payload only
     * @param rate of a port, bit/s
     * @param mean size of a flow, bytes
     * @return mean time between two events of a process, s
     */
    double GetMeanGap(double load, double rate, double mean) const;
};

/** A named pattern. @ingroup distributed-training-traffic */
struct FlowPatternEntry
{
    static constexpr const char* KIND = "flow pattern"; ///< see Registry
    std::string help;                                   ///< one line
    std::vector<Key> keys;                              ///< of the pattern
    /**
     * Makes the pattern. (keys, number of hosts, at least 2, random numbers); throws
     * ConfigurationError if there are too few hosts
     */
    std::unique_ptr<FlowPattern> (*make)(const KeyValues& values,
                                         uint32_t hosts,
                                         UniformRandomVariable& random);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_PATTERN_H
