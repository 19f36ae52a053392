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
 * How many packets a worker of ATP may have in flight, and with A2TP how many of these may use
 * slots of switches. Updated once for each window of results. The client's threads, each with a
 * window of its own there, are one window here, which grows by as many steps and keeps a packet for
 * each.
 *
 * - fixed: the largest, as the released client does by default.
 * - ecn: halved if a packet was marked, otherwise larger by 1500 bytes (ATP; 1 packet to 100).
 * - a2tp: a window for the links, cut by the share of marked packets as DCTCP does, and one for
 *   slots, cut by the share of contested ones, the less so the more of the results come within the
 *   base round trip (Li et al., A2TP, EuroSys 2023, released client).
 */
class AtpWindow
{
  public:
    /** How it is controlled. */
    enum class Control : uint8_t
    {
        FIXED, ///< not at all
        ECN,   ///< ATP
        A2TP   ///< two windows
    };

    /**
     * @param control how
     * @param most packets, of all threads
     * @param threads of the client
     * @param packetBytes size of a packet
     * @param baseRoundTrip A2TP: results within that time are urgent, ps
     */
    void Reset(Control control,
               uint32_t most,
               uint32_t threads,
               uint32_t packetBytes,
               int64_t baseRoundTrip);

    /**
     * A result has come.
     * @param now when, ps
     * @param congested whether a packet on its way was marked
     * @param contested whether another job has asked for its slot
     */
    void OnResult(int64_t now, bool congested, bool contested);

    /**
     * All results up to a packet have come.
     * @param now when, ps
     * @param base the first packet without
     * @param next the first packet not sent
     */
    void OnProgress(int64_t now, uint64_t base, uint64_t next);

    /** @return packets that may be in flight */
    uint32_t GetPackets() const;

    /** @return of these, packets that may use slots of switches */
    uint32_t GetSlots() const;

  private:
    void UpdateA2tp();

    Control m_control{Control::FIXED};
    double m_least{1};
    double m_most{1};
    double m_step{1};
    int64_t m_baseRoundTrip{0};
    double m_window{1}; // packets
    double m_slots{1};  // packets
    double m_alpha{0};  // share of marked packets
    double m_beta{0};   // share of contested ones
    double m_gamma{0};  // share of urgent ones
    uint64_t m_end{0};  // packet that the round ends with
    int64_t m_start{0}; // of the round, ps
    uint32_t m_results{0};
    uint32_t m_congested{0};
    uint32_t m_contested{0};
    uint32_t m_urgent{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_WINDOW_H
