/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_POOL_H
#define DISTRIBUTED_TRAINING_ATP_POOL_H

#include "atp-wire-format.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The slots (aggregators) of a switch with ATP, each with the partial sum of a packet.
 */
class AtpPool
{
  public:
    /** A slot and its partial sum. */
    struct Slot
    {
        AtpHeader header;   ///< of the sum
        uint32_t seen{0};   ///< bit c: contributor c has contributed
        bool used{false};   ///< it belongs to a packet
        bool isRack{false}; ///< contributors are workers of a rack
        bool isReal{false}; ///< holds values

        /**
         * @param other header of a packet
         * @return whether the slot belongs to the packet
         */
        bool IsOf(const AtpHeader& other) const
        {
            return used && header.job == other.job && header.packet == other.packet;
        }
    };

    /**
     * @param slots how many
     * @param elements integers per packet
     */
    void Resize(uint32_t slots, uint32_t elements);

    /** @return all slots */
    std::vector<Slot>& GetSlots()
    {
        return m_slots;
    }

    /**
     * Gives a slot to a packet.
     * @param slot free
     * @param frame the packet
     * @param isRack whether contributors are workers of a rack
     */
    static void Claim(Slot& slot, const Frame& frame, bool isRack);

    /**
     * Adds a contribution.
     * @param slot of the packet
     * @param frame the contribution
     * @return whether a sum is saturated
     */
    bool Add(Slot& slot, const Frame& frame);

    /**
     * Writes a partial sum into a packet.
     * @param frame the packet
     * @param slot of the packet
     */
    void Fill(Frame& frame, const Slot& slot);

  private:
    int32_t* GetValues(const Slot& slot);

    uint32_t m_elements{0};
    std::vector<Slot> m_slots;
    std::vector<int32_t> m_values; // real payload: values of each slot
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_POOL_H
