/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H
#define DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H

#include "message-transport.h"
#include "port-pair-table.h"

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over port pairs, with one connection or several (attribute QueuePairs) per port pair in
 * use. If two ranks have several port pairs, messages use them in turn, or are striped over all of
 * them (attribute Stripe), or are sprayed packet by packet, by one connection over all of them
 * (attribute Spray). Likewise, messages use the connections of a port pair in turn, or are
 * split among all of them (attribute Split), as NCCL does with NCCL_IB_QPS_PER_CONNECTION and
 * NCCL_IB_SPLIT_DATA_ON_QPS. A pool of
 * connections gives each message one that has nothing to send, see UsePool(). The host takes
 * PostLatency, times a factor of the distribution PostJitter, to post a message; it posts in order.
 * No two messages in parts may have one tag and be in flight to one rank.
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

    /**
     * Lets messages use port pairs in turn, and on a port pair the first connection with the fewest
     * messages to send. Messages are neither striped nor split.
     */
    void UsePool();

    /**
     * @param stream first random stream to use
     * @return number of streams used: 1
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Abandons all messages and connections: no message of before arrives any more, whatever is
     * still on its way. Later messages use new connections. All ranks call it at one time, as often
     * as each other. Not for a pool.
     * @param numbers added to the numbers of connections, so that they are new: at least those that
     *        are in use, the same at all ranks
     */
    virtual void Restart(uint32_t numbers);

    void Send(uint32_t peer, Message message) override;

    /// Maximum number of port pairs between two ranks.
    static constexpr uint32_t MAX_PORT_PAIRS = 64;
    /// Maximum number of port pairs over which a connection sprays.
    static constexpr uint32_t MAX_SPRAYED = 32;
    /// Maximum number of connections per port pair.
    static constexpr uint32_t MAX_QUEUE_PAIRS = 64;

    /** Which part of a striped or split message it is: the immediate data of each part. */
    struct PartNumber
    {
        uint32_t index{0}; ///< number of the part
        uint32_t parts{1}; ///< number of parts of the message, at least 1

        /** @return the immediate data */
        uint64_t Pack() const
        {
            return uint64_t{index} << 16 | (parts - 1);
        }

        /**
         * @param immediate the immediate data, of which the upper half is ignored
         * @return the part
         */
        static PartNumber Unpack(uint64_t immediate)
        {
            return {static_cast<uint32_t>(immediate) >> 16,
                    static_cast<uint32_t>(immediate & 0xffff) + 1};
        }
    };

  protected:
    void DoDispose() override;

    /**
     * Sends a message or one part of it.
     * @param peer destination rank
     * @param connection index into GetConnections() of the peer
     * @param part the part to send; its immediate data is a PartNumber
     */
    virtual void SendOn(uint32_t peer, uint32_t connection, Message part) = 0;

    /**
     * @param peer rank
     * @return port pair of each connection to the peer; the first ones use different port pairs
     */
    const std::vector<PortPair>& GetConnections(uint32_t peer);

    /**
     * @param peer rank
     * @return port pairs over which each connection to the peer sprays; empty: its own one only
     */
    const std::vector<PortPair>& GetSprayed(uint32_t peer);

    /**
     * Accepts a received part. The last missing part delivers the message.
     * @param peer source rank
     * @param part the part, with the immediate data that it was sent with
     */
    void DeliverPart(uint32_t peer, const Message& part);

    std::shared_ptr<PortPairTable> m_portPairs; ///< port pairs between the ranks

  private:
    /** The connections to one rank. */
    struct PeerConnections
    {
        std::vector<PortPair> portPairs; ///< by connection
        std::vector<PortPair> sprayed;   ///< @see GetSprayed()
        uint32_t ports{1};               ///< number of different port pairs
        uint32_t next{0};                ///< connection of the next message
        std::vector<uint32_t> messages;  ///< by connection: not yet sent; of a pool
    };

    /** A message with missing parts. */
    struct Partial
    {
        uint32_t arrived{0};
        uint64_t bytes{0};
        std::vector<Ptr<ByteBuffer>> payloads; ///< by part
    };

    PeerConnections& GetPeerConnections(uint32_t peer);
    static uint32_t TakeIdle(PeerConnections& way, SentHandler& sent);
    void SetPostJitter(std::string jitter);
    std::string GetPostJitter() const;
    void Post(uint32_t peer, Message message);
    void PostOf(uint32_t life, uint32_t peer, const Message& message);

    bool m_stripe; // attributes
    bool m_spray;
    bool m_split;
    bool m_isPool{false};
    uint32_t m_queuePairs;
    Time m_postLatency;
    std::string m_postJitter;
    Ptr<RandomVariableStream> m_jitter; // null: none
    Time m_lastPost;                    // time of the last post, perhaps to come
    uint32_t m_life{0};                 // number of calls of Restart()
    std::map<uint32_t, PeerConnections> m_peers;
    std::map<std::pair<uint32_t, uint64_t>, Partial> m_partial; // by peer and tag
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTI_PORT_TRANSPORT_H
