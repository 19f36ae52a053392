/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STEADY_WATCH_H
#define DISTRIBUTED_TRAINING_STEADY_WATCH_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * Sends messages so long that the network may reach a steady state during one, see SteadyWatch. By
 * default it does not.
 */
class LongMessageSource
{
  public:
    virtual ~LongMessageSource() = default;

    /**
     * @param flow one of its flows
     * @return whether many packets of the flow's message are left to send
     */
    virtual bool IsLong([[maybe_unused]] uint32_t flow) const
    {
        return false;
    }

    /**
     * @param flow one of its flows
     * @param reports whether each arrival of an acknowledgement calls SteadyWatch::OnPeriod()
     */
    virtual void ReportPeriods([[maybe_unused]] uint32_t flow, [[maybe_unused]] bool reports)
    {
    }
};

/**
 * @ingroup distributed-training-fabric
 * Learns of long messages and of a recurring moment in one of them.
 */
class SteadyWatch
{
  public:
    virtual ~SteadyWatch() = default;

    /**
     * A long message begins.
     * @param source its sender
     * @param flow number of its flow at the sender
     */
    virtual void OnLongMessage(LongMessageSource& source, uint32_t flow) = 0;

    /** The flow chosen by ReportPeriods() has come to the same point as before. */
    virtual void OnPeriod() = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STEADY_WATCH_H
