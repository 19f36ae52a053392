/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_SLOTS_H
#define DISTRIBUTED_TRAINING_ATP_SLOTS_H

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Which slots of switches a job's packets use: the place of a packet in the window has one, found
 * by a hash, so that jobs need not know of each other; no two places have the same, if there are
 * enough (Lao et al., NSDI 2021; HashTable.cc of the released client). All workers and servers of a
 * job come to the same.
 */
class AtpSlots
{
  public:
    /**
     * @param job number of the job
     * @param window places
     * @param slots of a switch
     */
    void Reset(uint8_t job, uint32_t window, uint32_t slots);

    /**
     * @param number of a packet, counted on over all tensors
     * @return its slot
     */
    uint16_t Get(uint64_t number) const
    {
        return m_slotOf[number % m_slotOf.size()];
    }

    /**
     * @param number of a packet
     * @param slot for packets of its place in the window from now on
     */
    void Set(uint64_t number, uint16_t slot)
    {
        m_slotOf[number % m_slotOf.size()] = slot;
    }

    /**
     * A server's choice of another slot than one that has collided, which is free again afterwards.
     * @param slot that is taken by another job
     * @param server number of the server: each has slots of its own to choose from
     * @param servers how many there are
     * @return one that no place of the job has; the same if there is none to be found
     */
    uint16_t Choose(uint16_t slot, uint32_t server, uint32_t servers);

  private:
    uint16_t Hash(uint32_t index, uint32_t salt) const;

    uint8_t m_job{0};
    uint32_t m_slots{1};
    uint32_t m_choices{0};
    std::vector<uint16_t> m_slotOf; // by place
    std::vector<bool> m_used;       // by slot
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_SLOTS_H
