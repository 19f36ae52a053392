/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EVENT_KINDS_H
#define DISTRIBUTED_TRAINING_EVENT_KINDS_H

#include "ns3/event-impl.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-core
 *
 * An event that only looks on: it neither changes what the network does next nor depends on exactly
 * how far each packet has come. SteadyState may move packets past it.
 */
class BystanderEvent : public EventImpl
{
};

/**
 * @ingroup distributed-training-core
 *
 * An event of a host that acts on nothing but its NIC, and calls nobody. WindowSimulatorImpl may
 * execute it after later events of other hosts.
 */
class QuietEvent : public EventImpl
{
  public:
    /** @param node node of the host */
    explicit QuietEvent(uint32_t node)
        : m_node(node)
    {
    }

    /** @return node of the host; an event with another context is not quiet */
    uint32_t GetNode() const
    {
        return m_node;
    }

  private:
    uint32_t m_node;
};

/**
 * @ingroup distributed-training-core
 * An event that calls a member function.
 * @tparam T class of the member function
 * @tparam KIND kind of the event
 */
template <class T, class KIND>
class MemberCall : public KIND
{
  public:
    /**
     * @param handler member function to call
     * @param object its object; must exist until the event is over or cancelled
     * @param arguments of the constructor of KIND
     */
    template <class... Arguments>
    MemberCall(void (T::*handler)(), T* object, Arguments... arguments)
        : KIND(arguments...),
          m_handler(handler),
          m_object(object)
    {
    }

  protected:
    void Notify() override
    {
        (m_object->*m_handler)();
    }

  private:
    void (T::*m_handler)();
    T* m_object;
};

/** A BystanderEvent that calls a member function. @ingroup distributed-training-core */
template <class T>
using BystanderCall = MemberCall<T, BystanderEvent>;

/** A QuietEvent that calls a member function. @ingroup distributed-training-core */
template <class T>
using QuietCall = MemberCall<T, QuietEvent>;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EVENT_KINDS_H
