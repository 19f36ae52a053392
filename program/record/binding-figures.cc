/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/binding-figures.h"

#include "record/network-figures.h"

#include "ns3/codec-engine.h"
#include "ns3/coding-unit.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-frame.h"
#include "ns3/fabric-port.h"
#include "ns3/host-device.h"
#include "ns3/in-network-communicator.h"
#include "ns3/nic-communicator.h"
#include "ns3/result-table.h"
#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace ns3::training
{

namespace
{

const ResultTableEntry<BindingRow> g_bindingTable("limitation");

/// Share of the communication for which a part that binds is busy.
constexpr double SHARE = 0.7;
/// The same, of communication at its lower bound.
constexpr double HALF = 0.5;
/// Idle part of iterations below which computation binds.
constexpr double IDLE = 0.05;
/// Shares of frames and packets above which losses or marks bind.
constexpr double MANY = 0.001;

/** @return a share in words */
std::string
InPercent(double share)
{
    return std::to_string(std::lround(100 * share)) + " %";
}

/** Keeps the busiest part of a kind. */
void
Keep(BusyPart& best, const std::string& name, double seconds)
{
    if (seconds > best.seconds)
    {
        best.name = name;
        best.seconds = seconds;
    }
}

/** Adds the busiest link, and the busiest port of a host that forwards to its own router. */
void
AddLinks(const Fabric& fabric, const std::vector<double>& portSeconds, BindingFacts& facts)
{
    BusyPart link{"link", "", 0};
    BusyPart router{"router", "", 0};
    std::string node;
    std::map<std::string, uint64_t> pauses;
    uint64_t all = 0;
    for (uint32_t number = 0; number < fabric.channels.size(); number++)
    {
        const bool isInternal = fabric.topology.links[number].internal;
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = fabric.channels[number]->GetPort(end);
            const std::string from = fabric.GetEndName(number, end);
            const double seconds = portSeconds[2 * number + end];
            node = !isInternal && seconds > link.seconds ? from : node;
            Keep(isInternal ? router : link,
                 from + " -> " + fabric.GetEndName(number, 1 - end),
                 seconds);
            pauses[from] += port.GetCounters().pausesSent;
            all += port.GetCounters().pausesSent;
        }
    }
    facts.busy.push_back(link);
    facts.busy.push_back(router);
    facts.pauseShare = all > 0 ? static_cast<double>(pauses[node]) / static_cast<double>(all) : 0;
}

/**
 * Adds engines and adders of NICs, and what hosts code and add.
 * @param cluster after the run
 * @param share of the communication that is measured
 * @param facts receive the parts
 */
void
AddUnits(const Cluster& cluster, double share, BindingFacts& facts)
{
    BusyPart engine{"engine", "", 0};
    for (const auto& device : cluster.GetFabric().devices)
    {
        if (const auto codec = DynamicCast<CodecEngine>(device->GetProgram()))
        {
            Keep(engine,
                 cluster.GetNicEngines().GetSpec(),
                 8 * static_cast<double>(codec->GetCounters().plainBytes) / codec->GetRate());
        }
    }
    BusyPart adders{"adders", "", 0};
    for (const auto& nic : cluster.GetCommunicators().GetInNics().ranks)
    {
        Keep(adders, "of the NICs", nic->GetAdderTime().GetSeconds());
    }
    BusyPart host{"host", "", 0};
    for (const auto& unit : cluster.GetCodecs().GetUnits())
    {
        if (!unit)
        {
            continue;
        }
        const CodingCounters& counters = unit->GetCounters();
        Keep(host,
             "codings of " + cluster.GetOptions().codec,
             (counters.encodeTime + counters.decodeTime).GetSeconds());
    }
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        if (const auto communicator = cluster.GetHostCommunicator(rank))
        {
            Keep(host, "additions", communicator->GetTransport()->GetAdderTime().GetSeconds());
        }
    }
    for (const BusyPart& part : {engine, adders, host})
    {
        facts.busy.push_back({part.what, part.name, share * part.seconds});
    }
}

/** @return what is known of a run */
BindingFacts
MakeFacts(const FiguresRequest& request)
{
    const Cluster& cluster = request.cluster;
    BindingFacts facts;
    facts.communication = Simulator::Now().GetSeconds();
    double all = 0; // time of communication, warm-up included
    const bool hasMeasured = !request.portSeconds.empty();
    const bool isJob = !request.iterations.empty();
    facts.communication = isJob ? 0 : facts.communication;
    for (const IterationRecord& record : request.iterations)
    {
        all += record.communicationTimeS;
        if (record.warmup && hasMeasured)
        {
            continue;
        }
        facts.seconds += record.iterationTimeS;
        facts.computeSeconds += record.computeTimeS;
        facts.bubbleSeconds += record.bubbleS;
        facts.exposedSeconds += record.exposedCommunicationS;
        facts.communication += record.communicationTimeS;
        facts.bound += record.lowerBoundS;
        facts.hasPipeline = facts.hasPipeline || record.exposedPipelineS > 0;
    }
    AddLinks(cluster.GetFabric(),
             hasMeasured ? request.portSeconds : GetPortSeconds(cluster.GetFabric()),
             facts);
    AddUnits(cluster, isJob && all > 0 ? facts.communication / all : 1, facts);
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        facts.limit = facts.limit.empty() ? worker->DescribeLimit() : facts.limit;
    }
    const NetworkFigures network = CountNetwork(cluster);
    const auto frames = static_cast<double>(std::max<uint64_t>(1, network.sentFrames));
    facts.lostShare = static_cast<double>(network.lostFrames + network.droppedFrames) / frames;
    facts.markedShare = static_cast<double>(network.markedFrames) / frames;
    facts.repeatedShare = static_cast<double>(network.repeatedPackets) /
                          static_cast<double>(std::max<uint64_t>(1, network.sentPackets));
    facts.control = cluster.GetOptions().congestionControl;
    const std::string& hosts = cluster.GetOptions().hostModel;
    facts.hosts = hosts == ClusterOptions().hostModel ? "" : hosts;
    facts.lostFrames = network.lostFrames;
    facts.droppedFrames = network.droppedFrames;
    return facts;
}

std::unique_ptr<Figures>
MakeBindingFigures(const FiguresRequest& request)
{
    if (Processes::GetCount() > 1)
    {
        return nullptr; // none knows the counters at the end of an iteration
    }
    auto figures = std::make_unique<BindingFigures>();
    figures->row = FindBinding(request);
    return figures;
}

const Registry<FiguresEntry>::Entry g_binding("binding",
                                              {"what limits the run", &MakeBindingFigures});

/** Finds what binds the communication. */
BindingRow
FindCommunication(const BindingFacts& facts)
{
    BindingRow row;
    BusyPart best;
    for (const BusyPart& part : facts.busy)
    {
        best = part.seconds > best.seconds ? part : best;
    }
    const double share =
        facts.communication > 0 ? std::min(1.0, best.seconds / facts.communication) : 0;
    const std::string of = facts.seconds > 0 ? "communication" : "run";
    row.name = best.name;
    row.share = share;
    const bool isAtBound =
        facts.bound > 0 && share >= HALF && facts.communication <= (1 + IDLE) * facts.bound;
    const std::string busy = "is busy for " + InPercent(share) + " of the " + of;
    if (best.seconds > 0 && (share >= SHARE || isAtBound))
    {
        row.what = best.what;
        row.sentence = best.what == "link" || best.what == "router"
                           ? "The " + best.what + " " + best.name + " binds: it " + busy
                       : best.what == "engine"
                           ? "The engine " + best.name + " binds: that of a NIC " + busy
                       : best.what == "adders"
                           ? "The adders " + best.name + " bind: those of one are busy for " +
                                 InPercent(share) + " of the " + of
                           : "The hosts' " + best.name + " bind: a host " + busy;
        return row;
    }
    const std::string least =
        best.seconds > 0 ? "; the busiest part, " + best.name + ", " + busy : "";
    if (facts.lostShare > MANY || facts.repeatedShare > MANY)
    {
        row.what = "losses";
        row.sentence = "Losses bind: " + std::to_string(100 * facts.lostShare).substr(0, 4) +
                       " % of the frames were lost or dropped, and " +
                       std::to_string(100 * facts.repeatedShare).substr(0, 4) +
                       " % of the packets sent again" + least;
    }
    else if (!facts.limit.empty())
    {
        row.what = "slots";
        row.name = facts.limit;
        row.sentence = "Slots bind: " + facts.limit;
    }
    else if (facts.markedShare > MANY)
    {
        row.what = "congestion control";
        row.name = facts.control;
        row.sentence = "Congestion control binds: " + facts.control + " slows down, as " +
                       InPercent(facts.markedShare) + " of the frames were marked" + least;
    }
    else if (!facts.hosts.empty())
    {
        row.what = "host";
        row.name = facts.hosts;
        row.sentence = "Hosts bind: they take the times of " + facts.hosts +
                       " for each collective and message" + least;
    }
    else
    {
        row.what = best.seconds > 0 ? "latency" : "unknown";
        row.sentence = best.seconds > 0
                           ? "No link binds, but latencies, windows and hosts: the busiest " +
                                 best.what + ", " + best.name + ", " + busy
                           : "What binds is not known: nothing was sent";
    }
    return row;
}

} // namespace

std::vector<double>
GetPortSeconds(const Fabric& fabric)
{
    std::vector<double> seconds;
    for (const auto& channel : fabric.channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = channel->GetPort(end);
            uint64_t bytes = 0;
            for (const PriorityCounters& ofClass : port.GetCounters().byPriority)
            {
                bytes += ofClass.transmittedBytes +
                         ofClass.transmittedFrames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
            }
            seconds.push_back(8.0 * static_cast<double>(bytes) /
                              static_cast<double>(port.GetRate()));
        }
    }
    return seconds;
}

BindingRow
FindBinding(const BindingFacts& facts)
{
    BindingRow row = FindCommunication(facts);
    const double idle = facts.exposedSeconds + facts.bubbleSeconds;
    if (facts.seconds > 0 && facts.computeSeconds > 0 && idle <= IDLE * facts.seconds)
    {
        row.what = "computation";
        row.sentence = "Computation binds: ranks are idle for " + InPercent(idle / facts.seconds) +
                       " of an iteration";
    }
    else if (facts.seconds > 0 && facts.bubbleSeconds > facts.exposedSeconds)
    {
        row.what = facts.hasPipeline ? "pipeline" : "waiting";
        row.sentence = std::string(facts.hasPipeline ? "The pipeline" : "Waiting") +
                       " binds: ranks wait for other ranks for " +
                       InPercent(facts.bubbleSeconds / facts.seconds) +
                       " of an iteration, and for communication for " +
                       InPercent(facts.exposedSeconds / facts.seconds);
    }
    row.pauseShare = facts.pauseShare;
    if (facts.pauseShare > 0)
    {
        const std::string& link = facts.busy.at(0).name;
        row.sentence += "; " + link.substr(0, link.find(' ')) + " sent " +
                        InPercent(facts.pauseShare) + " of the pauses";
    }
    for (const auto& [count, what] :
         {std::pair(facts.droppedFrames, "dropped"), std::pair(facts.lostFrames, "lost on links")})
    {
        row.sentence +=
            count > 0 ? "; frames " + std::string(what) + ": " + std::to_string(count) : "";
    }
    return row;
}

BindingRow
FindBinding(const FiguresRequest& request)
{
    return FindBinding(MakeFacts(request));
}

JsonValue
ToJson(const BindingRow& row)
{
    auto json = JsonValue::Object();
    SetMembers(json, BindingRow::GetFields(), row);
    return json;
}

JsonValue
BindingFigures::ToJson() const
{
    return training::ToJson(row);
}

void
BindingFigures::AddRows(ResultStore& store) const
{
    store.Add(row);
}

} // namespace ns3::training
