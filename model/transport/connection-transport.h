/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H
#define DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H

#include "multi-port-transport.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over connections of NICs, each with a number of its own. Among N ranks, connection i to
 * peer p has number `first` + p + i N at every rank. So both sides know each other's number without
 * an exchange, and each side creates its connection on the first send or receive. A part of a
 * message that is longer than a request takes several.
 *
 * @tparam NIC creates connections, and asks a listener for those that do not exist yet
 * @tparam CONNECTION calls handlers for messages and errors
 */
template <class NIC, class CONNECTION>
class ConnectionTransport : public MultiPortTransport
{
  public:
    /**
     * @param first lowest number of a connection, in place of that of the constructor; call before
     *        SetNics(). Transports of a NIC have disjoint ranges
     */
    void SetFirst(uint32_t first)
    {
        m_first = first;
    }

    /** @param nics of the rails of this rank's host; call SetPortPairs() or SetGroup() before */
    void SetNics(std::vector<Ptr<NIC>> nics)
    {
        m_nics = std::move(nics);
        for (uint32_t rail = 0; rail < m_nics.size(); rail++)
        {
            m_nics[rail]->AddListener(
                [this, rail](uint32_t number) { return Accept(rail, number); });
        }
    }

    /** @param number of a connection @return the rank at its other end */
    uint32_t GetPeer(uint32_t number) const
    {
        return (number - m_first) % m_portPairs->GetRanks();
    }

    void Restart(uint32_t numbers) override
    {
        std::map<uint32_t, std::vector<uint32_t>> closed; // by rail
        for (auto& [key, entry] : m_connections)
        {
            const auto [peer, index] = key;
            closed[GetConnections(peer)[index].rail].push_back(
                m_first + index * m_portPairs->GetRanks() + peer);
        }
        for (const auto& [rail, connections] : closed)
        {
            m_nics.at(rail)->Close(connections);
        }
        m_connections.clear();
        m_first += numbers;
        MultiPortTransport::Restart(numbers);
    }

  protected:
    /**
     * @param first lowest number of a connection
     * @param limit largest request, bytes
     */
    ConnectionTransport(uint32_t first, uint64_t limit)
        : m_first(first),
          m_limit(limit)
    {
    }

    void DoDispose() override
    {
        for (auto& [key, entry] : m_connections)
        {
            entry.connection->SetMessageHandler(nullptr);
            entry.connection->SetErrorHandler(nullptr);
        }
        m_connections.clear();
        for (const auto& nic : m_nics)
        {
            nic->RemoveListeners();
        }
        m_nics.clear();
        MultiPortTransport::DoDispose();
    }

    /**
     * @param peer rank
     * @param index of the connection, see GetConnections()
     * @return the connection, created on the first call
     */
    CONNECTION& GetConnection(uint32_t peer, uint32_t index)
    {
        const auto found = m_connections.find({peer, index});
        if (found != m_connections.end())
        {
            return *found->second.connection;
        }
        const uint32_t number = m_first + index * m_portPairs->GetRanks();
        const auto connection = CreateConnection(peer,
                                                 number + peer,
                                                 GetConnections(peer)[index],
                                                 number + m_portPairs->GetRankAt(m_rank, peer));
        connection->SetMessageHandler(
            [this, peer, index](const Message& request) { Receive(peer, index, request); });
        connection->SetErrorHandler(
            [this, peer](const std::string& reason) { Fail(peer, reason); });
        m_connections[{peer, index}].connection = connection; // unless it was refused
        return *connection;
    }

    /** @param rail a port of the host @return its NIC */
    NIC& GetNic(uint32_t rail) const
    {
        return *m_nics.at(rail);
    }

    /**
     * @param visit called for each connection in use, in the order of peers
     */
    template <class F>
    void ForEachConnection(const F& visit) const
    {
        for (const auto& [key, entry] : m_connections)
        {
            visit(*entry.connection);
        }
    }

  private:
    /** A connection in use. */
    struct Entry
    {
        Ptr<CONNECTION> connection;
        std::unique_ptr<Message> begun{}; // requests of a part so far, if it takes several
    };

    /**
     * @param peer rank
     * @param number of the connection at the NIC of the port pair
     * @param way the port pair
     * @param remoteNumber its number at the peer
     * @return the new connection
     */
    virtual Ptr<CONNECTION> CreateConnection(uint32_t peer,
                                             uint32_t number,
                                             const PortPair& way,
                                             uint32_t remoteNumber) = 0;

    /**
     * Posts a request on a connection.
     * @param connection to the peer
     * @param request the request, with the immediate data of its part
     * @param isLast whether it is the last one of its part, which IsLast() tells the receiver
     */
    virtual void Post(CONNECTION& connection, Message request, bool isLast) = 0;

    /**
     * @param request a received request
     * @return whether it is the last one of its part
     */
    virtual bool IsLast(const Message& request) const = 0;

    void SendOn(uint32_t peer, uint32_t index, Message part) override
    {
        CONNECTION& connection = GetConnection(peer, index);
        const uint64_t mtu = m_nics.front()->GetSettings().mtu;
        // Each request but the last holds whole packets, so this adds no short packets.
        const uint64_t longest = m_limit / mtu * mtu;
        while (part.bytes > longest)
        {
            Message request = part;
            request.bytes = longest;
            request.sent = nullptr;
            Post(connection, std::move(request), false);
            part.bytes -= longest;
            part.payloadOffset += longest;
        }
        Post(connection, std::move(part), true);
    }

    void Receive(uint32_t peer, uint32_t index, const Message& request)
    {
        std::unique_ptr<Message>& begun = m_connections.at({peer, index}).begun;
        if (!begun)
        {
            if (IsLast(request))
            {
                DeliverPart(peer, request);
            }
            else
            {
                begun = std::make_unique<Message>(request);
            }
            return;
        }
        begun->bytes += request.bytes;
        if (request.payload)
        {
            const auto& more = request.payload->bytes;
            begun->payload->bytes.insert(begun->payload->bytes.end(), more.begin(), more.end());
        }
        if (IsLast(request))
        {
            begun->immediate = request.immediate;
            const auto whole = std::move(begun);
            DeliverPart(peer, *whole);
        }
    }

    CONNECTION* Accept(uint32_t rail, uint32_t number)
    {
        const uint32_t peer = GetPeer(number);
        const uint32_t index = (number - m_first) / m_portPairs->GetRanks();
        const bool isKnown = number >= m_first && peer != m_rank &&
                             index < GetConnections(peer).size() &&
                             GetConnections(peer)[index].rail == rail;
        return isKnown ? &GetConnection(peer, index) : nullptr;
    }

    uint32_t m_first;
    const uint64_t m_limit;
    std::vector<Ptr<NIC>> m_nics;
    std::map<std::pair<uint32_t, uint32_t>, Entry> m_connections; // by peer and index
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H
