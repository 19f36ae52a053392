/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BYSTANDER_EVENT_H
#define DISTRIBUTED_TRAINING_BYSTANDER_EVENT_H

#include "ns3/event-impl.h"

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
 * A BystanderEvent that calls a member function.
 * @tparam T class of the member function
 */
template <class T>
class BystanderCall : public BystanderEvent
{
  public:
    /**
     * @param handler member function to call
     * @param object its object; must exist until the event is over or cancelled
     */
    BystanderCall(void (T::*handler)(), T* object)
        : m_handler(handler),
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

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BYSTANDER_EVENT_H
