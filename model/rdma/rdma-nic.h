/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_NIC_H
#define DISTRIBUTED_TRAINING_RDMA_NIC_H

#include "rdma-datagram-queue-pair.h"
#include "rdma-queue-pair.h"
#include "rdma-send-scheduler.h"

#include "ns3/data-rate.h"
#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The RDMA engine behind one host device: its queue pairs, and the scheduler that gives them turns
 * at the port.
 */
class RdmaNic : public Object
{
  public:
    /** The congestion control has changed a rate. (number of the queue pair, bit/s) */
    typedef void (*RateTracedCallback)(uint32_t queuePair, double rate);
    /** A packet is sent again. (number of the queue pair, packet sequence number, 64 bit) */
    typedef void (*RetransmissionTracedCallback)(uint32_t queuePair, uint64_t psn);
    /** A work request is complete. (number of the queue pair, of the work request) */
    typedef void (*CompletionTracedCallback)(uint32_t queuePair, uint64_t request);

    /** @return the type */
    static TypeId GetTypeId();
    RdmaNic();
    ~RdmaNic() override;

    /**
     * @param device the port it works behind
     * @throw ConfigurationError if attributes of the congestion control do not go together
     */
    void Attach(Ptr<HostDevice> device);

    /**
     * @param number of the new queue pair, not in use on this NIC, below 2^24
     * @param remoteEndpoint endpoint of the other side
     * @param remoteNumber number of the queue pair there
     * @param pathRate of the slowest link on the way, bit/s; 0: that of the port
     * @return the queue pair, connected
     */
    Ptr<RdmaQueuePair> CreateQueuePair(uint32_t number,
                                       uint32_t remoteEndpoint,
                                       uint32_t remoteNumber,
                                       uint64_t pathRate = 0);

    /** Makes the queue pair of a number that a frame asks for, or returns null to refuse it. */
    using Listener = std::function<RdmaQueuePair*(uint32_t number)>;

    /** @param listener asked for queue pairs that do not exist yet */
    void SetListener(Listener listener);

    /** @return all queue pairs by number */
    const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>& GetQueuePairs() const;

    /**
     * @param number of the new queue pair, not in use on this NIC for datagrams, below 2^24
     * @return a queue pair for datagrams
     */
    Ptr<RdmaDatagramQueuePair> CreateDatagramQueuePair(uint32_t number);

    /**
     * A queue pair may have something to send.
     * @param queue the sending half of a queue pair of this NIC
     */
    void Schedule(RdmaSendQueue& queue)
    {
        m_scheduler.Schedule(queue);
    }

    /**
     * @param queuePair of this NIC that begins to wait for an acknowledgement: its Watch() is
     * called twice in the shortest timeout, until it says that it no longer waits
     */
    void Watch(RdmaQueuePair& queuePair);

    /** @return when queue pairs are watched the next time, ps */
    int64_t GetNextWatch() const
    {
        return m_nextWatch;
    }

    /**
     * Sends an answer ahead of data.
     * @param frame ACK, NAK or CNP
     */
    void SendControl(Frame* frame);

    /** @return its place in the fabric */
    uint32_t GetEndpoint() const;
    /** @return rate of its port, bit/s */
    uint64_t GetLineRate() const;
    /**
     * @param rate of a path, bit/s
     * @return what a congestion control is told of it
     */
    RdmaCongestionControl::Path GetPath(uint64_t rate) const;

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

    /** @return refusals without progress before a queue pair gives up; 7: never */
    uint32_t GetRnrRetryLimit() const
    {
        return m_rnrRetryLimit;
    }

    /** @return code of the time to wait after a refusal, 5 bit */
    uint8_t GetMinRnrTimer() const
    {
        return m_minRnrTimer;
    }

    /** @return most payload bytes of a queue pair in flight; 0: as loss recovery asks */
    uint64_t GetInFlightLimit() const
    {
        return m_inFlightLimit;
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

    /** @return selective repeat: first retransmission timeout with few packets in flight */
    const Time& GetTimeoutLow() const
    {
        return m_timeoutLow;
    }

    /** @return selective repeat: first retransmission timeout with more packets in flight */
    const Time& GetTimeoutHigh() const
    {
        return m_timeoutHigh;
    }

    /** @return from the posting of a message until its first packet can be sent */
    const Time& GetPostLatency() const
    {
        return m_postLatency;
    }

    /** @return from the last packet of a message until the host knows */
    const Time& GetCompletionLatency() const
    {
        return m_completionLatency;
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

    /** @return traffic class of datagrams */
    uint8_t GetDatagramPriority() const
    {
        return m_datagramPriority;
    }

    /** @return traffic class of acknowledgements and CNPs */
    uint8_t GetControlPriority() const
    {
        return m_controlPriority;
    }

    /**
     * @param queuePair number of a queue pair of this NIC
     * @param rate new one, bit/s
     */
    void NotifyRate(uint32_t queuePair, double rate)
    {
        m_rateTrace(queuePair, rate);
    }

    /**
     * @param queuePair number of a queue pair of this NIC
     * @param psn packet sent again
     */
    void NotifyRetransmission(uint32_t queuePair, uint64_t psn)
    {
        m_retransmissionTrace(queuePair, psn);
    }

    /**
     * @param queuePair number of a queue pair of this NIC
     * @param request number of the work request
     */
    void NotifyCompletion(uint32_t queuePair, uint64_t request)
    {
        m_completionTrace(queuePair, request);
    }

  private:
    void DoDispose() override;
    void Receive(Frame* frame);
    void Expect(const Frame& frame, bool isSoon) const;
    RdmaQueuePair* Find(uint32_t number) const;
    void AddToIndex(RdmaQueuePair* queuePair);
    void ScheduleWatch();
    void OnWatch();

    Ptr<HostDevice> m_device;
    RdmaSendScheduler m_scheduler;
    std::unordered_map<uint32_t, Ptr<RdmaQueuePair>> m_queuePairs;
    // The same by hash of the number, with open addressing, at most half of it in use: one cache
    // line for a packet, where the nodes of the map would take three.
    std::vector<RdmaQueuePair*> m_index{nullptr};
    std::vector<RdmaQueuePair*> m_watched;
    EventId m_watch;
    int64_t m_nextWatch{0}; // ps
    std::unordered_map<uint32_t, Ptr<RdmaDatagramQueuePair>> m_datagramQueuePairs;
    Listener m_listener;
    ObjectFactory m_congestionControl;
    const LossRecoveryEntry* m_recovery{nullptr};
    bool m_isSelective{false};
    uint32_t m_mtu;
    uint32_t m_ackInterval;
    uint32_t m_retryLimit;
    uint32_t m_rnrRetryLimit;
    uint8_t m_minRnrTimer;
    uint32_t m_pathHops;
    uint64_t m_inFlightLimit;
    Time m_baseRoundTrip;
    Time m_timeout;
    Time m_timeoutLow;
    Time m_timeoutHigh;
    Time m_cnpInterval;
    Time m_doorbellLatency;
    Time m_dmaReadLatency;
    Time m_postLatency; // of both
    Time m_completionLatency;
    DataRate m_injectionRate;
    uint8_t m_dataPriority;
    uint8_t m_datagramPriority;
    uint8_t m_controlPriority;
    TypeId m_congestionControlType;
    std::string m_recoveryName;
    TracedCallback<uint32_t, double> m_rateTrace;
    TracedCallback<uint32_t, uint64_t> m_retransmissionTrace;
    TracedCallback<uint32_t, uint64_t> m_completionTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_NIC_H
