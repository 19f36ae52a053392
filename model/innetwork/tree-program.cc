/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-program.h"

#include "number-format.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/tree-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeProgram");
NS_OBJECT_ENSURE_REGISTERED(TreeProgram);

namespace
{

/// Of an operation beside its values: packet, operation, format, root, children seen.
constexpr uint64_t STATE_BYTES = 24;

} // namespace

TypeId
TreeProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::TreeProgram")
            .SetParent<SwitchProgram>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<TreeProgram>()
            .AddAttribute("Slots",
                          "Outstanding operations of all low-latency trees together",
                          UintegerValue(512),
                          MakeUintegerAccessor(&TreeProgram::m_slotCount),
                          MakeUintegerChecker<uint32_t>(1, 1 << 16))
            .AddAttribute(
                "Payload",
                "Values of an outstanding operation, bytes (Switch-IB 2: 256; Quantum: up "
                "to 2048)",
                UintegerValue(256),
                MakeUintegerAccessor(&TreeProgram::m_payload),
                MakeUintegerChecker<uint32_t>(2, TREE_MOST_PAYLOAD))
            .AddAttribute("Children",
                          "Most children of a tree, which buffers are set apart for",
                          UintegerValue(32),
                          MakeUintegerAccessor(&TreeProgram::m_children),
                          MakeUintegerChecker<uint32_t>(1, MOST_CHILDREN))
            .AddAttribute("StreamingPayload",
                          "Values in a packet of a streaming tree, bytes",
                          UintegerValue(2048),
                          MakeUintegerAccessor(&TreeProgram::m_streamingPayload),
                          MakeUintegerChecker<uint32_t>(4, TREE_MOST_PAYLOAD))
            .AddAttribute("Credits",
                          "Streaming packets of a child that the switch has room for; each active "
                          "tree has an equal part of them, which a rank has in flight",
                          UintegerValue(64),
                          MakeUintegerAccessor(&TreeProgram::m_credits),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Streams",
                          "Streaming trees that can be active at a time (Quantum: 1; Quantum-2: "
                          "one for each port)",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TreeProgram::m_streams),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Trees",
                          "Most trees of each of the two kinds (Quantum: 63; Quantum-2: 511)",
                          UintegerValue(63),
                          MakeUintegerAccessor(&TreeProgram::m_mostTrees),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Latency",
                          "From the last contribution to the sum, and of a result on its way down "
                          "(port to port of a Quantum-2: 130 ns)",
                          TimeValue(NanoSeconds(130)),
                          MakeTimeAccessor(&TreeProgram::m_latency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Multicast",
                          "Whether results of low-latency trees' sums also go to all ranks by "
                          "multicast, ahead of those that pass each switch's adders",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TreeProgram::m_multicast),
                          MakeBooleanChecker())
            .AddTraceSource("Add",
                            "A contribution has been added",
                            MakeTraceSourceAccessor(&TreeProgram::m_addTrace),
                            "ns3::training::TreeProgram::ContributionTracedCallback");
    return tid;
}

TreeProgram::TreeProgram() = default;

TreeProgram::~TreeProgram() = default;

void
TreeProgram::DoDispose()
{
    m_ends.clear();
    m_trees.clear();
    SwitchProgram::DoDispose();
}

std::string
TreeProgram::GetName() const
{
    return "tree";
}

SwitchProgram::Resources
TreeProgram::GetResources() const
{
    // Stages and recirculation are of no concern: the adders are units of their own.
    Resources resources;
    resources.registerBytes =
        uint64_t{m_slotCount} * (uint64_t{m_payload} * m_children + STATE_BYTES) +
        uint64_t{m_credits} * (uint64_t{m_streamingPayload} * m_children + STATE_BYTES);
    resources.latency = m_latency;
    return resources;
}

const TreeCounters&
TreeProgram::GetCounters() const
{
    return m_counters;
}

uint32_t
TreeProgram::GetActiveStreams() const
{
    return m_activeStreams;
}

uint32_t
TreeProgram::GetCredits() const
{
    return m_credits / m_streams;
}

uint32_t
TreeProgram::GetStreamingPayload() const
{
    return m_streamingPayload;
}

uint32_t
TreeProgram::AddQueuePairs(uint32_t count)
{
    const auto first = static_cast<uint32_t>(m_ends.size());
    m_ends.resize(first + count);
    return first;
}

uint32_t
TreeProgram::AddTree(const TreeNode& node)
{
    const std::string name = "tree job " + std::to_string(node.job);
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
            "ns3::training::TreeProgram::Credits=" + std::to_string(m_credits) +
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
    const auto connect = [&](uint32_t queuePair, const TreeConnection::Peer& peer, uint32_t child) {
        End& end = m_ends.at(queuePair);
        TreeConnection::Owner& owner = *this;
        end.connection =
            std::make_unique<TreeConnection>(owner, GetEndpoint(), peer, node.job, node.settings);
        end.tree = number;
        end.child = child;
    };
    const auto children = static_cast<uint32_t>(node.children.size());
    for (uint32_t child = 0; child < children; child++)
    {
        connect(node.firstQueuePair + child, node.children[child], child);
    }
    if (node.parent.endpoint != TreeConnection::NONE)
    {
        connect(node.firstQueuePair + children, node.parent, PARENT);
    }
    return number;
}

void
TreeProgram::Reset()
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
TreeProgram::Transmit(Frame* frame)
{
    Emit(frame);
}

void
TreeProgram::OnResent(uint64_t packets)
{
    m_counters.resent += packets;
}

void
TreeProgram::OnDuplicate()
{
    m_counters.duplicates++;
}

void
TreeProgram::OnBroken(const TreeConnection& connection)
{
    // Nobody is told: those who wait for a sum find out by its absence.
    NS_LOG_INFO("no answers from endpoint " << connection.GetPeer().endpoint);
    m_counters.broken++;
}

bool
TreeProgram::Receive(Frame* frame)
{
    if (frame->destination != GetEndpoint() || frame->kind != FrameKind::TREE)
    {
        return false;
    }
    m_counters.received++;
    End* const end = frame->destinationQp < m_ends.size() ? &m_ends[frame->destinationQp] : nullptr;
    if (!end || !end->connection || !end->connection->IsOpen() ||
        frame->source != end->connection->GetPeer().endpoint)
    {
        m_counters.refused++;
    }
    else
    {
        Take(*end, *frame);
    }
    Frame::Free(frame);
    return true;
}

void
TreeProgram::Take(End& end, const Frame& frame)
{
    const bool isDatagram = frame.opcode == UD_SEND_ONLY;
    if (isDatagram ? end.child != PARENT : !end.connection->Receive(frame))
    {
        return;
    }
    Tree& tree = *m_trees[end.tree];
    const bool isDirect = frame.aggregation.operation & TREE_DIRECT;
    if (end.child != PARENT && !isDirect)
    {
        Contribute(tree, end.child, frame);
        return;
    }
    const TreeMessage message{frame.aggregation,
                              frame.payloadBytes,
                              frame.payload,
                              frame.payloadOffset,
                              frame.ingress};
    const bool goesUp = end.child != PARENT && tree.node.parent.endpoint != TreeConnection::NONE;
    isDatagram ? Multicast(tree, message) : SendLater(tree, message, goesUp);
}

void
TreeProgram::Multicast(const Tree& tree, const TreeMessage& message)
{
    for (uint32_t child = 0; child < tree.node.children.size(); child++)
    {
        m_ends[tree.node.firstQueuePair + child].connection->SendDatagram(message);
    }
}

void
TreeProgram::Contribute(Tree& tree, uint32_t child, const Frame& frame)
{
    const AggregationHeader& header = frame.aggregation;
    const auto place = static_cast<uint32_t>(header.packet % tree.slots.size());
    Slot& slot = tree.slots[place];
    AggregationHeader& sum = slot.message.header;
    const uint64_t bit = uint64_t{1} << child;
    if (slot.count == 0)
    {
        NS_ABORT_MSG_IF(tree.node.streaming && !tree.active, "streaming without the lock");
        sum = header;
        slot.message.payloadBytes = frame.payloadBytes;
    }
    else
    {
        // Connections are in order, and a rank has no more in flight than there are slots.
        NS_ABORT_MSG_IF(sum.packet != header.packet || slot.seen & bit,
                        "packet " << header.packet << " of child " << child
                                  << " in the sum of packet " << sum.packet);
        sum.check += header.check;
        sum.overflow |= header.overflow;
        sum.operation |= header.operation;
        sum.exponents[0] = std::max(sum.exponents[0], header.exponents[0]);
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
TreeProgram::Complete(Tree& tree, Slot& slot, uint32_t place)
{
    m_counters.completed++;
    TreeMessage& message = slot.message;
    if (message.header.operation & TREE_LOCK)
    {
        Lock(tree, message.header);
    }
    if (!tree.parts.empty())
    {
        AddParts(tree, &tree.parts[place * tree.node.children.size()], message);
    }
    SendLater(tree, message, tree.node.parent.endpoint != TreeConnection::NONE);
    slot = Slot();
}

void
TreeProgram::AddParts(const Tree& tree, Part* parts, TreeMessage& message)
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
    if (m_addends.size() == 1) // a broadcast's only part, say
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
TreeProgram::Lock(Tree& tree, AggregationHeader& header)
{
    if (header.operation & TREE_REFUSED)
    {
        return; // by a switch below
    }
    Tree& stream = *m_trees.at(tree.node.locks);
    if (m_activeStreams >= m_streams)
    {
        header.operation |= TREE_REFUSED;
        m_counters.denials++;
        return;
    }
    stream.active = true;
    m_activeStreams++;
    m_counters.locks++;
}

void
TreeProgram::Release(Tree& tree)
{
    m_activeStreams -= tree.active;
    tree.active = false;
}

void
TreeProgram::SendLater(Tree& tree, const TreeMessage& message, bool up)
{
    Simulator::Schedule(m_latency,
                        up ? &TreeProgram::SendUp : &TreeProgram::SendDown,
                        this,
                        &tree,
                        message,
                        GetLife());
}

void
TreeProgram::SendUp(Tree* tree, TreeMessage message, uint32_t life)
{
    if (life == GetLife())
    {
        const auto children = static_cast<uint32_t>(tree->node.children.size());
        m_ends[tree->node.firstQueuePair + children].connection->Send(message);
    }
}

void
TreeProgram::SendDown(Tree* tree, TreeMessage message, uint32_t life)
{
    if (life != GetLife())
    {
        return; // it was in the adders when the switch restarted
    }
    const uint8_t operation = message.header.operation;
    if (operation & TREE_UNLOCK)
    {
        Release(*tree);
    }
    if (operation & TREE_LOCK && operation & TREE_REFUSED)
    {
        Release(*m_trees.at(tree->node.locks));
    }
    m_counters.results++;
    const bool isRoot = tree->node.parent.endpoint == TreeConnection::NONE;
    if (m_multicast && isRoot && !tree->node.streaming && operation == 0)
    {
        Multicast(*tree, message);
    }
    const bool toOne = operation & TREE_TO_ONE && message.header.slot < tree->node.childOf.size();
    const uint32_t target = toOne ? tree->node.childOf[message.header.slot] : 0;
    for (uint32_t child = 0; child < tree->node.children.size(); child++)
    {
        TreeConnection& connection = *m_ends[tree->node.firstQueuePair + child].connection;
        if (toOne && child != target)
        {
            if (operation & TREE_QUIET)
            {
                continue;
            }
            TreeMessage notice = message;
            notice.payload = nullptr;
            notice.payloadBytes = 0;
            connection.Send(notice);
            continue;
        }
        connection.Send(message);
    }
}

} // namespace ns3::training
