/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-measurement.h"

#include "guarded-run.h"
#include "run-cost.h"

#include "ns3/fabric-border.h"
#include "ns3/random-variable-stream.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>

namespace ns3::training
{

namespace
{

/**
 * Sends a message over several queue pairs, split as evenly as possible into whole packets. Runs in
 * the context of the sender's host, because nodes interact only by frames.
 */
void
Send(const std::vector<Ptr<RdmaQueuePair>>* queuePairs, uint64_t bytes, uint64_t mtu)
{
    const uint64_t count = queuePairs->size();
    const uint64_t packets = (bytes + mtu - 1) / mtu;
    const uint64_t longest = MAX_REQUEST / mtu * mtu;
    uint64_t left = bytes;
    for (uint64_t i = 0; i < count; i++)
    {
        const uint64_t share = packets / count + (i < packets % count ? 1 : 0);
        uint64_t part = std::min(left, share * mtu);
        left -= part;
        // An empty message is one packet.
        for (bool first = i == 0; first || part > 0; first = false)
        {
            const uint64_t length = std::min(part, longest);
            part -= length;
            WorkRequest request;
            request.bytes = length;
            if (part == 0)
            {
                request.immediate = 0;
            }
            (*queuePairs)[i]->Write(request);
        }
    }
}

/**
 * The queue pairs between hosts. They are numbered like those of RdmaTransport, once per queue pair
 * of a message, so that both sides know each other's numbers. The queue pairs of a message use the
 * port pairs in turn.
 */
class Connections
{
  public:
    /**
     * @param cluster with the hosts
     * @param count queue pairs per message
     */
    Connections(const Cluster& cluster, uint64_t count)
        : m_cluster(cluster),
          m_count(static_cast<uint32_t>(count))
    {
    }

    /**
     * @param host a local host
     * @param peer the remote host
     * @return queue pairs at the host, created on the first call
     */
    std::vector<Ptr<RdmaQueuePair>> Get(uint32_t host, uint32_t peer) const
    {
        const std::vector<PortPair> portPairs = m_cluster.GetPortPairs().GetPortPairs(host, peer);
        std::vector<Ptr<RdmaQueuePair>> queuePairs;
        for (uint32_t i = 0; i < m_count; i++)
        {
            const PortPair& portPair = portPairs[i % portPairs.size()];
            const auto& nic = m_cluster.GetNics(host)[portPair.rail];
            const uint32_t number = FIRST_QUEUE_PAIR + peer * m_count + i;
            const uint32_t remote = FIRST_QUEUE_PAIR + host * m_count + i;
            const auto found = nic->GetQueuePairs().find(number);
            queuePairs.push_back(
                found != nic->GetQueuePairs().end()
                    ? found->second
                    : nic->CreateQueuePair(number, portPair.remoteEndpoint, remote, portPair.rate));
        }
        return queuePairs;
    }

  private:
    const Cluster& m_cluster;
    uint32_t m_count;
};

/** @return maximum over all processes */
Time
GetLatest(Time mine)
{
    ByteWriter writer;
    writer(mine);
    Time latest;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        latest = std::max(latest, ByteReader(bytes.data(), bytes.size()).Next<Time>());
    }
    return latest;
}

/** @return sum over all processes */
uint64_t
GetSum(uint64_t mine)
{
    uint64_t sum = 0;
    ByteWriter writer;
    writer(mine);
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        sum += ByteReader(bytes.data(), bytes.size()).Next<uint64_t>();
    }
    return sum;
}

} // namespace

std::vector<FabricTraffic::Message>
FabricTraffic::MakeMessages(const std::string& pattern, uint32_t hosts)
{
    std::vector<Message> messages;
    const auto unknown = [&] {
        return ConfigurationError("--pattern=" + pattern +
                                  " (allowed: neighbour, permutation, incast:SENDERS with 1 to "
                                  "ranks - 1 senders, all-to-all)");
    };
    if (pattern == "neighbour" || pattern == "permutation")
    {
        // A permutation with a single cycle, so that no host sends to itself; "neighbour" keeps the
        // order.
        std::vector<uint32_t> order(hosts);
        std::iota(order.begin(), order.end(), 0);
        if (pattern == "permutation")
        {
            auto random = CreateObject<UniformRandomVariable>();
            random->SetStream(1);
            for (uint32_t i = hosts; i-- > 1;)
            {
                std::swap(order[i], order[random->GetInteger(0, i)]);
            }
        }
        for (uint32_t i = 0; i < hosts && hosts > 1; i++)
        {
            messages.emplace_back(order[i], order[(i + 1) % hosts]);
        }
    }
    else if (pattern.rfind("incast:", 0) == 0)
    {
        const auto senders = ParseUnsigned(pattern.substr(7));
        if (!senders || *senders == 0 || *senders >= hosts)
        {
            throw unknown();
        }
        for (uint32_t sender = 1; sender <= *senders; sender++)
        {
            messages.emplace_back(sender, 0);
        }
    }
    else if (pattern == "all-to-all")
    {
        for (uint32_t distance = 1; distance < hosts; distance++)
        {
            for (uint32_t host = 0; host < hosts; host++)
            {
                messages.emplace_back(host, (host + distance) % hosts);
            }
        }
    }
    else
    {
        throw unknown();
    }
    return messages;
}

FabricMeasurement
MeasureFabric(const FabricTraffic& traffic, const Cluster& cluster)
{
    const Fabric& fabric = cluster.GetFabric();
    const auto& nic = cluster.GetNics(0).front();
    const auto& links = fabric.topology.links;
    const bool hasSecondClass =
        std::any_of(links.begin(), links.end(), [](const auto& link) { return link.dateline; });
    const uint8_t dataClass = nic->GetSettings().dataPriority;
    const uint8_t controlClass = nic->GetSettings().controlPriority;
    // After a dateline lossless frames use the next class, which other frames must not share.
    UintegerValue lossless(0);
    if (hasSecondClass)
    {
        fabric.devicesOfSwitches[0]->GetAttribute("LosslessClasses", lossless);
    }
    const bool isNext = controlClass == dataClass + 1 && lossless.Get() >> dataClass & 1;
    const bool isPrevious = controlClass + 1 == dataClass && lossless.Get() >> controlClass & 1;
    if (controlClass == dataClass || isNext || isPrevious)
    {
        throw ConfigurationError(
            "ns3::training::RdmaNic::ControlPriority=" + std::to_string(controlClass) +
            " with data in class " + std::to_string(dataClass) +
            " (allowed: a class without data, as packet-hops are counted by "
            "class)");
    }
    GuardedRun run(cluster);
    std::vector<uint64_t> missing(
        traffic.messages.size()); // by message: parts that have not arrived
    uint64_t left = 0;            // messages to local hosts that have not arrived
    Time end;                     // arrival of the last of these
    const uint64_t packets = (traffic.bytes + cluster.GetMtu() - 1) / cluster.GetMtu();
    const uint64_t parts = std::max<uint64_t>(1, std::min(packets, traffic.queuePairs));
    const Connections connections(cluster, traffic.queuePairs);
    std::deque<std::vector<Ptr<RdmaQueuePair>>> senders; // events hold addresses of its elements
    for (std::size_t i = 0; i < traffic.messages.size(); i++)
    {
        const auto [from, to] = traffic.messages[i];
        if (cluster.IsLocal(to))
        {
            left++;
            missing[i] = parts;
            for (const auto& queuePair : connections.Get(to, from))
            {
                queuePair->SetMessageHandler([&, i](const RdmaMessage& message) {
                    missing[i] -= message.hasImmediate;
                    if (missing[i] == 0 && message.hasImmediate && --left == 0)
                    {
                        end = Simulator::Now();
                        run.End();
                    }
                });
            }
        }
        if (cluster.IsLocal(from))
        {
            senders.push_back(connections.Get(from, to));
            for (const auto& queuePair : senders.back())
            {
                queuePair->SetErrorHandler(
                    [&run, message = traffic.messages[i]](const std::string& reason) {
                        run.Fail(message.second,
                                 "the message from host " + std::to_string(message.first) +
                                     " to host " + std::to_string(message.second) +
                                     " failed: " + reason);
                    });
            }
            Simulator::ScheduleWithContext(fabric.hosts.Get(from)->GetId(),
                                           TimeStep(0),
                                           &Send,
                                           &senders.back(),
                                           traffic.bytes,
                                           uint64_t{cluster.GetMtu()});
        }
    }
    const RunCost before = GetRunCost(fabric);
    const auto started = std::chrono::steady_clock::now();
    if (left == 0)
    {
        run.End();
    }
    try
    {
        run.Run();
    }
    catch (const SimulationStuck& stuck)
    {
        throw SimulationStuck(std::to_string(GetSum(left)) + " of " +
                              std::to_string(traffic.messages.size()) +
                              " messages have not arrived; " + stuck.what());
    }
    FabricMeasurement measurement;
    measurement.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    GatherCounters(fabric);
    const RunCost after = GetRunCost(fabric);
    const PortCounters total = fabric.GetTotal();
    measurement.controlHops = total.byPriority[controlClass].transmittedFrames;
    for (const PriorityCounters& ofClass : total.byPriority)
    {
        measurement.dataHops += ofClass.transmittedFrames;
    }
    measurement.dataHops -= measurement.controlHops;
    measurement.events = after.events - before.events;
    measurement.cpuSeconds = after.cpuSeconds - before.cpuSeconds;
    measurement.setupCpuSeconds = before.cpuSeconds;
    measurement.setupMebibytes = before.peakMemoryMebibytes;
    measurement.peakMebibytes = after.peakMemoryMebibytes;
    measurement.simulatedMicroseconds = GetLatest(end).GetSeconds() * 1e6;
    measurement.droppedFrames = total.droppedFrames;
    measurement.markedFrames = total.markedFrames;
    measurement.pauseFrames = total.pausesSent;
    return measurement;
}

} // namespace ns3::training
