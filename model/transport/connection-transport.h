/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H
#define DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H

#include "multi-port-transport.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
 * @tparam MESSAGE what it passes to the handler
 */
template <class NIC, class CONNECTION, class MESSAGE>
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
    /** @param first lowest number of a connection */
    explicit ConnectionTransport(uint32_t first)
        : m_first(first)
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
        Entry& entry = m_connections[{peer, index}];
        if (!entry.connection)
        {
            const uint32_t number = m_first + index * m_portPairs->GetRanks();
            const PortPair& way = GetConnections(peer)[index];
            entry.connection =
                CreateConnection(*m_nics.at(way.rail), number + peer, way, number + m_rank);
            entry.connection->SetMessageHandler(
                [this, peer, index](const MESSAGE& message) { Receive(peer, index, message); });
            entry.connection->SetErrorHandler(
                [this, peer](const std::string& reason) { Fail(peer, reason); });
        }
        return *entry.connection;
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

    /**
     * Divides a part into requests. Each one but the last holds whole packets, so this adds no
     * short packets.
     * @param part the part
     * @param limit largest request, bytes
     * @param post called for each request with its offset in the part, its bytes, and whether it is
     *        the last one
     */
    template <class F>
    void ForEachRequest(const Part& part, uint64_t limit, const F& post) const
    {
        const uint64_t mtu = m_nics.front()->GetSettings().mtu;
        const uint64_t longest = limit / mtu * mtu;
        uint64_t sent = 0;
        do
        {
            const uint64_t bytes = std::min(longest, part.bytes - sent);
            post(sent, bytes, sent + bytes == part.bytes);
            sent += bytes;
        } while (sent < part.bytes);
    }

    /**
     * @param part a part
     * @return its number and the number of parts, as the last request carries them
     */
    static uint32_t GetNumber(const Part& part)
    {
        return part.index << INDEX_SHIFT | (part.parts - 1);
    }

    /**
     * Accepts a received request. The last one of a part delivers the part.
     * @param peer source rank
     * @param index of the connection
     * @param tag of the message
     * @param bytes size of the request
     * @param payload its contents, or null
     * @param number GetNumber() of the part, if it is the last one
     */
    void ReceiveRequest(uint32_t peer,
                        uint32_t index,
                        uint64_t tag,
                        uint64_t bytes,
                        Ptr<ByteBuffer> payload,
                        std::optional<uint32_t> number)
    {
        Arriving& arriving = m_connections.at({peer, index}).arriving;
        arriving.Append(bytes, std::move(payload));
        if (number)
        {
            const Arriving whole = std::exchange(arriving, {});
            DeliverPart(peer,
                        {tag,
                         whole.bytes,
                         whole.payload,
                         0,
                         *number >> INDEX_SHIFT,
                         (*number & ((1 << INDEX_SHIFT) - 1)) + 1});
        }
    }

  private:
    /** A connection in use, and the part being received on it. */
    struct Entry
    {
        Ptr<CONNECTION> connection;
        Arriving arriving{};
    };

    /// Index of a part in the upper half of its number, number of parts minus one in the lower.
    static constexpr uint32_t INDEX_SHIFT = 16;

    /**
     * @param nic that has the connection
     * @param number its number there
     * @param way the port pair
     * @param remoteNumber its number at the peer
     * @return the new connection
     */
    virtual Ptr<CONNECTION> CreateConnection(NIC& nic,
                                             uint32_t number,
                                             const PortPair& way,
                                             uint32_t remoteNumber) = 0;

    /**
     * Passes a message of a connection to ReceiveRequest().
     * @param peer source rank
     * @param index of the connection
     * @param message the message
     */
    virtual void Receive(uint32_t peer, uint32_t index, const MESSAGE& message) = 0;

    CONNECTION* Accept(uint32_t rail, uint32_t number)
    {
        const uint32_t peer = (number - m_first) % m_portPairs->GetRanks();
        const uint32_t index = (number - m_first) / m_portPairs->GetRanks();
        const bool isKnown = number >= m_first && peer != m_rank &&
                             index < GetConnections(peer).size() &&
                             GetConnections(peer)[index].rail == rail;
        return isKnown ? &GetConnection(peer, index) : nullptr;
    }

    uint32_t m_first;
    std::vector<Ptr<NIC>> m_nics;
    std::map<std::pair<uint32_t, uint32_t>, Entry> m_connections; // by peer and index
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CONNECTION_TRANSPORT_H
