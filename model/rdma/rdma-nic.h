/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_NIC_H
#define DISTRIBUTED_TRAINING_RDMA_NIC_H

#include "rdma-queue-pair.h"

#include "ns3/event-id.h"
#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <array>
#include <deque>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The RDMA engine behind one host device: its queue pairs, and the scheduler that gives them turns
 * at the port. Queue pairs that may send take turns (round robin); those whose pace forbids it wait
 * in a heap by time, so the cost of a packet grows with the logarithm of their number at most.
 */
class RdmaNic : public Object, public FrameSource
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    RdmaNic();
    ~RdmaNic() override;

    /**
     * @param device the port it works behind
     */
    void Attach(Ptr<HostDevice> device);

    /**
     * @param number of the new queue pair, not in use on this NIC, below 2^24
     * @param remoteEndpoint endpoint of the other side
     * @param remoteNumber number of the queue pair there
     * @return the queue pair, connected
     */
    Ptr<RdmaQueuePair> CreateQueuePair(uint32_t number,
                                       uint32_t remoteEndpoint,
                                       uint32_t remoteNumber);

    /** Makes the queue pair of a number that a frame asks for, or returns null to refuse it. */
    using Listener = std::function<RdmaQueuePair*(uint32_t number)>;

    /** @param listener asked for queue pairs that do not exist yet */
    void SetListener(Listener listener);

    /** @return all queue pairs by number */
    const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>& GetQueuePairs() const;

    /**
     * A queue pair may have something to send.
     * @param queuePair of this NIC
     */
    void Schedule(RdmaQueuePair& queuePair);

    /**
     * Sends an answer ahead of data.
     * @param frame ACK, NAK or CNP
     */
    void SendControl(Frame* frame);

    // FrameSource
    uint8_t GetReady(int64_t now) override;
    Frame* Pull(uint8_t priority, int64_t now) override;

    /** @return its place in the fabric */
    uint32_t GetEndpoint() const;
    /** @return rate of its port, bit/s */
    uint64_t GetLineRate() const;

    /** @return payload of a full packet, bytes */
    uint32_t GetMtu() const
    {
        return m_mtu;
    }

    /** @return packets per requested acknowledgement */
    uint32_t GetAckInterval() const
    {
        return m_ackInterval;
    }

    /** @return expiries without progress before a queue pair gives up */
    uint32_t GetRetryLimit() const
    {
        return m_retryLimit;
    }

    /** @return round trip of a full packet and its acknowledgement on the idle network */
    const Time& GetBaseRoundTrip() const
    {
        return m_baseRoundTrip;
    }

    /** @return links on the longest path between hosts */
    uint32_t GetPathHops() const
    {
        return m_pathHops;
    }

    /** @return first retransmission timeout */
    const Time& GetTimeout() const
    {
        return m_timeout;
    }

    /** @return shortest time between two CNPs of a queue pair */
    const Time& GetCnpInterval() const
    {
        return m_cnpInterval;
    }

    /** @return traffic class of data */
    uint8_t GetDataPriority() const
    {
        return m_dataPriority;
    }

    /** @return traffic class of acknowledgements and CNPs */
    uint8_t GetControlPriority() const
    {
        return m_controlPriority;
    }

  private:
    void DoDispose() override;
    void Receive(Frame* frame);
    void MoveDue(int64_t now);
    void OnPaceTimer();

    /** A queue pair and the time from which it may send, ps. */
    using Paced = std::pair<int64_t, RdmaQueuePair*>;

    /** Orders by time, then by number: addresses differ between runs. */
    struct Later
    {
        bool operator()(const Paced& a, const Paced& b) const
        {
            return a.first != b.first ? a.first > b.first
                                      : a.second->GetNumber() > b.second->GetNumber();
        }
    };

    Ptr<HostDevice> m_device;
    std::unordered_map<uint32_t, Ptr<RdmaQueuePair>> m_queuePairs;
    std::deque<RdmaQueuePair*> m_ready;
    std::priority_queue<Paced, std::vector<Paced>, Later> m_paced;
    EventId m_paceTimer;
    Listener m_listener;
    ObjectFactory m_congestionControl;
    uint32_t m_mtu;
    uint32_t m_ackInterval;
    uint32_t m_retryLimit;
    uint32_t m_pathHops;
    Time m_baseRoundTrip;
    Time m_timeout;
    Time m_cnpInterval;
    uint8_t m_dataPriority;
    uint8_t m_controlPriority;
    TypeId m_congestionControlType;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_NIC_H
