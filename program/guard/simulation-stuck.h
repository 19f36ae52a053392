/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SIMULATION_STUCK_H
#define DISTRIBUTED_TRAINING_SIMULATION_STUCK_H

#include "ns3/nstime.h"

#include <stdexcept>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Thrown when a simulation cannot make progress. The text names the rank, the collective, the step
 * and the message it waits for. A program prints it on standard error and exits with status 3.
 */
class SimulationStuck : public std::runtime_error
{
  public:
    /** @param text one line */
    explicit SimulationStuck(const std::string& text)
        : std::runtime_error(text)
    {
    }
};

/**
 * @ingroup distributed-training-helper
 *
 * Thrown when a signal has ended a simulation. A program keeps its results so far, and then lets
 * the signal end it.
 */
class SimulationInterrupted : public SimulationStuck
{
  public:
    /**
     * @param signal its number
     * @param when simulated time
     */
    SimulationInterrupted(int signal, Time when);

    /** @return number of the signal */
    int GetSignal() const
    {
        return m_signal;
    }

  private:
    int m_signal;
};

/**
 * @ingroup distributed-training-helper
 *
 * Thrown when an engine in a NIC, or a host, cannot code a number, or decode a code. A program
 * keeps its results so far, and exits with status 4.
 */
class SimulationCodecError : public SimulationStuck
{
  public:
    using SimulationStuck::SimulationStuck;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SIMULATION_STUCK_H
