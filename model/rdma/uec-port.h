/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_PORT_H
#define DISTRIBUTED_TRAINING_UEC_PORT_H

#include "rdma-port.h"
#include "uec-credit-pacer.h"

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3::training
{

/** Settings of Ultra Ethernet, beside those of RdmaSettings. @ingroup distributed-training-rdma */
struct UecSettings
{
    uint32_t pathBits;      ///< logarithm of the number of entropy values of a connection
    uint32_t ackBytes;      ///< received bytes per acknowledgement
    uint32_t creditPackets; ///< full packets per grant of credit
    uint64_t creditLimit;   ///< credit that a sender may collect, bytes
    bool isTrimming;        ///< whether switches trim packets
};

/**
 * @ingroup distributed-training-rdma
 * What the connections of a NIC for Ultra Ethernet share.
 */
class UecPort : public RdmaPort
{
  public:
    /** @return settings of all its connections */
    const UecSettings& GetUecSettings() const
    {
        return m_uec;
    }

    /** @return grants credit to the senders of its connections */
    UecCreditPacer& GetCreditPacer()
    {
        return m_credits;
    }

    /** @return source of random numbers */
    Ptr<UniformRandomVariable> GetRandom() const
    {
        return m_random;
    }

  protected:
    UecSettings m_uec{};                 ///< @see GetUecSettings()
    UecCreditPacer m_credits;            ///< @see GetCreditPacer()
    Ptr<UniformRandomVariable> m_random; ///< @see GetRandom()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_PORT_H
