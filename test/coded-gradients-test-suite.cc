/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "coded-test-common.h"
#include "file-test-common.h"

#include "ns3/gradient-source.h"
#include "ns3/reference-sums.h"
#include "ns3/training-run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training::tests::coded_gradients_test
{

ClusterOptions
MakeOptions(uint32_t ranks,
            const std::string& transport,
            const std::string& codec,
            const std::string& algorithm = "ring")
{
    ClusterOptions options = MakeSlowCluster(ranks, transport);
    options.codec = codec;
    options.algorithm = algorithm;
    return options;
}

/** @return options in words */
std::string
Describe(const ClusterOptions& options, uint64_t bytes)
{
    return options.codec + ", " + options.transport + ", " + options.algorithm + ", " +
           std::to_string(options.ranks) + " ranks, " + std::to_string(bytes) + " bytes, loss " +
           std::to_string(options.loss);
}

void
Check(const ClusterOptions& options, uint64_t bytes)
{
    const std::string what = Describe(options, bytes);
    const CodedResult result = Measure(options, bytes, true);
    NS_TEST_EXPECT_MSG_EQ(result.row.mismatch, "", what);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(result.row.efficiency, 1, what << ": the bound is one");
    const auto& errors = result.codec.errors;
    NS_TEST_ASSERT_MSG_EQ(errors.has_value(), true, what << ": errors are measured");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(errors->largestError, errors->bound, what << ": its bound");
    if (result.codec.place == "bucket")
    {
        NS_TEST_EXPECT_MSG_EQ(errors->driftedElements, 0, what << ": equal at all ranks");
    }
}

/**
 * Each codec over each kind of collective and transport, with and without losses: every sum is that
 * of the reference, bit for bit, and no collective beats its bound.
 */
void
TestCodedSums()
{
    for (const auto& [codec, entry] : Registry<CodecEntry>::All())
    {
        for (const std::string transport : {"rdma", "tcp"})
        {
            for (const double loss : {0., 0.01})
            {
                for (const std::string algorithm : {"ring", "direct", "multitree", "switchml"})
                {
                    // Switches sum no codes of messages.
                    const std::string place = algorithm == "switchml" ? ":place=bucket" : "";
                    ClusterOptions options = MakeOptions(4, transport, codec + place, algorithm);
                    options.loss = loss;
                    Check(options, 4 * 2003);
                }
            }
        }
        for (const uint32_t ranks : {1, 2, 3, 7})
        {
            for (const uint64_t elements : {1, 5, 1001})
            {
                Check(MakeOptions(ranks, "rdma", codec), 4 * elements);
            }
        }
        ClusterOptions options = MakeOptions(8, "rdma", codec, "hierarchical");
        options.topology = "rail-optimized:gpus=2";
        Check(options, 4 * 2003);
        if (entry.make)
        {
            // The place that is not the default one.
            Check(MakeOptions(3, "rdma", codec + ":place=message"), 4 * 2003);
            Check(MakeOptions(3, "rdma", codec + ":place=bucket"), 4 * 2003);
        }
    }
    for (const std::string codec : {"bf16", "truncation", "inceptionn:variant=bounded"})
    {
        const std::string owner = codec + (codec.find(':') == std::string::npos ? ":" : ",") +
                                  "owner=coded,encode=1,decode=2,start=1us";
        for (const std::string algorithm : {"ring", "recursive-doubling", "multitree"})
        {
            const ClusterOptions options = MakeOptions(8, "uec", owner, algorithm);
            Check(options, 4 * 2003);
            NS_TEST_EXPECT_MSG_EQ(Measure(options, 4 * 2003, true).codec.errors->driftedElements,
                                  0,
                                  "owner=coded keeps " << codec << " equal");
        }
    }
    for (const std::string codec : {"thc", "int8", "powersgd", "top-k"})
    {
        for (const std::string algorithm : {"nic-ring", "recursive-doubling", "atp"})
        {
            const ClusterOptions options = MakeOptions(4, "rdma", codec, algorithm);
            const std::string what = Describe(options, 8012);
            NS_TEST_EXPECT_MSG_EQ(Measure(options, 8012, true).row.mismatch, "", what);
        }
    }
}

CodingErrors
GetErrors(const ClusterOptions& options)
{
    const Cluster cluster(options);
    GuardedRun run(cluster);
    const auto row =
        MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 4 * 5003, true, 1);
    Simulator::Destroy();
    return *row.codingErrors;
}

/** Hosts and engines in NICs code the same messages at the same hops, so they get the same sums. */
void
TestSameAsNic()
{
    for (const std::string codec : {"bf16", "fp16", "inceptionn", "truncation:drop=12"})
    {
        const CodingErrors host = GetErrors(MakeOptions(4, "rdma", codec));
        ClusterOptions options = MakeOptions(4, "rdma", "none");
        options.nic = codec;
        const CodingErrors nic = GetErrors(options);
        NS_TEST_EXPECT_MSG_EQ(host.largestError, nic.largestError, codec);
        NS_TEST_EXPECT_MSG_EQ(host.driftedElements, nic.driftedElements, codec);
        NS_TEST_EXPECT_MSG_EQ(host.largestDrift, nic.largestDrift, codec);
    }
}

/** Sizes and times against closed forms. */
void
TestCodedTimes()
{
    // A ring of N ranks sends 2 (N - 1) chunks of S / N bytes, one after the other: as codes of
    // half the size, so as a ring of half the bytes, and each is encoded and decoded.
    constexpr uint64_t BYTES = 4 << 20;
    constexpr double STEPS = 6;
    const double plain = Measure(MakeOptions(4, "rdma", "none"), BYTES / 2, false).row.seconds;
    const CodedResult coded = Measure(MakeOptions(4, "rdma", "bf16"), BYTES, false);
    NS_TEST_EXPECT_MSG_EQ(coded.row.seconds, plain, "bf16 halves the bytes");
    NS_TEST_EXPECT_MSG_EQ(coded.codec.GetRatio(), 2, "and says so");
    const CodedResult slow =
        Measure(MakeOptions(4, "rdma", "bf16:encode=0.5,decode=1,start=3us"), BYTES, false);
    const double coding = 1.5e-9 * (BYTES / 4 / 4) + 2 * 3e-6;
    NS_TEST_EXPECT_MSG_EQ_TOL(slow.row.seconds / (plain + STEPS * coding),
                              1,
                              1e-3,
                              "one at a time");
    NS_TEST_EXPECT_MSG_EQ_TOL(slow.codec.longestS, STEPS * coding, 1e-9, "and counted");
    NS_TEST_EXPECT_MSG_EQ(slow.codec.counters.encodings, 4 * STEPS, "each message");

    // PowerSGD: 32 r (a + b) bits of a matrix of a rows and b columns.
    const uint64_t count = 300 * 200;
    const CodedResult power =
        Measure(MakeOptions(4, "rdma", "powersgd:rank=2,columns=200"), 4 * count, false);
    NS_TEST_EXPECT_MSG_EQ(power.codec.counters.codedBytes, 4 * 4 * 2 * (300 + 200), "P, Q");
    NS_TEST_EXPECT_MSG_EQ(power.codec.counters.plainBytes, 4 * 4 * count, "of the bucket");
    const double exchanges =
        Measure(MakeOptions(4, "rdma", "none"), 4 * 2 * 300, false).row.seconds +
        Measure(MakeOptions(4, "rdma", "none"), 4 * 2 * 200, false).row.seconds;
    NS_TEST_EXPECT_MSG_EQ_TOL(power.row.seconds,
                              exchanges + 3e-9 * count,
                              5e-3 * exchanges,
                              "two all-reduces, and 1.5 ns to encode and to decode");

    // Gathered codes are decoded once for each rank.
    const CodedResult top =
        Measure(MakeOptions(4, "rdma", "top-k:keep=0.01,encode=10,decode=20"), 400000, false);
    NS_TEST_EXPECT_MSG_EQ_TOL(top.codec.longestS, 1e5 * (10 + 4 * 20) * 1e-9, 1e-9, "4 codes");
    NS_TEST_EXPECT_MSG_EQ(top.codec.counters.codedBytes, 4 * 8 * 1000, "8 bytes each");

    // Signs of 4 ranks are counted in 3 bits.
    const CodedResult signs = Measure(MakeOptions(4, "rdma", "signsgd"), 400000, true);
    NS_TEST_EXPECT_MSG_EQ(signs.codec.counters.codedBytes, 4 * 100000 * 3 / 8, "3 bits");
    NS_TEST_EXPECT_MSG_EQ(signs.row.mismatch, "", "packed without loss");

    // A switch that adds integers takes three sums of 8 bits in a word, one that scales one.
    for (const auto& [algorithm, numbers] :
         {std::make_pair("switchml", uint64_t{1}),
          std::make_pair("switchml:data-type=int32", uint64_t{3})})
    {
        const CodedResult thc = Measure(MakeOptions(4, "rdma", "thc", algorithm), 4 << 15, true);
        NS_TEST_EXPECT_MSG_EQ(thc.row.mismatch, "", algorithm << ": exact");
        NS_TEST_EXPECT_MSG_EQ(thc.codec.counters.codedBytes,
                              4 * 4 * (1 + ((1 << 15) + numbers - 1) / numbers),
                              algorithm << ": the norm, and the words");
        const bool warns = thc.codec.Format().find("longer") != std::string::npos;
        NS_TEST_EXPECT_MSG_EQ(warns, (numbers == 1), algorithm << ": more than without codes");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(thc.row.efficiency, 1, algorithm);
    }

    const CodedResult virtualTop =
        Measure(MakeOptions(4, "tcp", "threshold:ratio=8"), BYTES, false);
    NS_TEST_EXPECT_MSG_EQ(virtualTop.codec.isDeclared, true, "the ratio is an input");
    NS_TEST_EXPECT_MSG_EQ_TOL(virtualTop.codec.GetRatio(), 8, 1e-3, "as declared");
}

/**
 * Training over several iterations: what ranks keep of a bucket is that of an exchange in memory.
 */
struct CodedTrainingTest
{
    /** Trains, and compares all sums with exchanges in memory. */
    void Check(const std::string& codec, const std::string& algorithm, double loss)
    {
        TrainingRunOptions options;
        options.cluster = MakeOptions(3, "rdma", codec, algorithm);
        options.cluster.loss = loss;
        options.workload = path;
        options.iterations = 4;
        options.warmup = 1;
        options.payload = "real";
        const std::string what = codec + " over " + algorithm;
        TrainingRun run(options);
        const TrainingRunResult result = run.Run();
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", what);
        NS_TEST_EXPECT_MSG_EQ(result.iterations.size(), 5, what);
        NS_TEST_EXPECT_MSG_EQ(result.mean.verified, true, what << ": all sums are compared");
        NS_TEST_ASSERT_MSG_NE(result.figures.Find<CodecFigures>(), nullptr, what);
        NS_TEST_EXPECT_MSG_GT(result.figures.Find<CodecFigures>()->counters.encodings, 0, what);
        for (const IterationRecord& record : result.iterations)
        {
            NS_TEST_EXPECT_MSG_LT_OR_EQ(record.lowerBoundS,
                                        record.communicationTimeS,
                                        what << ": the bound is one");
        }
    }

    void Run()
    {
        path = WriteFile("workload.csv",
                         "layer,parameters,forward_us,backward_us\n"
                         "a,40,1,1\nb,900,1,1\nc,1500,2,3\nd,7,1,1\n");
        for (const std::string codec : {"top-k", "powersgd", "thc", "1-bit", "ef-sign", "random-k"})
        {
            for (const std::string algorithm : {"ring", "switchml"})
            {
                Check(codec + ":feedback=true", algorithm, 0.01);
            }
        }
        Check("dgc:keep=0.01", "ring", 0);
        Check("natural", "direct", 0.01);
        Check("qsgd:place=message", "ring", 0);
        CheckRecurrence();
        CheckOverlap();
    }

    /** @return duration of an iteration of two buckets, us */
    double GetIteration(const std::string& codec)
    {
        TrainingRunOptions options;
        options.cluster = MakeOptions(2, "rdma", codec);
        options.workload = path;
        options.bucket = 1; // one for each layer
        options.iterations = 1;
        options.warmup = 0;
        return TrainingRun(options).Run().mean.iterationTimeS * 1e6;
    }

    /** What a GPU encodes and decodes during the backward pass delays it, or not. */
    void CheckOverlap()
    {
        std::ofstream(path) << "layer,parameters,forward_us,backward_us\n"
                               "a,10,10,5000\nb,1000,10,10\n";
        const std::string codec = "top-k:encode=100,decode=200,start=0ns";
        const double beside = GetIteration(codec);
        const double delayed = GetIteration(codec + ",overlap=false");
        // Bucket b of 1000 numbers is encoded, and two codes of it are decoded.
        NS_TEST_EXPECT_MSG_EQ_TOL(delayed - beside, 1000 * (0.1 + 2 * 0.2), 1e-6, "us");
    }

    /** x = gradient + error; what all ranks get is the sum of what their codes keep of x. */
    void CheckRecurrence()
    {
        constexpr uint32_t RANKS = 2;
        const ClusterOptions options = MakeOptions(RANKS, "rdma", "top-k:keep=0.1,feedback=true");
        const Cluster cluster(options);
        ReferenceSums reference(cluster);
        std::vector<std::vector<float>> errors(RANKS, std::vector<float>(40));
        const auto source = MakeGradientSource("hash");
        for (uint32_t iteration = 0; iteration < 5; iteration++)
        {
            std::vector<std::vector<float>> inputs;
            std::vector<float> expected(40);
            for (uint32_t rank = 0; rank < RANKS; rank++)
            {
                inputs.push_back(source->Make({1, rank, iteration, 0}, 40));
                std::vector<float> x(40);
                std::transform(inputs[rank].begin(),
                               inputs[rank].end(),
                               errors[rank].begin(),
                               x.begin(),
                               std::plus<>());
                std::vector<float> sizes;
                for (const float value : x)
                {
                    sizes.push_back(std::abs(value));
                }
                std::sort(sizes.begin(), sizes.end(), std::greater<>());
                for (std::size_t i = 0; i < x.size(); i++)
                {
                    const float kept = std::abs(x[i]) >= sizes[3] ? x[i] : 0;
                    errors[rank][i] = x[i] - kept;
                    expected[i] += kept;
                }
            }
            const auto sums = reference.Get(iteration, 0, inputs);
            NS_TEST_EXPECT_MSG_EQ(sums, ReferenceSums::Vectors{expected}, iteration);
        }
        Simulator::Destroy();
    }

    std::string path; // of the workload
};

/**
 * What cannot work is refused before the simulation, with the reason; what cannot be coded ends it.
 */
void
TestRefusedCodecs()
{
    ExpectRefusedCluster(MakeOptions(4, "rdma", "nonsense"),
                         "codec nonsense (allowed: none, or a codec: ");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "bf16:on=fpga"), "'on=fpga' (allowed: ");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "bf16:on=cpu,overlap=false"),
                         "(allowed: overlap=true, as");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "thc:place=message"),
                         "(allowed: place=bucket, as this");
    ExpectRefusedCluster(MakeOptions(16, "rdma", "thc"), "(allowed: up to 15 ranks)");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "bf16:feedback=true"),
                         "for messages (allowed: feedback=");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "natural:owner=coded"),
                         "(allowed: owner=plain, as coding");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "thc:owner=coded"),
                         "for buckets (allowed: owner=plain");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "bf16:start=2s"), "(allowed: start=0s to 1s)");
    ClusterOptions options = MakeOptions(4, "rdma", "bf16");
    options.nic = "fp16";
    ExpectRefusedCluster(options, "with nic fp16 (allowed: one of both)");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "bf16", "switchml"),
                         "for messages with collective switchml (allowed: collectives of hosts");
    ExpectRefusedCluster(MakeOptions(4, "rdma", "thc", "switch-ps"),
                         "with collective switch-ps (allowed: collectives that return sums");
    options = MakeOptions(4, "rdma", "bf16");
    options.hostModel = "nccl";
    ExpectRefusedCluster(options, "with host model nccl (allowed: ");

    const auto expect = [&](const std::string& codec,
                            bool isReal,
                            CollectiveOperation operation,
                            const std::string& part) {
        ExpectPart(
            GetRefusal([&] { Measure(MakeOptions(4, "rdma", codec), 4096, isReal, operation); }),
            part);
        Simulator::Destroy();
    };
    using Operation = CollectiveOperation;
    expect("inceptionn", false, Operation::ALL_REDUCE, "with payload virtual (allowed: ");
    expect("threshold:place=bucket", false, Operation::ALL_REDUCE, "with payload virtual");
    expect("omnireduce:ratio=4", true, Operation::ALL_REDUCE, "with payload real (allowed: ");
    for (const auto operation :
         {Operation::ALL_GATHER, Operation::BROADCAST, Operation::ALL_TO_ALL})
    {
        expect("bf16", true, operation, "with " + training::GetName(operation) + " (allowed: ");
    }
    expect("thc", true, Operation::REDUCE_SCATTER, "with reduce-scatter (allowed: all-reduce");
    for (const auto operation : {Operation::REDUCE_SCATTER, Operation::REDUCE})
    {
        NS_TEST_EXPECT_MSG_EQ(
            Measure(MakeOptions(3, "rdma", "bf16"), 4096, true, operation).row.mismatch,
            "",
            "sums of messages");
    }
    for (const std::string codec : {"bf16", "thc"})
    {
        NS_TEST_EXPECT_MSG_EQ(Measure(MakeOptions(3, "rdma", codec), 0, true).row.mismatch,
                              "",
                              "nothing to code");
        Measure(MakeOptions(3, "rdma", codec), 0, true, Operation::BARRIER);
    }
}

/** Numbers that a codec does not take end the run, wherever they are coded. */
struct UncodableTest
{
    void Check(const ClusterOptions& options)
    {
        bool isRefused = false;
        try
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            MeasureCollective(cluster,
                              run,
                              CollectiveOperation::ALL_REDUCE,
                              bytes,
                              true,
                              1,
                              "file:" + path);
        }
        catch (const SimulationCodecError&)
        {
            isRefused = true;
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(isRefused, true, options.codec << " " << options.nic);
    }

    void Run()
    {
        std::vector<float> values(2 * bytes / 4, 1.0F);
        values[7] = std::numeric_limits<float>::quiet_NaN();
        path = CreateTempDirFilename("gradients.f32");
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * 4));
        for (const std::string codec :
             {"fp8:place=message", "fp8", "thc", "int8", "powersgd", "signsgd"})
        {
            Check(MakeOptions(2, "rdma", codec));
        }
        ClusterOptions options = MakeOptions(2, "rdma", "none");
        options.nic = "block-float";
        Check(options);
    }

    uint64_t bytes{4096};
    std::string path; // of the gradients
};

const Suite g_suite("coded-gradients",
                    Duration::EXTENSIVE,
                    {{"sums of all codecs are those of the reference, bit for bit", TestCodedSums},
                     {"elementwise codecs give the sums of engines in NICs", TestSameAsNic},
                     {"codes take their bytes on the line, and coding its time", TestCodedTimes},
                     {"error feedback over iterations equals the recurrence in memory",
                      RunTest<CodedTrainingTest>},
                     {"codecs that cannot work are refused", TestRefusedCodecs},
                     {"numbers that cannot be coded end the run", RunTest<UncodableTest>}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::coded_gradients_test
