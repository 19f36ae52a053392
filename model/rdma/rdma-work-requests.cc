/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-work-requests.h"

#include "ns3/training-prefetch.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

uint64_t
RdmaWorkRequests::Add(Message request, uint64_t firstPsn, uint32_t mtu)
{
    const uint64_t packets = std::max<uint64_t>(1, (request.bytes + mtu - 1) / mtu);
    if (!m_posted)
    {
        m_posted = std::make_unique<std::deque<Posted>>();
    }
    m_reportsSent = m_reportsSent || request.sent;
    m_posted->push_back({std::move(request), firstPsn, packets});
    return packets;
}

int64_t
RdmaWorkRequests::Clear()
{
    int64_t reports = 0;
    if (m_posted)
    {
        reports = std::count_if(m_posted->begin(), m_posted->end(), [](const Posted& posted) {
            return posted.sent != nullptr;
        });
        m_posted->clear();
    }
    return reports;
}

RdmaWorkRequests::Posted&
RdmaWorkRequests::Find(uint64_t psn)
{
    const auto behind = std::upper_bound(
        m_posted->begin(),
        m_posted->end(),
        psn,
        [](uint64_t wanted, const Posted& posted) { return wanted < posted.firstPsn; });
    return *(behind - 1);
}

bool
RdmaWorkRequests::Fill(Frame& frame, uint64_t psn, uint32_t mtu)
{
    const Posted& request = Find(psn);
    m_first = request.firstPsn;
    m_end = request.payload ? 0 : request.firstPsn + request.packets;
    m_middle = request.isSend ? SEND_MIDDLE : WRITE_MIDDLE;
    m_service = request.typeOfService;
    frame.typeOfService = request.typeOfService;
    const uint64_t index = psn - request.firstPsn;
    const bool first = index == 0;
    const bool last = index + 1 == request.packets;
    frame.payloadBytes = last ? static_cast<uint32_t>(request.bytes - index * mtu) : mtu;
    uint8_t opcode;
    if (last)
    {
        opcode = (first ? WRITE_ONLY : WRITE_LAST) + (request.immediate ? 1 : 0);
        frame.immediate = static_cast<uint32_t>(request.immediate.value_or(0));
    }
    else
    {
        opcode = first ? WRITE_FIRST : WRITE_MIDDLE;
    }
    if (request.isSend)
    {
        opcode -= WRITE_FIRST - SEND_FIRST; // same order of opcodes
    }
    else if (first)
    {
        frame.remoteAddress = request.tag;
        frame.messageBytes = request.bytes;
    }
    frame.opcode = opcode;
    if (request.payload)
    {
        frame.payload = request.payload;
        frame.payloadOffset = request.payloadOffset + index * mtu;
    }
    frame.bytes = GetDataFrameBytes(opcode, frame.payloadBytes);
    return last;
}

bool
RdmaWorkRequests::NotifySent(uint64_t psn)
{
    if (!m_reportsSent)
    {
        return false;
    }
    Posted& request = Find(psn);
    if (!request.sent)
    {
        return false;
    }
    request.sent();
    request.sent = nullptr;
    return true;
}

void
RdmaWorkRequests::Prefetch() const
{
    PrefetchBytes(m_posted.get(), sizeof(*m_posted));
}

} // namespace ns3::training
