/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LANED_TRANSPORT_H
#define DISTRIBUTED_TRAINING_LANED_TRANSPORT_H

#include "lane-table.h"
#include "message-transport.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * Messages over lanes: a connection for each lane that is used. Between two ranks with several
 * lanes messages take turns on the lanes, or are cut into a part for each (attribute Stripe); then
 * no two messages of one tag may be on their way to one rank.
 */
class LanedTransport : public MessageTransport
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank this rank
     * @param lanes between the ranks
     */
    void SetLanes(uint32_t rank, std::shared_ptr<LaneTable> lanes);

    /**
     * As SetLanes() with one lane between each two ranks.
     * @param rank this rank
     * @param endpoints endpoint of each rank
     */
    void SetGroup(uint32_t rank, std::vector<uint32_t> endpoints);

    void Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload) override;

    /// Most lanes between two ranks.
    static constexpr uint32_t MOST_LANES = 64;

  protected:
    /** A message, or one of the parts it is cut into. */
    struct Part
    {
        uint64_t tag;            ///< of the message
        uint64_t bytes;          ///< of the part
        Ptr<ByteBuffer> payload; ///< sending: of the message; received: of the part; or null
        uint64_t offset;         ///< sending: of the part in `payload`
        uint32_t index;          ///< number of the part
        uint32_t parts;          ///< of the message, 1 to MOST_LANES
    };

    void DoDispose() override;

    /**
     * Sends a message or a part of one.
     * @param peer rank
     * @param lane number of one of its lanes
     * @param part what to send
     */
    virtual void SendOn(uint32_t peer, uint32_t lane, const Part& part) = 0;

    /**
     * @param peer rank
     * @return the lanes to it
     */
    const std::vector<Lane>& GetLanes(uint32_t peer);

    /**
     * Takes a part that has arrived; the message is handed up when all have.
     * @param peer rank that sent it
     * @param part the part
     */
    void DeliverPart(uint32_t peer, const Part& part);

    std::shared_ptr<LaneTable> m_lanes; ///< between the ranks

  private:
    /** The way to one rank. */
    struct Way
    {
        std::vector<Lane> lanes;
        uint32_t next{0}; ///< lane of the next message
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

#endif // DISTRIBUTED_TRAINING_LANED_TRANSPORT_H
