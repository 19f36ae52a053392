/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUSY_UNIT_H
#define DISTRIBUTED_TRAINING_BUSY_UNIT_H

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * A unit that does one piece of work at a time, in order, such as an adder or one direction of a
 * DMA engine.
 */
class BusyUnit
{
  public:
    /**
     * @param duration of a piece of work, behind all earlier ones
     * @return time from now to its end
     */
    Time Reserve(Time duration)
    {
        m_free = std::max(m_free, Simulator::Now()) + duration;
        m_busy += duration;
        return m_free - Simulator::Now();
    }

    /** @return time of all pieces of work so far */
    Time GetBusy() const
    {
        return m_busy;
    }

  private:
    Time m_free;
    Time m_busy;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUSY_UNIT_H
