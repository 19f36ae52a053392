/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pfc-deadlock.h"

#include "ns3/log.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPfcDeadlock");

namespace
{

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/** Records the first cycle found by a depth-first search. */
struct CycleFinder : public boost::default_dfs_visitor
{
    std::vector<std::size_t>* parent;
    std::vector<std::size_t>* cycle;

    void tree_edge(const Graph::edge_descriptor& edge, const Graph& graph) const
    {
        (*parent)[boost::target(edge, graph)] = boost::source(edge, graph);
    }

    void back_edge(const Graph::edge_descriptor& edge, const Graph& graph) const
    {
        if (cycle->empty())
        {
            const std::size_t first = boost::target(edge, graph);
            for (std::size_t at = boost::source(edge, graph); at != first; at = (*parent)[at])
            {
                cycle->insert(cycle->begin(), at);
            }
            cycle->insert(cycle->begin(), first);
        }
    }
};

/** A stuck queue: a non-empty queue of a switch port that the peer has paused. */
struct Stuck
{
    uint32_t index;               ///< index of the switch
    uint8_t priority;             ///< priority of the queue
    uint64_t sentFrames;          ///< frames sent by the port in this priority
    std::set<uint64_t> ingresses; ///< names of the upstream queues of its frames
};

/** @return a number that identifies a queue, equal in all processes */
uint64_t
GetName(const FabricPort& port, uint8_t priority)
{
    return (uint64_t{port.GetNodeId()} << 16 | port.GetIndex()) * PRIORITIES + priority;
}

/** Collects the stuck queues of one port. */
void
AddStuck(uint32_t index,
         SwitchDevice& device,
         const FabricPort& port,
         std::map<uint64_t, Stuck>& all)
{
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        if (port.IsPaused(priority) && port.GetQueue(priority))
        {
            Stuck stuck{index,
                        priority,
                        port.GetCounters().byPriority[priority].transmittedFrames,
                        {}};
            for (const Frame* frame = port.GetQueue(priority); frame; frame = frame->next)
            {
                const FabricPort& sender = *device.GetPort(frame->ingress).GetPeer();
                stuck.ingresses.insert(GetName(sender, frame->ingressPriority));
            }
            all.emplace(GetName(port, priority), std::move(stuck));
        }
    }
}

/** @return the stuck queues in this process, by name */
std::map<uint64_t, Stuck>
FindStuck(const Fabric& fabric)
{
    std::map<uint64_t, Stuck> all;
    for (uint32_t i = 0; i < fabric.topology.switches; i++)
    {
        const auto& device = fabric.devicesOfSwitches[i];
        for (uint16_t index = 0; index < device->GetNPorts(); index++)
        {
            AddStuck(i, *device, device->GetPort(index), all);
        }
    }
    return all;
}

/** @return the stuck queues of all processes, given the stuck queues of this process */
std::map<uint64_t, Stuck>
Gather(const std::map<uint64_t, Stuck>& mine)
{
    ByteWriter writer;
    for (const auto& [name, stuck] : mine)
    {
        writer(name, stuck.index, stuck.priority, stuck.sentFrames, stuck.ingresses.size());
        for (uint64_t ingress : stuck.ingresses)
        {
            writer(ingress);
        }
    }
    std::map<uint64_t, Stuck> all;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        for (ByteReader reader(bytes.data(), bytes.size()); !reader.IsAtEnd();)
        {
            Stuck& stuck = all[reader.Next<uint64_t>()];
            reader(stuck.index, stuck.priority, stuck.sentFrames);
            for (auto left = reader.Next<std::size_t>(); left > 0; left--)
            {
                stuck.ingresses.insert(reader.Next<uint64_t>());
            }
        }
    }
    return all;
}

} // namespace

PfcDeadlock
FindPfcDeadlock(const Fabric& fabric)
{
    std::vector<const Stuck*> stuck;
    std::map<uint64_t, std::size_t> numberOf;
    const auto queues = Gather(FindStuck(fabric));
    for (const auto& [name, queue] : queues)
    {
        numberOf[name] = stuck.size();
        stuck.push_back(&queue);
    }
    // Wait-for graph: a stuck queue waits for the stuck queues of the next switch that hold its
    // frames.
    Graph graph(stuck.size());
    for (std::size_t number = 0; number < stuck.size(); number++)
    {
        for (uint64_t ingress : stuck[number]->ingresses)
        {
            const auto waiting = numberOf.find(ingress);
            if (waiting != numberOf.end())
            {
                boost::add_edge(waiting->second, number, graph);
            }
        }
    }
    std::vector<std::size_t> parent(stuck.size());
    std::vector<std::size_t> cycle;
    CycleFinder finder;
    finder.parent = &parent;
    finder.cycle = &cycle;
    boost::depth_first_search(graph, boost::visitor(finder));
    PfcDeadlock deadlock;
    if (cycle.empty())
    {
        return deadlock;
    }
    std::set<uint8_t> priorities;
    for (std::size_t number : cycle)
    {
        deadlock.cycle += "switch" + std::to_string(stuck[number]->index) + " -> ";
        deadlock.sentFrames += stuck[number]->sentFrames;
        priorities.insert(stuck[number]->priority);
    }
    deadlock.cycle += "switch" + std::to_string(stuck[cycle.front()]->index);
    std::string separator = priorities.size() == 1 ? " (priority " : " (priorities ";
    for (uint8_t priority : priorities)
    {
        deadlock.cycle += separator + std::to_string(priority);
        separator = ", ";
    }
    deadlock.cycle += ")";
    NS_LOG_INFO("a cycle of paused queues: " << deadlock.cycle);
    return deadlock;
}

} // namespace ns3::training
