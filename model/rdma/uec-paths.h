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

/// Bits of an entropy value.
static constexpr uint32_t UEC_ENTROPY_BITS = 14;

/**
 * @ingroup distributed-training-rdma
 * A plane of a connection, or a pair of ports in general: the uppermost bits of entropy values.
 */
struct UecPlane
{
    uint32_t bits{0};   ///< their number; 0: there is but one plane
    uint32_t number{0}; ///< of the plane

    /** @return what entropy values of the plane begin with */
    uint16_t GetPrefix() const
    {
        return static_cast<uint16_t>(number << (UEC_ENTROPY_BITS - bits));
    }

    /** @return bits of an entropy value that are free */
    uint16_t GetFree() const
    {
        return static_cast<uint16_t>((1 << (UEC_ENTROPY_BITS - bits)) - 1);
    }
};

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
     * @param bits logarithm of the number of values, up to 14 without the bits of the plane
     * @param random source of random numbers
     * @param plane number that the uppermost bits of all its values have
     */
    UecPaths(uint32_t bits, Ptr<UniformRandomVariable> random, const UecPlane& plane = {});
    virtual ~UecPaths() = default;

    /** @return entropy value of the next packet, 14 bits */
    virtual uint16_t Next();

    /**
     * @param entropy entropy value of a packet
     * @param outcome what it has met
     */
    virtual void Report(uint16_t entropy, Outcome outcome);

    /** @return whether a value is not taken for that of a path that has failed */
    virtual bool HasPath() const
    {
        return true;
    }

    /** @return whether values are to be probed */
    virtual bool HasBadPaths() const
    {
        return false;
    }

    /**
     * Begins a round of probes.
     * @param values receives those that are to be probed
     */
    virtual void BeginProbes([[maybe_unused]] std::vector<uint16_t>& values)
    {
    }

    /** @param entropy value of a probe that was answered */
    virtual void ReportProbe([[maybe_unused]] uint16_t entropy)
    {
    }

  protected:
    /** Goes on to the next value of the round, or to the first one of the next round. */
    void Step();

    /** @return place of the next value in the order of the first round */
    uint16_t GetTurn() const
    {
        return m_turn ^ m_order;
    }

    uint16_t m_mask;  ///< number of values - 1
    uint16_t m_upper; ///< bits above the mask

  private:
    uint16_t m_turn{0};
    uint16_t m_order{0}; // XOR of the turn, which orders the values of a round
    Ptr<UniformRandomVariable> m_random;
    std::vector<uint8_t> m_penalties; // by value; empty: none
    std::deque<uint16_t> m_good;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_PATHS_H
