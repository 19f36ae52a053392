/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "fabric/frame-wire-format.h"
#include "test-case.h"

#include "ns3/aggregation-tree.h"
#include "ns3/number-format.h"
#include "ns3/sharp-wire-format.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace ns3::training::tests::aggregation_tree_test
{

constexpr uint32_t LAST_PSN = PSN_MODULUS - 1;

float
Read(NumberFormat format, uint32_t bits)
{
    const uint32_t bytes = GetBytes(format);
    uint8_t written[4];
    for (uint32_t i = 0; i < bytes; i++)
    {
        written[i] = static_cast<uint8_t>(bits >> 8 * (bytes - 1 - i));
    }
    float value;
    ReadNumbers(format, written, 1, &value);
    return value;
}

uint32_t
Write(NumberFormat format, float value)
{
    uint8_t written[4];
    WriteNumbers(format, &value, 1, written);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < GetBytes(format); i++)
    {
        bits = bits << 8 | written[i];
    }
    return bits;
}

/** @return the value of a 16-bit float by definition */
double
GetValue(uint32_t bits, uint32_t exponentBits)
{
    const uint32_t fractionBits = 15 - exponentBits;
    const int bias = (1 << (exponentBits - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> fractionBits & ((1U << exponentBits) - 1));
    const double fraction =
        std::ldexp(bits & ((1U << fractionBits) - 1), -static_cast<int>(fractionBits));
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return bits >> 15 ? -magnitude : magnitude;
}

void
CheckHalves(NumberFormat format, uint32_t exponentBits)
{
    const uint32_t infinity = ((1U << exponentBits) - 1) << (15 - exponentBits);
    uint64_t wrong = 0;
    for (uint32_t bits = 0; bits <= 0xffff; bits++)
    {
        const uint32_t magnitude = bits & 0x7fff;
        const float value = Read(format, bits);
        if (magnitude > infinity)
        {
            wrong += !std::isnan(value) || !std::isnan(Read(format, Write(format, value)));
            continue;
        }
        wrong += Write(format, value) != bits;
        if (magnitude == infinity)
        {
            wrong += !std::isinf(value) || std::signbit(value) != (bits >> 15 == 1);
            continue;
        }
        wrong += value != GetValue(bits, exponentBits);
        // Halfway rounds to even; a little less or more rounds to nearest.
        const double next = GetValue(bits + 1, exponentBits);
        const auto middle = static_cast<float>((GetValue(bits, exponentBits) + next) / 2);
        wrong += Write(format, middle) != bits + (bits & 1);
        wrong += Write(format, std::nextafter(middle, value)) != bits;
        const bool isFinite = ((bits + (bits & 1)) & 0x7fff) < infinity;
        wrong += IsWritable(format, middle) != isFinite;
    }
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, ns3::training::GetName(format));
}

void
CheckSums()
{
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (const NumberFormat format :
         {NumberFormat::FLOAT32, NumberFormat::FLOAT16, NumberFormat::BFLOAT16})
    {
        for (const uint32_t addends : {2, 3, 17, 64})
        {
            for (const int8_t exponent : {-20, -14, 0, 8})
            {
                const uint64_t count = 500;
                std::vector<double> exact(count, 0);
                std::vector<std::vector<uint8_t>> parts;
                std::vector<const uint8_t*> pointers;
                for (uint32_t part = 0; part < addends; part++)
                {
                    std::vector<float> values(count);
                    for (uint64_t i = 0; i < count; i++)
                    {
                        values[i] = std::ldexp(uniform(random), exponent);
                        exact[i] += values[i];
                    }
                    parts.emplace_back(count * GetBytes(format));
                    WriteNumbers(format, values.data(), count, parts.back().data());
                }
                for (const auto& part : parts)
                {
                    pointers.push_back(part.data());
                }
                NS_TEST_EXPECT_MSG_EQ(AddNumbers(format, pointers, count, parts[0].data()),
                                      false,
                                      "within the range");
                std::vector<float> sum(count);
                ReadNumbers(format, parts[0].data(), count, sum.data());
                const double bound = GetSumErrorBound(format, exponent, addends, 1, 1);
                double error = 0;
                for (uint64_t i = 0; i < count; i++)
                {
                    error = std::max(error, std::abs(sum[i] - exact[i]));
                }
                NS_TEST_EXPECT_MSG_GT(error, 0, "rounded");
                NS_TEST_EXPECT_MSG_LT_OR_EQ(error, bound, ns3::training::GetName(format));
            }
        }
    }
}

/** Conversion of 16-bit floats follows IEEE 754, and sums stay within their error bound. */
void
TestNumberFormat()
{
    CheckHalves(NumberFormat::FLOAT16, 5);
    CheckHalves(NumberFormat::BFLOAT16, 8);
    CheckSums();
    NS_TEST_EXPECT_MSG_EQ(Read(NumberFormat::INT32, 0xfffffffe), -2, "two's complement");
    NS_TEST_EXPECT_MSG_EQ(Write(NumberFormat::INT32, -2147483648.0F), 0x80000000, "least");
    NS_TEST_EXPECT_MSG_EQ(IsWritable(NumberFormat::INT32, 2147483648.0F), false, "too large");
    NS_TEST_EXPECT_MSG_EQ(Write(NumberFormat::FLOAT32, 1), 0x3f800000, "as it is");
    for (uint32_t i = 0; i < static_cast<uint32_t>(NumberFormat::COUNT); i++)
    {
        const auto format = static_cast<NumberFormat>(i);
        const bool isSame = FindNumberFormat(ns3::training::GetName(format)) == format;
        NS_TEST_EXPECT_MSG_EQ(isSame, true, "by its name");
    }
    const bool isUnknown = FindNumberFormat("float64") == NumberFormat::COUNT;
    NS_TEST_EXPECT_MSG_EQ(isUnknown, true, "no such format");
}

TopologyGraph
Build(const std::string& spec, uint32_t ranks)
{
    return BuildTopology(spec, ranks, DataRate("100Gbps"), MicroSeconds(1));
}

/** @return height of the tree; 1 if the root only has hosts */
uint32_t
Check(const TopologyGraph& topology,
      const std::vector<AggregationNode>& tree,
      const std::vector<uint32_t>& hosts)
{
    std::multiset<uint32_t> seen;
    std::set<uint32_t> switches;
    uint32_t height = 0;
    for (uint32_t i = 0; i < tree.size(); i++)
    {
        seen.insert(tree[i].hosts.begin(), tree[i].hosts.end());
        switches.insert(tree[i].switchIndex);
        NS_TEST_EXPECT_MSG_EQ((tree[i].parent == AggregationNode::NONE),
                              (i == 0),
                              topology.name << ": the root alone has no parent");
        for (uint32_t below : tree[i].below)
        {
            NS_TEST_EXPECT_MSG_EQ(tree[below].parent, i, topology.name << ": both ways");
        }
        const bool isNeeded = i == 0 || !tree[i].hosts.empty() || tree[i].below.size() > 1;
        NS_TEST_EXPECT_MSG_EQ(isNeeded, true, topology.name << ": none passes on alone");
        uint32_t depth = 1;
        for (uint32_t at = i; tree[at].parent != AggregationNode::NONE; depth++)
        {
            at = tree[at].parent;
            NS_TEST_EXPECT_MSG_LT(depth, tree.size() + 1, topology.name << ": no circle");
        }
        height = std::max(height, depth);
    }
    NS_TEST_EXPECT_MSG_EQ(seen,
                          std::multiset<uint32_t>(hosts.begin(), hosts.end()),
                          topology.name << ": every host once");
    NS_TEST_EXPECT_MSG_EQ(switches.size(), tree.size(), topology.name << ": switches once");
    return height;
}

std::vector<uint32_t>
GetHosts(uint32_t count)
{
    std::vector<uint32_t> hosts(count);
    std::iota(hosts.begin(), hosts.end(), 0);
    return hosts;
}

void
CheckShape(const std::string& spec, uint32_t ranks, std::size_t nodes, uint32_t height)
{
    const TopologyGraph topology = Build(spec, ranks);
    const auto hosts = GetHosts(ranks);
    const auto links = ChooseAggregationLinks(topology, hosts);
    for (uint32_t choice = 0; choice < 5; choice++)
    {
        const auto tree =
            BuildAggregationTree(topology, hosts, choice, AggregationLevels::ALL, links);
        NS_TEST_EXPECT_MSG_EQ(Check(topology, tree, hosts), height, spec << ": height");
        NS_TEST_EXPECT_MSG_EQ(tree.size(), nodes, spec << ": switches");
    }
}

void
TestAggregationTree()
{
    CheckShape("single-switch", 7, 1, 1);
    CheckShape("leaf-spine:leaves=4,spines=3", 16, 5, 2);
    CheckShape("leaf-spine:leaves=1,spines=3", 4, 1, 1);
    // Edge switches, one aggregation switch per pod, one core switch.
    CheckShape("fat-tree:k=4", 16, 8 + 4 + 1, 3);
    CheckShape("fat-tree:k=8", 128, 32 + 8 + 1, 3);
    // One pod: its edge switches below one of its aggregation switches.
    CheckShape("fat-tree:k=4", 4, 2 + 1, 2);
    // Every router has a host.
    CheckShape("torus:3x3", 9, 9, 3);
    CheckShape("ring", 8, 8, 5);
    // One server uses its local switch; several use rails and a spine.
    CheckShape("rail-optimized:gpus=8,servers=4", 8, 1, 1);
    CheckShape("rail-optimized:gpus=8,servers=4", 32, 9, 2);

    const TopologyGraph local = Build("rail-optimized:gpus=8,servers=4", 32);
    for (uint32_t link : ChooseAggregationLinks(local, GetHosts(8)))
    {
        NS_TEST_EXPECT_MSG_EQ(local.links[link].b, 32, "the server's local switch");
    }
    // Jobs and trees spread over the core switches.
    const TopologyGraph fatTree = Build("fat-tree:k=4", 16);
    std::set<uint32_t> roots;
    for (uint32_t choice = 0; choice < 4; choice++)
    {
        roots.insert(BuildAggregationTree(fatTree, GetHosts(16), choice, AggregationLevels::ALL)[0]
                         .switchIndex);
    }
    NS_TEST_EXPECT_MSG_EQ(roots.size(), 4, "all cores");
    // Two levels: edge switches and one core switch.
    const auto two = BuildAggregationTree(fatTree, GetHosts(16), 0);
    NS_TEST_EXPECT_MSG_EQ(Check(fatTree, two, GetHosts(16)), 2, "two levels");
    NS_TEST_EXPECT_MSG_EQ(two.size(), 9, "edges and a core");

    TopologyGraph pair;
    pair.name = "pair";
    pair.hosts = 2;
    pair.links.push_back({0, 1, DataRate("1Gbps"), MicroSeconds(1)});
    for (const bool chooses : {false, true})
    {
        const std::string text = GetRefusal([&] {
            chooses ? (void)ChooseAggregationLinks(pair, {0, 1})
                    : (void)BuildAggregationTree(pair, {0, 1}, 0);
        });
        NS_TEST_EXPECT_MSG_EQ(text.rfind("topology 'pair': ", 0), 0, text);
    }
}

Frame*
MakePacket(uint32_t payload, uint8_t opcode = SEND_ONLY)
{
    Frame* frame = MakeFrame(GetSharpFrameBytes(payload, opcode), 3, 5, 9);
    frame->opcode = opcode;
    frame->flowHash = 0x1234;
    frame->destinationQp = 0x54321;
    frame->psn = LAST_PSN;
    SharpHeader header;
    header.job = 200;
    header.packet = 0xfedcba98;
    header.slot = 0xabcd;
    header.operation = SHARP_UNLOCK | SHARP_TO_ONE;
    header.format = static_cast<uint8_t>(NumberFormat::BFLOAT16);
    frame->Set(header);
    frame->payloadBytes = payload;
    frame->payload = Create<ByteBuffer>();
    frame->payload->bytes.resize(payload);
    std::iota(frame->payload->bytes.begin(), frame->payload->bytes.end(), 1);
    frame->payloadOffset = 0;
    return frame;
}

void
CheckPacket(uint32_t payload, uint8_t opcode)
{
    Frame* frame = MakePacket(payload, opcode);
    const Ptr<Packet> packet = ToPacket(*frame);
    NS_TEST_EXPECT_MSG_EQ(packet->GetSize() + 4, frame->bytes, "its size");
    const ParsedFrame parsed = FromPacket(*packet);
    NS_TEST_ASSERT_MSG_EQ(parsed.error, "", payload);
    const Frame& copy = *parsed.frame;
    NS_TEST_EXPECT_MSG_EQ((copy.Is<SharpHeader>()), true, payload);
    NS_TEST_EXPECT_MSG_EQ(+copy.opcode, +opcode, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.source, 5, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.destination, 9, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.flowHash, 0x1234, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.destinationQp, 0x54321, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.psn, LAST_PSN, payload);
    NS_TEST_EXPECT_MSG_EQ(+copy.As<SharpHeader>().job, 200, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.As<SharpHeader>().packet, 0xfedcba98, payload);
    NS_TEST_EXPECT_MSG_EQ(copy.As<SharpHeader>().slot, 0xabcd, payload);
    NS_TEST_EXPECT_MSG_EQ(+copy.As<SharpHeader>().operation,
                          +frame->As<SharpHeader>().operation,
                          payload);
    NS_TEST_EXPECT_MSG_EQ(+copy.As<SharpHeader>().format,
                          +frame->As<SharpHeader>().format,
                          payload);
    NS_TEST_EXPECT_MSG_EQ(copy.payloadBytes, payload, payload);
    const bool isSame = payload == 0 ? !copy.payload : copy.payload->bytes == frame->payload->bytes;
    NS_TEST_EXPECT_MSG_EQ(isSame, true, payload);
    Frame::Free(parsed.frame);
    Frame::Free(frame);
}

void
CheckAcknowledgement(uint8_t syndrome)
{
    Frame* frame = MakePacket(0);
    frame->opcode = ACKNOWLEDGE;
    frame->syndrome = syndrome;
    frame->bytes = GetSharpAcknowledgeBytes();
    const ParsedFrame parsed = FromPacket(*ToPacket(*frame));
    NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "acknowledgement");
    NS_TEST_EXPECT_MSG_EQ(+parsed.frame->opcode, +ACKNOWLEDGE, "its opcode");
    NS_TEST_EXPECT_MSG_EQ(+parsed.frame->syndrome, +syndrome, "what it says");
    NS_TEST_EXPECT_MSG_EQ(parsed.frame->psn, LAST_PSN, "of which");
    NS_TEST_EXPECT_MSG_EQ(+parsed.frame->As<SharpHeader>().job, 200, "whose");
    Frame::Free(parsed.frame);
    Frame::Free(frame);
}

/** @param at changed byte @param expected expected error */
void
CheckError(uint32_t at, uint8_t value, const std::string& expected)
{
    Frame* frame = MakePacket(64);
    const Ptr<Packet> packet = ToPacket(*frame);
    Frame::Free(frame);
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    bytes[at] = value;
    const Packet changed(bytes.data(), static_cast<uint32_t>(bytes.size()));
    const ParsedFrame parsed = FromPacket(changed);
    NS_TEST_EXPECT_MSG_EQ(parsed.error, expected, "byte " << at);
    NS_TEST_EXPECT_MSG_EQ(parsed.frame, nullptr, "byte " << at);
}

/** Serialization of packets and acknowledgements, in both directions. */
void
TestSharpWireFormat()
{
    for (const uint32_t payload : {0, 2, 4, 62, 256, 2048})
    {
        CheckPacket(payload, SEND_ONLY);
        CheckPacket(payload, UD_SEND_ONLY);
    }
    CheckAcknowledgement(SYNDROME_ACK);
    CheckAcknowledgement(SYNDROME_NAK_SEQUENCE);
    CheckError(42, 0x0a, "no packet of an aggregation tree");
    CheckError(54 + 11, 65, "an aggregation tree's packet of another size");
    CheckError(54 + 9, 0xff, "an aggregation tree's packet of another size");
    NS_TEST_EXPECT_MSG_EQ(GetSharpFrameBytes(256), 18 + 20 + 8 + 12 + 16 + 256, "256 bytes");
    NS_TEST_EXPECT_MSG_EQ(GetSharpAcknowledgeBytes(), 64, "the shortest frame");
}

const Suite g_suite("aggregation-tree",
                    Duration::QUICK,
                    {{"numbers of each format", TestNumberFormat},
                     {"trees over topologies: levels, roots, shortest ways", TestAggregationTree},
                     {"packets as bytes, and back", TestSharpWireFormat}});

} // namespace ns3::training::tests::aggregation_tree_test
