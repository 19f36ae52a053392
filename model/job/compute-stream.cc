/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/compute-stream.h"

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
    const Time wait = GetWait();
    m_end = Simulator::Schedule(wait + length, &ComputeStream::End, this);
    return wait;
}

bool
ComputeStream::Occupy(Time time)
{
    m_occupied = std::max(m_occupied, Simulator::Now()) + time;
    if (m_isBusy)
    {
        const Time left = Simulator::GetDelayLeft(m_end);
        m_end.Cancel();
        m_end = Simulator::Schedule(left + time, &ComputeStream::End, this);
    }
    return m_isBusy;
}

void
ComputeStream::Stop()
{
    m_end.Cancel();
    m_isBusy = false;
    m_occupied = Time();
}

Time
ComputeStream::GetWait() const
{
    return std::max(m_occupied - Simulator::Now(), Time(0));
}

void
ComputeStream::End()
{
    m_isBusy = false;
    m_done(m_task);
}

} // namespace ns3::training
