/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-helper.h"

#include "codec-choice.h"
#include "in-network-system.h"

#include "ns3/host-device.h"
#include "ns3/host-model.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-quantity.h"
#include "ns3/training-registry.h"
#include "ns3/transport-entry.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ns3::training
{

std::vector<Key>
NicHelper::GetKeys()
{
    const TypeId engine = CodecEngine::GetTypeId();
    return {Key::Attribute(engine, "Lanes"),
            Key::Attribute(engine, "Clock"),
            Key::Attribute(engine, "SendLatency"),
            Key::Attribute(engine, "ReceiveLatency"),
            Key::Attribute(engine, "Tos"),
            Key::Word("owner",
                      "plain",
                      {"plain", "coded"},
                      "what a rank keeps of numbers that it sends: the plain ones, or, so that all "
                      "ranks end with equal sums, the coded ones"),
            Key::Of("copies",
                    Key::Type::BOOLEAN,
                    "false",
                    "whether collectives are coded that copy numbers, such as weights, and do not "
                    "sum them")};
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
    m_packet = options.GetMtu() / FLOAT_BYTES * FLOAT_BYTES;
    const auto mark = attributes.Get(ScheduledCommunicator::GetTypeId(), "GradientTos");
    m_mark = static_cast<uint8_t>(DynamicCast<const UintegerValue>(mark)->Get());
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
    for (const uint32_t tos : {m_engine->GetTypeOfService(), m_mark})
    {
        if (tos % 4 != 0)
        {
            Refuse("with type of service " + std::to_string(tos) +
                   " (allowed: multiples of 4, as the lowest two bits are those of ECN)");
        }
    }
    if (!traits.elementwise && traits.block == 0)
    {
        Refuse("(allowed: codecs of single packets, as " + name + " codes whole tensors)");
    }
    const uint32_t block = traits.elementwise ? FLOAT_BYTES : traits.block * FLOAT_BYTES;
    const bool isCut =
        options.GetTransport().isStream || options.GetPortPairs() == "stripe" || options.split;
    if (!traits.elementwise && isCut)
    {
        Refuse("with blocks of " + std::to_string(block) +
               " bytes (allowed: with rdma or uec and whole messages, as blocks must not be cut)");
    }
    if (traits.random && isCut)
    {
        Refuse(
            "with random numbers (allowed: with rdma or uec and whole messages, as a packet sent "
            "again must have the same code)");
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
    if (options.GetTransport().isStream && Node::ChecksumEnabled())
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
NicHelper::Install(const Fabric& fabric, const TopologyGraph& topology)
{
    if (!m_engine)
    {
        return;
    }
    m_servers = std::make_shared<const std::vector<uint32_t>>(topology.GetServers());
    for (const auto& device : fabric.devices)
    {
        const uint32_t link = fabric.linkOfEndpoint[device->GetEndpoint()];
        const bool isInServer =
            link != Fabric::NO_LINK &&
            topology.GetScaleUpSwitch(topology.links[link]) != TopologyGraph::NO_SERVER;
        if (!isInServer)
        {
            device->SetProgram(m_attributes.Create<CodecEngine>());
        }
    }
}

void
NicHelper::CheckSegments(uint64_t segment) const
{
    if (m_engine && segment % FLOAT_BYTES != 0)
    {
        throw ConfigurationError(
            "attribute ns3::TcpSocket::SegmentSize=" + std::to_string(segment) + " with nic " +
            m_text + " (allowed: a multiple of 4)");
    }
}

void
NicHelper::Check(bool isReal) const
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
}

bool
NicHelper::Codes(CollectiveOperation operation) const
{
    return IsInUse() && (m_codesCopies || MessageCoding::IsSum(operation));
}

bool
NicHelper::IsInUse() const
{
    return m_engine && m_mark == m_engine->GetTypeOfService();
}

bool
NicHelper::CodesBlocks() const
{
    return m_engine && (!GetCodec().GetTraits().elementwise || GetCodec().GetTraits().random);
}

bool
NicHelper::IsDeclared() const
{
    return m_engine && GetCodec().HasCodedBytes() && !GetCodec().GetTraits().fixedSize;
}

uint32_t
NicHelper::GetLeastCode(uint32_t payload) const
{
    const uint32_t count = payload / FLOAT_BYTES;
    const uint32_t rest = payload % FLOAT_BYTES;
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
    if (!IsInUse())
    {
        return packet.GetGoodput();
    }
    return static_cast<double>(packet.payload) / (GetLineBytes(packet.payload) + packet.headers);
}

TopologyGraph
NicHelper::LimitHosts(const TopologyGraph& topology, const PacketSize& packet) const
{
    TopologyGraph limited = topology;
    const double limit = IsInUse() ? m_engine->GetRate() / GetGoodput(packet) : 0;
    for (auto& link : limited.links)
    {
        if (IsInUse() && (link.a < topology.hosts || link.b < topology.hosts) &&
            limited.GetScaleUpSwitch(link) == TopologyGraph::NO_SERVER &&
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
        IsInUse() ? std::min(GetGoodput(packet), m_engine->GetRate() / rate) : GetGoodput(packet);
    return most / packet.GetGoodput();
}

std::string
NicHelper::Describe(const PacketSize& packet, uint64_t lineRate) const
{
    if (!IsInUse())
    {
        return "NICs code nothing: hosts mark gradients with type of service " +
               std::to_string(m_mark) + ", but engines look for " +
               std::to_string(m_engine->GetTypeOfService());
    }
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

uint32_t
NicHelper::GetLineBytes(uint32_t payload) const
{
    return IsInUse() ? std::min(GetLeastCode(payload), payload) : payload;
}

Time
NicHelper::GetMessageTime(uint32_t payload) const
{
    return IsInUse() ? GetLatency() + Seconds(8.0 * payload / m_engine->GetRate()) : GetLatency();
}

MessageCoding
NicHelper::GetCoding() const
{
    MessageCoding coding;
    if (m_engine)
    {
        coding.codesOwner = m_codesOwner;
        coding.codesCopies = m_codesCopies;
        coding.marks = true;
    }
    if (IsInUse())
    {
        // Over TCP, whose segments differ, a number's code depends on that number alone.
        coding.roundTrip =
            [engine = m_engine, packet = m_packet, servers = m_servers](std::vector<uint8_t>& bytes,
                                                                        const MessagePlace& place) {
                const uint32_t server = servers->at(place.sender);
                if (place.sender != place.receiver && server != TopologyGraph::NO_SERVER &&
                    server == servers->at(place.receiver))
                {
                    return; // within the server
                }
                for (std::size_t at = 0; at < bytes.size(); at += packet)
                {
                    std::vector<float> values(std::min(packet, bytes.size() - at) / FLOAT_BYTES);
                    std::memcpy(values.data(), bytes.data() + at, values.size() * FLOAT_BYTES);
                    CodecEngine::RoundTrip(engine->GetCodec(), values.data(), values.size());
                    std::memcpy(bytes.data() + at, values.data(), values.size() * FLOAT_BYTES);
                }
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
