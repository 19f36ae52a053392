/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_WINDOW_H
#define DISTRIBUTED_TRAINING_ATP_WINDOW_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The congestion window of an ATP worker: its packets in flight, and with A2TP the packets of these
 * that may use switch slots. It is updated once per window of results. The released client has one
 * window per thread. This is one window for all threads, which grows by as many steps and keeps at
 * least one packet per thread.
 *
 * - fixed: the maximum, as the released client does by default.
 * - ecn: halved if a packet carried an ECN mark, otherwise raised by 1500 bytes (ATP; 1 packet to
 *   100).
 * - a2tp: a link window, cut by the fraction of marked packets as in DCTCP, and a slot window, cut
 *   by the fraction of contested slots. The more results arrive within the base round trip, the
 *   smaller is the cut of the slot window (Li et al., A2TP, EuroSys 2023, released client).
 */
class AtpWindow
{
  public:
    /** The congestion control algorithm. */
    enum class Control : uint8_t
    {
        FIXED, ///< constant
        ECN,   ///< ATP: by ECN marks
        A2TP   ///< link window and slot window
    };

    /**
     * @param control algorithm
     * @param most maximum packets, of all threads
     * @param threads of the client
     * @param packetBytes size of a packet
     * @param baseRoundTrip A2TP: results within this time are urgent, ps
     */
    void Reset(Control control,
               uint32_t most,
               uint32_t threads,
               uint32_t packetBytes,
               int64_t baseRoundTrip);

    /**
     * A result has arrived.
     * @param now simulated time, ps
     * @param congested whether a packet on its path carried an ECN mark
     * @param contested whether another job has requested its slot
     */
    void OnResult(int64_t now, bool congested, bool contested);

    /**
     * All results before a packet have arrived.
     * @param now simulated time, ps
     * @param base first packet without a result
     * @param next first packet not sent
     */
    void OnProgress(int64_t now, uint64_t base, uint64_t next);

    /** @return limit of packets in flight */
    uint32_t GetPackets() const
    {
        return static_cast<uint32_t>(m_window);
    }

    /** @return limit of packets in flight that use switch slots */
    uint32_t GetSlots() const
    {
        return static_cast<uint32_t>(m_slots);
    }

  private:
    void UpdateA2tp();

    Control m_control{Control::FIXED};
    double m_least{1};
    double m_most{1};
    double m_step{1};
    int64_t m_baseRoundTrip{0};
    double m_window{1}; // packets
    double m_slots{1};  // packets
    double m_alpha{0};  // fraction of marked packets
    double m_beta{0};   // fraction of contested packets
    double m_gamma{0};  // fraction of urgent results
    uint64_t m_end{0};  // last packet of the round
    int64_t m_start{0}; // start of the round, ps
    uint32_t m_results{0};
    uint32_t m_congested{0};
    uint32_t m_contested{0};
    uint32_t m_urgent{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_WINDOW_H
