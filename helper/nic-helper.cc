/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-helper.h"

#include "codec-choice.h"
#include "in-network-system.h"
#include "nic-algorithm.h"

#include "ns3/host-device.h"
#include "ns3/host-model.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-quantity.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Size of a number, bytes.
constexpr uint32_t NUMBER = sizeof(float);

} // namespace

std::vector<Key>
NicHelper::GetKeys()
{
    const TypeId engine = CodecEngine::GetTypeId();
    return {Key::Attribute(engine, "Lanes"),
            Key::Attribute(engine, "Clock"),
            Key::Attribute(engine, "SendLatency"),
            Key::Attribute(engine, "ReceiveLatency"),
            Key::Word("owner",
                      "plain",
                      {"plain", "coded"},
                      "what a rank keeps of numbers that it sends: the plain ones, or, so that all "
                      "ranks end with equal sums, the coded ones"),
            Key::Of("copies",
                    Key::Type::BOOLEAN,
                    "false",
                    "whether collectives may be coded that copy numbers, such as weights, and do "
                    "not sum them")};
}

NicHelper::NicHelper(const ClusterOptions& options, const AttributeList& attributes)
    : m_text(options.nic)
{
    const CodecChoice choice = ChooseCodec("nic", options.nic, GetKeys());
    if (!choice.entry)
    {
        return;
    }
    const KeyValues& values = choice.values;
    m_spec = choice.spec;
    m_codesOwner = values.GetText("owner") == "coded";
    m_codesCopies = values.GetBoolean("copies");
    m_attributes.Set("ns3::training::CodecEngine::Codec", m_spec);
    m_attributes.Add(values.GetAttributes(GetKeys()));
    m_attributes.Add(attributes.SelectFor(CodecEngine::GetTypeId()));
    m_engine = m_attributes.Create<CodecEngine>();
    CheckCluster(options);
}

void
NicHelper::Refuse(const std::string& reason) const
{
    throw ConfigurationError("nic", m_text, " " + reason);
}

void
NicHelper::CheckCluster(const ClusterOptions& options) const
{
    const CodecTraits traits = GetCodec().GetTraits();
    const std::string name = KeyValues::Split(m_spec).GetName();
    if (IsInNetwork(options.algorithm))
    {
        Refuse("with collective " + options.algorithm +
               " (allowed: collectives of hosts, as switches sum numbers and not codes)");
    }
    if (options.IsUec())
    {
        Refuse("with transport uec (allowed: rdma, tcp, as the windows and credits of Ultra "
               "Ethernet count the bytes of whole packets)");
    }
    if (traits.random)
    {
        Refuse("(allowed: codecs without random numbers, as a packet sent again must have the same "
               "code)");
    }
    if (!traits.elementwise && traits.block == 0)
    {
        Refuse("(allowed: codecs of single packets, as " + name + " codes whole tensors)");
    }
    const uint32_t block = traits.elementwise ? NUMBER : traits.block * NUMBER;
    if (!traits.elementwise &&
        (options.transport == "tcp" || options.portPairs == "stripe" || options.split))
    {
        Refuse("with blocks of " + std::to_string(block) +
               " bytes (allowed: with rdma and whole messages, as blocks must not be cut)");
    }
    if (!traits.elementwise && IsInNic(options.algorithm))
    {
        Refuse("with collective " + options.algorithm +
               " (allowed: collectives of hosts, or codecs without blocks, which its segments "
               "would cut)");
    }
    if (options.GetMtu() % block != 0)
    {
        Refuse("with mtu " + std::to_string(options.GetMtu()) + " (allowed: a multiple of " +
               std::to_string(block) + ", the size of a block of " + name + ")");
    }
    const auto& models = Registry<HostModelEntry>::All();
    const auto model = models.find(KeyValues::Split(options.hostModel).GetName());
    if (model != models.end() && model->second.addsFlags)
    {
        Refuse("with host model " + options.hostModel +
               " (allowed: host models without flags between the numbers)");
    }
    if (options.transport == "tcp" && Node::ChecksumEnabled())
    {
        Refuse("with checksums of TCP (allowed: --ChecksumEnabled=false, as numbers change on "
               "their way)");
    }
}

bool
NicHelper::IsInstalled() const
{
    return m_engine != nullptr;
}

void
NicHelper::Install(const Fabric& fabric) const
{
    for (const auto& device : fabric.devices)
    {
        if (m_engine)
        {
            device->SetProgram(m_attributes.Create<CodecEngine>());
        }
    }
}

void
NicHelper::CheckSegments(const AttributeList& sockets) const
{
    const auto value = sockets.Get(TcpSocketBase::GetTypeId(), "SegmentSize");
    const uint64_t segment = DynamicCast<const UintegerValue>(value)->Get();
    if (m_engine && segment % NUMBER != 0)
    {
        throw ConfigurationError(
            "attribute ns3::TcpSocket::SegmentSize=" + std::to_string(segment) + " with nic " +
            m_text + " (allowed: a multiple of 4)");
    }
}

void
NicHelper::Check(bool isReal, const std::vector<CollectiveOperation>& operations) const
{
    if (!m_engine)
    {
        return;
    }
    const GradientCodec& codec = GetCodec();
    if (!isReal && !codec.HasCodedBytes())
    {
        Refuse("with payload virtual (allowed: payload real, or a declared size of codes, see the "
               "keys of " +
               KeyValues::Split(m_spec).GetName() + ")");
    }
    if (isReal && IsDeclared())
    {
        Refuse("with payload real (allowed: without a declared size, as the codes have one)");
    }
    for (const CollectiveOperation operation : operations)
    {
        const bool sums = operation == CollectiveOperation::ALL_REDUCE ||
                          operation == CollectiveOperation::REDUCE_SCATTER ||
                          operation == CollectiveOperation::REDUCE ||
                          operation == CollectiveOperation::BARRIER;
        if (!sums && !m_codesCopies)
        {
            Refuse("with " + GetName(operation) +
                   ", which copies numbers, such as weights (allowed: with copies=true)");
        }
    }
}

bool
NicHelper::IsDeclared() const
{
    return m_engine && GetCodec().HasCodedBytes() && !GetCodec().GetTraits().fixedSize;
}

uint32_t
NicHelper::GetLeastCode(uint32_t payload) const
{
    const uint32_t count = payload / NUMBER;
    const uint32_t rest = payload % NUMBER;
    if (GetCodec().HasCodedBytes())
    {
        return static_cast<uint32_t>(GetCodec().GetCodedBytes(count)) + rest;
    }
    const std::vector<float> zeros(count);
    std::vector<uint8_t> code;
    GetCodec().Encode(zeros.data(), count, CodecKey(), code);
    return static_cast<uint32_t>(code.size()) + rest;
}

double
NicHelper::GetGoodput(const PacketSize& packet) const
{
    if (!m_engine)
    {
        return packet.GetGoodput();
    }
    const uint32_t code = std::min(GetLeastCode(packet.payload), packet.payload);
    return static_cast<double>(packet.payload) / (code + packet.headers);
}

TopologyGraph
NicHelper::LimitHosts(const TopologyGraph& topology, const PacketSize& packet) const
{
    TopologyGraph limited = topology;
    const double limit = m_engine ? m_engine->GetRate() / GetGoodput(packet) : 0;
    for (auto& link : limited.links)
    {
        if (m_engine && (link.a < topology.hosts || link.b < topology.hosts) &&
            static_cast<double>(link.rate.GetBitRate()) > limit)
        {
            link.rate = DataRate(static_cast<uint64_t>(limit));
        }
    }
    return limited;
}

double
NicHelper::GetGain(const PacketSize& packet, uint64_t lineRate) const
{
    const auto rate = static_cast<double>(lineRate);
    const double most =
        m_engine ? std::min(GetGoodput(packet), m_engine->GetRate() / rate) : GetGoodput(packet);
    return most / packet.GetGoodput();
}

std::string
NicHelper::Describe(const PacketSize& packet, uint64_t lineRate) const
{
    const DataRate rate(static_cast<uint64_t>(m_engine->GetRate()));
    return "NICs code gradients: " + m_spec + (IsDeclared() ? ", size of codes declared" : "") +
           "; engines code " + FormatRate(rate) +
           (GetGain(packet, lineRate) < 1 ? ", so gradients are slower than without codes at " +
                                                FormatRate(DataRate(lineRate))
                                          : "");
}

Time
NicHelper::GetLatency() const
{
    return m_engine ? m_engine->GetSendLatency() + m_engine->GetReceiveLatency() : Time(0);
}

MessageCoding
NicHelper::GetCoding() const
{
    MessageCoding coding;
    if (m_engine)
    {
        coding.codesOwner = m_codesOwner;
        coding.roundTrip = [engine = m_engine](std::vector<uint8_t>& bytes, const MessagePlace&) {
            const std::size_t count = bytes.size() / NUMBER;
            std::vector<float> values(count);
            std::copy(bytes.begin(),
                      bytes.begin() + static_cast<int64_t>(count * NUMBER),
                      reinterpret_cast<uint8_t*>(values.data()));
            engine->GetCodec().RoundTrip(values.data(), count, CodecKey());
            const auto* const coded = reinterpret_cast<const uint8_t*>(values.data());
            std::copy(coded, coded + count * NUMBER, bytes.begin());
        };
    }
    return coding;
}

const GradientCodec&
NicHelper::GetCodec() const
{
    return m_engine->GetCodec();
}

const std::string&
NicHelper::GetSpec() const
{
    return m_spec;
}

} // namespace ns3::training
