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
#include "ns3/number-format.h"
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

SharpProgram::SharpProgram() = default;

SharpProgram::~SharpProgram() = default;

void
SharpProgram::DoDispose()
{
    m_ends.clear();
    m_trees.clear();
    AggregationProgram::DoDispose();
}

std::string
SharpProgram::GetName() const
{
    return "sharp";
}

SwitchProgram::Resources
SharpProgram::GetResources() const
{
    // Stages and recirculation do not apply: the adders are separate units.
    Resources resources;
    resources.registerBytes =
        uint64_t{m_slotCount} * (uint64_t{m_payload} * m_children + STATE_BYTES) +
        uint64_t{m_credits} * (uint64_t{m_streamingPayload} * m_children + STATE_BYTES);
    resources.latency = m_latency;
    return resources;
}

const SharpCounters&
SharpProgram::GetCounters() const
{
    return m_counters;
}

uint32_t
SharpProgram::GetActiveStreams() const
{
    return m_activeStreams;
}

std::map<uint8_t, uint32_t>
SharpProgram::GetOccupiedSlots() const
{
    std::map<uint8_t, uint32_t> occupied;
    for (const auto& tree : m_trees)
    {
        occupied[tree->node.job] += static_cast<uint32_t>(
            std::count_if(tree->slots.begin(), tree->slots.end(), [](const Slot& slot) {
                return slot.count > 0;
            }));
    }
    return occupied;
}

uint32_t
SharpProgram::GetCredits() const
{
    return m_credits / m_streams;
}

uint32_t
SharpProgram::GetStreamingPayload() const
{
    return m_streamingPayload;
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
    m_trees.push_back(std::make_unique<Tree>());
    Tree& tree = *m_trees.back();
    tree.node = node;
    tree.number = number;
    tree.slots.resize(node.streaming ? GetCredits() : node.slots);
    const auto connect = [&](uint32_t queuePair,
                             const SharpConnection::Peer& peer,
                             uint32_t child) {
        End& end = m_ends.at(queuePair);
        SharpConnection::Owner& owner = *this;
        end.connection =
            std::make_unique<SharpConnection>(owner, GetEndpoint(), peer, node.job, node.settings);
        end.tree = number;
        end.child = child;
    };
    const auto children = static_cast<uint32_t>(node.children.size());
    for (uint32_t child = 0; child < children; child++)
    {
        connect(node.firstQueuePair + child, node.children[child], child);
    }
    if (node.parent.endpoint != SharpConnection::NONE)
    {
        connect(node.firstQueuePair + children, node.parent, PARENT);
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
        std::fill(tree->slots.begin(), tree->slots.end(), Slot());
        tree->parts.clear();
        tree->active = false;
    }
    m_activeStreams = 0;
}

void
SharpProgram::Transmit(Frame* frame)
{
    Emit(frame);
}

void
SharpProgram::OnResent()
{
    m_counters.resent++;
}

void
SharpProgram::OnDuplicate()
{
    m_counters.duplicates++;
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
    const auto place = static_cast<uint32_t>(header.packet % tree.slots.size());
    Slot& slot = tree.slots[place];
    SharpHeader& sum = slot.message.header;
    const uint64_t bit = uint64_t{1} << child;
    if (slot.count == 0)
    {
        NS_ABORT_MSG_IF(tree.node.streaming && !tree.active, "streaming without the lock");
        sum = header;
        slot.message.payloadBytes = frame.payloadBytes;
        slot.message.bytes = tree.node.settings.nvlink ? frame.bytes : 0;
    }
    else
    {
        // Connections deliver in order, and a rank has no more packets in flight than there are
        // slots.
        NS_ABORT_MSG_IF(sum.packet != header.packet || slot.seen & bit,
                        "packet " << header.packet << " of child " << child
                                  << " in the sum of packet " << sum.packet);
        sum.check += header.check;
        sum.overflow |= header.overflow;
        sum.operation |= header.operation;
        sum.exponent = std::max(sum.exponent, header.exponent);
        slot.message.payloadBytes = std::max(slot.message.payloadBytes, frame.payloadBytes);
    }
    if (frame.payload)
    {
        if (tree.parts.empty())
        {
            tree.parts.resize(tree.slots.size() * tree.node.children.size());
        }
        tree.parts[place * tree.node.children.size() + child] = {frame.payload,
                                                                 frame.payloadOffset};
    }
    slot.seen |= bit;
    slot.message.ingress = frame.ingress;
    m_counters.added++;
    m_addTrace(header.job, tree.number, header.packet, child);
    if (++slot.count == tree.node.children.size())
    {
        Complete(tree, slot, place);
    }
}

void
SharpProgram::Complete(Tree& tree, Slot& slot, uint32_t place)
{
    m_counters.completed++;
    SharpMessage& message = slot.message;
    NS_LOG_LOGIC("tree " << tree.number << ": packet " << message.header.packet
                         << " has come from all children");
    if (message.header.operation & SHARP_LOCK)
    {
        Lock(tree, message.header);
    }
    if (!tree.parts.empty())
    {
        AddParts(tree, &tree.parts[place * tree.node.children.size()], message);
    }
    SendLater(tree, message, tree.node.parent.endpoint != SharpConnection::NONE);
    slot = Slot();
}

void
SharpProgram::AddParts(const Tree& tree, Part* parts, SharpMessage& message)
{
    const auto format = static_cast<NumberFormat>(message.header.format);
    m_addends.clear();
    Part* last = nullptr;
    for (std::size_t child = 0; child < tree.node.children.size(); child++)
    {
        if (parts[child].payload)
        {
            last = &parts[child];
            m_addends.push_back(last->payload->bytes.data() + last->offset);
        }
    }
    if (m_addends.size() == 1) // for example, the only contribution of a broadcast
    {
        message.payload = last->payload;
        message.payloadOffset = last->offset;
    }
    else if (!m_addends.empty())
    {
        message.payload = Create<ByteBuffer>();
        message.payload->bytes.resize(message.payloadBytes);
        message.payloadOffset = 0;
        message.header.overflow |= AddNumbers(format,
                                              m_addends,
                                              message.payloadBytes / GetBytes(format),
                                              message.payload->bytes.data());
    }
    std::fill_n(parts, tree.node.children.size(), Part());
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
    if (!toOne)
    {
        GetSwitch().BeginMulticast();
        for (uint32_t child = 0; child < tree->node.children.size(); child++)
        {
            m_ends[tree->node.firstQueuePair + child].connection->Send(message);
        }
        GetSwitch().EndMulticast();
        return;
    }
    const uint32_t target = tree->node.childOf[message.header.slot];
    for (uint32_t child = 0; child < tree->node.children.size(); child++)
    {
        SharpConnection& connection = *m_ends[tree->node.firstQueuePair + child].connection;
        if (child != target)
        {
            if (operation & SHARP_NO_NOTIFICATION)
            {
                continue;
            }
            SharpMessage notice = message;
            notice.payload = nullptr;
            notice.payloadBytes = 0;
            connection.Send(notice);
            continue;
        }
        connection.Send(message);
    }
}

} // namespace ns3::training
