/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_ENDPOINT_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_ENDPOINT_H

#include "communicator-records.h"
#include "message-grants.h"
#include "message-tag.h"
#include "shared-transport.h"

#include "ns3/collective-schedule.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * One rank's end of a communicator: sends its messages over the transport of the rank, and keeps
 * what collectives have not asked for yet: chunks, and grants.
 */
class CommunicatorEndpoint
{
  public:
    /** Chunks of a collective, as they travel. */
    struct Chunk
    {
        uint64_t bytes;            ///< of the message
        Ptr<ByteBuffer> payload{}; ///< contents; null: virtual
        Time arrived{};            ///< when it was received
    };

    /** @param onSend called for each message; must outlive the endpoint */
    explicit CommunicatorEndpoint(const TracedCallback<const MessageRecord&>& onSend);

    /**
     * Joins a communicator.
     * @param transport of the rank
     * @param number of the communicator
     * @param rank this rank in it
     * @param size its number of ranks
     * @param members see SharedTransport::Attach()
     * @param onMessage called for each message
     */
    void Attach(Ptr<SharedTransport> transport,
                uint32_t number,
                uint32_t rank,
                uint32_t size,
                const std::vector<uint32_t>& members,
                MessageTransport::MessageHandler onMessage);

    /** Leaves the communicator, if it has joined one. */
    void Detach();

    /** @return this rank */
    uint32_t GetRank() const
    {
        return m_rank;
    }

    /** @return number of ranks */
    uint32_t GetSize() const
    {
        return m_size;
    }

    /** @return number of the communicator */
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /** @return the transport of the rank */
    const Ptr<SharedTransport>& GetTransport() const
    {
        return m_transport;
    }

    /** @param rank of the communicator @return that rank in the transport's group */
    uint32_t GetTransportRank(uint32_t rank) const
    {
        return m_transport->GetRank(m_number, rank);
    }

    /**
     * @param collective its number
     * @param action sends or receives a message of it
     * @return the tag of the message
     */
    uint64_t GetTag(uint64_t collective, const ScheduleAction& action) const
    {
        return MessageTag{m_number, collective, action.step, action.message}.Pack();
    }

    /**
     * @param from source of a message, a rank of the communicator
     * @param to destination of the message
     * @param tag of the message
     * @param bytes of the message
     * @return what trace sinks get, for a message of now
     */
    MessageRecord MakeRecord(uint32_t from, uint32_t to, uint64_t tag, uint64_t bytes) const;

    /** @param peer destination @param message what it receives */
    void Send(uint32_t peer, Message message) const;

    /**
     * Sends a message without contents, which is not traced.
     * @param peer destination
     * @param tag of the message
     */
    void Signal(uint32_t peer, uint64_t tag) const
    {
        m_transport->Send(m_number, peer, {tag});
    }

    /** @return grants of messages of collectives */
    MessageGrants& GetGrants()
    {
        return m_grants;
    }

    /**
     * Keeps a message of a collective that is not ready for it.
     * @param peer its source
     * @param tag of the message
     * @param chunk its contents
     */
    void Keep(uint32_t peer, uint64_t tag, const Chunk& chunk)
    {
        m_early[{peer, tag}] = chunk;
    }

    /** @param peer a source @param tag of a message @return the message, if it has been kept */
    std::optional<Chunk> Take(uint32_t peer, uint64_t tag);

    /** Drops messages and grants. */
    void Clear();

  private:
    const TracedCallback<const MessageRecord&>& m_onSend;
    Ptr<SharedTransport> m_transport; // null: detached
    uint32_t m_number{0};
    uint32_t m_rank{0};
    uint32_t m_size{1};
    std::map<std::pair<uint32_t, uint64_t>, Chunk> m_early; // by peer and tag
    MessageGrants m_grants;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_ENDPOINT_H
