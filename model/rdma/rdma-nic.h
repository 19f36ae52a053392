/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_NIC_H
#define DISTRIBUTED_TRAINING_RDMA_NIC_H

#include "rdma-connection-table.h"
#include "rdma-datagram-queue-pair.h"
#include "rdma-port.h"
#include "rdma-queue-pair.h"

#include "ns3/data-rate.h"
#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The RDMA engine of one host device: creates queue pairs, holds their settings as attributes, and
 * delivers each frame to its destination queue pair.
 */
class RdmaNic : public Object, public RdmaPort, public RdmaEngine, public NetworkPart
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    RdmaNic();
    ~RdmaNic() override;

    /**
     * @param device the port that it sends on
     * @throw ConfigurationError if attributes of the congestion control are inconsistent
     */
    void Attach(Ptr<HostDevice> device);

    /**
     * @param number of the new queue pair, unused on this NIC, below 2^24
     * @param remoteEndpoint endpoint of the remote side
     * @param remoteNumber number of the remote queue pair
     * @param rate rate of the port that the path begins with, bit/s; 0: that of the device
     * @param pathRate rate of the slowest link on the path, bit/s; 0: unknown. Used only if the
     *        attribute PathRateCap is set, as a NIC does not know it.
     * @return the queue pair, connected
     */
    Ptr<RdmaQueuePair> CreateQueuePair(uint32_t number,
                                       uint32_t remoteEndpoint,
                                       uint32_t remoteNumber,
                                       uint64_t rate = 0,
                                       uint64_t pathRate = 0);

    /**
     * Closes queue pairs, see RdmaQueuePair::Close(). Frames for them are dropped from now on.
     * @param numbers of the queue pairs
     */
    void Close(const std::vector<uint32_t>& numbers);

    /** Creates the queue pair for a number in a received frame, or returns null to refuse it. */
    using Listener = RdmaConnectionTable<RdmaQueuePair>::Listener;

    /**
     * Sets the attribute CongestionControl, including attributes of its objects. Call before
     * Attach().
     * @param factory creates the congestion control of each queue pair
     */
    void SetCongestionControl(const ObjectFactory& factory);

    /**
     * @param listener asked for queue pairs that do not exist yet, the last one added first; may
     *        do nothing but create them, see RdmaEngine
     */
    void AddListener(Listener listener)
    {
        m_queuePairs.AddListener(std::move(listener));
    }

    /** Forgets all listeners. */
    void RemoveListeners()
    {
        m_queuePairs.RemoveListeners();
    }

    /** @return all queue pairs by number */
    const std::unordered_map<uint32_t, Ptr<RdmaQueuePair>>& GetQueuePairs() const;

    /**
     * @param number of the new queue pair, unused by datagram queue pairs of this NIC, below 2^24
     * @return a datagram queue pair
     */
    Ptr<RdmaDatagramQueuePair> CreateDatagramQueuePair(uint32_t number);

    // LongMessageSource
    bool IsLong(uint32_t flow) const override;
    void ReportPeriods(uint32_t flow, bool reports) override;

    // NetworkPart
    void CatchUp() const override;

    // RdmaEngine
    void Receive(Frame* frame) override;
    void Prefetch(const Frame& frame, bool isSoon) const override;
    void PrefetchTurn(bool isSoon) const override;
    bool Visit(StateVisitor& visitor, bool isIdle) override;
    uint64_t GetLeastTimeToEnd() const override;
    bool IsObserved() const override;
    bool IsQuiet(int64_t duration) const override;
    bool IsQuiet(const Frame& frame) const override;

  private:
    void DoDispose() override;
    std::unique_ptr<RdmaLossRecovery> MakeRecovery() const;
    RdmaCongestionControl::Path MakePath(uint64_t rate) const;

    Ptr<HostDevice> m_device;
    RdmaConnectionTable<RdmaQueuePair> m_queuePairs;
    std::unordered_map<uint32_t, Ptr<RdmaDatagramQueuePair>> m_datagramQueuePairs;
    ObjectFactory m_congestionControl;
    std::optional<Choice<LossRecoveryEntry>> m_recovery;
    DataRate m_injectionRate;
    bool m_pathRateCap;
    bool m_keepsPackets{false}; // loss recovery keeps packets ahead of a gap
    TypeId m_congestionControlType;
    std::string m_recoveryName;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_NIC_H
