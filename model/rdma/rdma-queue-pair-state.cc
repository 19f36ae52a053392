/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-queue-pair.h"

#include "ns3/state-visitor.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ns3::training
{

namespace
{

constexpr int64_t FOREVER = std::numeric_limits<int64_t>::max();

/** @return the bits of a number */
uint64_t
GetBits(double number)
{
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return bits;
}

} // namespace

void
RdmaQueuePair::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaQueuePair), 832),
                  "a new member: visit it unless it stays, then correct the size");
    const bool isIdle =
        m_window.unackedPsn == m_doorbellPsn && !m_receiver.IsReceiving() && !m_resends;
    if (visitor.PassesOver(isIdle))
    {
        visitor.Same({GetNumber(), m_postedPsn, m_receiver.GetExpectedPsn()});
        return;
    }
    VisitTurn(visitor);
    visitor.Time(m_paceStart);
    visitor.Time(m_holdUntil);
    visitor.Time(m_progress, IsTimed() ? static_cast<uint64_t>(GetTimeout()) : StateVisitor::NONE);
    // What hears of every acknowledgement, or after some bytes, has a state of its own, which is
    // not visited.
    const bool repeats = !m_needs.acks && !m_needs.telemetry && m_rateEnd == FOREVER &&
                         m_byteGrant == FOREVER && !m_resends && !m_recovering && !m_failed;
    visitor.Same({GetNumber(), repeats, static_cast<uint64_t>(m_rateEnd)});
    // Inside a message, and a message whose contents are not copied: each packet is as the last.
    const uint64_t next = m_window.nextPsn;
    const uint64_t end = std::min(m_requests.GetEnd(), m_doorbellPsn);
    const bool isLong = repeats && m_requests.IsInside(next) && next + 1 < end;
    visitor.Count(m_window.nextPsn, isLong ? end - 1 : next + 1);
    visitor.Same({m_window.highestPsn - next,
                  next - m_window.unackedPsn,
                  next - m_ackRequestedPsn,
                  next % m_port.GetSettings().ackInterval});
    visitor.Count(m_window.highestPsn);
    visitor.Count(m_ackRequestedPsn);
    visitor.Count(m_window.unackedPsn, m_requests.IsEmpty() ? StateVisitor::NONE : m_oldestEnd);
    visitor.CountIf(repeats, m_ackedBytes);
    visitor.CountIf(repeats, m_receivedAcks);
    visitor.Same({m_requests.GetCount(),
                  m_requests.GetFirst(),
                  m_requests.GetEnd(),
                  m_doorbellPsn,
                  m_postedPsn,
                  m_oldestEnd});
    visitor.Same({m_limit,
                  m_lastBytes,
                  m_mostInFlight,
                  m_ahead,
                  m_linePayload,
                  m_refusals,
                  m_expiries,
                  GetBits(m_rate),
                  static_cast<uint64_t>(m_roundTrip.Get()),
                  static_cast<uint64_t>(m_roundTrip.GetVariation())});
    auto quota = static_cast<uint64_t>(m_byteQuota);
    visitor.CountIf(m_byteGrant == FOREVER, quota);
    m_byteQuota = static_cast<int64_t>(quota);
    visitor.Same({m_counters.postedMessages,
                  m_counters.completedMessages,
                  m_counters.receivedMessages,
                  m_counters.retransmittedPackets,
                  m_counters.duplicatePackets,
                  m_counters.outOfOrderPackets,
                  m_counters.refusedPackets,
                  m_counters.sentNaks,
                  m_counters.receivedNaks,
                  m_counters.receivedRefusals,
                  m_counters.sentCnps,
                  m_counters.receivedCnps,
                  m_counters.timeouts});
    m_receiver.Visit(visitor);
}

} // namespace ns3::training
