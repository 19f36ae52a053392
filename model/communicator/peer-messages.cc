/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "peer-messages.h"

#include "message-tag.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingPeerMessages");

namespace
{

/** Calls a callback, unless it is null. A function, as ns-3.35 schedules no lambdas. */
void
CallIfSet(Communicator::Done done)
{
    if (!done.IsNull())
    {
        done();
    }
}

/// MessageTag::message of an ordered message of channel 0, and of an unordered one. The other
/// channels follow.
constexpr uint32_t IN_ORDER = 0;
constexpr uint32_t APART = 1;

} // namespace

PeerMessages::PeerMessages(uint32_t rank, uint32_t communicator)
    : m_rank(rank),
      m_communicator(communicator)
{
}

uint64_t
PeerMessages::GetTag(uint32_t channel, uint64_t number) const
{
    NS_ABORT_MSG_IF(channel > Tensor::MAX_CHANNEL,
                    "channel " << channel << " is above " << Tensor::MAX_CHANNEL);
    const uint32_t message = channel == 0 ? IN_ORDER : APART + channel;
    return MessageTag{m_communicator, number, MessageTag::PEER_TO_PEER, message}.Pack();
}

uint64_t
PeerMessages::GetNextSendTag(uint32_t peer, uint32_t channel)
{
    return GetTag(channel, m_sent[{peer, channel}]++);
}

uint64_t
PeerMessages::GetNextReceiveTag(uint32_t peer, uint32_t channel)
{
    return GetTag(channel, m_received[{peer, channel}]++);
}

uint64_t
PeerMessages::GetUnorderedTag() const
{
    return MessageTag{m_communicator, 0, MessageTag::PEER_TO_PEER, APART}.Pack();
}

Ptr<ByteBuffer>
PeerMessages::Copy(const Tensor& tensor)
{
    Ptr<ByteBuffer> payload;
    if (tensor.IsReal())
    {
        payload = Create<ByteBuffer>();
        payload->bytes.resize(tensor.bytes);
        std::memcpy(payload->bytes.data(), tensor.values.data(), tensor.bytes);
    }
    return payload;
}

void
PeerMessages::Send(const CommunicatorEndpoint& endpoint,
                   const Tensor& tensor,
                   uint32_t peer,
                   uint64_t tag,
                   Communicator::Done done)
{
    NS_LOG_FUNCTION(endpoint.GetRank() << peer << tensor.bytes);
    const auto accepted = [done]() { CompleteLater(done); };
    endpoint.Send(peer,
                  {tag,
                   tensor.bytes,
                   Copy(tensor),
                   tensor.untilSent ? MessageTransport::SentHandler(accepted) : nullptr});
    if (!tensor.untilSent)
    {
        accepted();
    }
}

void
PeerMessages::Expect(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Communicator::Done done)
{
    NS_LOG_FUNCTION(m_rank << peer << tensor->bytes);
    const Key key(peer, tag);
    const auto early = m_early.find(key);
    if (early == m_early.end())
    {
        m_expected[key] = {tensor, done};
        return;
    }
    Deliver({tensor, done}, early->second);
    m_early.erase(early);
}

void
PeerMessages::OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload)
{
    const Key key(peer, tag);
    const auto expected = m_expected.find(key);
    if (expected == m_expected.end())
    {
        m_early[key] = {bytes, payload};
        return;
    }
    Deliver(expected->second, {bytes, payload});
    m_expected.erase(expected);
}

void
PeerMessages::Deliver(const Expected& expected, const Early& message) const
{
    Tensor& tensor = *expected.tensor;
    NS_ABORT_MSG_UNLESS(message.bytes == tensor.bytes,
                        "rank " << m_rank << " expects a tensor of " << tensor.bytes
                                << " bytes, not " << message.bytes);
    if (tensor.IsReal())
    {
        NS_ABORT_MSG_UNLESS(message.payload, "rank " << m_rank << " expects a real tensor");
        std::memcpy(tensor.values.data(), message.payload->bytes.data(), message.bytes);
    }
    CompleteLater(expected.done);
}

void
PeerMessages::CompleteLater(Communicator::Done done)
{
    Simulator::ScheduleNow(&CallIfSet, done);
}

std::string
PeerMessages::DescribeExpected() const
{
    if (m_expected.empty())
    {
        return "";
    }
    const auto& [key, expected] = *m_expected.begin();
    return "rank " + std::to_string(m_rank) + " waits for tensor " +
           std::to_string(MessageTag::Unpack(key.second).collective) + " (" +
           std::to_string(expected.tensor->bytes) + " bytes) from rank " +
           std::to_string(key.first);
}

void
PeerMessages::Clear()
{
    m_sent.clear();
    m_received.clear();
    m_expected.clear();
    m_early.clear();
}

} // namespace ns3::training
