/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-cost.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <sys/resource.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRunCost");

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
    cost.peakMemoryMebibytes = static_cast<double>(usage.ru_maxrss) / 1024; // KiB on Linux
    return cost;
}

} // namespace ns3::training
