/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_NIC_H
#define DISTRIBUTED_TRAINING_RDMA_NIC_H

#include "rdma-datagram-queue-pair.h"
#include "rdma-port.h"
#include "rdma-queue-pair.h"

#include "ns3/data-rate.h"
#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The RDMA engine behind one host device: makes queue pairs, holds their settings as attributes,
 * and hands each the frames that name it.
 */
class RdmaNic : public Object, public RdmaPort
{
  public:
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

    /**
     * Sets the attribute CongestionControl, and attributes of the objects; before Attach().
     * @param factory makes the congestion control of each queue pair
     */
    void SetCongestionControl(const ObjectFactory& factory);

    /** @param listener asked for queue pairs that do not exist yet */
    void SetListener(Listener listener);

    /** @return all queue pairs by number */
    const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>& GetQueuePairs() const;

    /**
     * @param number of the new queue pair, not in use on this NIC for datagrams, below 2^24
     * @return a queue pair for datagrams
     */
    Ptr<RdmaDatagramQueuePair> CreateDatagramQueuePair(uint32_t number);

  private:
    void DoDispose() override;
    void Receive(Frame* frame);
    void Expect(const Frame& frame, bool isSoon) const;
    RdmaQueuePair* Find(uint32_t number) const;
    void AddToIndex(RdmaQueuePair* queuePair);
    RdmaCongestionControl::Path MakePath(uint64_t rate) const;

    Ptr<HostDevice> m_device;
    std::unordered_map<uint32_t, Ptr<RdmaQueuePair>> m_queuePairs;
    // The same by hash of the number, with open addressing, at most half of it in use: one cache
    // line for a packet, where the nodes of the map would take three.
    std::vector<RdmaQueuePair*> m_index{nullptr};
    std::unordered_map<uint32_t, Ptr<RdmaDatagramQueuePair>> m_datagramQueuePairs;
    Listener m_listener;
    ObjectFactory m_congestionControl;
    const LossRecoveryEntry* m_recovery{nullptr};
    DataRate m_injectionRate;
    TypeId m_congestionControlType;
    std::string m_recoveryName;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_NIC_H
