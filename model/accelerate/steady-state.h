/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STEADY_STATE_H
#define DISTRIBUTED_TRAINING_STEADY_STATE_H

#include "ns3/state-visitor.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::training
{

class SteadyPart;

/**
 * @ingroup distributed-training-fabric
 *
 * Skips what a network in a steady state would repeat. While hosts send long messages and nothing
 * else happens, the network often returns to the same state again and again: the same frames at the
 * same places of the same links, with other sequence numbers. If its state at two moments is equal
 * in that sense, all between them is a period, and what follows are the same periods until a
 * message ends or an event from outside comes. These periods are not simulated: all times in the
 * network move by them, and all counters and sequence numbers grow as in the period that was
 * simulated. The results are those of the whole simulation, to the picosecond.
 *
 * Each part of a network that no link connects with the rest has steady states of its own: the
 * scale-up network of a server beside the rails, or a plane beside others.
 *
 * The moments compared are arrivals of acknowledgements at one queue pair that sends a long
 * message. A state repeats only if it consists of RoCE data without contents and of
 * acknowledgements on links without faults, at rates that do not change, through switches without
 * programs. StateVisitor names what is compared.
 */
class SteadyState
{
  public:
    /**
     * Watches a network; its scheduler must be a BucketScheduler, and this process must simulate
     * all of it.
     * @param fabric the network; must outlive this
     * @param verifies whether one more period is simulated before any is skipped; if its end is not
     *        as predicted, the program ends and names the first value that differs
     */
    explicit SteadyState(Fabric& fabric, bool verifies = false);
    ~SteadyState();
    SteadyState(const SteadyState&) = delete;
    SteadyState& operator=(const SteadyState&) = delete;

    /** @return number of times that periods were skipped */
    uint64_t GetSkips() const;

    /**
     * @param fabric a network
     * @param visitor records its state at the visitor's time, which is now
     */
    static void Record(const Fabric& fabric, StateVisitor& visitor);

    /** @return number of periods that ended as predicted, with `verifies` */
    uint64_t GetVerifiedPeriods() const;

  private:
    std::vector<std::unique_ptr<SteadyPart>> m_parts;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STEADY_STATE_H
