/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-interrupts.h"

#include "ns3/simulator.h"

#include <array>
#include <csignal>
#include <sys/time.h>
#include <utility>

namespace ns3::training
{

namespace
{

constexpr std::array<int, 3> SIGNALS{SIGHUP, SIGINT, SIGTERM};

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

/** @param handler of the signals that are not ignored */
void
SetHandler(void (*handler)(int))
{
    for (int signal : SIGNALS)
    {
        struct sigaction action;
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
        {
            action = {};
            action.sa_handler = handler;
            action.sa_flags = static_cast<int>(SA_RESETHAND);
            sigaction(signal, &action, nullptr);
        }
    }
}

} // namespace

void
RunInterrupts::HandleSignals()
{
    g_handlesSignals = true;
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
        SetHandler(&OnSignal);
    }
}

void
RunInterrupts::End()
{
    if (g_handlesSignals)
    {
        SetHandler(SIG_DFL);
    }
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
