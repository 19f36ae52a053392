/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_NETWORK_PART_H
#define DISTRIBUTED_TRAINING_TRAINING_NETWORK_PART_H

#include "ns3/attribute.h"
#include "ns3/ptr.h"
#include "ns3/trace-source-accessor.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * An object of a node whose events may be executed later than those of others (EventLoop). Its
 * attributes and trace sources, if registered through InOrder(), can be used at any time: from
 * events of other nodes, too, and while the simulation runs.
 */
class NetworkPart
{
  public:
    virtual ~NetworkPart() = default;

    /** Makes sure that the state is that of the current time. */
    virtual void CatchUp() const = 0;

    /**
     * @return whether a sink was ever connected to a trace source registered through InOrder():
     *         ns-3 does not tell whether any is left
     */
    bool HasSinks() const
    {
        return m_hasSinks;
    }

    /** A sink is connected: from now on events are executed in the order of their times. */
    void OnSink();

  private:
    bool m_hasSinks{false};
};

/**
 * @param accessor of an attribute of a NetworkPart
 * @return the same, which lets the part catch up before it reads or writes
 */
Ptr<const AttributeAccessor> InOrder(Ptr<const AttributeAccessor> accessor);

/**
 * @param accessor of a trace source of a NetworkPart
 * @return the same, which tells the part of each sink
 */
Ptr<const TraceSourceAccessor> InOrder(Ptr<const TraceSourceAccessor> accessor);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_NETWORK_PART_H
