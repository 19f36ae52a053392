/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUEUE_LENGTHS_H
#define DISTRIBUTED_TRAINING_QUEUE_LENGTHS_H

#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/training-fabric.h"
#include "ns3/training-json-writer.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The queues of all ports of switches, from its construction on: the largest length, and the mean
 * over time. Their lengths come from the trace source QueueLength, so that a simulation without
 * this object takes no longer.
 */
class QueueLengths
{
  public:
    /** @param fabric whose ports are watched; must outlive this object */
    explicit QueueLengths(const Fabric& fabric);
    ~QueueLengths();
    QueueLengths(const QueueLengths&) = delete;
    QueueLengths& operator=(const QueueLengths&) = delete;

    /** @return a list with an object for each port: node, port, peer, lengths in bytes */
    JsonValue ToJson() const;

  private:
    /** A port. */
    struct Port
    {
        std::array<uint64_t, PRIORITIES> bytes{}; // by priority
        uint64_t sum{0};                          // of all priorities, bytes
        uint64_t peak{0};                         // of the sum
        int64_t since{0};                         // when the sum has changed, ps
        double area{0};                           // sum over time, byte ps
    };

    /** A switch. */
    class Watch : public SimpleRefCount<Watch>
    {
      public:
        void OnLength(uint16_t port, uint8_t priority, uint64_t bytes);

        std::vector<Port> ports;
    };

    const Fabric& m_fabric;
    const int64_t m_begin;             // ps
    std::vector<Ptr<Watch>> m_watches; // by switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUEUE_LENGTHS_H
