/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-cost.h"

#include "ns3/simulator.h"
#include "ns3/training-processes.h"
#include "ns3/transport-entry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>

namespace ns3::training
{

namespace
{

/** @return maximum resident set of this process, KiB */
long
GetPeakMemory(const rusage& usage)
{
    // Linux inherits the value of getrusage() from the program that started this one.
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind("VmHWM:", 0) == 0)
        {
            return std::stol(line.substr(6));
        }
    }
    return usage.ru_maxrss;
}

/// Events that are left out, and all events of the simulation when the last one was.
uint64_t g_leftOut = 0;
uint64_t g_leftOutAt = 0;

} // namespace

void
LeaveOutEvents(uint64_t count)
{
    const uint64_t events = Simulator::GetEventCount();
    g_leftOut = (events < g_leftOutAt ? 0 : g_leftOut) + count; // less: another simulation
    g_leftOutAt = events;
}

RunCost
GetRunCost(const Fabric& fabric)
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    RunCost mine;
    mine.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    mine.events = Simulator::GetEventCount();
    mine.events -= mine.events < g_leftOutAt ? 0 : g_leftOut;
    mine.peakMemoryMebibytes = static_cast<double>(GetPeakMemory(usage)) / 1024;
    RunCost sum;
    for (const std::string& bytes :
         Processes::Gather({reinterpret_cast<const char*>(&mine), sizeof(mine)}))
    {
        RunCost cost;
        std::memcpy(&cost, bytes.data(), sizeof(cost));
        sum.cpuSeconds += cost.cpuSeconds;
        sum.events += cost.events;
        sum.peakMemoryMebibytes += cost.peakMemoryMebibytes;
    }
    sum.packetHops = fabric.GetPacketHops();
    sum.skippedHops = fabric.skippedHops;
    return sum;
}

RunCost
EstimateRunCost(double packetHops, uint64_t ranks, const std::string& transport, double tasks)
{
    // Measured: performance of the manual. The rates are those of neighbours and of permutations.
    struct Rate
    {
        double ranks;
        double hopsPerSecond;
    };

    constexpr Rate RATES[] = {{128, 8.3e6}, {1024, 5.4e6}, {8192, 3.0e6}, {65536, 2.0e6}};
    constexpr double PER_TASK_S = 12e-6;
    constexpr double BASE = 18;          // MiB
    constexpr double PER_RANK = 0.06;    // MiB: host, NIC
    constexpr double PER_TASK = 0.00004; // MiB: a task that is known ahead, or its trace
    const auto count = static_cast<double>(ranks);
    double hopsPerSecond = RATES[0].hopsPerSecond;
    for (std::size_t i = 1; i < std::size(RATES); i++)
    {
        const Rate& less = RATES[i - 1];
        const Rate& more = RATES[i];
        const double part = std::log(count / less.ranks) / std::log(more.ranks / less.ranks);
        hopsPerSecond *=
            std::pow(more.hopsPerSecond / less.hopsPerSecond, std::clamp(part, 0.0, 1.0));
    }
    const double ofTransport = Registry<TransportEntry>::Find(transport).hopsPerSecond;
    RunCost cost;
    cost.packetHops = static_cast<uint64_t>(packetHops);
    cost.cpuSeconds =
        packetHops / (ofTransport > 0 ? ofTransport : hopsPerSecond) + PER_TASK_S * tasks;
    cost.peakMemoryMebibytes = BASE + PER_RANK * count + PER_TASK * tasks;
    return cost;
}

void
RunCost::Add(const RunCost& next)
{
    cpuSeconds = next.cpuSeconds; // of the whole program so far
    events += next.events;
    packetHops += next.packetHops;
    skippedHops += next.skippedHops;
    peakMemoryMebibytes = std::max(peakMemoryMebibytes, next.peakMemoryMebibytes);
}

void
AddRunCost(JsonValue& document, const RunCost& cost)
{
    document.Set("events", cost.events)
        .Set("packet_hops", cost.packetHops)
        .Set("skipped_packet_hops", cost.skippedHops)
        .Set("packet_hops_per_cpu_s", cost.GetPacketHopsPerSecond())
        .Set("cpu_s", cost.cpuSeconds)
        .Set("peak_memory_MiB", cost.peakMemoryMebibytes);
}

std::string
FormatRunCost(const RunCost& cost)
{
    char text[200];
    std::snprintf(text,
                  sizeof(text),
                  "cost of the simulation: %.2f s CPU, %.2f M events, %.2f M packet-hops "
                  "(%.2f M/s), %.0f MiB",
                  cost.cpuSeconds,
                  static_cast<double>(cost.events) * 1e-6,
                  static_cast<double>(cost.packetHops) * 1e-6,
                  cost.GetPacketHopsPerSecond() * 1e-6,
                  cost.peakMemoryMebibytes);
    if (cost.skippedHops > 0)
    {
        char skipped[100];
        std::snprintf(skipped,
                      sizeof(skipped),
                      "; %.2f M of the packet-hops repeat a steady state and were skipped",
                      static_cast<double>(cost.skippedHops) * 1e-6);
        return std::string(text) + skipped;
    }
    return text;
}

} // namespace ns3::training
