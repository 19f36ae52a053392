/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-cost.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <fstream>
#include <string>
#include <sys/resource.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRunCost");

namespace
{

/** @return largest resident set of this process, KiB */
long
GetPeakMemory(const rusage& usage)
{
    // Linux carries what getrusage() says over from the program that started this one.
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
    RunCost cost;
    cost.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    cost.events = Simulator::GetEventCount();
    cost.packetHops = fabric.GetPacketHops();
    cost.peakMemoryMebibytes = static_cast<double>(GetPeakMemory(usage)) / 1024;
    return cost;
}

} // namespace ns3::training
