/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "link-recorder.h"

#include "fabric/port-growth.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

LinkRecorder::LinkRecorder(const Fabric& fabric, ResultStore& store)
    : m_fabric(fabric),
      m_store(store),
      m_before(2 * fabric.channels.size()),
      m_beforeTime(Simulator::Now())
{
}

void
LinkRecorder::Keep(std::size_t count)
{
    m_kept = count;
}

void
LinkRecorder::AddIteration(uint32_t iteration)
{
    Sent sent;
    sent.length = Simulator::Now() - m_beforeTime;
    m_beforeTime = Simulator::Now();
    for (std::size_t i = 0; i < m_before.size(); i++)
    {
        const FabricPort& port = m_fabric.channels[i / 2]->GetPort(static_cast<uint32_t>(i % 2));
        sent.ports.push_back(GetGrowth(m_before[i], port.GetCounters()));
        m_before[i] = port.GetCounters();
    }
    Add(iteration, std::move(sent));
}

void
LinkRecorder::Repeat(uint32_t iteration, uint32_t period)
{
    Sent sent = m_last.at(m_last.size() - period);
    m_repeatedTime += sent.length;
    for (std::size_t i = 0; i < m_before.size(); i++)
    {
        Grow(m_before[i], sent.ports[i]);
    }
    Add(iteration, std::move(sent));
}

/** Writes an iteration, and keeps it. */
void
LinkRecorder::Add(uint32_t iteration, Sent sent)
{
    const double elapsedS = sent.length.GetSeconds();
    for (std::size_t i = 0; i < sent.ports.size(); i++)
    {
        const auto link = static_cast<uint32_t>(i / 2);
        const auto end = static_cast<uint32_t>(i % 2);
        const FabricPort& port = m_fabric.channels[link]->GetPort(end);
        for (uint32_t priority = 0; priority < PRIORITIES; priority++)
        {
            const PriorityCounters& ofClass = sent.ports[i].byPriority[priority];
            LinkIterationRow row;
            row.bytes = ofClass.transmittedBytes;
            row.frames = ofClass.transmittedFrames;
            row.marks = ofClass.markedFrames;
            row.drops = ofClass.droppedFrames;
            row.pausedS = 1e-12 * static_cast<double>(ofClass.pausedTime);
            if (row.frames == 0 && row.drops == 0 && row.pausedS == 0)
            {
                continue;
            }
            const uint64_t lineBytes =
                row.bytes + row.frames * (Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
            row.utilization = elapsedS > 0 ? 8.0 * static_cast<double>(lineBytes) /
                                                 static_cast<double>(port.GetRate()) / elapsedS
                                           : 0;
            row.iteration = iteration;
            row.node = m_fabric.GetEndName(link, end);
            row.port = port.GetIndex();
            row.peer = m_fabric.GetEndName(link, 1 - end);
            row.priority = priority;
            m_store.Add(row);
        }
    }
    m_last.push_back(std::move(sent));
    if (m_last.size() > m_kept)
    {
        m_last.pop_front();
    }
}

void
LinkRecorder::Skip()
{
    m_beforeTime = Simulator::Now();
    for (std::size_t i = 0; i < m_before.size(); i++)
    {
        m_before[i] = m_fabric.channels[i / 2]->GetPort(static_cast<uint32_t>(i % 2)).GetCounters();
    }
}

void
LinkRecorder::Finish()
{
    const double elapsedS = (Simulator::Now() + m_repeatedTime).GetSeconds();
    for (uint32_t link = 0; link < m_fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const FabricPort& port = m_fabric.channels[link]->GetPort(end);
            const PortCounters& counters = port.GetCounters();
            LinkCounterRow row;
            row.node = m_fabric.GetEndName(link, end);
            row.port = port.GetIndex();
            row.peer = m_fabric.GetEndName(link, 1 - end);
            row.bytes = counters.transmittedBytes;
            row.frames = counters.transmittedFrames;
            row.marks = counters.markedFrames;
            row.pauses = counters.pausesSent;
            row.drops = counters.droppedFrames;
            row.losses = counters.lostFrames;
            for (const PriorityCounters& ofClass : counters.byPriority)
            {
                row.losslessDrops += ofClass.losslessDrops;
                row.pausedS += 1e-12 * static_cast<double>(ofClass.pausedTime);
            }
            row.trims = counters.trimmedFrames;
            row.busyS = 8.0 * static_cast<double>(port.GetLineBytes()) /
                        static_cast<double>(port.GetRate());
            row.maxQueue = counters.peakQueueBytes;
            row.rate = port.GetRate();
            row.utilization = elapsedS > 0 ? row.busyS / elapsedS : 0;
            m_store.Add(row);
        }
    }
}

} // namespace ns3::training
