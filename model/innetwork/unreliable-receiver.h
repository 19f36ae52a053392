/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H
#define DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H

#include "ns3/roce-wire-format.h"
#include "ns3/switchml-wire-format.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The receiving end of an unreliable connection (IB specification, volume 1, chapter 9.8.3): takes
 * the packets of a message in order; when one is missing it drops the rest of that message, and
 * nobody is told.
 */
class UnreliableReceiver
{
  public:
    /**
     * @param opcode of a packet that has come
     * @param psn its number, 24 bit
     * @return whether it is taken
     */
    bool Accept(uint8_t opcode, uint32_t psn)
    {
        const bool isFirst = opcode == UC_WRITE_FIRST || opcode == UC_WRITE_ONLY_IMMEDIATE;
        m_inMessage = isFirst || (m_inMessage && psn == m_next);
        m_next = (psn + 1) % PSN_MODULUS;
        return m_inMessage;
    }

  private:
    uint32_t m_next{0};
    bool m_inMessage{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H
