/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_PORT_H
#define DISTRIBUTED_TRAINING_UEC_PORT_H

#include "rdma-port.h"
#include "rdma-receiver.h"
#include "uec-credit-pacer.h"
#include "uec-wire-format.h"

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
    bool isMrc;             ///< whether the protocol is Multipath Reliable Connection
    bool hasRoutes;         ///< MRC: whether packets carry their route (SRv6)
    uint32_t backupPaths;   ///< MRC: see MrcPaths::Settings, of a plane
    uint32_t probeAnswers;  ///< MRC: see MrcPaths::Settings
    Time probeInterval;     ///< MRC: between probes of a path
};

class UecPort;

/**
 * @ingroup distributed-training-rdma
 * A port of a host, and the remote one that it sends to.
 */
struct UecPortPair
{
    UecPort* port;           ///< of this host
    uint32_t remoteEndpoint; ///< of the remote port
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

    /** @return line rate of the port, bit/s */
    uint64_t GetRate() const
    {
        return m_line->GetRate();
    }

    /** @return whether its link is up */
    bool IsUp() const
    {
        return !m_line->IsDown();
    }

    /** @return protocol of its frames */
    UecProtocol GetProtocol() const
    {
        return !m_uec.isMrc      ? UecProtocol::UET
               : m_uec.hasRoutes ? UecProtocol::MRC_ROUTED
                                 : UecProtocol::MRC;
    }

    /**
     * @param header of a control packet
     * @param remote side that it goes to; its flow hash has the entropy value of the header
     * @param ports that it takes
     * @return the packet
     */
    Frame* MakeControl(const UecHeader& header,
                       const RdmaRemote& remote,
                       const UecPortPair& ports) const
    {
        Frame* frame = Frame::Make(header);
        frame->opcode = static_cast<uint8_t>(GetProtocol());
        frame->bytes = GetUecBytes(GetProtocol(), header.type);
        frame->source = ports.port->GetEndpoint();
        frame->destination = ports.remoteEndpoint;
        frame->destinationQp = remote.queuePair;
        frame->flowHash = (remote.flowHash & ~ENTROPY_MASK) | header.entropy;
        frame->priority = m_settings.ackPriority;
        return frame;
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
