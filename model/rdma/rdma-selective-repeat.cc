/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma/rdma-kept-packets.h"

#include "ns3/log.h"

#include <algorithm>
#include <deque>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaSelectiveRepeat");

namespace
{

/**
 * Selective repeat as in IRN (Mittal et al., SIGCOMM 2018, section 3.1). The receiver keeps packets
 * ahead of a gap and answers each with a NAK that names the missing packet and the packet that
 * arrived. The sender considers a packet lost if a later one has arrived, and retransmits it once
 * per recovery episode. Where packets are reordered, `threshold` asks for a packet that was sent so
 * many packets later (the extension of section 7; RFC 9002 has 3). The episode ends when all
 * packets sent before it are acknowledged. A timeout considers every packet lost that is not known
 * to have arrived. IRN resends only the first packet, but then a lost tail of n packets costs n
 * timeouts.
 */
class SelectiveRepeat : public RdmaKeptPackets
{
  public:
    /** @param threshold packets after a missing one that must arrive before it counts as lost */
    explicit SelectiveRepeat(uint64_t threshold)
        : m_threshold(threshold)
    {
    }

    bool OnNak(Window& window, const Nak& nak) override
    {
        OnProgress(window);
        const uint64_t arrivedPsn = nak.arrivedPsn;
        if (arrivedPsn < window.unackedPsn || arrivedPsn >= window.highestPsn)
        {
            return false; // an outdated NAK
        }
        const auto index = static_cast<std::size_t>(arrivedPsn - m_base);
        if (index >= m_arrived.size())
        {
            m_arrived.resize(index + 1);
        }
        m_arrived[index] = true;
        m_lostEnd = std::max(m_lostEnd, arrivedPsn + 1 - std::min(arrivedPsn + 1, m_threshold));
        SkipArrived();
        const bool isNew = !m_recovering && HasResend();
        if (isNew)
        {
            NS_LOG_LOGIC("packet " << m_scan << " is lost, " << arrivedPsn << " has arrived");
            Recover(window);
        }
        return isNew;
    }

    void OnTimeout(Window& window) override
    {
        OnProgress(window);
        NS_LOG_LOGIC("sends all from packet " << window.unackedPsn << " again");
        Recover(window);
        OnRnrNak(window);
        m_lostEnd = window.highestPsn;
    }

    void OnRnrNak(Window& window) override
    {
        // An unacknowledged packet is retransmitted even if it arrived before and was kept.
        OnProgress(window);
        if (!m_arrived.empty())
        {
            m_arrived.front() = false;
        }
        m_scan = window.unackedPsn;
        m_lostEnd = std::max(m_lostEnd, m_scan + 1);
    }

    void OnProgress(Window& window) override
    {
        while (m_base < window.unackedPsn && !m_arrived.empty())
        {
            m_arrived.pop_front();
            m_base++;
        }
        m_base = window.unackedPsn;
        m_scan = std::max(m_scan, m_base);
        m_recovering = m_recovering && window.unackedPsn < m_recoveryPsn;
        SkipArrived();
    }

    bool IsRecovering() const override
    {
        return m_recovering || HasResend() || !m_arrived.empty();
    }

    bool HasResend() const override
    {
        return m_scan < m_lostEnd;
    }

    uint64_t TakeResend(int64_t) override
    {
        const uint64_t psn = m_scan++;
        SkipArrived();
        return psn;
    }

    std::optional<uint64_t> Report(const Gap& gap) const override
    {
        return gap.arrived;
    }

    bool IsIrn() const override
    {
        return true;
    }

  private:
    void Recover(const Window& window)
    {
        m_recovering = true;
        m_recoveryPsn = window.highestPsn;
    }

    /** Skips packets that have arrived, up to the next lost one. */
    void SkipArrived()
    {
        while (m_scan < m_lostEnd && m_scan - m_base < m_arrived.size() &&
               m_arrived[static_cast<std::size_t>(m_scan - m_base)])
        {
            m_scan++;
        }
    }

    const uint64_t m_threshold;
    uint64_t m_base{0};         // PSN of the first entry of m_arrived
    std::deque<bool> m_arrived; // from m_base on: whether the packet is known to have arrived
    uint64_t m_scan{0};         // packets before it are done
    uint64_t m_lostEnd{0};      // packets before it that have not arrived are lost
    uint64_t m_recoveryPsn{0};  // end of the recovery episode
    bool m_recovering{false};
};

std::unique_ptr<RdmaLossRecovery>
MakeSelectiveRepeat(const KeyValues& values)
{
    return std::make_unique<SelectiveRepeat>(values.GetCount("threshold"));
}

const Registry<LossRecoveryEntry>::Entry g_selectiveRepeat(
    "selective-repeat",
    {"retransmits only missing packets (IRN)",
     {Key::Count("threshold",
                 1,
                 1,
                 1 << 20,
                 "a packet is lost once one sent so many packets later has arrived")},
     &MakeSelectiveRepeat});

} // namespace

} // namespace ns3::training
