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
 * Messages over port pairs, with one connection per port pair in use. If two ranks have several
 * port pairs, messages use them in turn, or are striped over all of them (attribute Stripe). With
 * striping, no two messages of one tag may be in flight to one rank.
 */
class MultiPortTransport : public MessageTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank this rank
     * @param portPairs the port pairs between the ranks
     */
    void SetPortPairs(uint32_t rank, std::shared_ptr<PortPairTable> portPairs);

    /**
     * Like SetPortPairs(), with one port pair between any two ranks.
     * @param rank this rank
     * @param endpoints endpoint of each rank
     */
    void SetGroup(uint32_t rank, std::vector<uint32_t> endpoints);

    void Send(uint32_t peer,
              uint64_t tag,
              uint64_t bytes,
              Ptr<ByteBuffer> payload,
              SentHandler sent = nullptr) override;

    /// Maximum number of port pairs between two ranks.
    static constexpr uint32_t MAX_PORT_PAIRS = 64;

  protected:
    /** A message, or one part of a striped message. */
    struct Part
    {
        uint64_t tag;            ///< of the message
        uint64_t bytes;          ///< of the part
        Ptr<ByteBuffer> payload; ///< sent: of the message; received: of the part; null: virtual
        uint64_t offset;         ///< sent: offset of the part in `payload`, bytes
        uint32_t index;          ///< number of the part
        uint32_t parts;          ///< number of parts of the message, 1 to MAX_PORT_PAIRS
        SentHandler sent{}; ///< sent: called once when its last byte has been passed on; or null
    };

    void DoDispose() override;

    /**
     * Sends a message or one part of it.
     * @param peer destination rank
     * @param portPair index into GetPortPairs() of the peer
     * @param part the part to send
     */
    virtual void SendOn(uint32_t peer, uint32_t portPair, const Part& part) = 0;

    /**
     * @param peer rank
     * @return the port pairs to the peer
     */
    const std::vector<PortPair>& GetPortPairs(uint32_t peer);

    /**
     * Accepts a received part. The last missing part delivers the message.
     * @param peer source rank
     * @param part the part
     */
    void DeliverPart(uint32_t peer, const Part& part);

    std::shared_ptr<PortPairTable> m_portPairs; ///< port pairs between the ranks

  private:
    /** The port pairs to one rank. */
    struct PeerPortPairs
    {
        std::vector<PortPair> portPairs;
        uint32_t next{0}; ///< port pair of the next message
    };

    /** A message with missing parts. */
    struct Partial
    {
        uint32_t arrived{0};
        uint64_t bytes{0};
        std::vector<Ptr<ByteBuffer>> payloads; ///< by part
    };

    PeerPortPairs& GetPeerPortPairs(uint32_t peer);

    bool m_stripe;
    std::map<uint32_t, PeerPortPairs> m_peers;
    std::map<std::pair<uint32_t, uint64_t>, Partial> m_partial; // by peer and tag
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H
