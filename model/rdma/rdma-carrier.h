/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_CARRIER_H
#define DISTRIBUTED_TRAINING_RDMA_CARRIER_H

#include "rdma-send-queue.h"

#include "ns3/fabric-frame.h"
#include "ns3/training-event-loop.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Carries the packets of a queue pair outside of a NIC, such as that of a program in a switch, in
 * frames of its own. A port with a carrier (RdmaPort) has no line: packets leave as soon as the
 * queue pair may send them.
 */
class RdmaCarrier
{
  public:
    virtual ~RdmaCarrier() = default;

    /**
     * Fills in a packet, which is a message of its own.
     * @param frame receives opcode, payload and size
     * @param psn its PSN
     */
    virtual void Fill(Frame& frame, uint64_t psn) = 0;

    /**
     * Sends a packet.
     * @param frame data, or an acknowledgement as RoCE has it; owned by the callee
     */
    virtual void Transmit(Frame* frame) = 0;

    /**
     * Takes a packet that has arrived, in order. Messages are of one packet.
     * @param frame the packet
     */
    virtual void Accept(const Frame& frame) = 0;

    /** @param psn all packets before this PSN are acknowledged */
    virtual void OnProgress(uint64_t psn) = 0;

    /** @param queue sends all that it may send now */
    void SendAll(RdmaSendQueue& queue)
    {
        while (queue.CanSend())
        {
            Transmit(queue.MakeFrame(EventLoop::Now()));
        }
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CARRIER_H
