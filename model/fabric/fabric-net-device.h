/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_NET_DEVICE_H
#define DISTRIBUTED_TRAINING_FABRIC_NET_DEVICE_H

#include "fabric-channel.h"

#include "ns3/net-device.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The interface of a fabric endpoint to the stock ns-3 stack. Its MAC address is derived from the
 * endpoint number, so it needs no ARP. It does not support bridging or SendFrom(). Subclasses
 * implement sending and receiving.
 */
class FabricNetDevice : public NetDevice
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return endpoint number */
    uint32_t GetEndpoint() const;

    /** @param channel link of the device */
    void SetChannel(Ptr<FabricChannel> channel);

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

  protected:
    void DoDispose() override;

    /**
     * Passes a packet up to the stack.
     * @param packet received packet
     * @param protocol its EtherType
     * @param from sender address
     * @return whether the stack has a handler of the protocol
     */
    bool PassUp(Ptr<Packet> packet, uint16_t protocol, const Address& from);

    /** Notifies the stack that the link has gone up or down. */
    void CallLinkChange();

    uint32_t m_endpoint{0}; ///< endpoint number

  private:
    Ptr<Node> m_node;
    Ptr<FabricChannel> m_channel;
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;
    uint32_t m_interface{0};
    uint16_t m_mtu{0};
    TracedCallback<> m_linkChange;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_NET_DEVICE_H
