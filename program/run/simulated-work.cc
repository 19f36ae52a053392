/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/simulated-work.h"

#include "ns3/path-choice.h"
#include "ns3/transport-entry.h"

#include <algorithm>

namespace ns3::training
{

SimulatedWork::SimulatedWork(const ClusterOptions& cluster)
    : m_skips(cluster.steadyState == "skip" && cluster.GetTransport().repeats &&
              cluster.FindVariation().empty() && cluster.loss == 0 && cluster.faults.empty() &&
              cluster.algorithm != "nccl"), // whose chunks are too short
      m_isHashed(GetPathChoice(cluster.path).repeats)
{
}

double
SimulatedWork::GetPartOfMicroBatches(double stages, double microBatches)
{
    /// Micro-batches for each stage until two periods are equal, with those at both ends.
    constexpr double PERIODS = 5;
    return std::min(1.0, PERIODS * stages / microBatches);
}

double
SimulatedWork::GetSimulated(double collectives, double messages)
{
    /// Collectives of a kind that are simulated before others are like them.
    constexpr double FIRST = 2;
    /// Collectives whose ranks do not start together, for each message before them.
    constexpr double APART = 0.4;
    return std::min(collectives, FIRST + APART * messages);
}

void
SimulatedWork::Add(const SimulatedMessages& messages, double times)
{
    /// Packets of a long message until its steady state is found, and behind its end.
    constexpr double SIMULATED = 1000;
    /// Shorter messages are over before anything looks for a steady state.
    constexpr double SHORT = 256;
    /// Packets until the search for steady states has become as dear as it gets.
    constexpr double LONG = 3000;
    /// What it then costs, in what the packets cost.
    constexpr double SEARCH = 1.5;
    /// Fewer links than a way over a spine has, where switches choose among ports.
    constexpr double SPINE = 4;
    /// What a packet costs whose port no hash of its flow foretells.
    constexpr double CHOICE = 2;
    /// Messages that are sent at a time have one steady state.
    constexpr double TOGETHER = 2;
    const double all = messages.GetHops() * times;
    const double packets = messages.packets;
    if (messages.sumCost > 0)
    {
        m_hops += all;
        m_cost += all * messages.sumCost;
        return;
    }
    const bool skips = m_skips && (messages.links < SPINE || m_isHashed) && packets > SHORT;
    const double shared = messages.areTogether ? TOGETHER : 1;
    const double hops = skips ? all * std::min(1.0, SIMULATED / shared / packets) : all;
    m_hops += hops;
    m_cost += hops * (m_isHashed ? 1 : CHOICE);
    if (skips)
    {
        m_cost += hops * SEARCH / shared * std::min(1.0, (packets - SHORT) / LONG);
    }
}

} // namespace ns3::training
