/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_CONNECTION_H
#define DISTRIBUTED_TRAINING_UEC_CONNECTION_H

#include "rdma-queue-pair-counters.h"
#include "uec-receiver.h"
#include "uec-sender.h"

#include "ns3/simple-ref-count.h"
#include "ns3/uec-congestion-control.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A connection of Ultra Ethernet (a packet delivery context, PDC; reliable unordered delivery), of
 * UecSender and UecReceiver. Messages complete in posting order, at the receiver as soon as all
 * their packets have arrived.
 */
class UecConnection : public SimpleRefCount<UecConnection>
{
  public:
    /** Called for each complete message. */
    using MessageHandler = UecReceiver::MessageHandler;
    /** Called once, when the connection fails. */
    using ErrorHandler = UecSender::ErrorHandler;

    /**
     * @param port of its NIC; must outlive the connection
     * @param number of the connection
     * @param remote the remote side; its flow hash is ignored
     * @param path to the remote side
     * @param congestionControl limits what it has in flight
     * @param ports pairs of ports over which it sprays, the same and in the same order at both
     *        sides; none: the port and the remote one
     */
    UecConnection(UecPort& port,
                  uint32_t number,
                  const RdmaRemote& remote,
                  const UecCongestionControl::Path& path,
                  Ptr<UecCongestionControl> congestionControl,
                  const std::vector<UecPortPair>& ports = {});

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);
    /** @param handler called when the connection fails */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Posts a message.
     * @param message the message, up to UEC_MAX_MESSAGE
     */
    void Send(Message message);

    /** @param frame a frame for this connection; freed by it */
    void Receive(Frame* frame);

    /** The link of a port of its host has gone up or down. */
    void OnPortChange()
    {
        m_sender.OnPortChange();
    }

    /**
     * Drops all that is posted, and sends and reports nothing from now on. Its counters stay. Call
     * UecNic::Close(), which also refuses frames for it.
     */
    void Close();

    /** @return whether Close() was called */
    bool IsClosed() const
    {
        return m_closed;
    }

    /** @return a snapshot of its counters; the NAKs are those for trimmed packets */
    QueuePairCounters GetCounters() const;

    /** @return the algorithm that limits what it has in flight */
    Ptr<UecCongestionControl> GetCongestionControl() const;

    /** @return number of the connection */
    uint32_t GetNumber() const
    {
        return m_sender.GetNumber();
    }

    /** @return the remote side */
    const RdmaRemote& GetRemote() const
    {
        return m_sender.GetRemote();
    }

    /** @return bytes in flight */
    uint64_t GetInFlight() const
    {
        return m_sender.GetInFlight();
    }

  private:
    bool m_closed{false};
    Ptr<UecCongestionControl> m_congestionControl;
    QueuePairCounters m_counters;
    UecSender m_sender;
    UecReceiver m_receiver;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_CONNECTION_H
