/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_DATA_PLAN_H
#define DISTRIBUTED_TRAINING_HOST_DATA_PLAN_H

#include "ns3/chunk-layout.h"
#include "ns3/collective-schedule.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * What a NIC that executes a schedule moves from and to the memory of its host: the rank's own part
 * of a chunk before the first action that reads it, and the result after the last action that
 * writes it. Whatever lies between stays in the NIC. Actions are numbered as in one segment.
 */
class HostDataPlan
{
  public:
    /**
     * @param schedule a closed schedule; must outlive this
     * @param rank this rank
     */
    HostDataPlan(const CollectiveSchedule& schedule, uint32_t rank);

    /** @return the actions that read chunks of the host, in the order in which they need them */
    const std::vector<uint32_t>& GetReaders() const
    {
        return m_readers;
    }

    /**
     * @param action number of an action
     * @return the readers that it needs the data of, itself included
     */
    const std::vector<uint32_t>& GetSources(uint32_t action) const
    {
        return m_actions[action].sources;
    }

    /**
     * @param layout of the collective
     * @param action number of an action
     * @param segment of it
     * @return bytes that the NIC reads from the host for it
     */
    uint64_t GetReadBytes(const ChunkLayout& layout, uint32_t action, uint32_t segment) const
    {
        return Add(layout, m_actions[action].read, segment);
    }

    /**
     * @param layout of the collective
     * @param action number of an action
     * @param segment of it
     * @return bytes of the result that the NIC writes to the host after it
     */
    uint64_t GetWrittenBytes(const ChunkLayout& layout, uint32_t action, uint32_t segment) const
    {
        return Add(layout, m_actions[action].written, segment);
    }

  private:
    /** The data of an action. */
    struct Data
    {
        std::vector<uint32_t> sources;
        std::vector<uint32_t> read;    // chunks
        std::vector<uint32_t> written; // chunks
    };

    static uint64_t Add(const ChunkLayout& layout,
                        const std::vector<uint32_t>& chunks,
                        uint32_t segment);

    std::vector<Data> m_actions;
    std::vector<uint32_t> m_readers;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_DATA_PLAN_H
