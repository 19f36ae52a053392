/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/rdma-kept-packets.h"

#include "ns3/log.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaOutOfOrder");

namespace
{

/**
 * Out-of-order delivery, as NICs that work with adaptive routing (ConnectX-7, BlueField-3): the
 * receiver places packets ahead of a gap, acknowledges without a NAK what has arrived in order, and
 * reports each gap with a NAK only if it has lasted longer than the reordering window. The NAK
 * names the first missing packet and the first packet behind the gap; the sender retransmits what
 * is between them, each packet at most once in a round trip.
 *
 * The reordering window is given, or follows what the receiver has seen, like that of RACK (RFC
 * 8985, section 6.2): two round trips of the idle network, and twice the longest time by which a
 * packet came late. After a timeout the sender retransmits the first and the last packet in flight
 * (tail loss probe, section 7); what the receiver misses between them, it reports.
 */
class OutOfOrder : public RdmaKeptPackets
{
  public:
    /** @param window time that a gap may last, ps; 0: it follows the network */
    explicit OutOfOrder(int64_t window)
        : m_window(window)
    {
    }

    void SetIdleRoundTrip(int64_t roundTrip) override
    {
        m_idle = roundTrip;
    }

    bool OnNak(Window& window, const Nak& nak) override
    {
        NS_LOG_LOGIC("packets " << nak.missingPsn << " to " << nak.arrivedPsn << " are lost");
        const uint64_t end = std::min(nak.arrivedPsn, window.highestPsn);
        bool isNew = false;
        for (uint64_t psn = std::max(nak.missingPsn, window.unackedPsn); psn < end; psn++)
        {
            const auto sent = m_resent.find(psn);
            if (sent == m_resent.end() || nak.now - sent->second >= nak.roundTrip)
            {
                m_due.insert(psn);
                isNew = isNew || psn >= m_recoveryPsn;
            }
        }
        m_recoveryPsn = isNew ? window.highestPsn : m_recoveryPsn;
        return isNew;
    }

    void OnTimeout(Window& window) override
    {
        m_due.insert(window.unackedPsn);
        m_due.insert(window.highestPsn - 1);
    }

    void OnRnrNak(Window& window) override
    {
        m_due.insert(window.unackedPsn);
    }

    void OnProgress(Window& window) override
    {
        m_due.erase(m_due.begin(), m_due.lower_bound(window.unackedPsn));
        m_resent.erase(m_resent.begin(), m_resent.lower_bound(window.unackedPsn));
    }

    bool IsRecovering() const override
    {
        return !m_due.empty() || !m_resent.empty();
    }

    bool HasResend() const override
    {
        return !m_due.empty();
    }

    uint64_t TakeResend(int64_t now) override
    {
        const uint64_t psn = *m_due.begin();
        m_due.erase(m_due.begin());
        m_resent[psn] = now;
        return psn;
    }

    std::optional<uint64_t> Report(const Gap&) const override
    {
        return std::nullopt;
    }

    int64_t GetPatience() const override
    {
        return m_window > 0 ? m_window : 2 * (m_idle + m_latest);
    }

    int64_t Review(int64_t now, std::vector<Overdue>& overdue) override
    {
        const int64_t patience = GetPatience();
        int64_t next = 0;
        uint64_t missing = 0; // first packet of the gap before `i`
        for (uint64_t i = 0; i < m_kept.size(); i++)
        {
            Kept& kept = m_kept[i];
            if (!kept.frame)
            {
                continue;
            }
            if (i > missing)
            {
                if (now - kept.time >= patience)
                {
                    kept.frame->timestamp += now - kept.time;
                    overdue.push_back({missing, i, kept.frame->timestamp});
                    kept.time = now;
                    kept.reports++;
                }
                const int64_t due = kept.time + patience;
                next = next == 0 ? due : std::min(next, due);
            }
            missing = i + 1;
        }
        return next;
    }

    void OnGapFilled(int64_t now) override
    {
        const auto first = std::find_if(m_kept.begin(), m_kept.end(), [](const Kept& kept) {
            return kept.frame != nullptr;
        });
        if (first == m_kept.begin()) // it was kept and refused
        {
            return;
        }
        const int64_t late = now - first->time;
        if (first->reports == 0)
        {
            m_latest = std::max(m_latest, late);
        }
        // Too early for an answer to the NAK. After two of them it may answer the first one.
        else if (first->reports == 1 && late < m_idle / 4)
        {
            m_latest = std::max(m_latest, late + GetPatience());
        }
    }

  private:
    const int64_t m_window;
    int64_t m_idle{0};                    // round trip of the idle network, ps
    int64_t m_latest{0};                  // longest time that a gap has lasted without a loss, ps
    uint64_t m_recoveryPsn{0};            // losses before it were known to the congestion control
    std::set<uint64_t> m_due;             // packets to retransmit
    std::map<uint64_t, int64_t> m_resent; // retransmitted ones: when, ps
};

std::unique_ptr<RdmaLossRecovery>
MakeOutOfOrder(const KeyValues& values)
{
    return std::make_unique<OutOfOrder>(values.GetTime("window").GetTimeStep());
}

const Registry<LossRecoveryEntry>::Entry g_outOfOrder(
    "out-of-order",
    {"places packets in any order, reports a gap only if it lasts (NICs with adaptive routing)",
     {Key::Of("window",
              Key::Type::TIME,
              "0ps",
              "time that a gap may last before a NAK; 0: two round trips of the idle network, and "
              "twice the longest time by which a packet came late")},
     &MakeOutOfOrder,
     true});

} // namespace

} // namespace ns3::training
