/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation-stuck.h"

#include "guard/run-interrupts.h"

#include "ns3/training-quantity.h"

namespace ns3::training
{

SimulationInterrupted::SimulationInterrupted(int signal, Time when)
    : SimulationStuck("interrupted by " + RunInterrupts::GetName(signal) + " (at " +
                      FormatDouble(when.GetSeconds()) + " s)"),
      m_signal(signal)
{
}

} // namespace ns3::training
