/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKER_CORES_H
#define DISTRIBUTED_TRAINING_WORKER_CORES_H

#include "ns3/fabric-frame.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The cores of a worker, which process packets by slot.
 */
class WorkerCores
{
  public:
    /** @param cores number of cores */
    void Configure(uint32_t cores)
    {
        m_free.assign(cores, 0);
    }

    /**
     * Reserves the packet's core.
     * @param slot of the packet
     * @param cost processing time of the packet
     * @return time from now until the core is done
     */
    Time Take(uint32_t slot, Time cost)
    {
        const int64_t now = Simulator::Now().GetTimeStep();
        int64_t& free = m_free[slot % m_free.size()];
        free = std::max(free, now) + cost.GetTimeStep();
        return TimeStep(free - now);
    }

    /**
     * Processes a frame when its core is done with it; at once if that costs no time.
     * @param slot of the frame's packet
     * @param cost processing time of the packet
     * @param process a function of the owner
     * @param owner of the cores
     * @param frame passed on
     */
    template <class Owner>
    void Process(uint32_t slot,
                 Time cost,
                 void (Owner::*process)(Frame*),
                 Owner* owner,
                 Frame* frame)
    {
        if (cost.IsZero())
        {
            (owner->*process)(frame);
            return;
        }
        Simulator::Schedule(Take(slot, cost), process, owner, frame);
    }

  private:
    std::vector<int64_t> m_free; // by core: time when it becomes idle, ps
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKER_CORES_H
