/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H

#include "rdma-loss-recovery.h"
#include "rdma-port.h"
#include "rdma-queue-pair-counters.h"
#include "rdma-receiver.h"
#include "rdma-sender.h"

#include "ns3/rdma-congestion-control.h"
#include "ns3/simple-ref-count.h"

#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A reliable connected queue pair (RC; IB specification volume 1, chapter 9), of RdmaSender and
 * RdmaReceiver. Messages are SENDs and RDMA WRITEs, segmented into packets of one MTU and numbered
 * by PSN modulo 2^24 on the wire. The sender requests an acknowledgement every n packets and at the
 * end of a message. After too many timeouts or refusals without progress, the queue pair reports an
 * error and stops.
 *
 * A message is complete at the receiver when its last packet and all earlier packets are accepted,
 * at the sender when its last packet is acknowledged; both in posting order.
 */
class alignas(64) RdmaQueuePair : public SimpleRefCount<RdmaQueuePair>
{
  public:
    /** Called for each complete message. */
    using MessageHandler = RdmaReceiver::MessageHandler;
    /** Called for each completed signaled work request, with its number. */
    using CompletionHandler = RdmaSender::CompletionHandler;
    /** Called once, when the queue pair fails. */
    using ErrorHandler = RdmaSender::ErrorHandler;

    /**
     * @param port of its NIC; must outlive the queue pair
     * @param number its queue pair number
     * @param remote the remote side
     * @param path to the remote side
     * @param congestionControl sets its rate
     * @param recovery recovers lost packets
     */
    RdmaQueuePair(RdmaPort& port,
                  uint32_t number,
                  const RdmaRemote& remote,
                  const RdmaCongestionControl::Path& path,
                  Ptr<RdmaCongestionControl> congestionControl,
                  std::unique_ptr<RdmaLossRecovery> recovery);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler called for each completed work request */
    void SetCompletionHandler(CompletionHandler handler);
    /** @param handler called when the queue pair fails */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts receives. After the first call, each SEND and each WRITE with immediate data consumes
     * one, and is refused if none is left. Before the first call, receives are unlimited.
     * @param count number of receives
     */
    void PostReceive(uint64_t count);

    /**
     * Posts an RDMA WRITE to the send queue.
     * @param request the message, up to MAX_REQUEST
     * @return number of the work request: 0, 1, ... in posting order
     */
    uint64_t Write(Message request);

    /**
     * Posts a SEND to the send queue.
     * @param request the message, up to MAX_REQUEST; its tag is ignored
     * @return number of the work request, as for Write()
     */
    uint64_t Send(Message request);

    /**
     * @param frame a frame for this queue pair; freed by it
     */
    void Receive(Frame* frame)
    {
        Receive(frame, frame->kind);
    }

    /**
     * Takes a packet that came in a frame of another kind, see RdmaCarrier.
     * @param frame a frame for this queue pair; freed by it
     * @param kind of packet
     */
    void Receive(Frame* frame, FrameKind kind);

    /**
     * Takes the traffic classes that the NIC gives new queue pairs. Both ends do so when all
     * messages have arrived; one that has packets to send keeps its classes.
     */
    void RenewPriorities();

    /**
     * Drops all that is posted, and sends and reports nothing from now on. Its counters stay. Call
     * RdmaNic::Close(), which also refuses frames for it.
     */
    void Close();

    /** @return whether Close() was called */
    bool IsClosed() const
    {
        return m_closed;
    }

    /**
     * Prefetches the cache lines that Receive() will touch.
     * @param frame a frame that arrives at this queue pair soon
     */
    void Prefetch(const Frame& frame) const;

    /**
     * Visits its state.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    /** @return a snapshot of its counters */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that sets its rate */
    Ptr<RdmaCongestionControl> GetCongestionControl() const;

    /** @return the half that sends */
    RdmaSender& GetSender()
    {
        return m_sender;
    }

    /** @return the half that sends */
    const RdmaSender& GetSender() const
    {
        return m_sender;
    }

    /** @return the half that receives */
    RdmaReceiver& GetReceiver()
    {
        return m_receiver;
    }

    /** @return number of the queue pair */
    uint32_t GetNumber() const
    {
        return m_sender.GetNumber();
    }

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_sender.GetRemote();
    }

  private:
    RdmaPort& m_port;
    bool m_closed{false};
    QueuePairCounters m_counters; // without those derived from PSNs
    Ptr<RdmaCongestionControl> m_congestionControl;
    std::unique_ptr<RdmaLossRecovery> m_recovery;
    RdmaSender m_sender;
    RdmaReceiver m_receiver;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_QUEUE_PAIR_H
