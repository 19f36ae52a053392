/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_DEVICE_H
#define DISTRIBUTED_TRAINING_HOST_DEVICE_H

#include "fabric-channel.h"
#include "fabric-port.h"
#include "nic-program.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * One network port of a host; a host with several rails has several. To the stock ns-3 stack it is
 * a NetDevice that carries IPv4; beside it, an RDMA engine sends and receives frames through the
 * same port.
 *
 * A host device is an endpoint of the fabric. Endpoint e has the IPv4 address 10.0.0.1 + e and the
 * MAC address 02:00 followed by e, so addresses need no resolution protocol.
 *
 * A host that is slow to take in what it receives (ReceiveRate) fills its receive buffer; of
 * lossless classes it pauses the switch before that is full, of lossy ones it drops.
 */
class HostDevice : public NetDevice, public FabricPortOwner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    HostDevice();
    ~HostDevice() override;

    /**
     * @param endpoint number of an endpoint
     * @return its IPv4 address
     */
    static Ipv4Address GetIpv4Address(uint32_t endpoint);

    /**
     * Gives the device its place in the fabric; called once its node is set.
     * @param endpoint its number
     */
    void SetEndpoint(uint32_t endpoint);

    /** @return its number */
    uint32_t GetEndpoint() const;

    /** @return its port */
    FabricPort& GetPort();
    /** @return its port */
    const FabricPort& GetPort() const;

    /** @param channel the link it is on */
    void SetChannel(Ptr<FabricChannel> channel);

    /** The link has gone up or down: tells those that asked to know. */
    void NotifyLinkChange();

    /**
     * @param program sees every frame sent and received from now on; one at most
     */
    void SetProgram(Ptr<NicProgram> program);

    /**
     * @param rate at which the host takes frames in from now on; 0: as fast as they come
     */
    void SetReceiveRate(DataRate rate);

    /**
     * @param receiver takes over every RoCE frame that arrives
     * @param expect is told of many of them a little before, to bring into the cache what they
     * need; of a frame first with false, and when that has come, with true
     */
    void SetRdmaReceiver(std::function<void(Frame*)> receiver,
                         std::function<void(const Frame&, bool)> expect = nullptr);

    /**
     * @param job number of a job whose sums are made in the network
     * @param receiver takes over every frame of it that arrives; null: no longer
     */
    void SetAggregationReceiver(uint8_t job, std::function<void(Frame*)> receiver);

    /**
     * @param job number of a job that this host is a server of, beside being a worker or not
     * @param receiver takes over every frame of workers' values that arrives; null: no longer
     */
    void SetAggregationServer(uint8_t job, std::function<void(Frame*)> receiver);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void Expect(const Frame& frame) override;
    void ExpectSoon(const Frame& frame) override;
    bool BeginTransmit(Frame& frame, FabricPort& port) override;

    // NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  private:
    void DoDispose() override;
    void SetStrictPriorities(uint8_t priorities);
    uint8_t GetStrictPriorities() const;
    void SetWeights(std::string weights);
    std::string GetWeights() const;
    void TakeIn(Frame* frame);
    void EndTakeIn();
    void ControlSender();
    void RenewPause();
    void Deliver(Frame* frame);

    Ptr<Node> m_node;
    Ptr<FabricChannel> m_channel;
    Ptr<FabricPort> m_port;
    std::function<void(Frame*)> m_rdmaReceiver;
    std::function<void(const Frame&, bool)> m_expectRdma;
    std::map<uint8_t, std::function<void(Frame*)>> m_aggregationReceivers; // by job
    std::map<uint8_t, std::function<void(Frame*)>> m_aggregationServers;   // by job
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;
    uint32_t m_endpoint{0};
    uint32_t m_interface{0};
    uint16_t m_mtu;
    uint8_t m_ipPriority;
    uint64_t m_ipQueueLimit;
    Ptr<NicProgram> m_program;
    TracedCallback<> m_linkChange;

    // Frames that a slow host has not taken in yet.
    std::deque<Frame*> m_received;
    uint64_t m_losslessBytes{0};
    uint64_t m_lossyBytes{0};
    uint8_t m_pausing{0}; // bit p: priority p of the switch's port is paused
    DataRate m_receiveRate;
    uint64_t m_receiveBuffer;
    uint8_t m_losslessClasses;
    EventId m_takingIn;
    EventId m_pauseRenewal;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_DEVICE_H
