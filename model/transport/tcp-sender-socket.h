/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TCP_SENDER_SOCKET_H
#define DISTRIBUTED_TRAINING_TCP_SENDER_SOCKET_H

#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-tx-item.h"

#include <cstddef>
#include <cstdint>
#include <list>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * A socket of ns-3 that opens a connection and whose cost of a segment does not grow with the
 * window. For each segment, TcpTxBuffer::NextSeg() searches all segments in flight for one that is
 * lost. While none is, this socket sets their list aside for the search. NextSeg() then takes the
 * next new segment, as it would at the end of the list, so results are equal.
 */
class TcpSenderSocket : public TcpSocketBase
{
  public:
    /**
     * @param node with an internet stack
     * @return a socket as those of TcpL4Protocol::CreateSocket()
     */
    static Ptr<TcpSenderSocket> Create(const Ptr<Node>& node);

    ~TcpSenderSocket() override;
    int Send(Ptr<Packet> packet, uint32_t flags) override;

    /** @return segments that are set aside now */
    std::size_t GetAside() const
    {
        return m_aside.size();
    }

  protected:
    uint32_t AvailableWindow() const override;
    void DoForwardUp(Ptr<Packet> packet,
                     const Address& fromAddress,
                     const Address& toAddress) override;
    void ReTxTimeout() override;
    void PersistTimeout() override;

  private:
    void Restore();

    mutable std::list<TcpTxItem*> m_aside; // of the buffer's list, its first part
    bool m_isWriting{false};               // the application passes data
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TCP_SENDER_SOCKET_H
