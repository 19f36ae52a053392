/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "energy-figures.h"

#include "ns3/fabric-frame.h"
#include "ns3/in-network-system.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <cstdio>

namespace ns3::training
{

namespace
{

/** @return bits of frames with their preambles */
double
GetBits(uint64_t bytes, uint64_t frames)
{
    return 8 * (static_cast<double>(bytes) +
                static_cast<double>(frames) * static_cast<double>(Frame::PREAMBLE_BYTES));
}

/** @return a number for text */
std::string
Print(double value)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%.4g", value);
    return text;
}

} // namespace

bool
EnergyOptions::IsEmpty() const
{
    return model.empty() && priceGpuHour == 0 && pricePortHour == 0;
}

double
EnergyFigures::GetDollars() const
{
    const double hours = activity.seconds / 3600;
    return (options.priceGpuHour * activity.ranks + options.pricePortHour * activity.ports) * hours;
}

EnergyRow
EnergyFigures::GetRow() const
{
    const double joules = account.GetTotal();
    EnergyRow row;
    row.powerModel = options.model;
    row.iterations = iterations;
    row.seconds = activity.seconds;
    row.joules = joules;
    row.joulesPerIteration = joules / iterations;
    row.joulesPerGradientByte = gradientBytes > 0 ? joules / iterations / gradientBytes : 0;
    row.computeJoules = account.compute;
    row.waitingJoules = account.waiting;
    row.hostJoules = account.hosts;
    row.switchJoules = account.switches;
    row.bitJoules = account.bits;
    row.countsRetransmissions = countsRetransmissions;
    row.retransmissionJoules = account.retransmissions;
    row.retransmittedPart = activity.retransmittedPart;
    row.linkBits = activity.linkBits;
    row.switchBits = activity.switchBits;
    row.memoryBits = activity.memoryBits;
    row.dollars = GetDollars();
    row.dollarsPerIteration = GetDollars() / iterations;
    return row;
}

JsonValue
EnergyFigures::ToJson() const
{
    auto json = JsonValue::Object();
    SetMembers(json, EnergyRow::GetFields(), GetRow());
    return json;
}

std::string
EnergyFigures::Format() const
{
    std::string text;
    if (!options.model.empty())
    {
        const double joules = account.GetTotal();
        const auto part = [joules](double share) { return Print(100 * share / joules) + " %"; };
        text = "energy (" + options.model + "): " + Print(joules / iterations) +
               " J an iteration; GPUs computing " + part(account.compute) + ", waiting " +
               part(account.waiting) + ", hosts " + part(account.hosts) + ", switches " +
               part(account.switches) + ", bits " + part(account.bits) +
               (countsRetransmissions ? " (retransmissions " + part(account.retransmissions) + ")"
                                      : "") +
               "\n";
    }
    if (options.priceGpuHour > 0 || options.pricePortHour > 0)
    {
        text += "cost: " + Print(GetDollars()) + " dollars, " + Print(GetDollars() / iterations) +
                " an iteration\n";
    }
    return text;
}

ClusterActivity
GetActivity(const Cluster& cluster, const std::vector<IterationRecord>& iterations)
{
    ClusterActivity activity;
    activity.ranks = cluster.GetRanks();
    for (const IterationRecord& record : iterations)
    {
        activity.seconds += record.iterationTimeS;
        activity.computeSeconds += record.meanComputeS * activity.ranks;
        activity.collectiveSeconds += record.collectiveTimeS * activity.ranks;
    }
    const Fabric& fabric = cluster.GetFabric();
    activity.switches = fabric.topology.switches;
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const PortCounters& port = fabric.channels[link]->GetPort(end).GetCounters();
            const double sent = GetBits(port.transmittedBytes, port.transmittedFrames);
            const double received = GetBits(port.receivedBytes, port.receivedFrames);
            const auto& ends = fabric.topology.links[link];
            activity.linkBits += sent;
            if ((end == 0 ? ends.a : ends.b) < fabric.topology.hosts)
            {
                activity.nics++;
                activity.memoryBits += sent + received;
            }
            else
            {
                activity.ports++;
                activity.switchBits += received;
            }
        }
    }
    return activity;
}

std::optional<double>
GetRetransmittedPart(const Cluster& cluster)
{
    const ClusterOptions& options = cluster.GetOptions();
    if (IsInNetwork(options.algorithm) || !options.GetTransport().countsPackets)
    {
        return std::nullopt;
    }
    uint64_t mine = 0;
    uint64_t mineRepeated = 0;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const HostConnection& connection : cluster.GetTransports().ListConnections(rank))
        {
            mine += connection.counters->sentPackets;
            mineRepeated += connection.counters->retransmittedPackets;
        }
    }
    ByteWriter writer;
    writer(mine, mineRepeated);
    uint64_t sent = 0;
    uint64_t repeated = 0;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        sent += reader.Next<uint64_t>();
        repeated += reader.Next<uint64_t>();
    }
    return sent > 0 ? static_cast<double>(repeated) / static_cast<double>(sent) : 0;
}

std::shared_ptr<EnergyFigures>
GetEnergyFigures(const EnergyOptions& options,
                 const Cluster& cluster,
                 const std::vector<IterationRecord>& iterations,
                 double gradientBytes)
{
    if (options.IsEmpty() || iterations.empty())
    {
        return nullptr;
    }
    auto figures = std::make_shared<EnergyFigures>();
    figures->options = options;
    figures->iterations = static_cast<uint32_t>(iterations.size());
    figures->gradientBytes = gradientBytes;
    figures->activity = GetActivity(cluster, iterations);
    const auto retransmitted = GetRetransmittedPart(cluster);
    figures->countsRetransmissions = retransmitted.has_value();
    figures->activity.retransmittedPart = retransmitted.value_or(0);
    if (!options.model.empty())
    {
        figures->account = GetEnergy(MakePowerFigures(options.model), figures->activity);
    }
    return figures;
}

} // namespace ns3::training
