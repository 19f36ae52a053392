/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/compute-stream.h"

#include "layered-model.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

ComputeStream::ComputeStream(std::function<void(uint64_t task)> done)
    : m_done(std::move(done))
{
}

Time
ComputeStream::Start(Time length, uint64_t task)
{
    m_isBusy = true;
    m_task = task;
    m_length = length;
    m_left = length;
    m_stretch = Time(0);
    const Time wait = GetWait();
    m_settled = Simulator::Now() + wait;
    m_end = Simulator::Schedule(wait + Stretch(length), &ComputeStream::End, this);
    return wait;
}

bool
ComputeStream::Occupy(Time time)
{
    Settle();
    m_occupied = std::max(m_occupied, Simulator::Now()) + time;
    if (m_isBusy)
    {
        m_settled = m_settled + time;
        const Time left = Simulator::GetDelayLeft(m_end);
        m_end.Cancel();
        m_end = Simulator::Schedule(left + time, &ComputeStream::End, this);
    }
    return m_isBusy;
}

void
ComputeStream::SetPace(double pace)
{
    Settle();
    m_pace = pace;
    if (m_isBusy)
    {
        m_end.Cancel();
        const Time wait = m_settled - Simulator::Now();
        m_end = Simulator::Schedule(wait + Stretch(m_left), &ComputeStream::End, this);
    }
}

/** Takes what has been computed so far from what is left. */
void
ComputeStream::Settle()
{
    const Time passed = Simulator::Now() - m_settled;
    if (m_isBusy && passed.IsStrictlyPositive())
    {
        const Time done = m_pace == 1 ? passed : RoundToPicoseconds(passed.GetSeconds() / m_pace);
        m_left -= std::min(done, m_left);
        m_stretch += passed - done;
        m_settled = Simulator::Now();
    }
}

/** @return time that a part of a computation takes at the present pace */
Time
ComputeStream::Stretch(Time length) const
{
    return m_pace == 1 ? length : RoundToPicoseconds(length.GetSeconds() * m_pace);
}

void
ComputeStream::Stop()
{
    m_end.Cancel();
    m_isBusy = false;
    m_occupied = Time();
}

Time
ComputeStream::GetLeastTimeLeft() const
{
    const Time left = Simulator::GetDelayLeft(m_end);
    return m_pace == 1 ? left : RoundToPicoseconds(left.GetSeconds() / m_pace);
}

Time
ComputeStream::GetWait() const
{
    return std::max(m_occupied - Simulator::Now(), Time(0));
}

void
ComputeStream::End()
{
    Settle();
    m_isBusy = false;
    m_done(m_task);
}

} // namespace ns3::training
