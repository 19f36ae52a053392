/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_CREDIT_PACER_H
#define DISTRIBUTED_TRAINING_UEC_CREDIT_PACER_H

#include "ns3/event-id.h"

#include <cstdint>
#include <deque>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 * The receiving half of a connection, as the pacer of credits sees it.
 */
class UecCreditClient
{
  public:
    virtual ~UecCreditClient() = default;

    /** @return whether its sender has asked for more credit than was granted */
    virtual bool WantsCredit() const = 0;

    /** @return whether its sender, which wants no credit, may get some in advance */
    virtual bool MayGetAdvance() const = 0;

    /**
     * Grants credit to its sender.
     * @param isAdvance whether the credit may exceed what its sender has asked for
     * @return granted bytes, at least 0
     */
    virtual uint64_t GrantCredit(bool isAdvance) = 0;

  private:
    friend class UecCreditPacer;

    /** Its list at the pacer. */
    enum class State : uint8_t
    {
        NONE,   ///< in no list
        ACTIVE, ///< waits for credit
        IDLE    ///< gets credit in advance if no other one waits
    };

    State m_state{State::NONE};
};

/**
 * @ingroup distributed-training-rdma
 *
 * Grants credit to the senders of one NIC, in turn, as fast as its line can receive the packets.
 * When none waits, idle senders get credit in advance, up to a window, so that they need not wait
 * for credit when they have data again. The rules are those of the reference simulator
 * (ultraethernet/uet-htsim, htsim/sim/uec.cpp, UecPullPacer).
 */
class UecCreditPacer
{
  public:
    /** @param rate of credits, bit/s */
    void Attach(double rate);

    /** Stops granting credit. */
    void Stop();

    /** @param client wants credit */
    void Request(UecCreditClient& client);

  private:
    void Grant();

    double m_picosecondsPerByte{0};
    std::deque<UecCreditClient*> m_active; // entries of other states are stale
    std::deque<UecCreditClient*> m_idle;
    EventId m_event;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_CREDIT_PACER_H
