/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H
#define DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H

#include "rdma-send-queue.h"

#include "ns3/byte-buffer.h"
#include "ns3/fabric-frame.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

class RdmaNic;

/** A datagram as the receiver gets it. */
struct RdmaDatagram
{
    uint32_t sourceEndpoint; ///< who sent it
    uint32_t sourceQp;       ///< and its queue pair
    uint32_t bytes;          ///< size
    uint32_t immediate;      ///< immediate data, if any
    bool hasImmediate;       ///< whether it carried immediate data
    bool isMarked;           ///< whether it met congestion (ECN)
    Ptr<ByteBuffer> payload; ///< buffer with the contents, not to be changed, or null (virtual)
    uint64_t payloadOffset;  ///< where they begin in it
};

/** Counts of one queue pair for datagrams. */
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
 * A queue pair for unreliable datagrams (IB specification volume 1, chapter 9.8): each SEND is one
 * packet to any queue pair for datagrams of any endpoint. Nothing is acknowledged, sent again or
 * put in order. Datagrams take turns at the port with the NIC's other queue pairs.
 */
class RdmaDatagramQueuePair : public SimpleRefCount<RdmaDatagramQueuePair>, public RdmaSendQueue
{
  public:
    /** Called with each datagram. */
    using ReceiveHandler = std::function<void(const RdmaDatagram&)>;

    /**
     * @param nic the NIC it belongs to
     * @param number its number
     */
    RdmaDatagramQueuePair(RdmaNic& nic, uint32_t number);
    ~RdmaDatagramQueuePair() override;

    /** @param handler of datagrams received */
    void SetReceiveHandler(ReceiveHandler handler);

    /**
     * Posts a datagram to the send queue.
     * @param endpoint destination
     * @param queuePair number of the queue pair for datagrams there
     * @param bytes size, 0 to the NIC's MTU
     * @param payload contents, or null
     * @param payloadOffset first byte of the datagram in `payload`
     * @param immediate data for the receiver
     * @param withImmediate whether there is any
     */
    void SendDatagram(uint32_t endpoint,
                      uint32_t queuePair,
                      uint32_t bytes,
                      Ptr<ByteBuffer> payload,
                      uint64_t payloadOffset,
                      uint32_t immediate,
                      bool withImmediate);

    /** @return datagrams posted and not sent yet */
    uint64_t GetWaiting() const;

    /**
     * @param frame a datagram for this queue pair
     */
    void Receive(const Frame& frame);

    // RdmaSendQueue
    bool CanSend() const override;
    Frame* MakeFrame(int64_t now) override;

    /** @return what went through */
    const DatagramCounters& GetCounters() const;

  private:
    void Enqueue(Frame* frame);
    void Deliver(const RdmaDatagram& datagram);

    RdmaNic& m_nic;
    ReceiveHandler m_onReceive;
    DatagramCounters m_counters;
    Frame* m_first{nullptr}; // waits to be sent, the others linked by Frame::next
    Frame* m_last{nullptr};
    uint64_t m_waiting{0};
    uint32_t m_nextPsn{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_DATAGRAM_QUEUE_PAIR_H
