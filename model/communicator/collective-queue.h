/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_QUEUE_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_QUEUE_H

#include "collective-execution.h"
#include "collective-shortcut.h"
#include "communicator-endpoint.h"
#include "communicator-records.h"
#include "turn-order.h"

#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The collectives of a communicator at one rank: those that wait for their turn, and those that
 * run, a limited number at a time.
 */
class CollectiveQueue
{
  public:
    /**
     * @param endpoint of the communicator
     * @param limit number of collectives that may run at a time
     * @param onEnd called for each collective that is complete, before its Communicator::Done
     *
     * All must outlive the queue, and may change.
     */
    CollectiveQueue(CommunicatorEndpoint& endpoint,
                    const uint32_t& limit,
                    const TracedCallback<const CollectiveRecord&>& onEnd);

    /** @return the order of turns, whose rank the communicator has set */
    TurnOrder& GetOrder()
    {
        return m_order;
    }

    /** @return likewise */
    const TurnOrder& GetOrder() const
    {
        return m_order;
    }

    /** @param shortcut of the group; null: every collective is simulated */
    void SetShortcut(std::shared_ptr<CollectiveShortcut> shortcut)
    {
        m_shortcut = std::move(shortcut);
    }

    /** @param request the collective issued last */
    void Add(CollectiveExecution::Request request);

    /** @param collective number in the tag of the collective that rank 0 has started next */
    void OnTurn(uint64_t collective);

    /** @param peer has sent a grant @param tag of the grant */
    void OnGrant(uint32_t peer, uint64_t tag);

    /**
     * A message of a collective has arrived.
     * @param peer its source
     * @param tag of the message
     * @param chunk its contents
     */
    void OnChunk(uint32_t peer, uint64_t tag, const CommunicatorEndpoint::Chunk& chunk);

    /** @return what the collective that runs longest waits for; empty: none runs */
    std::string DescribeMissing() const;

    /** Drops all collectives, which do nothing any more. */
    void Clear();

  private:
    void StartNext();
    void Announce(uint64_t collective) const;
    void OnEnd(const CollectiveExecution& execution);
    CollectiveExecution* Find(uint64_t collective) const;

    CommunicatorEndpoint& m_endpoint;
    const uint32_t& m_limit;
    const TracedCallback<const CollectiveRecord&>& m_onEnd;
    std::shared_ptr<CollectiveShortcut> m_shortcut; // or null
    TurnOrder m_order;
    std::map<uint64_t, Ptr<CollectiveExecution>> m_waiting; // the collectives in m_order
    std::list<Ptr<CollectiveExecution>> m_active;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_QUEUE_H
