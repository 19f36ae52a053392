/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_CREDIT_H
#define DISTRIBUTED_TRAINING_UEC_CREDIT_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The credit of a sender of Ultra Ethernet, which its receiver grants. Until the first answer the
 * sender spends its initial credit.
 */
class UecCredit
{
  public:
    /**
     * @param isNeeded whether anything is sent by credit
     * @param limit of the credit, which is also the initial credit, bytes
     */
    UecCredit(bool isNeeded, uint64_t limit)
        : m_isNeeded(isNeeded),
          m_limit(static_cast<int64_t>(limit)),
          m_left(m_limit)
    {
    }

    /** @return whether anything is sent by credit */
    bool IsNeeded() const
    {
        return m_isNeeded;
    }

    /** @return whether nothing may be sent */
    bool IsSpent() const
    {
        return m_isNeeded && m_left <= 0;
    }

    /** @param bytes sent by credit; negative: they are not sent after all */
    void Spend(int64_t bytes)
    {
        m_left -= m_isNeeded ? bytes : 0;
    }

    /** The receiver has answered: from now on, it decides. */
    void StopSpeculating();

    /**
     * Takes a grant.
     * @param counter sum of all grants modulo 2^UEC_QUANTA_BITS, quanta
     * @return whether it grants more than earlier ones
     */
    bool Grant(uint32_t counter);

    /**
     * @param unsent bytes of new packets
     * @param need bytes that wait for credit, at most the window
     * @param packet bytes of a full packet
     * @return what a request asks for, as a sum of all grants, quanta
     */
    uint32_t GetWanted(uint64_t unsent, uint64_t need, uint64_t packet) const;

    /** @param time at which credit was spent, asked for or granted, ps */
    void SetEvent(int64_t time)
    {
        m_event = time;
    }

    /** @return see SetEvent() */
    int64_t GetEvent() const
    {
        return m_event;
    }

  private:
    const bool m_isNeeded;
    bool m_isSpeculating{true}; // sends by the initial credit, before any answer
    const int64_t m_limit;      // bytes
    int64_t m_left;             // bytes
    uint64_t m_granted{0};      // sum, quanta
    int64_t m_event{0};         // see SetEvent()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_CREDIT_H
