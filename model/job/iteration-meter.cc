/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "iteration-meter.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

/** Adds why the compute streams of a rank were idle. */
void
AddIdleTimes(const IdleTimes& idle, RankIteration& measured)
{
    const auto getExposed = [&idle](Parallelism parallelism) {
        return idle.exposed[static_cast<uint32_t>(parallelism)];
    };
    measured.bubble += idle.bubble;
    measured.exposedData += getExposed(Parallelism::DATA);
    measured.exposedTensor += getExposed(Parallelism::TENSOR);
    measured.exposedPipeline += getExposed(Parallelism::PIPELINE);
    measured.exposedContext += getExposed(Parallelism::CONTEXT);
    measured.exposedExpert += getExposed(Parallelism::EXPERT);
    measured.exposedOther += getExposed(Parallelism::NONE);
    measured.otherIdle += idle.other;
}

} // namespace

void
UnexplainedTimes::AddTo(RankIteration& measured) const
{
    IdleTimes times;
    for (const IdleInterval& interval : idle)
    {
        times.Add(interval.cause, interval.from, interval.to);
    }
    AddIdleTimes(times, measured);
    measured.communicationTime = busy.Join(received, measured.start).GetLength();
}

void
IterationMeter::Start()
{
    m_start = Simulator::Now();
    m_left = {};
    m_idleSince = m_start;
    m_computed = {};
    m_idle = IdleTimes();
    m_stretch = Time();
    m_unexplained = {};
    m_busy = {};
    m_openStart = m_start;
    m_collectiveTime = Time();
    m_collectivesStart = m_start;
}

RankIteration
IterationMeter::End(const std::vector<Time>& running)
{
    const Time now = Simulator::Now();
    for (const Time& start : running)
    {
        m_computed.Add(std::max(start, m_start), now);
    }
    if (m_open > 0)
    {
        m_busy.Add(m_openStart, now);
    }
    RankIteration measured = Measure();
    measured.Add(m_left);
    m_unexplained.busy = std::move(m_busy);
    return measured;
}

RankIteration
IterationMeter::Measure() const
{
    RankIteration measured;
    measured.start = m_start;
    measured.end = Simulator::Now();
    measured.overlapCost = m_stretch;
    measured.computeTime = m_computed.GetLength();
    measured.leastCompute = measured.computeTime;
    measured.totalCompute = measured.computeTime;
    measured.collectiveTime =
        m_collectiveTime + (m_collectives > 0 ? measured.end - m_collectivesStart : Time());
    measured.communicationTime = m_busy.GetLength();
    AddIdleTimes(m_idle, measured);
    return measured;
}

void
IterationMeter::Add(const RankIteration& times)
{
    m_left.Add(times);
}

void
IterationMeter::BeginComputing(const TaskTrace::Pointer& cause)
{
    if (m_computations++ == 0)
    {
        AddIdleTime(cause);
    }
}

void
IterationMeter::EndComputing(Time start)
{
    m_computed.Add(std::max(start, m_start), Simulator::Now());
    if (--m_computations == 0)
    {
        m_computed.Settle();
        m_idleSince = Simulator::Now();
    }
}

void
IterationMeter::AddIdleTime(const TaskTrace::Pointer& cause)
{
    if (m_isLater)
    {
        m_unexplained.idle.push_back({cause, m_idleSince, Simulator::Now()});
    }
    else
    {
        m_idle.Add(cause, m_idleSince, Simulator::Now());
    }
    m_idleSince = Simulator::Now();
}

void
IterationMeter::AddWait(Time time)
{
    m_idle.other += m_computations == 1 ? time : Time(0); // others may compute meanwhile
}

void
IterationMeter::BeginCollective()
{
    if (m_collectives++ == 0)
    {
        m_collectivesStart = Simulator::Now();
    }
    Open();
}

void
IterationMeter::EndCollective()
{
    if (--m_collectives == 0)
    {
        m_collectiveTime += Simulator::Now() - m_collectivesStart;
    }
    Close();
}

void
IterationMeter::Open()
{
    if (m_open++ == 0)
    {
        m_openStart = Simulator::Now();
    }
}

void
IterationMeter::Close()
{
    if (--m_open == 0)
    {
        m_busy.Add(m_openStart, Simulator::Now());
    }
}

/** A message was in progress since it was sent. */
void
IterationMeter::EndReceive(const TaskTrace::Pointer& trace)
{
    if (m_isLater)
    {
        m_unexplained.received.push_back(trace);
        return;
    }
    m_busy.Add(std::max(trace->ready, m_start), Simulator::Now());
}

void
IterationMeter::StopCommunicating()
{
    m_collectives = 0;
    m_open = 0;
}

UnexplainedTimes
IterationMeter::TakeUnexplained()
{
    return std::exchange(m_unexplained, {});
}

void
IterationMeter::AddState(std::vector<uint64_t>& state) const
{
    for (const Time& time :
         {Simulator::Now() - m_start, m_computed.GetLength(), m_collectiveTime, m_busy.GetLength()})
    {
        state.push_back(static_cast<uint64_t>(time.GetTimeStep()));
    }
    AddPresent(state);
}

void
IterationMeter::AddPresent(std::vector<uint64_t>& state) const
{
    const Time now = Simulator::Now();
    for (const Time& time : {m_collectives > 0 ? now - m_collectivesStart : Time(0),
                             now - std::max(m_busy.GetEnd(), m_start),
                             m_open > 0 ? now - m_openStart : Time(0),
                             m_computations > 0 ? Time(0) : now - m_idleSince})
    {
        state.push_back(static_cast<uint64_t>(time.GetTimeStep()));
    }
}

} // namespace ns3::training
