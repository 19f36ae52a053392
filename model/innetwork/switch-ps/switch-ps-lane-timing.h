/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H

#include <cmath>
#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Timing of the two resources that packets share in a switch parameter server. The lanes add a
 * packet's numbers in a number of clock cycles. The off-chip memory reads or writes a key range at
 * its rate. Each serves one packet at a time. All times are in ps.
 */
class SwitchPsLaneTiming
{
  public:
    /**
     * @param elements numbers per packet
     * @param lanes number of lanes; each adds one number per clock cycle
     * @param clockMhz clock of the lanes, MHz
     */
    void ConfigureLanes(uint32_t elements, uint32_t lanes, double clockMhz)
    {
        m_laneTime = std::llround(1e6 * elements / (lanes * clockMhz));
    }

    /**
     * @param bytes size of a key range, including the optimizer's state
     * @param rate of the memory, bit/s
     */
    void ConfigureMemory(uint64_t bytes, uint64_t rate)
    {
        m_memoryTime = std::llround(8e12 * static_cast<double>(bytes) / static_cast<double>(rate));
    }

    /** Makes both resources idle. */
    void Reset();

    /**
     * Reserves the lanes for a packet.
     * @param now arrival of the packet
     * @return time when its numbers are added
     */
    int64_t ReserveLanes(int64_t now);

    /**
     * Reserves the memory for a packet.
     * @param ready earliest time of the access
     * @param accesses number of accesses to its whole key range
     * @return time when the accesses are done
     */
    int64_t ReserveMemory(int64_t ready, uint32_t accesses);

    /** @return time when the lanes become idle */
    int64_t GetLanesFree() const
    {
        return m_lanesFree;
    }

    /** @return time when the memory becomes idle */
    int64_t GetMemoryFree() const
    {
        return m_memoryFree;
    }

  private:
    int64_t m_laneTime{0};   // per packet
    int64_t m_memoryTime{0}; // per access
    int64_t m_lanesFree{0};
    int64_t m_memoryFree{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_LANE_TIMING_H
