/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-state.h"

#include "ns3/training-byte-archive.h"

#include <algorithm>

namespace ns3::training
{

std::string
RunState::Pack() const
{
    ByteWriter writer;
    writer(failureTime, failurePeer, failure, stopped, ended, lastDone, computing, progress);
    writer(signal, waiting.size());
    for (const auto& [rank, text] : waiting)
    {
        writer(rank, text);
    }
    return writer.GetText();
}

RunState
RunState::Unpack(const std::string& bytes)
{
    RunState state;
    ByteReader reader(bytes.data(), bytes.size());
    reader(state.failureTime, state.failurePeer, state.failure);
    reader(state.stopped, state.ended, state.lastDone, state.computing, state.progress);
    reader(state.signal);
    for (auto left = reader.Next<std::size_t>(); left > 0; left--)
    {
        const auto rank = reader.Next<uint32_t>();
        reader(state.waiting[rank]);
    }
    return state;
}

void
RunState::Add(const RunState& other)
{
    if (!other.failure.empty() && (failure.empty() || other.failureTime < failureTime))
    {
        failureTime = other.failureTime;
        failurePeer = other.failurePeer;
        failure = other.failure;
    }
    stopped |= other.stopped;
    ended &= other.ended;
    lastDone = std::max(lastDone, other.lastDone);
    computing |= other.computing;
    progress += other.progress;
    signal = std::max(signal, other.signal);
    waiting.insert(other.waiting.begin(), other.waiting.end());
}

} // namespace ns3::training
