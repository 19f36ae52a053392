/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHOSEN_EVENT_LOOP_H
#define DISTRIBUTED_TRAINING_CHOSEN_EVENT_LOOP_H

#include "engine/window-simulator-impl.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/object.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/type-id.h"

namespace ns3::training::tests
{

/** The global values of a test. They are as before after the test. */
class ChosenEventLoop
{
  public:
    /** @param loop the event loop @param scheduler its event list */
    ChosenEventLoop(const Ptr<SimulatorImpl>& loop, TypeId scheduler)
    {
        GlobalValue::GetValueByName("SchedulerType", m_before);
        GlobalValue::Bind("SchedulerType", TypeIdValue(scheduler));
        Simulator::SetImplementation(loop);
    }

    ~ChosenEventLoop()
    {
        Simulator::Destroy();
        GlobalValue::Bind("SchedulerType", m_before);
    }

  private:
    TypeIdValue m_before;
};

/** @param windows whether nodes execute events in windows @return an event loop */
inline Ptr<WindowSimulatorImpl>
MakeLoop(bool windows = true)
{
    auto loop = CreateObject<WindowSimulatorImpl>();
    loop->SetAttribute("Windows", BooleanValue(windows));
    return loop;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_CHOSEN_EVENT_LOOP_H
