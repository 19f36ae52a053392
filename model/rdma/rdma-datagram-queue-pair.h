/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H

#include "rdma-port.h"
#include "rdma-send-queue.h"
#include "training-message.h"

#include "ns3/fabric-frame.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

/** A received datagram. */
struct RdmaDatagram
{
    uint32_t sourceEndpoint; ///< endpoint of the sender
    uint32_t sourceQp;       ///< number of the sender's queue pair (QPN)
    uint32_t bytes;          ///< size
    uint32_t immediate;      ///< immediate data, if any
    bool hasImmediate;       ///< whether it carried immediate data
    bool isMarked;           ///< whether it carried an ECN mark (congestion experienced)
    Ptr<ByteBuffer> payload; ///< buffer with the contents, read-only, or null (virtual payload)
    uint64_t payloadOffset;  ///< offset of the datagram in `payload`, bytes
};

/** Counters of one datagram queue pair. */
struct DatagramCounters
{
    uint64_t sentPackets{0};     ///< datagrams sent
    uint64_t sentBytes{0};       ///< their payload
    uint64_t receivedPackets{0}; ///< datagrams received
    uint64_t receivedBytes{0};   ///< their payload
};

/**
 * @ingroup distributed-training-rdma
 *
 * A queue pair for unreliable datagrams (UD; IB specification volume 1, chapter 9.8): each SEND is
 * one packet to any datagram queue pair of any endpoint. Datagrams are neither acknowledged nor
 * retransmitted nor reordered. The NIC's other queue pairs share the port with it.
 */
class RdmaDatagramQueuePair : public SimpleRefCount<RdmaDatagramQueuePair>, public RdmaSendQueue
{
  public:
    /** Called for each received datagram. */
    using ReceiveHandler = std::function<void(const RdmaDatagram&)>;

    /**
     * @param port of its NIC; must outlive the queue pair
     * @param number its queue pair number
     */
    RdmaDatagramQueuePair(RdmaPort& port, uint32_t number);
    ~RdmaDatagramQueuePair() override;

    /** @param handler called for each received datagram */
    void SetReceiveHandler(ReceiveHandler handler);

    /**
     * Posts a datagram to the send queue.
     * @param endpoint destination
     * @param queuePair number of the destination's datagram queue pair
     * @param request the datagram, at most one MTU of the NIC
     */
    void SendDatagram(uint32_t endpoint, uint32_t queuePair, Message request);

    /** @return number of posted datagrams that are not sent yet */
    uint64_t GetWaiting() const;

    /**
     * @param frame a datagram for this queue pair
     */
    void Receive(const Frame& frame);

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;

    /** @return its counters */
    const DatagramCounters& GetCounters() const;

  private:
    void Enqueue(Frame* frame);
    void Deliver(const RdmaDatagram& datagram);

    RdmaPort& m_port;
    ReceiveHandler m_onReceive;
    DatagramCounters m_counters;
    Frame* m_first{nullptr}; // next frame to send; the others are linked by Frame::next
    Frame* m_last{nullptr};
    uint64_t m_waiting{0};
    uint32_t m_nextPsn{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H
