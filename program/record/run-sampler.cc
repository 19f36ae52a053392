/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-sampler.h"

#include "ns3/aggregation-program.h"
#include "ns3/simulator.h"

#include <string>

namespace ns3::training
{

RunSampler::RunSampler(const Cluster& cluster,
                       Time interval,
                       ResultStore* store,
                       TimelineTrace* timeline)
    : RunSampler(cluster.GetFabric(), &cluster, interval, store, timeline)
{
    cluster.GetTransports().WatchConnections();
}

RunSampler::RunSampler(const Fabric& fabric,
                       Time interval,
                       ResultStore* store,
                       TimelineTrace* timeline)
    : RunSampler(fabric, nullptr, interval, store, timeline)
{
}

RunSampler::RunSampler(const Fabric& fabric,
                       const Cluster* cluster,
                       Time interval,
                       ResultStore* store,
                       TimelineTrace* timeline)
    : m_fabric(fabric),
      m_cluster(cluster),
      m_interval(interval.IsStrictlyPositive() ? interval : MicroSeconds(FIRST_INTERVAL_US)),
      m_store(store),
      m_timeline(timeline),
      m_last(Simulator::Now()),
      m_stretches(!interval.IsStrictlyPositive())
{
    m_ports.resize(2 * fabric.channels.size());
    for (std::size_t i = 0; i < m_ports.size(); i++)
    {
        const auto link = static_cast<uint32_t>(i / 2);
        const auto end = static_cast<uint32_t>(i % 2);
        SampleRow& row = m_ports[i].row;
        row.node = fabric.GetEndName(link, end);
        row.port = fabric.channels[link]->GetPort(end).GetIndex();
        row.peer = fabric.GetEndName(link, 1 - end);
        m_indices.emplace(&fabric.channels[link]->GetPort(end), i);
    }
    m_next = Simulator::Schedule(m_interval, &RunSampler::Sample, this);
}

RunSampler::~RunSampler()
{
    Simulator::Cancel(m_next);
}

void
RunSampler::Sample()
{
    for (std::size_t i = 0; i < m_ports.size(); i++)
    {
        SamplePort(m_fabric.channels[i / 2]->GetPort(static_cast<uint32_t>(i % 2)), m_ports[i]);
    }
    if (m_cluster)
    {
        SampleConnections();
    }
    SampleSlots();
    m_last = Simulator::Now();
    if (m_stretches && (++m_samples >= MAX_SAMPLES || m_rows >= MAX_ROWS))
    {
        m_interval = m_interval + m_interval;
        m_samples = 0;
        m_rows = 0;
    }
    if (m_cluster || !Simulator::IsFinished())
    {
        m_next = Simulator::Schedule(m_interval, &RunSampler::Sample, this);
    }
}

void
RunSampler::SampleConnections()
{
    for (uint32_t rank = 0; rank < m_cluster->GetRanks(); rank++)
    {
        for (const HostConnection& connection : m_cluster->GetTransports().ListConnections(rank))
        {
            SampleConnection(rank, connection);
        }
    }
}

void
RunSampler::SamplePort(const FabricPort& port, PortState& state)
{
    const uint64_t lineBytes = port.GetLineBytes();
    const double seconds = (Simulator::Now() - m_last).GetSeconds();
    Report(state.row,
           "utilization",
           8.0 * static_cast<double>(lineBytes - state.lineBytes) /
               static_cast<double>(port.GetRate()) / seconds,
           state.utilization);
    state.lineBytes = lineBytes;
    SampleRow row = state.row;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        row.priority = priority;
        Report(row,
               "queue_bytes",
               static_cast<double>(port.GetQueueBytes(priority)),
               state.queues[priority]);
        Report(row, "paused", port.IsPaused(priority) ? 1 : 0, state.pauses[priority]);
    }
}

void
RunSampler::SampleConnection(uint32_t rank, const HostConnection& connection)
{
    const FabricPort& port = m_fabric.rails[rank][connection.rail]->GetPort();
    SampleRow row = m_ports[m_indices.at(&port)].row;
    row.queuePair = connection.number;
    ConnectionState& state = m_connections[{rank, connection.rail, connection.number}];
    if (connection.counters)
    {
        const uint64_t packets = connection.counters->sentPackets;
        const double bits =
            8.0 * m_cluster->GetOptions().GetMtu() * static_cast<double>(packets - state.packets);
        state.packets = packets;
        Report(row, "rate_bps", bits / (Simulator::Now() - m_last).GetSeconds(), state.rate);
    }
    Report(row, "window_bytes", static_cast<double>(connection.window.value_or(0)), state.window);
}

void
RunSampler::SampleSlots()
{
    const auto& switches = m_fabric.devicesOfSwitches;
    for (uint32_t index = 0; index < switches.size(); index++)
    {
        std::map<uint8_t, uint32_t> occupied; // by job
        uint32_t number = 0;
        for (Ptr<SwitchProgram> program = switches[index]->GetProgram(0); program;
             program = switches[index]->GetProgram(++number))
        {
            if (const auto aggregation = DynamicCast<AggregationProgram>(program))
            {
                occupied.merge(aggregation->GetOccupiedSlots());
            }
        }
        for (const auto& [job, slots] : occupied)
        {
            m_slots.try_emplace({index, job}, 0);
        }
        // A job that has ended has none.
        for (auto last = m_slots.lower_bound({index, 0});
             last != m_slots.end() && last->first.first == index;
             ++last)
        {
            SampleRow row;
            row.node = "switch" + std::to_string(index);
            row.job = last->first.second;
            const auto found = occupied.find(static_cast<uint8_t>(row.job));
            Report(row, "slots", found == occupied.end() ? 0 : found->second, last->second);
        }
    }
}

void
RunSampler::Report(const SampleRow& series, const char* quantity, double value, double& last)
{
    if (value == last)
    {
        return;
    }
    last = value;
    m_rows++;
    SampleRow row = series;
    row.timeS = Simulator::Now().GetSeconds();
    row.quantity = quantity;
    row.value = value;
    if (m_store)
    {
        m_store->Add(row);
    }
    if (m_timeline)
    {
        std::string track = row.node;
        track +=
            row.peer.empty() ? "" : " -> " + row.peer + " (port " + std::to_string(row.port) + ")";
        track += row.queuePair > 0 ? " queue pair " + std::to_string(row.queuePair) : "";
        track += row.job > 0 ? " job " + std::to_string(row.job) : "";
        const bool isOfClass = row.quantity == "queue_bytes" || row.quantity == "paused";
        m_timeline->AddCounter(track + " " + row.quantity,
                               isOfClass ? "priority " + std::to_string(row.priority) : "value",
                               Simulator::Now(),
                               value);
    }
}

} // namespace ns3::training
