/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp-sender-socket.h"

#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rtt-estimator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/type-id.h"

#include <string>

namespace ns3::training
{

namespace
{

/** The list of segments in flight, which ns3::TcpTxBuffer keeps for itself. */
struct SentList
{
    using Member = std::list<TcpTxItem*> TcpTxBuffer::*; ///< its type
    friend Member GetMember(SentList);
};

/** Access is not checked in the arguments of an explicit instantiation. */
template <class TAG, typename TAG::Member MEMBER>
struct PrivateMember
{
    /** @return the member */
    friend typename TAG::Member GetMember(TAG)
    {
        return MEMBER;
    }
};

template struct PrivateMember<SentList, &TcpTxBuffer::m_sentList>;

/** @return the segments in flight */
std::list<TcpTxItem*>&
GetSentList(TcpTxBuffer& buffer)
{
    return buffer.*GetMember(SentList());
}

/** @return an object of the type that an attribute of TCP names */
template <class T>
Ptr<T>
MakePart(const TcpL4Protocol& tcp, const std::string& attribute)
{
    TypeIdValue type;
    tcp.GetAttribute(attribute, type);
    ObjectFactory factory;
    factory.SetTypeId(type.Get());
    return factory.Create<T>();
}

} // namespace

Ptr<TcpSenderSocket>
TcpSenderSocket::Create(const Ptr<Node>& node)
{
    const auto tcp = node->GetObject<TcpL4Protocol>();
    const auto rtt = MakePart<RttEstimator>(*tcp, "RttEstimatorType");
    const auto socket = CreateObject<TcpSenderSocket>();
    const auto control = MakePart<TcpCongestionOps>(*tcp, "SocketType");
    const auto recovery = MakePart<TcpRecoveryOps>(*tcp, "RecoveryType");
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(rtt);
    socket->SetCongestionControlAlgorithm(control);
    socket->SetRecoveryAlgorithm(recovery);
    tcp->AddSocket(socket);
    return socket;
}

TcpSenderSocket::~TcpSenderSocket()
{
    Restore();
}

int
TcpSenderSocket::Send(Ptr<Packet> packet, uint32_t flags)
{
    m_isWriting = true; // perhaps while an acknowledgement is taken in, which needs the list
    const int sent = TcpSocketBase::Send(packet, flags);
    m_isWriting = false;
    return sent;
}

uint32_t
TcpSenderSocket::AvailableWindow() const
{
    // SendPendingData() asks for the window before each search. In recovery it may look for
    // segments that are not lost, too.
    const auto state = m_tcb->m_congState.Get();
    if (!m_isWriting && m_txBuffer->GetLost() == 0 && state != TcpSocketState::CA_RECOVERY &&
        state != TcpSocketState::CA_LOSS)
    {
        m_aside.splice(m_aside.end(), GetSentList(*m_txBuffer));
    }
    return TcpSocketBase::AvailableWindow();
}

void
TcpSenderSocket::Restore()
{
    auto& sent = GetSentList(*m_txBuffer);
    sent.splice(sent.begin(), m_aside);
}

void
TcpSenderSocket::DoForwardUp(Ptr<Packet> packet,
                             const Address& fromAddress,
                             const Address& toAddress)
{
    Restore();
    TcpSocketBase::DoForwardUp(packet, fromAddress, toAddress);
}

void
TcpSenderSocket::ReTxTimeout()
{
    Restore();
    TcpSocketBase::ReTxTimeout();
}

void
TcpSenderSocket::PersistTimeout()
{
    Restore();
    TcpSocketBase::PersistTimeout();
}

} // namespace ns3::training
