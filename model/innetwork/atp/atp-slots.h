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
 * Maps the packets of a job to switch slots. Each position in the window has a slot, chosen by a
 * hash so that jobs need no coordination. No two positions share a slot if there are enough (Lao et
 * al., NSDI 2021; HashTable.cc of the released client). All workers and servers of a job compute
 * the same slots.
 */
class AtpSlots
{
  public:
    /**
     * @param job number of the job
     * @param window number of positions
     * @param slots number of slots of a switch
     */
    void Reset(uint8_t job, uint32_t window, uint32_t slots);

    /**
     * @param number of a packet, counted over all tensors
     * @return its slot
     */
    uint16_t Get(uint64_t number) const
    {
        return m_slotOf[number % m_slotOf.size()];
    }

    /**
     * @param number of a packet
     * @param slot new slot of the packet's window position
     */
    void Set(uint64_t number, uint16_t slot)
    {
        m_slotOf[number % m_slotOf.size()] = slot;
    }

    /**
     * Chooses a replacement for a slot that has collided, and frees the old one.
     * @param slot used by another job
     * @param server number of the server: each has its own slots to choose from
     * @param servers number of servers
     * @return a slot that no window position of the job uses; the same slot if none is found
     */
    uint16_t Choose(uint16_t slot, uint32_t server, uint32_t servers);

  private:
    uint16_t Hash(uint32_t index, uint32_t salt) const;

    uint8_t m_job{0};
    uint32_t m_slots{1};
    uint32_t m_choices{0};
    std::vector<uint16_t> m_slotOf; // by window position
    std::vector<bool> m_used;       // by slot
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_SLOTS_H
