/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network-fallback.h"

#include "innetwork/network-fallback-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNetworkFallback");

NetworkFallback::NetworkFallback(Owner& owner)
    : m_owner(owner)
{
}

NetworkFallback::~NetworkFallback() = default;

void
NetworkFallback::Configure(const Group& group,
                           Ptr<HostDevice> device,
                           Ptr<ScheduledCommunicator> hosts)
{
    m_group = group;
    m_device = device;
    m_hosts = hosts;
    m_device->SetProgramReceiver(NetworkFallbackHeader::PROTOCOL,
                                 GetNetworkFallbackKey(group.system, group.job),
                                 [this](Frame* frame) { OnNotice(frame); });
}

void
NetworkFallback::SetTimes(Time interval, Time timeout)
{
    m_interval = interval;
    m_timeout = timeout;
}

void
NetworkFallback::Stop()
{
    Simulator::Cancel(m_notices);
    if (m_device)
    {
        m_device->SetProgramReceiver(NetworkFallbackHeader::PROTOCOL,
                                     GetNetworkFallbackKey(m_group.system, m_group.job),
                                     nullptr);
    }
    m_device = nullptr;
    m_hosts = nullptr;
    m_latest.tensor = nullptr;
    m_sum = nullptr;
    m_gathered.clear();
}

void
NetworkFallback::NoteCompleted(const Operation& operation)
{
    m_completed++;
    // Kept until the next operation completes: another rank may need it if the network fails.
    m_latest.operation = operation.operation;
    m_latest.root = operation.root;
    m_latest.tensor = Create<Tensor>();
    m_latest.tensor->bytes = operation.tensor->bytes;
    m_latest.tensor->values = operation.tensor->values;
}

void
NetworkFallback::Start(const std::string& reason)
{
    NS_LOG_INFO("rank " << m_group.rank << " falls back to the hosts: " << reason);
    m_owner.OnFallback();
    m_mode = Mode::FALLING_BACK;
    m_reason = reason;
    m_deadline = Simulator::Now() + m_timeout;
    m_peers.assign(GetSize(), Peer());
    m_peers[m_group.rank] = {true, true, m_completed};
    SendNotices();
}

void
NetworkFallback::SendNotice(uint32_t rank)
{
    NS_LOG_FUNCTION(this << rank << m_completed);
    NetworkFallbackHeader header;
    header.system = m_group.system;
    header.job = m_group.job;
    header.completed = m_completed;
    header.heard = m_peers[rank].told;
    Frame* frame = Frame::Make(header);
    frame->bytes = Frame::MIN_BYTES;
    frame->source = m_device->GetEndpoint();
    frame->destination = m_group.endpoints[rank];
    frame->flowHash = HashFlow(frame->source, frame->destination, m_group.job);
    m_device->GetPort().Send(frame);
}

void
NetworkFallback::SendNotices()
{
    if (Simulator::Now() >= m_deadline)
    {
        if (m_mode == Mode::FALLING_BACK)
        {
            m_owner.Abort(m_reason + "; " + GetSilentRanks());
        }
        return;
    }
    bool all = true;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (!m_peers[rank].told || !m_peers[rank].heard)
        {
            all = false;
            SendNotice(rank);
        }
    }
    if (!all)
    {
        m_notices = Simulator::Schedule(m_interval, &NetworkFallback::SendNotices, this);
    }
}

std::string
NetworkFallback::GetSilentRanks() const
{
    std::string ranks;
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (!m_peers[rank].told && ++count <= 8)
        {
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
        }
    }
    return "no notice of rank " + ranks + (count > 8 ? ", ..." : "") + " has come to rank " +
           std::to_string(m_group.rank) + " either";
}

void
NetworkFallback::OnNotice(Frame* frame)
{
    const auto header = frame->As<NetworkFallbackHeader>();
    const auto found = std::find(m_group.endpoints.begin(), m_group.endpoints.end(), frame->source);
    Frame::Free(frame);
    if (found == m_group.endpoints.end())
    {
        return;
    }
    const auto rank = static_cast<uint32_t>(found - m_group.endpoints.begin());
    NS_LOG_LOGIC("rank " << m_group.rank << ": notice of rank " << rank << ", which has completed "
                         << header.completed << " operations");
    if (m_mode == Mode::NETWORK)
    {
        Start("rank " + std::to_string(rank) + " gets no answers from the network");
    }
    Peer& peer = m_peers[rank];
    const bool isNew = !peer.told;
    peer.told = true;
    peer.completed = header.completed;
    peer.heard |= header.heard;
    if (!header.heard || isNew)
    {
        SendNotice(rank);
    }
    if (m_mode == Mode::FALLING_BACK &&
        std::all_of(m_peers.begin(), m_peers.end(), [](const Peer& p) { return p.told; }))
    {
        OnAllNotices();
    }
}

void
NetworkFallback::OnAllNotices()
{
    m_mode = Mode::HOSTS;
    // A rank completes an operation only after all ranks completed the previous one, so the counts
    // differ by at most one.
    const auto isAhead = [this](const Peer& peer) {
        return std::any_of(m_peers.begin(), m_peers.end(), [&](const Peer& other) {
            return peer.completed == other.completed + 1;
        });
    };
    const auto found = std::find_if(m_peers.begin(), m_peers.end(), isAhead);
    if (found == m_peers.end())
    {
        NS_LOG_INFO("rank " << m_group.rank << ": all ranks are equally far");
        m_owner.ContinueByHosts();
        return;
    }
    const auto first = static_cast<uint32_t>(found - m_peers.begin());
    NS_LOG_INFO("rank " << m_group.rank << ": rank " << first << " is ahead");
    if (m_completed == found->completed)
    {
        SendResults(first);
        m_owner.ContinueByHosts();
        return;
    }
    Resynchronize(first);
}

void
NetworkFallback::SendResults(uint32_t first)
{
    const Callback<void> ignore = MakeCallback(&NetworkFallback::Ignore);
    const bool isReduce = m_latest.operation == CollectiveOperation::REDUCE;
    if (isReduce && IsBehind(m_latest.root, first))
    {
        m_hosts->SendUnordered(m_latest.tensor, m_latest.root, ignore); // this rank's contribution
    }
    // A rank that has passed a barrier proves that all ranks have reached it.
    if (isReduce || m_latest.operation == CollectiveOperation::BARRIER || first != m_group.rank)
    {
        return;
    }
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (IsBehind(rank, first))
        {
            m_hosts->SendUnordered(m_latest.tensor, rank, ignore);
        }
    }
}

void
NetworkFallback::Resynchronize(uint32_t first)
{
    const Operation operation = m_owner.GetOperationInNetwork();
    m_owner.OnResynchronization();
    if (operation.operation == CollectiveOperation::BARRIER)
    {
        m_owner.Finish();
        return;
    }
    if (operation.operation != CollectiveOperation::REDUCE)
    {
        m_hosts->ReceiveUnordered(operation.tensor,
                                  first,
                                  MakeBoundCallback(&NetworkFallback::Complete, this));
        return;
    }
    if (operation.root != m_group.rank)
    {
        if (IsBehind(operation.root, first))
        {
            m_hosts->SendUnordered(operation.tensor,
                                   operation.root,
                                   MakeCallback(&NetworkFallback::Ignore));
        }
        m_owner.Finish();
        return;
    }
    m_sum = operation.tensor;
    m_gathered.assign(GetSize(), nullptr);
    m_missing = GetSize() - 1;
    for (uint32_t rank = 0; rank < GetSize(); rank++)
    {
        if (rank != m_group.rank)
        {
            m_gathered[rank] = Create<Tensor>();
            m_gathered[rank]->bytes = operation.tensor->bytes;
            m_gathered[rank]->values.resize(operation.tensor->values.size());
            m_hosts->ReceiveUnordered(m_gathered[rank],
                                      rank,
                                      MakeBoundCallback(&NetworkFallback::AddGathered, this));
        }
    }
}

void
NetworkFallback::AddGathered(NetworkFallback* self)
{
    if (--self->m_missing > 0)
    {
        return;
    }
    auto& sum = self->m_sum->values;
    for (const auto& tensor : self->m_gathered)
    {
        for (std::size_t i = 0; tensor && i < sum.size(); i++)
        {
            sum[i] += tensor->values[i];
        }
    }
    self->m_gathered.clear();
    self->m_sum = nullptr;
    self->m_owner.Finish();
}

void
NetworkFallback::Complete(NetworkFallback* self)
{
    self->m_owner.Finish();
}

void
NetworkFallback::Ignore()
{
}

} // namespace ns3::training
