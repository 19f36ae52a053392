/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_DEVICE_H
#define DISTRIBUTED_TRAINING_HOST_DEVICE_H

#include "fabric-channel.h"
#include "fabric-port.h"

#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"

#include <functional>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * One network port of a host. To the stock ns-3 stack it is a NetDevice that carries IPv4; beside
 * it, an RDMA engine sends and receives frames through the same port.
 *
 * A host device is an endpoint of the fabric. Endpoint e has the IPv4 address 10.0.0.1 + e and the
 * MAC address 02:00 followed by e, so addresses need no resolution protocol.
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

    /** @param receiver takes over every RoCE frame that arrives */
    void SetRdmaReceiver(std::function<void(Frame*)> receiver);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void BeginTransmit(Frame& frame, FabricPort& port) override;

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

    Ptr<Node> m_node;
    Ptr<FabricChannel> m_channel;
    std::unique_ptr<FabricPort> m_port;
    std::function<void(Frame*)> m_rdmaReceiver;
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;
    uint32_t m_endpoint{0};
    uint32_t m_interface{0};
    uint16_t m_mtu;
    uint8_t m_ipPriority;
    uint64_t m_ipQueueLimit;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_DEVICE_H
