/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "coded-test-common.h"
#include "fabric/coded-payload.h"
#include "fabric/frame-wire-format.h"
#include "measure/algorithm-sweep.h"

#include "ns3/codec-engine.h"
#include "ns3/fabric-wire-format.h"
#include "ns3/message-coding.h"
#include "ns3/training-run.h"
#include "ns3/uec-nic.h"
#include "ns3/uec-wire-format.h"

#include <algorithm>
#include <cmath>

namespace ns3::training::tests::coded_collectives_test
{

/// Four chunks of 1,048,576 numbers.
constexpr uint64_t BYTES = 16 << 20;

ClusterOptions
MakeOptions(uint32_t ranks,
            const std::string& transport,
            const std::string& nic,
            const std::string& algorithm = "ring")
{
    ClusterOptions options = MakeSlowCluster(ranks, transport);
    options.nic = nic;
    options.algorithm = algorithm;
    return options;
}

/**
 * @return bytes of a full packet on the line, with preamble and gap, and with RDMA the sixteenth of
 *         an acknowledgement for the packets in the other direction; with Ultra Ethernet without
 *         acknowledgements, which are rarer
 */
double
GetLineBytes(const std::string& transport, uint32_t mtu, double ratio)
{
    if (transport == "tcp")
    {
        return 40 + 38 + std::ceil((mtu - 40) / ratio);
    }
    if (transport == "uec")
    {
        return 122 + std::ceil(mtu / ratio);
    }
    return 82 + 4 * std::ceil(mtu / ratio / 4) + (66 + 20) / 16.;
}

void
Check(const std::string& transport, uint32_t mtu, double ratio, uint32_t lanes, double tolerance)
{
    ClusterOptions options = MakeOptions(4,
                                         transport,
                                         "inceptionn:ratio=" + std::to_string(ratio) +
                                             ",lanes=" + std::to_string(lanes));
    options.mtu = mtu;
    const double payload = transport == "tcp" ? mtu - 40 : mtu;
    const double line = GetLineBytes(transport, mtu, ratio) / payload * 8 / 10e9;
    const double engine = 8 / (32 * lanes * 100e6);
    const double packet = 2 * std::max(line, engine) * payload;
    const double expected =
        1.5 * BYTES * std::max(line, engine) + 6 * (2 * 500e-9 + 2 * 100e-9 + packet);
    const CodedResult result = Measure(options, BYTES, false);
    const std::string what = transport + ", mtu " + std::to_string(mtu) + ", ratio " +
                             std::to_string(ratio) + ", lanes " + std::to_string(lanes);
    NS_TEST_EXPECT_MSG_LT(result.row.seconds / expected, 1 + tolerance, what);
    NS_TEST_EXPECT_MSG_GT(result.row.seconds / expected, 0.99, what);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(result.row.efficiency, 1, what << ": the bound is one");
    NS_TEST_EXPECT_MSG_GT(result.row.efficiency, 0.9 / (1 + tolerance), what << ": and close by");
    NS_TEST_EXPECT_MSG_EQ(result.engines.isDeclared, true, "the ratio is an input");
    if (transport == "rdma")
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(result.engines.counters.GetRatio() / ratio, 1, 0.015, what);
    }
}

/**
 * A ring of 4 ranks with a declared ratio r, against the closed form of M bytes, payload p and
 * headers h of a packet, and the engine's rate R of uncoded bytes: T = 1.5 M max((h + p / r) / (p
 * B), 1 / R), and for each of the 6 steps two links, the engines and a packet.
 */
void
TestClosedForm()
{
    // 64 lanes keep up with each ratio.
    for (const double ratio : {2., 4., 5.6, 8., 15.})
    {
        Check("rdma", 1024, ratio, 64, 0.01);
        Check("rdma", 4096, ratio, 64, 0.02);
    }
    for (const uint32_t lanes : {2, 8, 16})
    {
        Check("rdma", 4096, 15, lanes, 0.02);
    }
    // Acknowledgements are not in the closed form.
    for (const double ratio : {1.5, 4., 8.})
    {
        Check("uec", 4096, ratio, 64, 0.06);
    }
    Check("uec", 1024, 4, 64, 0.1);
    Check("uec", 4096, 15, 2, 0.03);
    // Engines that add have as many adders as coded lines need.
    for (const double ratio : {1., 2., 4., 8.})
    {
        const std::string nic = "inceptionn:ratio=" + std::to_string(ratio);
        const double efficiency =
            Measure(MakeOptions(4, "rdma", nic, "nic-ring"), BYTES, false).row.efficiency;
        NS_TEST_EXPECT_MSG_GT(efficiency, 0.9, "nic-ring, ratio " << ratio);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(efficiency, 1, "nic-ring, ratio " << ratio);
    }
    Check("tcp", 1500, 5.6, 64, 0.15);
    Check("tcp", 9000, 4, 64, 0.15);
    Check("tcp", 1500, 15, 8, 0.15);
}

struct EveryCombinationTest
{
    /** @return why the combination is refused; empty if it is not */
    static std::string GetReason(const std::string& codec,
                                 const std::string& algorithm,
                                 const std::string& transport)
    {
        if (algorithm == "switchml")
        {
            return "with collective switchml (allowed: collectives of hosts";
        }
        if (transport != "tcp")
        {
            return "";
        }
        const bool hasBlocks = codec == "block-float" || codec == "int8";
        return hasBlocks            ? "as blocks must not be cut"
               : codec == "natural" ? "with random numbers (allowed: with rdma or uec"
                                    : "";
    }

    void Check(const ClusterOptions& options, const std::string& codec)
    {
        const std::string what = options.nic + ", " + options.algorithm + ", " + options.transport +
                                 ", loss " + std::to_string(options.loss);
        CodedResult result;
        const std::string refusal = GetRefusal([&] { result = Measure(options, 4 * 40009, true); });
        const std::string reason = GetReason(codec, options.algorithm, options.transport);
        if (!reason.empty() || !refusal.empty())
        {
            Simulator::Destroy();
            NS_TEST_EXPECT_MSG_EQ(reason.empty(), false, what << ": " << refusal);
            ExpectPart(refusal, reason);
            return;
        }
        NS_TEST_EXPECT_MSG_EQ(result.row.mismatch, "", what);
        NS_TEST_EXPECT_MSG_EQ(result.row.verified, true, what);
        NS_TEST_EXPECT_MSG_GT(result.engines.counters.codedPackets, 0, what << ": coded");
    }

    void Run()
    {
        for (const std::string& codec : Split("fp16|bf16|inceptionn:variant=paper|"
                                              "inceptionn:variant=bounded|"
                                              "inceptionn:variant=grace|block-float|int8|"
                                              "natural|truncation"))
        {
            for (const std::string algorithm :
                 {"ring", "direct", "multitree", "hierarchical", "switchml"})
            {
                for (const std::string transport : {"rdma", "tcp"})
                {
                    for (const double loss : {0., 0.01})
                    {
                        ClusterOptions options = MakeOptions(6, transport, codec, algorithm);
                        options.loss = loss;
                        if (algorithm == "hierarchical")
                        {
                            options.topology = "rail-optimized:gpus=2";
                        }
                        Check(options, codec);
                    }
                }
            }
        }
    }
};

/** Sums of real numbers equal the reference bit for bit, whatever carries them. */
struct ExactSumsTest
{
    void Check(const ClusterOptions& options, uint64_t bytes)
    {
        const std::string what = options.nic + ", " + options.transport + ", " + options.algorithm +
                                 ", " + std::to_string(options.ranks) + " ranks, " +
                                 std::to_string(bytes) + " bytes, loss " +
                                 std::to_string(options.loss) + ", " + options.recovery;
        const CodedResult result = Measure(options, bytes, true);
        NS_TEST_EXPECT_MSG_EQ(result.row.mismatch, "", what);
        const auto& errors = result.engines.errors;
        NS_TEST_ASSERT_MSG_EQ(errors.has_value(), true, what << ": errors are measured");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(errors->largestError, errors->bound, what << ": its bound");
        // Block floats and random numbers may change when they are coded once more.
        const bool keeps = options.nic.find("block-float") && options.nic.find("qsgd") &&
                           options.nic.find("natural");
        if (keeps && options.nic.find("owner=coded") != std::string::npos)
        {
            NS_TEST_EXPECT_MSG_EQ(errors->driftedElements, 0, what << ": equal at all ranks");
        }
        if (options.ranks > 1 && bytes >= 4096)
        {
            const CodecCounters& counters = result.engines.counters;
            NS_TEST_EXPECT_MSG_GT(counters.codedPackets, 0, what << ": coded");
            NS_TEST_EXPECT_MSG_GT(counters.GetRatio(), 1, what << ": and shorter");
        }
    }

    /** Codecs of blocks, and with random numbers; executed by hosts and by NICs. */
    void CheckBlocks()
    {
        for (const std::string codec :
             {"block-float", "block-float:bits=5,block=64", "fp8", "int8", "qsgd", "natural"})
        {
            for (const std::string algorithm :
                 {"ring", "nic-ring", "nic-chain", "nic-double-binary-tree", "nic-multitree"})
            {
                // Parts, segments and packets end within blocks.
                for (const uint64_t elements : {1, 5, 1001, 40003})
                {
                    ClusterOptions options = MakeOptions(3, "rdma", codec, algorithm);
                    options.mtu = 2048;
                    Check(options, 4 * elements);
                }
            }
            for (const std::string algorithm : {"nic-ring", "direct"})
            {
                const std::string keys = codec.find(':') == std::string::npos ? ":" : ",";
                ClusterOptions options =
                    MakeOptions(7, "uec", codec + keys + "owner=coded", algorithm);
                options.loss = 0.01;
                Check(options, 4 * 20011);
            }
        }
    }

    void Run()
    {
        for (const std::string transport : {"rdma", "uec", "tcp"})
        {
            for (const uint32_t ranks : {1, 2, 3, 7})
            {
                for (const uint64_t elements : {1, 5, 1001, 40003})
                {
                    Check(MakeOptions(ranks, transport, "inceptionn"), 4 * elements);
                }
            }
            for (const std::string algorithm :
                 {"ring", "direct", "multitree", "recursive-doubling", "parameter-server"})
            {
                for (const double loss : {0., 0.01})
                {
                    for (const std::string owner : {"plain", "coded"})
                    {
                        const std::string nic = "inceptionn:bound=-6,variant=bounded,owner=";
                        ClusterOptions options = MakeOptions(7, transport, nic + owner, algorithm);
                        options.loss = loss;
                        options.mtu = 1500;
                        Check(options, 4 * 20011);
                    }
                }
            }
        }
        for (const std::string codec : {"bf16", "fp16", "truncation"})
        {
            for (const std::string transport : {"rdma", "uec", "tcp"})
            {
                ClusterOptions options = MakeOptions(3, transport, codec + ":owner=coded");
                options.loss = 0.01;
                Check(options, 40004);
            }
        }
        CheckBlocks();
        // Links inside servers have no engines.
        for (const std::string algorithm : {"hierarchical", "ring", "direct", "multitree"})
        {
            for (const std::string owner : {"plain", "coded"})
            {
                const std::string nic = "inceptionn:variant=bounded,owner=" + owner;
                ClusterOptions options = MakeOptions(8, "rdma", nic, algorithm);
                options.topology = "rail-optimized:gpus=2";
                Check(options, 4 * 20011);
            }
        }
        ClusterOptions options = MakeOptions(4, "rdma", "inceptionn:variant=grace,owner=coded");
        options.loss = 0.01;
        for (const std::string recovery : {"go-back-n", "selective-repeat", "out-of-order"})
        {
            options.recovery = recovery;
            options.mtu = 1000;
            Check(options, 4 * 20011);
        }
    }
};

/**
 * Incast over Ultra Ethernet: switches trim coded packets, windows and credits count what is on the
 * line, and sums are exact.
 */
struct TrimmedCodesTest
{
    void Check(const std::string& control)
    {
        ClusterOptions options =
            MakeOptions(8, "uec", "inceptionn:variant=bounded,lanes=64", "parameter-server");
        options.congestionControl = control;
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            const auto row =
                MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 4 << 20, true, 1);
            NS_TEST_EXPECT_MSG_EQ(row.mismatch, "", control);
            uint64_t naks = 0;
            uint64_t resent = 0;
            for (uint32_t rank = 0; rank < options.ranks; rank++)
            {
                for (const auto& nic : cluster.GetNics<UecNic>(rank))
                {
                    for (const auto& [number, connection] : nic->GetConnections())
                    {
                        naks += connection->GetCounters().receivedNaks;
                        resent += connection->GetCounters().retransmittedPackets;
                        NS_TEST_EXPECT_MSG_EQ(connection->GetInFlight(),
                                              0,
                                              control << ": what was sent has arrived");
                    }
                }
            }
            NS_TEST_EXPECT_MSG_GT(naks, 0, control << ": packets were trimmed");
            NS_TEST_EXPECT_MSG_GT(resent, 0, control << ": and sent again");
            RunFigures figures;
            figures.AddAll({cluster});
            NS_TEST_EXPECT_MSG_GT(figures.Find<NicFigures>()->counters.GetRatio(), 1.3, control);
        }
        Simulator::Destroy();
    }

    void Run()
    {
        Check("nscc");
        Check("rccc");
        Check("nscc:receiver-credit=true");
    }
};

Frame*
MakeRequest(const std::vector<float>& values, uint32_t offset)
{
    UecHeader header;
    header.psn = 17;
    header.flags = static_cast<uint8_t>(offset == 0 ? UEC_FIRST : UEC_LAST);
    header.request.bytes = 8192;
    header.request.offset = offset;
    header.request.payload = static_cast<uint32_t>(4 * values.size());
    Frame* frame = Frame::Make(header);
    frame->payloadBytes = header.request.payload;
    frame->bytes = GetUecFrameBytes(frame->payloadBytes, false);
    frame->source = 1;
    frame->destination = 2;
    frame->priority = 1;
    frame->ecn = Ecn::ECT;
    frame->payload = Create<ByteBuffer>();
    const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
    frame->payload->bytes.assign(bytes, bytes + frame->payloadBytes);
    return frame;
}

/** A frame of Ultra Ethernet on its way: marked, coded, serialized, parsed, trimmed, restored. */
void
TestUecCode()
{
    auto engine = CreateObject<CodecEngine>();
    std::vector<float> values(1024, 0.0001F);
    values[3] = 0.3F;
    for (const uint32_t offset : {0, 4096})
    {
        Frame* frame = MakeRequest(values, offset);
        const uint32_t before = frame->bytes;
        engine->OnSend(*frame);
        NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), false, "without a mark");
        frame->typeOfService = GRADIENT_TYPE_OF_SERVICE;
        engine->OnSend(*frame);
        NS_TEST_ASSERT_MSG_EQ(IsCoded(*frame), true, "with a mark");
        // 2 bits each, and 16 bits of one; all bytes are of use.
        NS_TEST_EXPECT_MSG_EQ(frame->payloadBytes, 1024 / 4 + 2, "bytes of the code");
        NS_TEST_EXPECT_MSG_EQ(frame->bytes,
                              GetUecFrameBytes(frame->payloadBytes, false),
                              "as long as the code");
        const auto packet = ToPacket(*frame);
        uint8_t ip[20];
        packet->CreateFragment(14, sizeof(ip))->CopyData(ip, sizeof(ip));
        NS_TEST_EXPECT_MSG_EQ(static_cast<uint32_t>(ip[1] & 0xfc), 0x28, "type of service");
        NS_TEST_EXPECT_MSG_EQ((ip[4] << 8 | ip[5]), 4096 << 2, "size without code");
        NS_TEST_EXPECT_MSG_EQ((ip[2] << 8 | ip[3]) + 18U, frame->bytes, "IPv4 length");
        const auto parsed = FromPacket(*packet);
        NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "it is read");
        NS_TEST_EXPECT_MSG_EQ(parsed.frame->As<UecHeader>().request.payload, 4096, "plain");

        Frame* cut = frame->Clone();
        NS_TEST_ASSERT_MSG_EQ(WireFormat::Find(UecHeader::PROTOCOL).trim(*cut, true), true, "");
        NS_TEST_EXPECT_MSG_EQ(IsCoded(*cut), false, "no code is left");
        engine->OnReceive(*cut);
        NS_TEST_EXPECT_MSG_EQ(cut->payloadBytes, 0, "nothing to restore");
        NS_TEST_EXPECT_MSG_EQ(cut->bytes, UEC_TRIMMED_BYTES, "the size of a header");
        Frame::Free(cut);

        engine->OnReceive(*parsed.frame);
        NS_TEST_EXPECT_MSG_EQ(parsed.frame->payloadBytes, 4096, "restored");
        NS_TEST_EXPECT_MSG_EQ(parsed.frame->bytes, before, "restored");
        NS_TEST_EXPECT_MSG_EQ(parsed.frame->savedBytes, 4096 - 258, "told to the host");
        Frame::Free(parsed.frame);
        Frame::Free(frame);
    }
}

/** Only gradients are marked: messages that copy, and engines that look for another mark. */
void
TestMarkedMessages()
{
    using Operation = CollectiveOperation;
    const auto measure =
        [](const std::string& transport, const std::string& nic, Operation operation) {
            return Measure(MakeOptions(4, transport, nic), 40004, true, operation);
        };
    for (const std::string transport : {"rdma", "uec", "tcp"})
    {
        // Weights are copied, and stay as they are.
        for (const auto operation :
             {Operation::ALL_GATHER, Operation::BROADCAST, Operation::ALL_TO_ALL})
        {
            const auto plain = measure(transport, "inceptionn", operation);
            NS_TEST_EXPECT_MSG_EQ(plain.row.mismatch, "", transport);
            NS_TEST_EXPECT_MSG_EQ(plain.engines.counters.codedPackets, 0, transport);
            NS_TEST_EXPECT_MSG_EQ(plain.engines.counters.bypassedPackets, 0, transport);
            ExpectPart(plain.engines.Format(), "warning: nothing was coded");
            const auto coded = measure(transport, "inceptionn:copies=true", operation);
            NS_TEST_EXPECT_MSG_EQ(coded.row.mismatch, "", transport);
            NS_TEST_EXPECT_MSG_GT(coded.engines.counters.codedPackets, 0, transport);
        }
        // Engine and hosts disagree, or agree on another mark.
        const auto other = measure(transport, "inceptionn:tos=44", Operation::ALL_REDUCE);
        NS_TEST_EXPECT_MSG_EQ(other.row.mismatch, "", transport << ": exact, as not coded");
        NS_TEST_EXPECT_MSG_EQ(other.engines.counters.codedPackets, 0, transport);
        ExpectPart(other.engines.Format(), "warning: nothing was coded");
        ClusterOptions options = MakeOptions(4, transport, "inceptionn:tos=44");
        options.attributes["ns3::training::ScheduledCommunicator::GradientTos"] = "44";
        const auto same = Measure(options, 40004, true);
        NS_TEST_EXPECT_MSG_EQ(same.row.mismatch, "", transport);
        NS_TEST_EXPECT_MSG_GT(same.engines.counters.codedPackets, 0, transport);
    }
    for (const std::string value : {"0", "256", "x"})
    {
        ExpectRefusedCluster(MakeOptions(4, "rdma", "inceptionn:tos=" + value),
                             "'tos=" + value + "' (allowed: ");
    }
    ExpectRefusedCluster(MakeOptions(4, "rdma", "inceptionn:tos=41"),
                         "with type of service 41 (allowed: multiples of 4");
}

/**
 * The algorithm that `auto` chooses with engines in NICs is the fastest of all by measurement, or
 * within 2 % of it, of small vectors 10 %.
 */
void
TestCodedChoice()
{
    for (const std::string topology : {"single-switch", "torus:4x4", "fat-tree:k=4"})
    {
        for (const std::string nic : {"inceptionn:ratio=8,lanes=128", "inceptionn:ratio=8,lanes=4"})
        {
            ClusterOptions options = MakeOptions(16, "rdma", nic);
            options.rate = DataRate("100Gbps");
            options.topology = topology;
            SweepRequest request;
            request.sizes = {64 << 10, 4 << 20};
            const auto sweep = SweepAlgorithms(options, request, nullptr);
            for (const uint64_t bytes : request.sizes)
            {
                const std::string& choice = sweep.choices.at(bytes);
                const CollectiveMeasurement* chosen = sweep.Find(bytes, choice);
                const CollectiveMeasurement* fastest = sweep.FindFastest(bytes);
                const std::string what = topology + ", " + nic + ", " + std::to_string(bytes) +
                                         " bytes: " + choice + ", fastest " + fastest->algorithm;
                NS_TEST_ASSERT_MSG_NE(chosen, nullptr, what);
                // Small packets on busy lines are where the model of costs is coarse.
                const double slack = bytes > 1 << 20 ? 1.02 : 1.1;
                NS_TEST_EXPECT_MSG_LT_OR_EQ(chosen->seconds, slack * fastest->seconds, what);
            }
        }
    }
}

/**
 * The owner of a sum keeps it uncoded: replicas drift, and the output says so; owner=coded mends
 * it. The bound that a variant is named by does not hold for each.
 */
void
TestDrift()
{
    const auto measure = [](const std::string& nic) {
        return Measure(MakeOptions(4, "rdma", nic), 4 * 100003, true).engines;
    };
    const NicFigures plain = measure("inceptionn");
    NS_TEST_EXPECT_MSG_GT(plain.errors->driftedElements, 10000, "many elements");
    NS_TEST_EXPECT_MSG_GT(plain.errors->largestDrift, 0, "differ");
    NS_TEST_EXPECT_MSG_LT(plain.errors->largestDrift, std::ldexp(1, -7), "by a coding");
    ExpectPart(plain.Format(), "warning: the ranks' sums differ in ");
    ExpectPart(plain.Format(), "does not hold");
    const NicFigures coded = measure("inceptionn:owner=coded");
    NS_TEST_EXPECT_MSG_EQ(coded.errors->driftedElements, 0, "mended");
    NS_TEST_EXPECT_MSG_EQ(coded.Format().find("warning"), std::string::npos, "and not said");
    const NicFigures bounded = measure("inceptionn:variant=bounded");
    NS_TEST_EXPECT_MSG_EQ(bounded.Format().find("does not hold"), std::string::npos, "holds");
    uint64_t numbers = 0;
    for (const CodecClass& each : plain.counters.classes)
    {
        numbers += each.count;
    }
    // Each rank sends 6 chunks.
    NS_TEST_EXPECT_MSG_EQ(numbers, 6 * 100003, "each number on the line has a class");
}

/** What cannot work is refused before the simulation, with the reason. */
void
TestRefusedEngines()
{
    ExpectRefusedCluster(MakeOptions(4, "rdma", "nonsense"),
                         "nic nonsense (allowed: none, or a codec: ");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "inceptionn:lanes=0"), "'lanes=0' (allowed: ");
    ClusterOptions options = MakeOptions(4, "rdma", "inceptionn");
    options.mtu = 1001;
    ExpectRefusedCluster(options, "with mtu 1001 (allowed: a multiple of 4");
    ExpectRefusedCluster(MakeOptions(4, "tcp", "block-float"),
                         "(allowed: with rdma or uec and whole");
    ExpectRefusedCluster(MakeOptions(4, "tcp", "natural"),
                         "with random numbers (allowed: with rdma or uec");
    ExpectRefusedCluster(
        MakeOptions(4, "rdma", "fp16", "nic-ring:number-format=float16"),
        "with number-format of 16 bits in nic-ring:number-format=float16 (allowed:");
    options = MakeOptions(4, "rdma", "block-float");
    options.mtu = 1000;
    ExpectRefusedCluster(options, "with mtu 1000 (allowed: a multiple of ");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "top-k"), "(allowed: codecs of single packets");
    ExpectRefusedCluster(MakeOptions(4, "tcp", "inceptionn", "nic-ring"),
                         "with collective nic-ring over tcp (allowed: rdma or uec, or ");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "inceptionn", "switchml"),
                         "with collective switchml (allowed: collectives of hosts");
    options = MakeOptions(4, "rdma", "inceptionn");
    options.hostModel = "nccl";
    ExpectRefusedCluster(options, "with host model nccl (allowed: ");
    options = MakeOptions(4, "tcp", "inceptionn");
    options.attributes["ns3::TcpSocket::SegmentSize"] = "1001";
    ExpectRefusedCluster(options,
                         "SegmentSize=1001 with nic inceptionn (allowed: a multiple of 4)");

    const auto expect = [&](const std::string& nic,
                            bool isReal,
                            CollectiveOperation operation,
                            const std::string& part) {
        ExpectPart(
            GetRefusal([&] { Measure(MakeOptions(4, "rdma", nic), 4096, isReal, operation); }),
            part);
        Simulator::Destroy();
    };
    using Operation = CollectiveOperation;
    expect("inceptionn", false, Operation::ALL_REDUCE, "with payload virtual (allowed: ");
    expect("inceptionn:ratio=4", true, Operation::ALL_REDUCE, "with payload real (allowed: ");
}

const Suite g_suite(
    "coded-collectives",
    Duration::EXTENSIVE,
    {{"a ring with engines takes the time of its coded packets, or of the engine", TestClosedForm},
     {"every codec, collective, transport and loss is exact or refused",
      RunTest<EveryCombinationTest>},
     {"coded sums are those of the reference, bit for bit", RunTest<ExactSumsTest>},
     {"coded packets of Ultra Ethernet that are trimmed are sent again", RunTest<TrimmedCodesTest>},
     {"an engine codes marked frames of Ultra Ethernet, and trimming removes the code",
      TestUecCode},
     {"engines code marked messages, and no others", TestMarkedMessages},
     {"auto knows the rate, the latency and the codes of engines", TestCodedChoice},
     {"replicas that drift, and bounds that do not hold, are reported", TestDrift},
     {"engines that cannot work are refused", TestRefusedEngines}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::coded_collectives_test
