/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-progress.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3::training
{

CollectiveProgress::CollectiveProgress(std::shared_ptr<const CollectiveSchedule> schedule,
                                       uint32_t rank,
                                       Ptr<Tensor> tensor,
                                       ByteMatrix matrix)
    : m_schedule(std::move(schedule)),
      m_rank(rank),
      m_tensor(tensor),
      m_matrix(std::move(matrix)),
      m_layout(*m_schedule, tensor->bytes, m_matrix),
      m_left(m_schedule->GetActions(rank))
{
    if (tensor->IsReal())
    {
        m_store.emplace(m_layout, rank, tensor->values);
    }
    m_complete.resize(m_left);
    const uint32_t segments = m_schedule->segments;
    const uint32_t window = m_schedule->window > 0 ? m_schedule->window : segments;
    if (window < segments)
    {
        m_leftOfSegment.assign(segments, m_schedule->GetStoredActions(rank));
    }
    for (uint32_t i = 0; i < std::min(window, segments); i++)
    {
        BeginSegment();
    }
}

void
CollectiveProgress::BeginSegment()
{
    const uint32_t begin = m_begunSegments * m_schedule->GetStoredActions(m_rank);
    for (uint32_t root : m_schedule->GetRoots(m_rank))
    {
        m_ready.push_back(begin + root);
    }
    m_begunSegments++;
}

std::optional<uint32_t>
CollectiveProgress::TakeReady()
{
    if (m_ready.empty())
    {
        return std::nullopt;
    }
    const uint32_t index = m_ready.front();
    m_ready.pop_front();
    return index;
}

bool
CollectiveProgress::IsReady(uint32_t index) const
{
    const uint32_t count = m_schedule->GetStoredActions(m_rank);
    const uint32_t begin = index / count * count; // first index of the segment
    for (uint32_t before : m_schedule->GetDependencies(m_rank, index - begin))
    {
        if (!m_complete[begin + before])
        {
            return false;
        }
    }
    return true;
}

void
CollectiveProgress::SetBusy(uint32_t index, bool isBusy)
{
    if (isBusy)
    {
        m_busy.insert(index);
    }
    else
    {
        m_busy.erase(index);
    }
}

void
CollectiveProgress::Complete(uint32_t index)
{
    m_left--;
    m_complete[index] = true;
    const uint32_t count = m_schedule->GetStoredActions(m_rank);
    const uint32_t begin = index / count * count;
    for (uint32_t next : m_schedule->GetNext(m_rank, index - begin))
    {
        if (IsReady(begin + next))
        {
            m_ready.push_back(begin + next);
        }
    }
    if (!m_leftOfSegment.empty() && --m_leftOfSegment[index / count] == 0 &&
        m_begunSegments < m_schedule->segments)
    {
        BeginSegment();
    }
}

Ptr<ByteBuffer>
CollectiveProgress::Read(const ScheduleAction& action)
{
    Ptr<ByteBuffer> payload;
    if (m_store)
    {
        // A copy, because retransmissions must not see later additions.
        payload = Create<ByteBuffer>();
        payload->bytes = m_store->Read(action);
    }
    return payload;
}

void
CollectiveProgress::Overwrite(const ScheduleAction& action, const Ptr<ByteBuffer>& payload)
{
    m_store->Overwrite(action, payload->bytes);
}

void
CollectiveProgress::Receive(const ScheduleAction& action, const Ptr<ByteBuffer>& payload)
{
    if (m_store)
    {
        NS_ABORT_MSG_UNLESS(payload,
                            "rank " << m_rank << " expects real bytes from rank " << action.peer);
        m_store->Receive(action, payload->bytes);
    }
}

void
CollectiveProgress::Copy(const ScheduleAction& action)
{
    if (m_store)
    {
        m_store->Copy(action);
    }
}

void
CollectiveProgress::Finish()
{
    if (m_store)
    {
        m_store->Finish();
    }
    if (m_schedule->operation == CollectiveOperation::ALL_TO_ALL_V)
    {
        const uint32_t n = m_schedule->GetSize();
        m_tensor->bytes = 0;
        for (uint32_t from = 0; from < n; from++)
        {
            m_tensor->bytes += (*m_matrix)[uint64_t{from} * n + m_rank];
        }
    }
}

std::optional<std::string>
CollectiveProgress::DescribeMissing() const
{
    std::optional<std::string> leaving;
    for (uint32_t i = 0; i < m_complete.size(); i++)
    {
        const ScheduleAction action = GetAction(i);
        const bool isSend = action.kind == ScheduleAction::Kind::SEND;
        if (m_complete[i] || !(isSend || action.IsReceive()) || !IsReady(i) ||
            (isSend ? leaving.has_value() : m_busy.count(i) > 0))
        {
            continue;
        }
        const std::string text = "at step " + std::to_string(action.step) + " for " +
                                 action.DescribeChunks() + " (" + std::to_string(GetBytes(action)) +
                                 " bytes) " + (isSend ? "to leave for" : "from") + " rank " +
                                 std::to_string(action.peer);
        if (!isSend)
        {
            return text;
        }
        leaving = text;
    }
    return leaving;
}

} // namespace ns3::training
