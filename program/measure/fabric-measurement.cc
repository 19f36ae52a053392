/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-measurement.h"

#include "core/memory.h"
#include "core/random-streams.h"
#include "engine/fabric-border.h"

#include "ns3/guarded-run.h"
#include "ns3/random-variable-stream.h"
#include "ns3/roce-wire-format.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"
#include "ns3/simulator.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>

namespace ns3::training
{

namespace
{

constexpr double BILLION = 1e9;

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
            Message request;
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
        const std::vector<PortPair> portPairs =
            m_cluster.GetTransports().GetPortPairs().GetPortPairs(host, peer);
        std::vector<Ptr<RdmaQueuePair>> queuePairs;
        for (uint32_t i = 0; i < m_count; i++)
        {
            const PortPair& portPair = portPairs[i % portPairs.size()];
            const auto nic = m_cluster.GetNics(host)[portPair.rail];
            const uint32_t number = FIRST_QUEUE_PAIR + peer * m_count + i;
            const uint32_t remote = FIRST_QUEUE_PAIR + host * m_count + i;
            const auto found = nic->GetQueuePairs().find(number);
            queuePairs.push_back(found != nic->GetQueuePairs().end()
                                     ? found->second
                                     : nic->CreateQueuePair(number,
                                                            portPair.remoteEndpoint,
                                                            remote,
                                                            portPair.rate,
                                                            portPair.pathRate));
        }
        return queuePairs;
    }

  private:
    const Cluster& m_cluster;
    uint32_t m_count;
};

/** @return the values of all processes */
template <typename T>
std::vector<T>
Gather(T mine)
{
    ByteWriter writer;
    writer(mine);
    std::vector<T> values;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        values.push_back(ByteReader(bytes.data(), bytes.size()).Next<T>());
    }
    return values;
}

/** @return sum over all processes */
template <typename T>
T
GetSum(T mine)
{
    const std::vector<T> values = Gather(mine);
    return std::accumulate(values.begin(), values.end(), T{});
}

/** @return rate of all ports of the fastest host together, bit/s */
double
GetFastest(const Fabric& fabric)
{
    double fastest = 0;
    for (const auto& rails : fabric.rails)
    {
        double rate = 0;
        for (const auto& device : rails)
        {
            rate += static_cast<double>(device->GetPort().GetRate());
        }
        fastest = std::max(fastest, rate);
    }
    return fastest;
}

/** @return largest share of its rate that a link from a switch to a host has carried, ppb */
uint64_t
GetLargestLoad(const Fabric& fabric, double seconds)
{
    double largest = 0;
    for (const auto& device : fabric.devicesOfSwitches)
    {
        for (uint16_t i = 0; i < device->GetNPorts(); i++)
        {
            const FabricPort& port = device->GetPort(i);
            if (seconds > 0 && dynamic_cast<HostDevice*>(&port.GetPeer()->GetOwner()))
            {
                largest = std::max(largest,
                                   8.0 * static_cast<double>(port.GetLineBytes()) /
                                       (static_cast<double>(port.GetRate()) * seconds));
            }
        }
    }
    return static_cast<uint64_t>(largest * BILLION);
}

/** Ends a measurement after its duration. A function, as ns-3.35 schedules no lambdas. */
void
CutOff(GuardedRun* run, const Fabric* fabric, Time* end, uint64_t* load)
{
    *end = Simulator::Now();
    *load = GetLargestLoad(*fabric, end->GetSeconds()); // before frames go on
    run->End();
}

/** Measures repeated packets, and the fairness among messages, over all processes. */
void
MeasureFlows(FabricMeasurement& measurement,
             const FabricTraffic& traffic,
             const Cluster& cluster,
             const Connections& connections,
             const std::vector<Time>& arrivals)
{
    uint64_t sent = 0;
    uint64_t repeated = 0;
    uint64_t sum = 0;     // of the rates, packets/s
    uint64_t squares = 0; // of them, in units of 2^32, and the rest: integers have no order
    uint64_t rest = 0;
    for (std::size_t i = 0; i < traffic.messages.size(); i++)
    {
        const auto [from, to] = traffic.messages[i];
        if (cluster.IsLocal(from))
        {
            for (const auto& queuePair : connections.Get(from, to))
            {
                sent += queuePair->GetCounters().sentPackets;
                repeated += queuePair->GetCounters().retransmittedPackets;
            }
        }
        if (cluster.IsLocal(to))
        {
            uint64_t received = 0;
            for (const auto& queuePair : connections.Get(to, from))
            {
                received += queuePair->GetCounters().receivedPackets;
            }
            const auto rate = static_cast<uint64_t>(
                std::llround(static_cast<double>(received) / arrivals[i].GetSeconds()));
            sum += rate;
            squares += (rate * rate) >> 32;
            rest += rate * rate & UINT32_MAX;
        }
    }
    measurement.sentPackets = GetSum(sent);
    measurement.repeatedPackets = GetSum(repeated);
    const auto total = static_cast<double>(GetSum(sum));
    const double allSquares =
        static_cast<double>(GetSum(squares)) * 4294967296.0 + static_cast<double>(GetSum(rest));
    measurement.fairness =
        allSquares > 0 ? total * total / allSquares / static_cast<double>(traffic.messages.size())
                       : 1;
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
            random->SetStream(GetRandomStream(RandomUse::FLOWS));
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
        constexpr double BYTES_PER_MESSAGE = 400;
        CheckMemory(BYTES_PER_MESSAGE * hosts * hosts, "--pattern=all-to-all");
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
MeasureFabric(const FabricTraffic& traffic, const Cluster& cluster, RunFiles* files)
{
    const Fabric& fabric = cluster.GetFabric();
    GuardedRun run(cluster);
    std::vector<uint64_t> missing(
        traffic.messages.size()); // by message: parts that have not arrived
    uint64_t left = 0;            // messages to local hosts that have not arrived
    Time first = Time::Max();     // arrival of the first of these
    Time end;                     // arrival of the last of these
    std::vector<Time> arrivals(traffic.messages.size(), traffic.duration); // until the end
    uint64_t load = 0; // of the busiest link to a host until then, ppb
    const bool isCutOff = !traffic.duration.IsZero();
    const uint64_t bytes =
        isCutOff ? static_cast<uint64_t>(GetFastest(fabric) * traffic.duration.GetSeconds() / 8)
                 : traffic.bytes;
    const uint64_t packets =
        (bytes + cluster.GetOptions().GetMtu() - 1) / cluster.GetOptions().GetMtu();
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
                queuePair->SetMessageHandler([&, i](const Message& message) {
                    missing[i] -= message.immediate ? 1 : 0;
                    if (missing[i] > 0 || !message.immediate)
                    {
                        return;
                    }
                    first = std::min(first, Simulator::Now());
                    arrivals[i] = Simulator::Now();
                    if (files)
                    {
                        MessageRow row;
                        row.source = traffic.messages[i].first;
                        row.destination = traffic.messages[i].second;
                        row.tag = i;
                        row.bytes = bytes;
                        files->AddMessage(row, Time(0), Simulator::Now());
                    }
                    if (--left == 0 && !isCutOff)
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
                                           bytes,
                                           uint64_t{cluster.GetOptions().GetMtu()});
        }
    }
    const RunCost before = GetRunCost(fabric);
    const auto started = std::chrono::steady_clock::now();
    if (isCutOff)
    {
        Simulator::Schedule(traffic.duration, &CutOff, &run, &fabric, &end, &load);
    }
    else if (left == 0)
    {
        run.End();
    }
    try
    {
        run.Run();
    }
    catch (const SimulationInterrupted&)
    {
        throw;
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
    for (const PriorityCounters& ofClass : total.byPriority)
    {
        measurement.controlHops += ofClass.answerFrames;
        measurement.dataHops += ofClass.transmittedFrames;
    }
    measurement.dataHops -= measurement.controlHops;
    measurement.events = after.events - before.events;
    measurement.cpuSeconds = after.cpuSeconds - before.cpuSeconds;
    measurement.setupCpuSeconds = before.cpuSeconds;
    measurement.setupMebibytes = before.peakMemoryMebibytes;
    measurement.peakMebibytes = after.peakMemoryMebibytes;
    const std::vector<Time> ends = Gather(end);
    const std::vector<Time> firsts = Gather(first);
    measurement.simulatedMicroseconds =
        std::max_element(ends.begin(), ends.end())->GetSeconds() * 1e6;
    const Time earliest = *std::min_element(firsts.begin(), firsts.end());
    measurement.firstMicroseconds = earliest == Time::Max() ? 0 : earliest.GetSeconds() * 1e6;
    MeasureFlows(measurement, traffic, cluster, connections, arrivals);
    for (const auto& device : fabric.devicesOfSwitches)
    {
        for (uint16_t i = 0; i < device->GetNPorts(); i++)
        {
            measurement.peakQueueBytes = std::max(measurement.peakQueueBytes,
                                                  device->GetPort(i).GetCounters().peakQueueBytes);
        }
    }
    if (!isCutOff)
    {
        load = GetLargestLoad(fabric, measurement.simulatedMicroseconds * 1e-6);
    }
    const std::vector<uint64_t> loads = Gather(load);
    measurement.utilization =
        static_cast<double>(*std::max_element(loads.begin(), loads.end())) / BILLION;
    measurement.droppedFrames = total.droppedFrames;
    measurement.lostFrames = total.lostFrames;
    measurement.markedFrames = total.markedFrames;
    measurement.pauseFrames = total.pausesSent;
    return measurement;
}

} // namespace ns3::training
