/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_SLOTS_H
#define DISTRIBUTED_TRAINING_SHARP_SLOTS_H

#include "sharp-connection.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The outstanding operations of a tree at one of its switches. Each waits in a slot for a packet of
 * every child; then these are added in the order of the children, whatever the order of arrival, so
 * sums are bitwise reproducible.
 */
class SharpSlots
{
  public:
    /**
     * @param count number of slots
     * @param children of the tree
     */
    SharpSlots(uint32_t count, uint32_t children);

    /**
     * Takes a child's packet. Connections deliver in order, and a rank has no more packets in
     * flight than there are slots.
     * @param child number of the child
     * @param frame its packet
     * @return the sum, if it was the last one; its frame has the size of the first one's
     */
    std::optional<SharpMessage> Add(uint32_t child, const Frame& frame);

    /** @return operations that wait for a packet */
    uint32_t GetOccupied() const;

    /** Forgets all packets. */
    void Clear();

  private:
    /** Values of a child, held until all children have contributed. */
    struct Part
    {
        Ptr<ByteBuffer> payload;
        uint64_t offset{0};
    };

    /** The state of an operation. */
    struct Slot
    {
        SharpMessage message; ///< first contribution, later the sum
        uint32_t count{0};    ///< contributions received
    };

    void AddParts(Part* parts, SharpMessage& message);

    uint32_t m_children;
    uint32_t m_words; // of a slot in m_seen
    std::vector<Slot> m_slots;
    std::vector<uint64_t> m_seen;          // by slot, bit c: child c has contributed
    std::vector<Part> m_parts;             // real payload: by slot and child
    std::vector<const uint8_t*> m_addends; // a member only to reuse its memory
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_SLOTS_H
