/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SPARE_NODES_H
#define DISTRIBUTED_TRAINING_SPARE_NODES_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * Nodes in place of those that fail. A node that is repaired becomes a spare.
 */
class SpareNodes
{
  public:
    /** @param spares nodes besides those of the job */
    explicit SpareNodes(uint64_t spares)
        : m_spares(spares)
    {
    }

    /** A node of the job has failed. */
    void Fail()
    {
        m_missing++;
    }

    /** The repair of a node is over. */
    void Repair()
    {
        m_spares++;
    }

    /** Puts spares in the places of nodes that failed. @return whether the job is complete */
    bool Replace()
    {
        while (m_missing > 0 && m_spares > 0)
        {
            m_missing--;
            m_spares--;
        }
        return m_missing == 0;
    }

  private:
    uint64_t m_spares;
    uint64_t m_missing{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SPARE_NODES_H
