/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "laned-transport.h"

#include "ns3/boolean.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLanedTransport");
NS_OBJECT_ENSURE_REGISTERED(LanedTransport);

namespace
{

/// A message is not cut into parts smaller than this, bytes.
constexpr uint64_t LEAST_PART = 4096;

} // namespace

TypeId
LanedTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::LanedTransport")
            .SetParent<MessageTransport>()
            .SetGroupName("DistributedTraining")
            .AddAttribute("Stripe",
                          "Whether each message is cut into a part for each lane; if not, messages "
                          "take turns",
                          BooleanValue(false),
                          MakeBooleanAccessor(&LanedTransport::m_stripe),
                          MakeBooleanChecker());
    return tid;
}

void
LanedTransport::DoDispose()
{
    m_ways.clear();
    m_partial.clear();
    m_lanes = nullptr;
    MessageTransport::DoDispose();
}

void
LanedTransport::SetLanes(uint32_t rank, std::shared_ptr<LaneTable> lanes)
{
    SetRank(rank);
    m_lanes = std::move(lanes);
}

void
LanedTransport::SetGroup(uint32_t rank, std::vector<uint32_t> endpoints)
{
    SetLanes(rank, std::make_shared<SingleLanes>(std::move(endpoints)));
}

LanedTransport::Way&
LanedTransport::GetWay(uint32_t peer)
{
    const auto [found, fresh] = m_ways.try_emplace(peer);
    Way& way = found->second;
    if (fresh)
    {
        way.lanes = m_lanes->GetLanes(m_rank, peer);
        way.lanes.resize(std::min<std::size_t>(way.lanes.size(), MOST_LANES));
        // Of several peers that get a message each, not all get it by the first lane.
        way.next = (m_rank + peer) % way.lanes.size();
    }
    return way;
}

const std::vector<Lane>&
LanedTransport::GetLanes(uint32_t peer)
{
    return GetWay(peer).lanes;
}

void
LanedTransport::Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload)
{
    NS_LOG_FUNCTION(this << peer << tag << bytes);
    Way& way = GetWay(peer);
    const auto lanes = static_cast<uint32_t>(way.lanes.size());
    if (!m_stripe)
    {
        SendOn(peer, way.next, {tag, bytes, std::move(payload), 0, 0, 1});
        way.next = (way.next + 1) % lanes;
        return;
    }
    const auto parts = static_cast<uint32_t>(std::clamp<uint64_t>(bytes / LEAST_PART, 1, lanes));
    const uint64_t share = bytes / parts / sizeof(float) * sizeof(float);
    for (uint32_t i = 0; i < parts; i++)
    {
        const uint64_t length = i + 1 < parts ? share : bytes - i * share;
        SendOn(peer, (way.next + i) % lanes, {tag, length, payload, i * share, i, parts});
    }
    way.next = (way.next + parts) % lanes;
}

void
LanedTransport::DeliverPart(uint32_t peer, const Part& part)
{
    if (part.parts == 1)
    {
        Deliver(peer, part.tag, part.bytes, part.payload);
        return;
    }
    Partial& partial = m_partial[{peer, part.tag}];
    partial.payloads.resize(part.parts);
    partial.payloads.at(part.index) = part.payload;
    partial.bytes += part.bytes;
    if (++partial.arrived < part.parts)
    {
        return;
    }
    Ptr<ByteBuffer> payload;
    if (part.payload)
    {
        payload = Create<ByteBuffer>();
        for (const auto& other : partial.payloads)
        {
            payload->bytes.insert(payload->bytes.end(), other->bytes.begin(), other->bytes.end());
        }
    }
    const uint64_t bytes = partial.bytes;
    m_partial.erase({peer, part.tag});
    Deliver(peer, part.tag, bytes, payload);
}

} // namespace ns3::training
