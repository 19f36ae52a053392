/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_DATA_READER_H
#define DISTRIBUTED_TRAINING_HOST_DATA_READER_H

#include "host-data-plan.h"

#include "ns3/training-busy-unit.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * Reads a rank's own vector from the memory of its host, for one collective: packet by packet, in
 * the order of the steps that need it, as long as the buffer for the own vector has room, but at
 * least one packet at a time. A packet leaves the buffer when the action that needs it is complete.
 * Readers of the same step take turns, so a packet to send never keeps out the packet that the
 * sender upstream waits for.
 */
class HostDataReader
{
  public:
    /** How fast and how far ahead it reads. */
    struct Settings
    {
        double secondsPerByte{0}; ///< of the DMA engine; 0: no time
        Time latency;             ///< from the end of a read at the host to its use in the NIC
        uint64_t bufferBytes{0};  ///< buffer for the own vector; 0: unlimited
    };

    /**
     * @param plan of the rank
     * @param layout of the collective
     * @param rank this rank
     * @param settings of the NIC
     * @param unit the direction of the DMA engine, which other collectives may use
     * @param onData called with the index of each action (over all segments) whose data has come
     */
    HostDataReader(const HostDataPlan& plan,
                   const ChunkLayout& layout,
                   uint32_t rank,
                   const Settings& settings,
                   BusyUnit& unit,
                   std::function<void(uint32_t)> onData);
    HostDataReader(const HostDataReader&) = delete;
    HostDataReader& operator=(const HostDataReader&) = delete;

    /** Reads on. */
    void Run();

    /**
     * @param index of an action, over all segments
     * @return whether all of the host's data that it needs is in the NIC
     */
    bool HasData(uint32_t index) const;

    /**
     * Asks for a call when HasData() has become true.
     * @param index of an action, over all segments
     */
    void WaitFor(uint32_t index);

    /**
     * Frees the buffer.
     * @param index of a complete action
     */
    void Release(uint32_t index);

  private:
    void OnRead(uint32_t index);
    uint64_t GetBytes(uint32_t index) const;
    void Advance();

    const HostDataPlan& m_plan;
    const ChunkLayout& m_layout;
    const Settings m_settings;
    BusyUnit& m_unit;
    const std::function<void(uint32_t)> m_onData;
    const uint32_t m_actions;                              // of a segment
    std::vector<bool> m_here;                              // by index
    std::unordered_multimap<uint32_t, uint32_t> m_waiting; // actions, by the index they wait for
    std::vector<uint32_t> m_groups; // begin of each step's readers, and the end
    uint32_t m_group{0};            // the next packet: step,
    uint32_t m_segment{0};          // segment,
    uint32_t m_position{0};         // and reader
    uint64_t m_held{0};             // bytes in the buffer or on the way to it
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_DATA_READER_H
