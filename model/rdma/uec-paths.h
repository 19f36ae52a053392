/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_PATHS_H
#define DISTRIBUTED_TRAINING_UEC_PATHS_H

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Packet spraying by the sender: selects the entropy value of each packet, which switches hash to
 * choose among equal-cost paths. This is the default of the reference simulator
 * (ultraethernet/uet-htsim, htsim/sim/uec_mp.cpp, "mixed"): values that came back without a mark
 * are used again. If there are none, the values are used in turns, in an order that changes each
 * round, and a value skips a turn for each penalty: 1 for a mark, 4 for a trimmed packet, 15 for a
 * timeout.
 */
class UecPaths
{
  public:
    /** What a packet has met on its path. */
    enum class Outcome : uint8_t
    {
        GOOD,    ///< arrived without a mark
        MARKED,  ///< arrived with a mark
        TRIMMED, ///< trimmed
        LOST     ///< timed out
    };

    /**
     * @param bits logarithm of the number of values, up to 14
     * @param random source of random numbers
     */
    UecPaths(uint32_t bits, Ptr<UniformRandomVariable> random);

    /** @return entropy value of the next packet, 14 bits */
    uint16_t Next();

    /**
     * @param entropy entropy value of a packet
     * @param outcome what it has met
     */
    void Report(uint16_t entropy, Outcome outcome);

  private:
    void Step();

    uint16_t m_mask;
    uint16_t m_upper; // bits above the mask
    uint16_t m_turn{0};
    uint16_t m_order{0}; // XOR of the turn, which orders the values of a round
    Ptr<UniformRandomVariable> m_random;
    std::vector<uint8_t> m_penalties; // by value; empty: none
    std::deque<uint16_t> m_good;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_PATHS_H
