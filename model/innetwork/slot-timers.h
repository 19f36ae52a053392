/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SLOT_TIMERS_H
#define DISTRIBUTED_TRAINING_SLOT_TIMERS_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * When requests without an answer time out. The defaults: after a constant time.
 */
struct TimeoutRule
{
    Time timeout;            ///< since the latest request of a slot
    uint32_t threshold{0};   ///< timeouts until it doubles, of all tensors; 0: it never does
    uint32_t increment{0};   ///< what each doubling adds to the threshold, which counts anew
    uint32_t firstFactor{1}; ///< factor of the timeout of a tensor's first requests
    Time delay{0};           ///< from a timeout until it is noticed
    bool isPolled{false};    ///< timeouts are looked for once a timeout, while slots wait
    bool isKept{false};      ///< a doubled timeout holds for all later tensors
};

/**
 * @ingroup distributed-training-innetwork
 *
 * Retransmission timers of a thread of a worker, one per slot. The waiting slots form a list in
 * order of expiry, and one event serves all.
 */
class SlotTimers
{
  public:
    /// Index of no slot.
    static constexpr uint32_t NONE = UINT32_MAX;

    /**
     * @param timeout of a rule
     * @param window requests of a worker in flight
     * @param lineSeconds time that each takes on its line
     * @return the timeout, at least that of four windows on the line: the last requests of a window
     *         wait for the others
     */
    static Time Raise(Time timeout, uint32_t window, double lineSeconds);

    /** Called to retransmit a slot's request. The slot keeps waiting. */
    using Resend = std::function<void(uint32_t slot)>;
    /** Called once after too long a time without any answer. No slot waits afterwards. */
    using Fail = std::function<void(uint32_t slot, Time silence)>;

    /**
     * @param slots number of slots
     * @param rule of the timeouts
     * @param resend called at each timeout
     * @param fail called when there are no more answers
     */
    void Configure(uint32_t slots, const TimeoutRule& rule, Resend resend, Fail fail);

    /**
     * Starts a tensor, with no slot waiting.
     * @param silence failure timeout: time without any answer. If timeouts change, it is at least
     *        eight times the longest in force, so that a lost packet is sent several times
     */
    void Begin(Time silence);

    /**
     * @param slot starts waiting for an answer
     * @param isFirst whether it is one of the tensor's first requests
     */
    void Start(uint32_t slot, bool isFirst = false);

    /** @param slot has received its answer */
    void Stop(uint32_t slot);

    /**
     * A slot's request was retransmitted before its timeout. The slot keeps waiting.
     * @param slot the slot
     * @param timeout of this transmission, ps; 0: the current one
     */
    void Restart(uint32_t slot, int64_t timeout = 0);

    /** @param timeout of what is sent from now on, until the tensor ends */
    void SetTimeout(Time timeout)
    {
        m_timeout = timeout.GetTimeStep();
    }

    /**
     * Shortens the timeout from now on, also for what waits.
     * @param timeout replaces the current one, until the tensor ends
     */
    void Shorten(Time timeout);

    /** Stops all waiting, at the end of a tensor. */
    void Cancel();

    /**
     * @param slot any slot
     * @return whether it waits
     */
    bool IsWaiting(uint32_t slot) const
    {
        return m_slots[slot].waiting;
    }

    /** @return the slot that times out first, or NONE */
    uint32_t GetOldest() const
    {
        return m_oldest;
    }

  private:
    struct Slot
    {
        int64_t expiry{0}; ///< ps
        uint32_t previous{NONE};
        uint32_t next{NONE};
        bool waiting{false};
    };

    void Insert(uint32_t slot, int64_t expiry);
    void Unlink(uint32_t slot);
    void SetTimer();
    int64_t GetNotice(int64_t expiry) const;
    int64_t GetPatience() const;
    void CountTimeout();
    void OnTimer();

    std::vector<Slot> m_slots;
    TimeoutRule m_rule;
    Resend m_resend;
    Fail m_fail;
    uint32_t m_oldest{NONE}; // first waiting slot to expire
    uint32_t m_newest{NONE};
    int64_t m_timeout{0};      // current timeout, ps
    int64_t m_silence{0};      // failure timeout, ps
    int64_t m_latestAnswer{0}; // or start of the tensor, ps
    int64_t m_polled{0};       // latest look at the timers that changes them or is known, ps
    uint64_t m_threshold{0};   // timeouts before it doubles
    uint64_t m_timeouts{0};    // since the last doubling
    int64_t m_timerAt{0};      // time of the timer, ps
    EventId m_timer;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SLOT_TIMERS_H
