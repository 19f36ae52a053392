/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/rdma-kept-packets.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaOutOfOrder");

namespace
{

/**
 * Out-of-order delivery, as NICs that work with adaptive routing (ConnectX-7, BlueField-3): the
 * receiver places packets ahead of a gap, acknowledges without a NAK what has arrived in order, and
 * reports a gap with one NAK only if it has lasted longer than the reordering window. The NAK names
 * the first missing packet and the first packet behind the gap; the sender retransmits what is
 * between them. After a timeout it retransmits everything unacknowledged.
 */
class OutOfOrder : public RdmaKeptPackets
{
  public:
    /** @param window time that a gap may last, ps */
    explicit OutOfOrder(int64_t window)
        : m_window(window)
    {
    }

    bool OnNak(Window& window, uint64_t arrivedPsn) override
    {
        NS_LOG_LOGIC("packets " << window.unackedPsn << " to " << arrivedPsn << " are lost");
        m_resend = window.unackedPsn;
        m_resendEnd = std::min(arrivedPsn, window.highestPsn);
        return HasResend();
    }

    void OnTimeout(Window& window) override
    {
        m_resend = window.unackedPsn;
        m_resendEnd = window.highestPsn;
    }

    void OnRnrNak(Window& window) override
    {
        m_resend = window.unackedPsn;
        m_resendEnd = std::max(m_resendEnd, m_resend + 1);
    }

    void OnProgress(Window& window) override
    {
        m_resend = std::max(m_resend, window.unackedPsn);
    }

    bool IsRecovering() const override
    {
        return HasResend();
    }

    bool HasResend() const override
    {
        return m_resend < m_resendEnd;
    }

    uint64_t TakeResend() override
    {
        return m_resend++;
    }

    std::optional<uint64_t> Report(const Gap& gap) const override
    {
        return gap.age < m_window ? std::nullopt
                                  : std::optional<uint64_t>(gap.missing + GetFirstKept());
    }

    std::optional<uint64_t> ReportNext(const NextGap& gap, int64_t& since) const override
    {
        // The rest of a gap was reported with it. Another gap may have lasted for long already.
        since = gap.isReported ? since : GetGapTime();
        return Report({gap.missing, 0, gap.isReported, gap.now - since});
    }

  private:
    const int64_t m_window;
    uint64_t m_resend{0};    // next packet to retransmit
    uint64_t m_resendEnd{0}; // one past the last packet to retransmit
};

std::unique_ptr<RdmaLossRecovery>
MakeOutOfOrder(const KeyValues& values)
{
    return std::make_unique<OutOfOrder>(values.GetTime("window").GetTimeStep());
}

const Registry<LossRecoveryEntry>::Entry g_outOfOrder(
    "out-of-order",
    {"places packets in any order, reports a gap only if it lasts (NICs with adaptive routing)",
     {Key::Of("window", Key::Type::TIME, "100us", "time that a gap may last before a NAK")},
     &MakeOutOfOrder,
     true});

} // namespace

} // namespace ns3::training
