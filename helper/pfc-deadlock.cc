/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pfc-deadlock.h"

#include "ns3/log.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPfcDeadlock");

namespace
{

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/** Notes the first cycle that a depth-first search closes. */
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

/** A port of a switch that the peer has paused while frames wait. */
struct Stuck
{
    uint32_t index; ///< of the switch
    FabricPort* port;
};

/** @return the cycle of one priority, if any */
PfcDeadlock
FindCycle(const Fabric& fabric, uint8_t priority)
{
    std::vector<Stuck> stuck;
    std::map<const FabricPort*, std::size_t> numberOf;
    for (uint32_t i = 0; i < fabric.topology.switches; i++)
    {
        const auto& device = fabric.devicesOfSwitches[i];
        for (uint16_t index = 0; index < device->GetNPorts(); index++)
        {
            FabricPort& port = device->GetPort(index);
            if (port.IsPaused(priority) && port.GetQueue(priority))
            {
                numberOf[&port] = stuck.size();
                stuck.push_back({i, &port});
            }
        }
    }
    // A stuck port waits for those stuck ports of the next switch that hold what it has sent.
    Graph graph(stuck.size());
    for (const auto& [index, port] : stuck)
    {
        const auto& device = fabric.devicesOfSwitches[index];
        for (const Frame* frame = port->GetQueue(priority); frame; frame = frame->next)
        {
            const auto waiting = numberOf.find(device->GetPort(frame->ingress).GetPeer());
            if (waiting != numberOf.end())
            {
                boost::add_edge(waiting->second, numberOf[port], graph);
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
    for (std::size_t number : cycle)
    {
        deadlock.cycle += "switch" + std::to_string(stuck[number].index) + " -> ";
        deadlock.sentFrames += stuck[number].port->counters.byPriority[priority].transmittedFrames;
    }
    deadlock.cycle += "switch" + std::to_string(stuck[cycle.front()].index) + " (priority " +
                      std::to_string(priority) + ")";
    return deadlock;
}

} // namespace

PfcDeadlock
FindPfcDeadlock(const Fabric& fabric)
{
    PfcDeadlock deadlock;
    for (uint8_t priority = 0; priority < PRIORITIES && deadlock.cycle.empty(); priority++)
    {
        deadlock = FindCycle(fabric, priority);
    }
    return deadlock;
}

} // namespace ns3::training
