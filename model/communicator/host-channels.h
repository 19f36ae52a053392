/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_CHANNELS_H
#define DISTRIBUTED_TRAINING_HOST_CHANNELS_H

#include "host-load.h"
#include "host-model.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The channels of a rank's host in one collective: what HostCost says of its messages. A channel
 * copies one message after the other.
 */
class HostChannels
{
  public:
    /** A message from or to another rank. */
    struct Message
    {
        uint32_t peer;  ///< that rank
        uint32_t lane;  ///< see CollectiveSchedule::GetLanes()
        uint64_t bytes; ///< of data
        bool isLocal;   ///< whether that rank is in the same server
    };

    /**
     * @param cost of the hosts; by default they take no time
     * @param load of the rank's GPU, which slows copies; null: none
     */
    explicit HostChannels(HostCost cost = {}, std::shared_ptr<const HostLoad> load = nullptr);

    /** @return cost of the hosts */
    const HostCost& GetCost() const;

    /** @param bytes of data @return bytes that are sent for them */
    uint64_t GetWireBytes(uint64_t bytes) const;

    /** @param bytes that are sent @return bytes of data, see GetWireBytes() */
    uint64_t GetDataBytes(uint64_t bytes) const;

    /**
     * Copies a message before it is sent, which delays later messages only.
     * @param message to another rank
     * @param now simulated time
     */
    void Send(const Message& message, Time now);

    /**
     * Copies a message that has arrived.
     * @param message from another rank
     * @param now simulated time
     * @return time from now until it is copied
     */
    Time Receive(const Message& message, Time now);

  private:
    Time Copy(const Message& message, Time now, double seconds, double onLine, Time others);
    Time& Find(const Message& message);
    Time GetMessageTime(const Message& message) const;
    double GetCopySeconds(double seconds, double onLine) const;

    HostCost m_cost;
    std::shared_ptr<const HostLoad> m_load;               // null: none
    std::map<std::pair<uint32_t, uint32_t>, Time> m_free; // from then on, by peer and lane
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_CHANNELS_H
