/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_TIMERS_H
#define DISTRIBUTED_TRAINING_SWITCHML_TIMERS_H

#include "ns3/nstime.h"
#include "ns3/slot-timers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The retransmission timers of a SwitchML worker, by one of two rules: that of the paper, a
 * constant timeout, or that of the released client, with timers for each of its threads. A thread
 * has each slot modulo their number.
 */
class SwitchMlTimers
{
  public:
    /** What selects the rule. */
    struct Settings
    {
        bool isClient{false};  ///< the released client's rule
        bool isRdma{false};    ///< with RDMA framing
        Time timeout;          ///< before it doubles; 0: that of the rule
        uint32_t cores{1};     ///< of the worker, each with a thread
        uint32_t slots{1};     ///< messages in flight
        double lineSeconds{0}; ///< time that a message takes on the slowest line
    };

    /**
     * @param settings of the worker
     * @param resend called at each timeout
     * @param fail called when there are no more answers
     */
    void Configure(const Settings& settings, SlotTimers::Resend resend, SlotTimers::Fail fail);

    /** @return the rule, one line */
    std::string Describe() const;

    /** @param silence as in SlotTimers::Begin() */
    void Begin(Time silence);

    /** Stops all waiting. */
    void Cancel();

    /**
     * @param slot starts waiting for an answer
     * @param isFirst whether it is one of the tensor's first requests
     */
    void Start(uint32_t slot, bool isFirst)
    {
        m_threads[slot % m_threads.size()].Start(GetIndex(slot), isFirst);
    }

    /** @param slot has received its answer */
    void Stop(uint32_t slot)
    {
        m_threads[slot % m_threads.size()].Stop(GetIndex(slot));
    }

    /**
     * @param slot any slot
     * @return whether it waits
     */
    bool IsWaiting(uint32_t slot) const
    {
        return m_threads[slot % m_threads.size()].IsWaiting(GetIndex(slot));
    }

    /** @return the slot that times out first in the first thread with one; SlotTimers::NONE: none
     */
    uint32_t GetOldest() const;

  private:
    static TimeoutRule MakeRule(const Settings& settings);

    uint32_t GetIndex(uint32_t slot) const
    {
        return slot / static_cast<uint32_t>(m_threads.size());
    }

    TimeoutRule m_rule;
    std::vector<SlotTimers> m_threads;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_TIMERS_H
