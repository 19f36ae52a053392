/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_NIC_H
#define DISTRIBUTED_TRAINING_UEC_NIC_H

#include "rdma-connection-table.h"
#include "uec-connection.h"
#include "uec-port.h"

#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The Ultra Ethernet engine of one host device: creates connections, holds their settings as
 * attributes, and delivers each frame to its connection.
 */
class UecNic : public Object, public UecPort
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    UecNic();
    ~UecNic() override;

    /**
     * Sets the attribute CongestionControl, including attributes of its objects. Call before
     * Attach().
     * @param factory creates the congestion control of each connection
     */
    void SetCongestionControl(const ObjectFactory& factory);

    /** @param device the port that it sends on */
    void Attach(Ptr<HostDevice> device);

    /**
     * @param number of the new connection, unused on this NIC, below 2^24
     * @param remoteEndpoint endpoint of the remote side
     * @param remoteNumber number of the connection there
     * @param ports pairs of ports over which it sprays; none: this port and the remote one
     * @return the connection
     * @throw ConfigurationError if it sprays and needs credit, which is that of one receiving port
     */
    Ptr<UecConnection> CreateConnection(uint32_t number,
                                        uint32_t remoteEndpoint,
                                        uint32_t remoteNumber,
                                        const std::vector<UecPortPair>& ports = {});

    /** Maximum number of pairs of ports over which a connection sprays. */
    static constexpr uint32_t MAX_PORTS = 32;

    /** @param main NIC of the host that has the connections of several ports, also of this one */
    void SetMain(UecNic* main)
    {
        m_main = main;
    }

    /**
     * Closes connections, see UecConnection::Close(). Frames for them are dropped from now on.
     * @param numbers of the connections
     */
    void Close(const std::vector<uint32_t>& numbers);

    /** Creates the connection for a number in a received frame, or returns null to refuse it. */
    using Listener = RdmaConnectionTable<UecConnection>::Listener;

    /** @param listener asked for connections that do not exist yet, the last one added first */
    void AddListener(Listener listener)
    {
        m_connections.AddListener(std::move(listener));
    }

    /** Forgets all listeners. */
    void RemoveListeners()
    {
        m_connections.RemoveListeners();
    }

    /** @return all connections by number */
    const std::unordered_map<uint32_t, Ptr<UecConnection>>& GetConnections() const;

    /**
     * @param stream first random number stream
     * @return number of streams used
     */
    int64_t AssignStreams(int64_t stream);

  private:
    void DoDispose() override;
    void Receive(Frame* frame);
    void OnLinkChange();

    Ptr<HostDevice> m_device;
    UecNic* m_main{nullptr}; // null: itself
    RdmaConnectionTable<UecConnection> m_connections;
    ObjectFactory m_congestionControl;
    TypeId m_congestionControlType;
    UecCongestionControl::Path m_path{};
    uint32_t m_paths;
    double m_creditRate;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_NIC_H
