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
 * Retransmission timers of a worker, one per slot. All slots have the same timeout, so the waiting
 * slots form a list in order of expiry, and one event serves all. The timeout doubles after
 * `threshold` timeouts, again after as many more, and so on, up to an eighth of the failure
 * timeout.
 */
class SlotTimers
{
  public:
    /// Index of no slot.
    static constexpr uint32_t NONE = UINT32_MAX;

    /** Called to retransmit a slot's request. The slot keeps waiting. */
    using Resend = std::function<void(uint32_t slot)>;
    /** Called once after too long a time without any answer. No slot waits afterwards. */
    using Fail = std::function<void(uint32_t slot, Time silence)>;

    /**
     * @param slots number of slots
     * @param resend called at each timeout
     * @param fail called when there are no more answers
     */
    void Configure(uint32_t slots, Resend resend, Fail fail);

    /**
     * Starts a tensor, with no slot waiting.
     * @param timeout retransmission timeout, from the last request of a slot on
     * @param threshold timeouts after which it doubles for this tensor; 0: never
     * @param silence failure timeout: time without any answer
     */
    void Begin(Time timeout, uint32_t threshold, Time silence);

    /** @param slot starts waiting for an answer */
    void Start(uint32_t slot);

    /** @param slot has received its answer */
    void Stop(uint32_t slot);

    /** @param slot was retransmitted before its timeout and keeps waiting */
    void Restart(uint32_t slot);

    /**
     * Shortens the timeout from now on.
     * @param timeout replaces the current one, until it doubles
     */
    void Shorten(Time timeout);

    /** Stops all waiting. */
    void Cancel();

    /**
     * @param slot any slot
     * @return whether it waits
     */
    bool IsWaiting(uint32_t slot) const;

    /** @return the slot that has waited longest, or NONE */
    uint32_t GetOldest() const;

  private:
    struct Slot
    {
        int64_t expiry{0}; ///< ps
        uint32_t previous{NONE};
        uint32_t next{NONE};
        bool waiting{false};
    };

    void Append(uint32_t slot);
    void Unlink(uint32_t slot);
    void SetTimer();
    void OnTimer();

    std::vector<Slot> m_slots;
    Resend m_resend;
    Fail m_fail;
    uint32_t m_oldest{NONE}; // first waiting slot to expire
    uint32_t m_newest{NONE};
    int64_t m_timeout{0};      // current timeout, ps
    int64_t m_silence{0};      // failure timeout, ps
    int64_t m_latestAnswer{0}; // or start of the tensor, ps
    uint32_t m_step{0};
    uint32_t m_threshold{0}; // timeouts before it doubles
    uint32_t m_timeouts{0};  // since the last doubling
    EventId m_timer;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SLOT_TIMERS_H
