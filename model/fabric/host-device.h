/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_DEVICE_H
#define DISTRIBUTED_TRAINING_HOST_DEVICE_H

#include "fabric-net-device.h"
#include "fabric-port.h"
#include "host-receiver.h"
#include "ip-neighbors.h"
#include "nic-program.h"
#include "program-receivers.h"
#include "rdma-engine.h"

#include "ns3/data-rate.h"
#include "ns3/ipv4-address.h"
#include "ns3/traced-callback.h"
#include "ns3/training-network-part.h"

#include <functional>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * One network port of a host; a host with several rails has several. For the stock ns-3 stack it is
 * a NetDevice that carries IPv4. An RDMA engine sends and receives frames through the same port.
 *
 * A host device is an endpoint of the fabric. Endpoint e has the MAC address 02:00 followed by e,
 * and usually the IPv4 address 10.0.0.1 + e. Its IP stack may give it other addresses: IpNeighbors
 * finds the next hop of a packet, so no address resolution protocol is needed. A packet whose next
 * hop is not on the fabric is dropped (DropReason::NO_ROUTE).
 *
 * HostReceiveBuffer models a host that processes received frames slowly (attribute ReceiveRate).
 */
class HostDevice : public FabricNetDevice, public FabricPortOwner, public NetworkPart
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    HostDevice();
    ~HostDevice() override;

    /**
     * @param endpoint endpoint number
     * @return its IPv4 address
     */
    static Ipv4Address GetIpv4Address(uint32_t endpoint);

    /**
     * Sets the endpoint number and derives the addresses; called after the node has been set.
     * @param endpoint endpoint number
     */
    void SetEndpoint(uint32_t endpoint);

    /**
     * Shares a table of the hosts' IP addresses; without one, packets go to the host that usually
     * has the address.
     * @param neighbors of all devices of the fabric
     */
    void SetNeighbors(std::shared_ptr<IpNeighbors> neighbors)
    {
        m_neighbors = std::move(neighbors);
    }

    /** @return its port */
    FabricPort& GetPort()
    {
        return *m_port;
    }

    /** @return its port */
    const FabricPort& GetPort() const
    {
        return *m_port;
    }

    /**
     * Loads a NIC program.
     * @param program program that sees every frame sent and received from now on; at most one per
     *        NIC
     */
    void SetProgram(Ptr<NicProgram> program);

    /** @return its program, or null */
    Ptr<NicProgram> GetProgram() const
    {
        return m_program;
    }

    /** @param rate processing rate of received frames from now on; 0: unlimited */
    void SetReceiveRate(DataRate rate);

    /** @param engine takes over every RoCE frame that arrives; null: none; must outlive its use */
    void SetRdmaEngine(RdmaEngine* engine)
    {
        m_rdmaEngine = engine;
    }

    /** @return whether no trace sink, tap or program learns of quiet events, see RdmaEngine */
    bool IsUnobserved() const;

    /** @return see RdmaEngine::GetLeastTimeToEnd() */
    uint64_t GetLeastTimeToEnd() const
    {
        return m_rdmaEngine ? m_rdmaEngine->GetLeastTimeToEnd() : 0;
    }

    // NetworkPart
    void CatchUp() const override;

    /**
     * @param duration time from now on, ps
     * @return whether for that long all its events are quiet, see RdmaEngine::IsQuiet()
     */
    bool IsQuiet(int64_t duration) const;

    /// Stages of PrefetchTurn().
    static constexpr uint32_t TURN_STAGES = 4;

    /**
     * Prefetches what its next events need.
     * @param stage 0 first, TURN_STAGES - 1 last: each one reads what the one before has prefetched
     */
    void PrefetchTurn(uint32_t stage) const;

    /**
     * @param frame a positive acknowledgement that arrives later
     * @return whether its arrival is quiet if only quiet events come before
     */
    bool IsQuiet(const Frame& frame) const;

    /**
     * Visits its state, that of its port and that of its RDMA engine.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

    /**
     * @param protocol protocol number; the protocol must have registered a WireFormat with a key
     * @param key key of the receiver in its frames, such as a job number
     * @param receiver takes over every arriving frame of that protocol and key; null: removes the
     *        receiver
     */
    void SetProgramReceiver(uint16_t protocol, uint32_t key, std::function<void(Frame*)> receiver);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void Prefetch(const Frame& frame) override;
    const FabricPort* PrefetchSoon(const Frame& frame) override;
    bool BeginTransmit(Frame& frame, FabricPort& port) override;

    void NotifyLinkChange() override
    {
        CallLinkChange();
    }

    uint64_t GetHeldBytes(uint16_t, uint8_t priority) const override
    {
        return m_receiver.GetHeldBytes(priority);
    }

    Time GetPauseResponse(uint64_t bitsPerSecond) const override;

    // NetDevice
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;

  private:
    void DoDispose() override;
    void ReceiveByProgram(Frame* frame);
    void Deliver(Frame* frame);
    bool DropPacket(Ptr<Packet> packet, DropReason reason);

    Ptr<FabricPort> m_port;
    RdmaEngine* m_rdmaEngine{nullptr};
    ProgramReceivers m_programReceivers;
    uint8_t m_ipPriority;
    uint64_t m_ipQueueLimit;
    Ptr<NicProgram> m_program;
    HostReceiveBuffer::Settings m_receiving;
    HostReceiver m_receiver;
    Time m_pauseResponse; // negative: limit of the standard
    TracedCallback<Ptr<const Packet>> m_macTxTrace;
    TracedCallback<Ptr<const Packet>> m_macTxDropTrace;
    TracedCallback<Ptr<const Packet>> m_macRxTrace;
    std::shared_ptr<IpNeighbors> m_neighbors; // null: hosts have their usual addresses
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_DEVICE_H
