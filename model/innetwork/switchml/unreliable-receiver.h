/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H
#define DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H

#include "switchml-wire-format.h"

#include "ns3/roce-wire-format.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The receiver of an unreliable connection (IB specification, volume 1, chapter 9.8.3). It accepts
 * the packets of a message in order. After a missing packet it silently drops the rest of the
 * message.
 */
class UnreliableReceiver
{
  public:
    /**
     * @param opcode of a received packet
     * @param psn its PSN, 24 bits
     * @return whether the packet is accepted
     */
    bool Accept(uint8_t opcode, uint32_t psn)
    {
        m_inMessage = HasUnreliableReth(opcode) || // the first packet
                      (m_inMessage && psn == m_next);
        m_next = (psn + 1) % PSN_MODULUS;
        return m_inMessage;
    }

  private:
    uint32_t m_next{0};
    bool m_inMessage{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UNRELIABLE_RECEIVER_H
