/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-cost.h"

#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cstring>
#include <fstream>
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

} // namespace

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
EstimateRunCost(double packetHops, uint64_t ranks, const std::string& transport)
{
    // Measured: README, performance of the manual.
    const double hopsPerSecond = transport == "tcp" ? 0.53e6 : 7.19e6;
    constexpr double BASE = 18;       // MiB
    constexpr double PER_RANK = 0.06; // MiB: host, NIC, tasks that are known ahead
    RunCost cost;
    cost.packetHops = static_cast<uint64_t>(packetHops);
    cost.cpuSeconds = packetHops / hopsPerSecond;
    cost.peakMemoryMebibytes = BASE + PER_RANK * static_cast<double>(ranks);
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

} // namespace ns3::training
