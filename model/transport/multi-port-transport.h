/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H
#define DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H

#include "message-transport.h"
#include "port-pair-table.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over portPairs: a connection for each port pair that is used. Between two ranks with
 * several port pairs messages take turns on the portPairs, or are cut into a part for each
 * (attribute Stripe); then no two messages of one tag may be on their way to one rank.
 */
class MultiPortTransport : public MessageTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank this rank
     * @param port pairs between the ranks
     */
    void SetPortPairs(uint32_t rank, std::shared_ptr<PortPairTable> portPairs);

    /**
     * As SetPortPairs() with one port pair between each two ranks.
     * @param rank this rank
     * @param endpoints endpoint of each rank
     */
    void SetGroup(uint32_t rank, std::vector<uint32_t> endpoints);

    void Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) override;

    /// Most port pairs between two ranks.
    static constexpr uint32_t MAX_PORT_PAIRS = 64;

  protected:
    /** A message, or one of the parts it is cut into. */
    struct Part
    {
        uint64_t tag;            ///< of the message
        uint64_t bytes;          ///< of the part
        Ptr<ByteBuffer> payload; ///< sending: of the message; received: of the part; or null
        uint64_t offset;         ///< sending: of the part in `payload`
        uint32_t index;          ///< number of the part
        uint32_t parts;          ///< of the message, 1 to MAX_PORT_PAIRS
    };

    void DoDispose() override;

    /**
     * Sends a message or a part of one.
     * @param peer rank
     * @param port pair number of one of its portPairs
     * @param part to send
     */
    virtual void SendOn(uint32_t peer, uint32_t portPair, const Part& part) = 0;

    /**
     * @param peer rank
     * @return the port pairs to it
     */
    const std::vector<PortPair>& GetPortPairs(uint32_t peer);

    /**
     * Takes a part that has arrived; the message is handed up when all have.
     * @param peer rank that sent it
     * @param part the part
     */
    void DeliverPart(uint32_t peer, const Part& part);

    std::shared_ptr<PortPairTable> m_portPairs; ///< between the ranks

  private:
    /** The way to one rank. */
    struct Way
    {
        std::vector<PortPair> portPairs;
        uint32_t next{0}; ///< port pair of the next message
    };

    /** A message of which parts are missing. */
    struct Partial
    {
        uint32_t arrived{0};
        uint64_t bytes{0};
        std::vector<Ptr<ByteBuffer>> payloads; ///< of the parts
    };

    Way& GetWay(uint32_t peer);

    bool m_stripe;
    std::map<uint32_t, Way> m_ways;
    std::map<std::pair<uint32_t, uint64_t>, Partial> m_partial; // by peer and tag
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H
