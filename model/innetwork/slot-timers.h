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
 * What a worker waits for, slot by slot, and when it asks again. All slots have the same timeout,
 * so those that wait are a list in the order of expiry, and one event serves all. The timeout
 * doubles after so many timeouts, again after so many and as many more, up to an eighth of the time
 * after which there will be no answers any more.
 */
class SlotTimers
{
  public:
    /// Instead of a slot.
    static constexpr uint32_t NONE = UINT32_MAX;

    /** Called to ask again for a slot, which goes on waiting. */
    using Resend = std::function<void(uint32_t slot)>;
    /** Called once when nothing has been answered for so long; nothing waits after it. */
    using Fail = std::function<void(uint32_t slot, Time silence)>;

    /**
     * @param slots how many there are
     * @param resend what to do at a timeout
     * @param fail what to do when there are no answers any more
     */
    void Configure(uint32_t slots, Resend resend, Fail fail);

    /**
     * A tensor begins, with nothing waiting.
     * @param timeout until a slot is asked for again, from its latest request on
     * @param threshold timeouts after which that doubles for this tensor; 0: never
     * @param silence time without any answer after which there will be none
     */
    void Begin(Time timeout, uint32_t threshold, Time silence);

    /** @param slot begins to wait for an answer */
    void Start(uint32_t slot);

    /** @param slot has its answer */
    void Stop(uint32_t slot);

    /** @param slot has been asked for again before its time, and goes on waiting */
    void Restart(uint32_t slot);

    /**
     * From now on slots wait for less.
     * @param timeout in place of the one before, until it doubles
     */
    void Shorten(Time timeout);

    /** Nothing waits any more. */
    void Cancel();

    /**
     * @param slot any
     * @return whether it waits
     */
    bool IsWaiting(uint32_t slot) const;

    /** @return the one that has waited longest, or NONE */
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
    uint32_t m_oldest{NONE}; // of those that wait, the first to expire
    uint32_t m_newest{NONE};
    int64_t m_timeout{0};      // now, ps
    int64_t m_silence{0};      // ps
    int64_t m_latestAnswer{0}; // or when the tensor began, ps
    uint32_t m_step{0};
    uint32_t m_threshold{0}; // timeouts at which it doubles
    uint32_t m_timeouts{0};  // since the latest doubling
    EventId m_timer;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SLOT_TIMERS_H
