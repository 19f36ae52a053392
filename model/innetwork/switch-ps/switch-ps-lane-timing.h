/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The times of the two resources that a parameter server in a switch shares among packets: the
 * lanes, which add the numbers of a packet in so many clocks, and the memory beside the chip, which
 * reads or writes all of a key range at its rate. Each serves one packet after the other. All times
 * are in ps.
 */
class SwitchPsLaneTiming
{
  public:
    /**
     * @param elements numbers in a packet
     * @param lanes that add a number per clock each
     * @param clockMhz clock of the lanes, MHz
     */
    void ConfigureLanes(uint32_t elements, uint32_t lanes, double clockMhz);

    /**
     * @param bytes of a key range, with all that the optimizer keeps of it
     * @param rate of the memory, bit/s
     */
    void ConfigureMemory(uint64_t bytes, uint64_t rate);

    /** Both are free again at once. */
    void Reset();

    /**
     * A packet takes the lanes.
     * @param now when it has come
     * @return when it has been added
     */
    int64_t TakeLanes(int64_t now);

    /**
     * A packet takes the memory.
     * @param ready when it can
     * @param accesses of all of its key range
     * @return when it has been read or written
     */
    int64_t TakeMemory(int64_t ready, uint32_t accesses);

    /** @return when the lanes are free */
    int64_t GetLanesFree() const;

    /** @return when the memory is free */
    int64_t GetMemoryFree() const;

  private:
    int64_t m_laneTime{0};   // that a packet takes
    int64_t m_memoryTime{0}; // that an access takes
    int64_t m_lanesFree{0};
    int64_t m_memoryFree{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H
