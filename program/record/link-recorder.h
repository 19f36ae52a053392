/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINK_RECORDER_H
#define DISTRIBUTED_TRAINING_LINK_RECORDER_H

#include "ns3/result-store.h"
#include "ns3/training-fabric.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Writes the counters of every port into a results file: of each iteration, and of the run.
 */
class LinkRecorder
{
  public:
    /**
     * @param fabric its ports are read; must outlive this object
     * @param store results file
     */
    LinkRecorder(const Fabric& fabric, ResultStore& store);

    /**
     * Writes what every port has sent since the last call. A single process sees all ports.
     * @param iteration number of the iteration that ends now
     */
    void AddIteration(uint32_t iteration);

    /** @param count how many of the last iterations Repeat() knows; by default 1 */
    void Keep(std::size_t count);

    /**
     * The ports have counted once more what they had sent in an earlier iteration, without the time
     * for it.
     * @param iteration number of the iteration like it
     * @param period number of iterations since the earlier one
     */
    void Repeat(uint32_t iteration, uint32_t period);

    /** Leaves out what every port has sent since the last call of AddIteration(). */
    void Skip();

    /** Writes the counters of the run. With several processes, call it after GatherCounters(). */
    void Finish();

  private:
    /** What ports have sent in an iteration. */
    struct Sent
    {
        std::vector<PortCounters> ports; // by link and end; peaks mean nothing
        Time length;                     // of the iteration
    };

    void Add(uint32_t iteration, Sent sent);

    const Fabric& m_fabric;
    ResultStore& m_store;
    std::vector<PortCounters> m_before; // by link and end, at the end of the last iteration
    Time m_beforeTime;                  // that end
    std::deque<Sent> m_last;            // iterations
    std::size_t m_kept{1};              // number of these iterations
    Time m_repeatedTime;                // of the calls of Repeat()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LINK_RECORDER_H
