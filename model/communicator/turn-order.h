/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TURN_ORDER_H
#define DISTRIBUTED_TRAINING_TURN_ORDER_H

#include "collective-order.h"

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The queue of one rank's waiting collectives. All ranks must start them in the same order to avoid
 * a deadlock. If the CollectiveOrder is not agreed, rank 0 picks and announces each choice to the
 * other ranks, as Horovod's coordinator does.
 */
class TurnOrder
{
  public:
    /**
     * @param name of a registered CollectiveOrder
     * @throw ConfigurationError if the name is unknown
     */
    void SetOrder(const std::string& name);

    /** @return name of the order */
    const std::string& GetOrder() const
    {
        return m_name;
    }

    /** @param rank this rank, in its communicator */
    void SetRank(uint32_t rank)
    {
        m_rank = rank;
    }

    /** @param collective the one issued last */
    void Add(const WaitingCollective& collective);

    /** @param collective number in the tag of the collective that rank 0 has started next */
    void OnTurn(uint64_t collective);

    /**
     * Removes the next collective.
     * @return its number; nothing if none waits, or rank 0 has not announced a waiting one
     */
    std::optional<uint64_t> Next();

    /** @return whether this rank must announce each collective that it starts */
    bool IsAnnouncing() const;

    /** @return whether no collective waits */
    bool IsEmpty() const
    {
        return m_waiting.empty();
    }

    /** Drops all collectives. */
    void Clear();

  private:
    std::string m_name;
    const CollectiveOrder* m_order{nullptr};
    uint32_t m_rank{0};
    std::vector<WaitingCollective> m_waiting; // in issue order
    std::list<uint64_t> m_turns;              // announced by rank 0, numbers from tags
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TURN_ORDER_H
