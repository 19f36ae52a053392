/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation-stuck.h"

#include "ns3/training-quantity.h"

#include <csignal>

namespace ns3::training
{

namespace
{

/** @return name of a signal */
std::string
GetSignalName(int signal)
{
    return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

} // namespace

SimulationInterrupted::SimulationInterrupted(int signal, Time when)
    : SimulationStuck("interrupted by " + GetSignalName(signal) + " (at " +
                      FormatDouble(when.GetSeconds()) + " s)"),
      m_signal(signal)
{
}

} // namespace ns3::training
