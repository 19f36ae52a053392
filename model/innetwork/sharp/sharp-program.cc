/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-program.h"

#include "sharp-wire-format.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSharpProgram");
NS_OBJECT_ENSURE_REGISTERED(SharpProgram);

namespace
{

/// State per operation besides values: packet, operation, format, root, children seen; bytes.
constexpr uint64_t STATE_BYTES = 24;

} // namespace

TypeId
SharpProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::SharpProgram")
            .SetParent<AggregationProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<SharpProgram>()
            .AddAttribute("Slots",
                          "Outstanding operations of all low-latency trees together",
                          UintegerValue(512),
                          MakeUintegerAccessor(&SharpProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute(
                "Payload",
                "Values of an outstanding operation, bytes (Switch-IB 2: 256; Quantum: up "
                "to 2048)",
                UintegerValue(256),
                MakeUintegerAccessor(&SharpProgram::m_payload),
                MakeUintegerChecker<uint32_t>(2, SHARP_MAX_PAYLOAD))
            .AddAttribute("Children",
                          "Most children of a tree, which buffers are set apart for",
                          UintegerValue(32),
                          MakeUintegerAccessor(&SharpProgram::m_children),
                          MakeUintegerChecker<uint32_t>(1, MAX_CHILDREN))
            .AddAttribute("StreamingPayload",
                          "Values in a packet of a streaming tree, bytes",
                          UintegerValue(2048),
                          MakeUintegerAccessor(&SharpProgram::m_streamingPayload),
                          MakeUintegerChecker<uint32_t>(4, SHARP_MAX_PAYLOAD))
            .AddAttribute("Credits",
                          "Streaming packets of a child that the switch has room for; each active "
                          "tree has an equal part of them, which a rank has in flight",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SharpProgram::m_credits),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Streams",
                          "Streaming trees that can be active at a time (Quantum: 1; Quantum-2: "
                          "one for each port)",
                          UintegerValue(1),
                          MakeUintegerAccessor(&SharpProgram::m_streams),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Trees",
                          "Most trees of each of the two kinds (Quantum: 63; Quantum-2: 511)",
                          UintegerValue(63),
                          MakeUintegerAccessor(&SharpProgram::m_mostTrees),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Latency",
                          "From the last contribution to the sum, and of a result on its way down "
                          "(port to port of a Quantum-2: 130 ns)",
                          TimeValue(NanoSeconds(130)),
                          MakeTimeAccessor(&SharpProgram::m_latency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "Multicast",
                "Whether results of low-latency trees' sums also go to all ranks by multicast, "
                "before the reliable results arrive through the adders of each switch",
                BooleanValue(false),
                MakeBooleanAccessor(&SharpProgram::m_multicast),
                MakeBooleanChecker())
            .AddTraceSource("Add",
                            "A contribution has been added",
                            MakeTraceSourceAccessor(&SharpProgram::m_addTrace),
                            "ns3::training::SharpProgram::ContributionTracedCallback");
    return tid;
}

void
SharpProgram::DoDispose()
{
    m_ends.clear();
    m_trees.clear();
    AggregationProgram::DoDispose();
}

SwitchProgram::Resources
SharpProgram::GetResources() const
{
    // Stages and recirculation do not apply: the adders are separate units.
    Resources resources;
    const uint64_t addends = m_addends > 0 ? m_addends : uint64_t{m_slotCount} * m_children;
    resources.registerBytes =
        addends * m_payload + m_slotCount * STATE_BYTES +
        uint64_t{m_credits} * (uint64_t{m_streamingPayload} * m_children + STATE_BYTES);
    resources.latency = m_latency;
    return resources;
}

std::map<uint8_t, uint32_t>
SharpProgram::GetOccupiedSlots() const
{
    std::map<uint8_t, uint32_t> occupied;
    for (const auto& tree : m_trees)
    {
        occupied[tree->node.job] += tree->slots.GetOccupied();
    }
    return occupied;
}

uint32_t
SharpProgram::AddQueuePairs(uint32_t count)
{
    const auto first = static_cast<uint32_t>(m_ends.size());
    m_ends.resize(first + count);
    return first;
}

uint32_t
SharpProgram::AddTree(const SharpNode& node)
{
    const std::string name = GetJobName(node.job);
    if (node.children.empty() || node.children.size() > m_children)
    {
        throw ConfigurationError(name + " has " + std::to_string(node.children.size()) +
                                 " children at a switch (allowed: 1 to " +
                                 std::to_string(m_children) + ")");
    }
    uint32_t& trees = m_treesOfKind[node.streaming];
    if (trees >= m_mostTrees)
    {
        throw ConfigurationError(
            name + " needs one more " + (node.streaming ? "streaming" : "low-latency") +
            " tree of a switch (allowed: " + std::to_string(m_mostTrees) + ")");
    }
    if (m_credits < m_streams)
    {
        throw ConfigurationError(
            "ns3::training::SharpProgram::Credits=" + std::to_string(m_credits) +
            " (allowed: from Streams=" + std::to_string(m_streams) + ")");
    }
    const uint32_t left = m_slotCount - m_slotsTaken;
    if (!node.streaming && (node.slots == 0 || node.slots > left))
    {
        throw ConfigurationError(name + " needs " + std::to_string(node.slots) +
                                 " outstanding operations of a switch (allowed: 1 to " +
                                 std::to_string(left) + ", which are left)");
    }
    trees++;
    m_slotsTaken += node.streaming ? 0 : node.slots;
    const auto number = static_cast<uint32_t>(m_trees.size());
    const auto children = static_cast<uint32_t>(node.children.size());
    m_trees.push_back(std::unique_ptr<Tree>(
        new Tree{node, number, {node.streaming ? GetCredits() : node.slots, children}}));
    const bool isRoot = node.parent.endpoint == SharpConnection::NONE;
    SharpConnection::Owner& owner = *this;
    for (uint32_t i = 0; i < children + (isRoot ? 0 : 1); i++)
    {
        const SharpConnection::Peer& peer = i < children ? node.children[i] : node.parent;
        End& end = m_ends.at(node.firstQueuePair + i);
        end.connection =
            std::make_unique<SharpConnection>(owner, GetEndpoint(), peer, node.job, node.settings);
        end.tree = number;
        end.child = i < children ? i : PARENT;
    }
    return number;
}

void
SharpProgram::Reset()
{
    NS_LOG_FUNCTION(this);
    for (End& end : m_ends)
    {
        if (end.connection)
        {
            end.connection->Close();
        }
    }
    for (const auto& tree : m_trees)
    {
        tree->slots.Clear();
        tree->active = false;
    }
    m_activeStreams = 0;
}

void
SharpProgram::OnBroken(const SharpConnection& connection)
{
    // No notification: ranks that wait for a sum notice its absence.
    NS_LOG_INFO("no answers from endpoint " << connection.GetPeer().endpoint);
    m_counters.broken++;
}

bool
SharpProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || !frame->Is<SharpHeader>())
    {
        return false;
    }
    m_counters.received++;
    End* const end = frame->destinationQp < m_ends.size() ? &m_ends[frame->destinationQp] : nullptr;
    if (!end || !end->connection || !end->connection->IsOpen() ||
        frame->source != end->connection->GetPeer().endpoint)
    {
        m_counters.refused++;
        Refuse(frame, "no such connection, or it is closed");
        return true;
    }
    if (frame->opcode != UD_SEND_ONLY)
    {
        end->connection->Receive(frame);
        return true;
    }
    if (end->child == PARENT)
    {
        OnPacket(*frame);
    }
    Frame::Free(frame);
    return true;
}

void
SharpProgram::OnPacket(const Frame& frame)
{
    const End& end = m_ends[frame.destinationQp];
    Tree& tree = *m_trees[end.tree];
    const bool isDirect = frame.As<SharpHeader>().operation & SHARP_BROADCAST;
    if (end.child != PARENT && !isDirect)
    {
        Contribute(tree, end.child, frame);
        return;
    }
    const SharpMessage message{frame.As<SharpHeader>(),
                               frame.payloadBytes,
                               frame.payload,
                               frame.payloadOffset,
                               frame.ingress,
                               tree.node.settings.nvlink ? frame.bytes : 0};
    const bool goesUp = end.child != PARENT && tree.node.parent.endpoint != SharpConnection::NONE;
    frame.opcode == UD_SEND_ONLY ? Multicast(tree, message) : SendLater(tree, message, goesUp);
}

void
SharpProgram::Multicast(const Tree& tree, const SharpMessage& message)
{
    GetSwitch().BeginMulticast();
    for (uint32_t child = 0; child < tree.node.children.size(); child++)
    {
        m_ends[tree.node.firstQueuePair + child].connection->SendDatagram(message);
    }
    GetSwitch().EndMulticast();
}

void
SharpProgram::Contribute(Tree& tree, uint32_t child, const Frame& frame)
{
    const auto& header = frame.As<SharpHeader>();
    NS_ABORT_MSG_IF(tree.node.streaming && !tree.active, "streaming without the lock");
    std::optional<SharpMessage> sum = tree.slots.Add(child, frame);
    m_counters.added++;
    m_addTrace(header.job, tree.number, header.packet, child);
    if (!sum)
    {
        return;
    }
    m_counters.completed++;
    NS_LOG_LOGIC("tree " << tree.number << ": packet " << header.packet
                         << " has come from all children");
    if (sum->header.operation & SHARP_LOCK)
    {
        Lock(tree, sum->header);
    }
    sum->bytes = tree.node.settings.nvlink ? sum->bytes : 0;
    SendLater(tree, *sum, tree.node.parent.endpoint != SharpConnection::NONE);
}

void
SharpProgram::Lock(Tree& tree, SharpHeader& header)
{
    if (header.operation & SHARP_REFUSED)
    {
        return; // handled by a switch below
    }
    Tree& stream = *m_trees.at(tree.node.locks);
    if (m_activeStreams >= m_streams)
    {
        header.operation |= SHARP_REFUSED;
        m_counters.denials++;
        NS_LOG_INFO(GetJobName(header.job) << ": no streaming tree is free");
        return;
    }
    stream.active = true;
    m_activeStreams++;
    m_counters.locks++;
    NS_LOG_INFO(GetJobName(header.job) << " takes a streaming tree");
}

void
SharpProgram::Release(Tree& tree)
{
    NS_LOG_INFO(GetJobName(tree.node.job) << " frees a streaming tree");
    m_activeStreams -= tree.active;
    tree.active = false;
}

void
SharpProgram::SendLater(Tree& tree, const SharpMessage& message, bool up)
{
    CallAfter(m_latency, up ? &SharpProgram::SendUp : &SharpProgram::SendDown, &tree, message);
}

void
SharpProgram::SendUp(Tree* tree, SharpMessage message)
{
    const auto children = static_cast<uint32_t>(tree->node.children.size());
    m_ends[tree->node.firstQueuePair + children].connection->Send(message);
}

void
SharpProgram::SendDown(Tree* tree, SharpMessage message)
{
    const uint8_t operation = message.header.operation;
    if (operation & SHARP_UNLOCK)
    {
        Release(*tree);
    }
    if (operation & SHARP_LOCK && operation & SHARP_REFUSED)
    {
        Release(*m_trees.at(tree->node.locks));
    }
    m_counters.results++;
    const bool isRoot = tree->node.parent.endpoint == SharpConnection::NONE;
    if (m_multicast && isRoot && !tree->node.streaming && operation == 0)
    {
        Multicast(*tree, message);
    }
    const bool toOne = operation & SHARP_TO_ONE && message.header.slot < tree->node.childOf.size();
    const uint32_t target = toOne ? tree->node.childOf[message.header.slot] : MAX_CHILDREN;
    SharpMessage notice = message;
    notice.payload = nullptr;
    notice.payloadBytes = 0;
    if (!toOne)
    {
        GetSwitch().BeginMulticast();
    }
    for (uint32_t child = 0; child < tree->node.children.size(); child++)
    {
        const bool isNotified = toOne && child != target;
        if (!isNotified || !(operation & SHARP_NO_NOTIFICATION))
        {
            m_ends[tree->node.firstQueuePair + child].connection->Send(isNotified ? notice
                                                                                  : message);
        }
    }
    if (!toOne)
    {
        GetSwitch().EndMulticast();
    }
}

} // namespace ns3::training
