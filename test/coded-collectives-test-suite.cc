/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "refusal-test-common.h"

#include "ns3/collective-measurement.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-run.h"
#include "ns3/training-time-resolution.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

namespace
{

/// Four chunks of 1,048,576 numbers.
constexpr uint64_t BYTES = 16 << 20;

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& transport, const std::string& nic)
{
    UsePicoseconds();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(1);
    ClusterOptions options;
    options.ranks = ranks;
    options.transport = transport;
    options.nic = nic;
    options.rate = DataRate("10Gbps");
    return options;
}

/** A measurement and what the engines did. */
struct CodedResult
{
    CollectiveMeasurement row;
    NicFigures figures;
};

CodedResult
Measure(const ClusterOptions& options,
        uint64_t bytes,
        bool isReal,
        CollectiveOperation operation = CollectiveOperation::ALL_REDUCE)
{
    CodedResult result;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        result.row = MeasureCollective(cluster, run, operation, bytes, isReal, 1);
        if (const auto figures = GetNicFigures(cluster, result.row.codingErrors))
        {
            result.figures = *figures;
        }
    }
    Simulator::Destroy();
    return result;
}

/**
 * @return bytes of a full packet on the line, with preamble and gap, and with RDMA the sixteenth of
 *         an acknowledgement for the packets in the other direction
 */
double
GetLineBytes(const std::string& transport, uint32_t mtu, double ratio)
{
    if (transport == "tcp")
    {
        return 40 + 38 + std::ceil((mtu - 40) / ratio);
    }
    return 82 + 4 * std::ceil(mtu / ratio / 4) + (66 + 20) / 16.;
}

} // namespace

/**
 * @ingroup distributed-training-tests
 *
 * A ring of 4 ranks with a declared ratio r, against the closed form of M bytes, payload p and
 * headers h of a packet, and the engine's rate R of uncoded bytes: T = 1.5 M max((h + p / r) / (p
 * B), 1 / R), and for each of the 6 steps two links, the engines and a packet.
 */
class ClosedFormTest : public TestCase
{
  public:
    ClosedFormTest()
        : TestCase("a ring with engines takes the time of its coded packets, or of the engine")
    {
    }

  private:
    void Check(const std::string& transport,
               uint32_t mtu,
               double ratio,
               uint32_t lanes,
               double tolerance)
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
        NS_TEST_EXPECT_MSG_GT(result.row.efficiency,
                              0.9 / (1 + tolerance),
                              what << ": and close by");
        NS_TEST_EXPECT_MSG_EQ(result.figures.isDeclared, true, "the ratio is an input");
        if (transport == "rdma")
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(result.figures.counters.GetRatio() / ratio, 1, 0.015, what);
        }
    }

    void DoRun() override
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
        // Engines that add have as many adders as coded lines need.
        for (const double ratio : {1., 2., 4., 8.})
        {
            ClusterOptions options =
                MakeOptions(4, "rdma", "inceptionn:ratio=" + std::to_string(ratio));
            options.algorithm = "nic-ring";
            const double efficiency = Measure(options, BYTES, false).row.efficiency;
            NS_TEST_EXPECT_MSG_GT(efficiency, 0.9, "nic-ring, ratio " << ratio);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(efficiency, 1, "nic-ring, ratio " << ratio);
        }
        Check("tcp", 1500, 5.6, 64, 0.15);
        Check("tcp", 9000, 4, 64, 0.15);
        Check("tcp", 1500, 15, 8, 0.15);
    }
};

/**
 * @ingroup distributed-training-tests
 * Sums of real numbers equal the reference bit for bit, whatever carries them.
 */
class ExactSumsTest : public TestCase
{
  public:
    ExactSumsTest()
        : TestCase("coded sums are those of the reference, bit for bit")
    {
    }

  private:
    void Check(const ClusterOptions& options, uint64_t bytes)
    {
        const std::string what = options.nic + ", " + options.transport + ", " + options.algorithm +
                                 ", " + std::to_string(options.ranks) + " ranks, " +
                                 std::to_string(bytes) + " bytes, loss " +
                                 std::to_string(options.loss) + ", " + options.recovery;
        const CodedResult result = Measure(options, bytes, true);
        NS_TEST_EXPECT_MSG_EQ(result.row.mismatch, "", what);
        const auto& errors = result.figures.errors;
        NS_TEST_ASSERT_MSG_EQ(errors.has_value(), true, what << ": errors are measured");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(errors->largestError, errors->bound, what << ": its bound");
        if (options.nic.find("owner=coded") != std::string::npos)
        {
            NS_TEST_EXPECT_MSG_EQ(errors->driftedElements, 0, what << ": equal at all ranks");
        }
        if (options.ranks > 1 && bytes >= 4096)
        {
            const CodecCounters& counters = result.figures.counters;
            NS_TEST_EXPECT_MSG_GT(counters.codedPackets, 0, what << ": coded");
            NS_TEST_EXPECT_MSG_GT(counters.GetRatio(), 1, what << ": and shorter");
        }
    }

    void DoRun() override
    {
        for (const std::string transport : {"rdma", "tcp"})
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
                        ClusterOptions options =
                            MakeOptions(7,
                                        transport,
                                        "inceptionn:bound=-6,variant=bounded,owner=" + owner);
                        options.algorithm = algorithm;
                        options.loss = loss;
                        options.mtu = 1500;
                        Check(options, 4 * 20011);
                    }
                }
            }
        }
        for (const std::string codec : {"bf16", "fp16", "truncation"})
        {
            for (const std::string transport : {"rdma", "tcp"})
            {
                ClusterOptions options = MakeOptions(3, transport, codec + ":owner=coded");
                options.loss = 0.01;
                Check(options, 40004);
            }
        }
        Check(MakeOptions(3, "rdma", "block-float"), 40004);
        ClusterOptions options = MakeOptions(8, "rdma", "inceptionn:variant=bounded");
        options.topology = "rail-optimized:gpus=2";
        options.algorithm = "hierarchical";
        Check(options, 4 * 20011);
        options = MakeOptions(4, "rdma", "inceptionn:variant=grace,owner=coded");
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
 * @ingroup distributed-training-tests
 * Each codec with each collective, transport and loss: exact, or refused for a reason.
 */
class EveryCombinationTest : public RefusalTest
{
  public:
    EveryCombinationTest()
        : RefusalTest("every codec, collective, transport and loss is exact or refused")
    {
    }

  private:
    /** @return why the combination is refused; empty if it is not */
    static std::string GetReason(const std::string& codec,
                                 const std::string& algorithm,
                                 const std::string& transport)
    {
        if (algorithm == "switchml")
        {
            return "with collective switchml (allowed: collectives of hosts";
        }
        if (codec == "natural")
        {
            return "(allowed: codecs without random numbers";
        }
        const bool hasBlocks = codec == "block-float" || codec == "int8";
        return hasBlocks && transport == "tcp" ? "(allowed: with rdma and whole messages" : "";
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
        NS_TEST_EXPECT_MSG_GT(result.figures.counters.codedPackets, 0, what << ": coded");
    }

    void DoRun() override
    {
        for (const std::string codec : {"fp16",
                                        "bf16",
                                        "inceptionn:variant=paper",
                                        "inceptionn:variant=bounded",
                                        "inceptionn:variant=grace",
                                        "block-float",
                                        "int8",
                                        "natural",
                                        "truncation"})
        {
            for (const std::string algorithm :
                 {"ring", "direct", "multitree", "hierarchical", "switchml"})
            {
                for (const std::string transport : {"rdma", "tcp"})
                {
                    for (const double loss : {0., 0.01})
                    {
                        ClusterOptions options = MakeOptions(6, transport, codec);
                        options.algorithm = algorithm;
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

/**
 * @ingroup distributed-training-tests
 * The owner of a sum keeps it uncoded: replicas drift, and the output says so; owner=coded mends
 * it. The bound that a variant is named by does not hold for each.
 */
class DriftTest : public RefusalTest
{
  public:
    DriftTest()
        : RefusalTest("replicas that drift, and bounds that do not hold, are reported")
    {
    }

  private:
    void DoRun() override
    {
        const auto measure = [](const std::string& nic) {
            return Measure(MakeOptions(4, "rdma", nic), 4 * 100003, true).figures;
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
};

/**
 * @ingroup distributed-training-tests
 * What cannot work is refused before the simulation, with the reason.
 */
class RefusedEnginesTest : public RefusalTest
{
  public:
    RefusedEnginesTest()
        : RefusalTest("engines that cannot work are refused")
    {
    }

  private:
    void Expect(const ClusterOptions& options, const std::string& part)
    {
        ExpectPart(GetRefusal([&] { const Cluster cluster(options); }), part);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Expect(MakeOptions(4, "rdma", "nonsense"), "nic nonsense (allowed: none, or a codec: ");
        Expect(MakeOptions(4, "rdma", "inceptionn:lanes=0"), "'lanes=0' (allowed: ");
        Expect(MakeOptions(4, "uec", "inceptionn"), "with transport uec (allowed: rdma, tcp");
        ClusterOptions options = MakeOptions(4, "rdma", "inceptionn");
        options.mtu = 1001;
        Expect(options, "with mtu 1001 (allowed: a multiple of 4");
        Expect(MakeOptions(4, "tcp", "block-float"), "(allowed: with rdma and whole messages");
        options = MakeOptions(4, "rdma", "block-float");
        options.algorithm = "nic-ring";
        Expect(options, "codecs without blocks, which its segments would cut");
        options = MakeOptions(4, "tcp", "inceptionn");
        options.algorithm = "nic-ring";
        Expect(options,
               "with collective nic-ring over tcp (allowed: rdma, or collectives of hosts");
        options = MakeOptions(4, "rdma", "block-float");
        options.mtu = 1000;
        Expect(options, "with mtu 1000 (allowed: a multiple of ");
        Expect(MakeOptions(4, "rdma", "qsgd"), "(allowed: codecs without random numbers");
        Expect(MakeOptions(4, "rdma", "top-k"), "(allowed: codecs of single packets");
        options = MakeOptions(4, "rdma", "inceptionn");
        options.algorithm = "switchml";
        Expect(options, "with collective switchml (allowed: collectives of hosts");
        options = MakeOptions(4, "rdma", "inceptionn");
        options.hostModel = "nccl";
        Expect(options, "with host model nccl (allowed: ");
        options = MakeOptions(4, "tcp", "inceptionn");
        options.attributes["ns3::TcpSocket::SegmentSize"] = "1001";
        Expect(options, "SegmentSize=1001 with nic inceptionn (allowed: a multiple of 4)");

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
        for (const auto operation :
             {Operation::ALL_GATHER, Operation::BROADCAST, Operation::ALL_TO_ALL})
        {
            expect("inceptionn",
                   true,
                   operation,
                   "with " + training::GetName(operation) + ", which copies numbers");
        }
        NS_TEST_EXPECT_MSG_EQ(Measure(MakeOptions(4, "rdma", "inceptionn:copies=true"),
                                      4096,
                                      true,
                                      Operation::ALL_GATHER)
                                  .row.mismatch,
                              "",
                              "unless asked for");
    }
};

/**
 * @ingroup distributed-training-tests
 * The suite of collectives over engines in NICs.
 */
class CodedCollectivesTestSuite : public TestSuite
{
  public:
    CodedCollectivesTestSuite()
        : TestSuite("distributed-training-coded-collectives", TestSuite::Type::SYSTEM)
    {
        AddTestCase(new ClosedFormTest);
        AddTestCase(new ExactSumsTest);
        AddTestCase(new EveryCombinationTest);
        AddTestCase(new DriftTest);
        AddTestCase(new RefusedEnginesTest);
    }
};

/// The suite, registered.
static CodedCollectivesTestSuite g_codedCollectivesTestSuite;
