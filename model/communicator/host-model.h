/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_MODEL_H
#define DISTRIBUTED_TRAINING_HOST_MODEL_H

#include "ns3/collective-schedule.h"
#include "ns3/nstime.h"
#include "ns3/topology-graph.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * Time and bytes that hosts add to a collective, on top of the network.
 *
 * A received message occupies its channel, one message after the other, and is used a hop's latency
 * later. A channel carries the messages of one lane from one peer (CollectiveSchedule::GetLanes()).
 */
struct HostCost
{
    Time start;                     ///< from the collective's turn to its first action
    Time localHop;                  ///< latency of a message from the same server
    Time remoteHop;                 ///< latency of a message from another server
    double wireFactor{1};           ///< bytes sent per byte of data, at least 1
    double localSecondsPerByte{0};  ///< of the channel, for data from the same server
    double remoteSecondsPerByte{0}; ///< of the channel, for data from another server
    /// Of the channel, for data sent to another server. Sending delays later messages only.
    double sendSecondsPerByte{0};
    /// Of a copy by the GPU; the time of the channel is what of it the line does not hide. 0: it is
    /// no copy by the GPU, or takes no time.
    double copySecondsPerByte{0};
    double localLineSecondsPerByte{0};  ///< of the line in a server, per byte of data
    double remoteLineSecondsPerByte{0}; ///< of the line between servers, per byte of data
    /// Whether a message is passed on while the channel copies it; otherwise it is used when it is
    /// copied.
    bool passesOn{false};
    Time perMessage;              ///< of the channel, for each message from or to another server
    Time perSlot;                 ///< of the channel, for each full slot from or to another server
    uint64_t slotBytes{1};        ///< data in a slot, at least 1
    bool hasCommonChannel{false}; ///< whether a rank's messages from and to other servers share one
    bool sendsFreely{false};      ///< whether only messages from other servers take the common one
    Time perWindow;               ///< of the channel, for each window of a message beyond the first
    uint64_t windowBytes{1};      ///< data of a message from another server in flight, at least 1
};

/** Time that hosts add to an all-reduce by switches. */
struct SwitchCost
{
    Time start;         ///< from the turn of the all-reduce to its first packet
    double copies{0};   ///< copies before and after the traffic, in times of the traffic
    Time copyTime;      ///< of other copies, before and after the traffic
    uint64_t chunk{0};  ///< several servers: data of a message between servers, bytes; 0: any
    uint64_t chunks{0}; ///< several servers: messages of a rank in flight; 0: unlimited
};

/** What a library of the hosts could run for a collective. */
struct LibraryPlan
{
    std::string algorithm; ///< a collective algorithm, with keys
    std::string protocol;  ///< of its messages
    double seconds;        ///< that the library expects
};

/**
 * @ingroup distributed-training-collective
 *
 * Time that the hosts add to the collectives of one communicator.
 */
class HostModel
{
  public:
    virtual ~HostModel() = default;

    /**
     * @param schedule of the collective
     * @param bytes size of the whole vector
     * @return the hosts' time
     */
    virtual HostCost GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const = 0;

    /**
     * @param bytes size of the whole vector
     * @return the hosts' time for an all-reduce that the switch of a server adds
     * @throw ConfigurationError if the hosts have no such all-reduce
     */
    virtual SwitchCost GetSwitchCost([[maybe_unused]] uint64_t bytes) const
    {
        return {};
    }

    /**
     * @param bytes size of the whole vector
     * @return the hosts' time for an all-reduce that the switch of each server adds, and trees
     *         between the servers
     * @throw ConfigurationError if the hosts have no such all-reduce
     */
    virtual SwitchCost GetSwitchTreeCost([[maybe_unused]] uint64_t bytes) const
    {
        return {};
    }

    /**
     * @param schedule of the trees of that all-reduce
     * @param bytes of a message
     * @return the hosts' time for the messages between servers
     */
    virtual HostCost GetSwitchTreeMessageCost(const CollectiveSchedule& schedule,
                                              uint64_t bytes) const
    {
        HostCost cost = GetCost(schedule, bytes);
        cost.start = Time(0);
        return cost;
    }

    /**
     * @param bytes size of an all-reduce
     * @return whether the hosts expect it to be faster with sums in switches, by GetSwitchCost() or
     *         GetSwitchTreeCost(), than without
     */
    virtual bool PrefersSwitches([[maybe_unused]] uint64_t bytes) const
    {
        return true;
    }

    /**
     * @param operation operation of the ranks
     * @param bytes size of the whole vector
     * @return what the hosts' library could run on hosts, by rising expected time; empty: it has no
     *         choice of its own
     */
    virtual std::vector<LibraryPlan> GetLibraryPlans([[maybe_unused]] CollectiveOperation operation,
                                                     [[maybe_unused]] uint64_t bytes) const
    {
        return {};
    }

    /**
     * @return whether the hosts' library has sums in the switches of these ranks, which
     *         PrefersSwitches() chooses
     */
    virtual bool HasSwitches() const
    {
        return false;
    }

    /**
     * @param a a host
     * @param b another host
     * @return whether a message between them is a local hop
     */
    virtual bool IsLocal(uint32_t a, uint32_t b) const = 0;
};

/** The ranks for which a host model is created. */
struct HostModelRequest
{
    const TopologyGraph& topology; ///< topology that the ranks are on; outlives the model
    std::vector<uint32_t> hosts;   ///< host of each rank; empty: rank r is on host r
    uint32_t ranks;                ///< number of ranks
    KeyValues keys;                ///< keys of the model, validated, with defaults
};

/**
 * @ingroup distributed-training-collective
 * A named host model, in Registry<HostModelEntry>.
 */
struct HostModelEntry
{
    static constexpr const char* KIND = "host model"; ///< for messages
    std::string help;                                 ///< one line
    /// Creates the model of a communicator; null: hosts add no time.
    std::shared_ptr<const HostModel> (*make)(const HostModelRequest& request);
    std::vector<Key> keys{}; ///< its keys
    /// Whether messages may carry flags besides the data, see HostCost::wireFactor.
    bool addsFlags{false};
    /// Whether equal collectives cost the same time whenever they come.
    bool repeats{false};
    /// Whether the hosts' library chooses algorithms, see HostModel::GetLibraryPlans().
    bool chooses{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_MODEL_H
