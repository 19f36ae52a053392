/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-interrupts.h"

#include "ns3/simulator.h"

#include <csignal>
#include <map>
#include <string>
#include <sys/time.h>
#include <utility>

namespace ns3::training
{

namespace
{

/// Signals that end a program, by number.
const std::map<int, std::string> SIGNALS{{SIGHUP, "SIGHUP"},
                                         {SIGINT, "SIGINT"},
                                         {SIGQUIT, "SIGQUIT"},
                                         {SIGTERM, "SIGTERM"},
                                         {SIGUSR1, "SIGUSR1"},
                                         {SIGUSR2, "SIGUSR2"},
                                         {SIGXCPU, "SIGXCPU"},
                                         {SIGVTALRM, "SIGVTALRM"},
                                         {SIGPROF, "SIGPROF"},
                                         {SIGIO, "SIGIO"}};

bool g_handlesSignals = false;
volatile std::sig_atomic_t g_signal = 0;       // the signal that has arrived
volatile std::sig_atomic_t g_isSimulating = 0; // a simulation of one process runs
volatile std::sig_atomic_t g_isLookDue = 0;
std::function<void()> g_look; // or null

/** Halts a simulation of one process. */
void
StopSoon()
{
    if (g_isSimulating != 0)
    {
        Simulator::Stop(); // sets a flag
    }
}

void
OnSignal(int signal)
{
    g_signal = signal;
    StopSoon();
}

void
OnAlarm(int /* signal */)
{
    g_isLookDue = 1;
    StopSoon();
}

/** Sets the handler of a signal that is neither ignored nor used by the program. */
void
SetHandler(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 &&
        (action.sa_handler == SIG_DFL || action.sa_handler == &OnSignal))
    {
        action = {};
        action.sa_handler = handler;
        action.sa_flags = flags;
        sigaction(signal, &action, nullptr);
    }
}

/** @param handler of the signals */
void
SetHandlers(void (*handler)(int))
{
    for (const auto& [signal, name] : SIGNALS)
    {
        SetHandler(signal, handler, static_cast<int>(SA_RESETHAND));
    }
}

} // namespace

void
RunInterrupts::HandleSignals()
{
    g_handlesSignals = true;
    // These come from writes, also outside of runs: the end of a pipe ends the next run, and a file
    // that is too large fails as one on a full disk.
    SetHandler(SIGPIPE, &OnSignal, 0);
    SetHandler(SIGXFSZ, SIG_IGN, 0);
}

void
RunInterrupts::SetLook(std::function<void()> look, double period)
{
    g_look = nullptr;
    struct sigaction action;
    if (sigaction(SIGALRM, nullptr, &action) != 0 ||
        (action.sa_handler != SIG_DFL && action.sa_handler != &OnAlarm))
    {
        return;
    }
    action = {};
    action.sa_handler = &OnAlarm;
    action.sa_flags = SA_RESTART; // output continues
    sigaction(SIGALRM, &action, nullptr);
    g_look = std::move(look);
    const auto micros = g_look ? static_cast<suseconds_t>(period * 1e6) : 0;
    const itimerval timer{{0, micros}, {0, micros / 2}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void
RunInterrupts::Begin()
{
    if (g_handlesSignals)
    {
        SetHandlers(&OnSignal);
    }
}

void
RunInterrupts::End()
{
    if (g_handlesSignals)
    {
        SetHandlers(SIG_DFL);
    }
}

std::string
RunInterrupts::GetName(int signal)
{
    return signal == SIGPIPE ? "SIGPIPE" : SIGNALS.at(signal);
}

int
RunInterrupts::GetSignal()
{
    return g_signal;
}

void
RunInterrupts::SetSimulating(bool isSimulating)
{
    g_isSimulating = isSimulating;
}

bool
RunInterrupts::Look()
{
    const bool isDue = g_isLookDue != 0;
    if (isDue && g_look)
    {
        g_look();
    }
    g_isLookDue = 0;
    return isDue;
}

} // namespace ns3::training
