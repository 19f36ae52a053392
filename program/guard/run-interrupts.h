/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_INTERRUPTS_H
#define DISTRIBUTED_TRAINING_RUN_INTERRUPTS_H

#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What interrupts simulations from outside: signals, and looks by the clock on the wall. Each halts
 * the simulation, as nothing else is safe in the handler of a signal.
 */
class RunInterrupts
{
  public:
    /**
     * Lets signals that would end the program end later runs with SimulationInterrupted, unless
     * they are ignored. A second signal ends the program at once. Of files that are too large
     * (SIGXFSZ) writers hear.
     */
    static void HandleSignals();

    /**
     * Lets a function look at all runs by the clock on the wall, between two events. Does nothing
     * if the program uses SIGALRM itself.
     * @param look null: no longer
     * @param period time between two looks, below 1 s; the first comes after half of it
     */
    static void SetLook(std::function<void()> look, double period);

    /** A run begins: signals no longer end the program, after HandleSignals(). */
    static void Begin();

    /** The run has ended: signals end the program again. */
    static void End();

    /** @param signal that has arrived @return its name, such as SIGINT */
    static std::string GetName(int signal);

    /** @return the signal that has arrived; 0: none */
    static int GetSignal();

    /**
     * @param isSimulating whether a simulation of one process runs, which what arrives halts.
     * Several must halt together, see GuardedRun
     */
    static void SetSimulating(bool isSimulating);

    /** Lets the function of SetLook() look, if it is time. @return whether it was */
    static bool Look();
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_INTERRUPTS_H
