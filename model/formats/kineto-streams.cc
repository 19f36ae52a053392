/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/kineto-streams.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

KinetoStreams::KinetoStreams(const KinetoTrace& trace)
    : m_begin(trace.events.front().start),
      m_hasWaits(!trace.waits.empty())
{
    for (const KinetoWait& wait : trace.waits)
    {
        m_streams[wait.stream].waits.push_back(&wait);
    }
    for (auto& [number, stream] : m_streams)
    {
        std::stable_sort(stream.waits.begin(),
                         stream.waits.end(),
                         [](const KinetoWait* a, const KinetoWait* b) {
                             return a->correlation < b->correlation;
                         });
    }
}

int64_t
KinetoStreams::GetEnd(int64_t stream) const
{
    const auto found = m_streams.find(stream);
    return found == m_streams.end() || found->second.ends.empty() ? m_begin
                                                                  : found->second.ends.back().first;
}

int64_t
KinetoStreams::Await(const KinetoEvent& event, std::vector<uint64_t>& after)
{
    int64_t ready = GetEnd(event.stream);
    if (m_hasWaits && event.correlation >= 0)
    {
        AwaitEvents(event, ready, after);
    }
    else
    {
        AwaitEnded(event, ready, after);
    }
    return ready;
}

void
KinetoStreams::Await(Stream& own,
                     int64_t stream,
                     const Ended& ended,
                     int64_t& ready,
                     std::vector<uint64_t>& after)
{
    const auto& [end, task] = ended;
    ready = std::max(ready, end);
    uint64_t& awaited = own.awaited[stream];
    if (awaited < task)
    {
        after.push_back(task);
        awaited = task;
    }
}

void
KinetoStreams::AwaitEnded(const KinetoEvent& event, int64_t& ready, std::vector<uint64_t>& after)
{
    Stream& own = m_streams[event.stream];
    for (const auto& [number, other] : m_streams)
    {
        const auto last =
            std::upper_bound(other.ends.begin(),
                             other.ends.end(),
                             Ended(event.start, std::numeric_limits<uint64_t>::max()));
        if (number != event.stream && last != other.ends.begin())
        {
            Await(own, number, *(last - 1), ready, after);
        }
    }
}

void
KinetoStreams::AwaitEvents(const KinetoEvent& event, int64_t& ready, std::vector<uint64_t>& after)
{
    // Correlations count the calls of the process: the kernels launched after the call that waits
    // wait for those launched before the call that recorded the event.
    Stream& own = m_streams[event.stream];
    while (own.nextWait < own.waits.size() &&
           own.waits[own.nextWait]->correlation < event.correlation)
    {
        const KinetoWait& wait = *own.waits[own.nextWait++];
        const auto& launched = m_streams[wait.source].launched;
        const auto next = launched.lower_bound(wait.record);
        if (wait.source != event.stream && next != launched.begin())
        {
            Await(own, wait.source, std::prev(next)->second, ready, after);
        }
    }
}

void
KinetoStreams::Add(const KinetoEvent& event, int64_t end, uint64_t task)
{
    Stream& own = m_streams[event.stream];
    own.ends.emplace_back(end, task);
    if (event.correlation >= 0)
    {
        own.launched[event.correlation] = {end, task};
    }
}

} // namespace ns3::training
