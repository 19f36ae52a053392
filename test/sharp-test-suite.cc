/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/sharp-communicator.h"
#include "ns3/sharp-helper.h"
#include "ns3/sharp-program.h"
#include "ns3/sharp-wire-format.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::sharp_test
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    return MakeCluster(ranks, "sharp", topology);
}

/** @return whether the last operation used streaming trees */
bool
HasStreamed(const Trial& trial)
{
    const auto& worker = trial.cluster->GetInNetworkCommunicators()[0];
    return DynamicCast<SharpCommunicator>(worker)->HasStreamed();
}

/** Sizes of a low-latency and of a streaming message, numbers. */
constexpr uint64_t FEW = 4000;
constexpr uint64_t MANY = 20000;

void
Check(const ClusterOptions& options, const std::string& what)
{
    for (const uint64_t count : {FEW + options.ranks, MANY + options.ranks})
    {
        Trial trial(options, count, true);
        const Contributions<SharpProgram, uint8_t, uint32_t, uint32_t, uint32_t> contributions(
            *trial.cluster);
        const uint64_t times = 2;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
        NS_TEST_EXPECT_MSG_EQ(HasStreamed(trial), (count > FEW + options.ranks), what);
        NS_TEST_EXPECT_MSG_EQ(contributions.GetMost(), 1, what << ": each once");
        if (options.topology == "single-switch")
        {
            // 64 numbers per packet, or 512 and a lock.
            const uint64_t packets = HasStreamed(trial) ? times * ((count + 511) / 512) + 1
                                                        : times * ((count + 63) / 64);
            NS_TEST_EXPECT_MSG_EQ(contributions.GetCount(),
                                  packets * options.ranks,
                                  what << ": every contribution");
        }
        CheckResent(trial, options, what);
    }
}

void
CheckFaults(ClusterOptions options, const std::string& what)
{
    for (const double loss : {0.0, 0.001, 0.01, 0.05})
    {
        options.loss = loss;
        options.faults.clear();
        const std::string text = what + ", loss " + std::to_string(loss);
        Check(options, text);
        options.faults = DoubleAndDelay("50us");
        Check(options, text + ", duplicates, reordering");
    }
}

/**
 * Sums of integers are exact under losses, duplicates and reordering; each contribution is added
 * once.
 */
void
TestSharpExact()
{
    const Default integers("SharpEndpoint::DataType", "int32");
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    for (const uint32_t ranks : {2, 3, 8, 16})
    {
        CheckFaults(MakeOptions(ranks), std::to_string(ranks) + " ranks");
    }
    for (const std::string& topology : Split("leaf-spine:leaves=3,spines=2|fat-tree:k=4|torus:3x4|"
                                             "rail-optimized:gpus=4,servers=3"))
    {
        CheckFaults(MakeOptions(10, topology), topology);
    }
    ClusterOptions options = MakeOptions(12, "fat-tree:k=4");
    options.path = "spray";
    options.loss = 0.01;
    Check(options, "spray");
    {
        const Default multicast("SharpProgram::Multicast", "true");
        CheckFaults(MakeOptions(12, "fat-tree:k=4"), "multicast");
    }
    SetKey(options, "window", 7); // slot numbers wrap around
    const Default trees("SharpCommunicator::Trees", "3");
    const Default streams("SharpProgram::Streams", "3");
    CheckFaults(options, "three trees, small window");
}

/**
 * Sums of floats equal the sum in the tree's order bit by bit under any loss, and stay within the
 * closed-form error bound.
 */
struct SharpFloatTest
{
    void Check(const std::string& format, const ClusterOptions& options)
    {
        for (const uint64_t count : {uint64_t{1}, uint64_t{65}, FEW, 4 * MANY + 1})
        {
            Trial trial(options, count, false);
            const std::string what = format + ", " + options.topology + ", " +
                                     std::to_string(options.ranks) + " ranks, " +
                                     std::to_string(count) + " numbers, loss " +
                                     std::to_string(options.loss);
            NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", what);
            NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
            const double bound = trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound();
            const double error = trial.GetError();
            NS_TEST_EXPECT_MSG_LT_OR_EQ(error, bound, what);
            // The bound is not loose: the largest numbers are about four times their deviation.
            NS_TEST_EXPECT_MSG_LT(bound, 0.01 * options.ranks * std::pow(2.0, -5), what);
            if (count > FEW)
            {
                NS_TEST_EXPECT_MSG_GT(error, 0, what << ": numbers are rounded");
            }
        }
    }

    void Run()
    {
        const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
        for (const std::string format : {"float32", "float16", "bfloat16"})
        {
            const Default type("SharpEndpoint::DataType", format);
            for (const uint32_t ranks : {2, 5, 16})
            {
                for (const std::string topology :
                     {"single-switch", "leaf-spine:leaves=3,spines=2", "torus:4x4"})
                {
                    ClusterOptions options = MakeOptions(ranks, topology);
                    Check(format, options);
                    options.loss = 0.02;
                    const Default trees("SharpCommunicator::Trees", "2");
                    const Default streams("SharpProgram::Streams", "2");
                    Check(format, options);
                }
            }
        }
        CheckRefusals();
    }

    void Expect(const std::string& format, float first, float second, const std::string& part)
    {
        const Default type("SharpEndpoint::DataType", format);
        Trial trial(MakeOptions(2), 100, true);
        trial.inputs[0][50] = first;
        trial.inputs[1][50] = second;
        ExpectPart(trial.Run(), part);
    }

    void CheckRefusals()
    {
        Expect("int32", 0, 0.5F, "rank 1: 0.5 is no int32, which DataType asks for");
        Expect("int32", 2147483648.0F, 0, "rank 0: 2147483648 is no int32");
        Expect("float16", 0, 65520, "rank 1: 65520 is no float16");
        Expect("int32", 1 << 30, 1 << 30, "the sum of packet 0 of sharp job 0 overflows int32");
        Expect("float16", 65504, 65504, "overflows float16");
        Expect("float32", 3e38F, 3e38F, "overflows float32");
        // Infinity is a valid number of these formats, not an overflow of the sum.
        Trial trial(MakeOptions(2), 100, true);
        trial.inputs[0][50] = std::numeric_limits<float>::infinity();
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "infinity is passed on");
        NS_TEST_EXPECT_MSG_EQ(std::isinf(trial.tensors[1]->values[50]), true, "to all");
    }
};

void
CheckOperation(CollectiveOperation operation, const ClusterOptions& options)
{
    for (const uint64_t count : {FEW, MANY})
    {
        Trial trial(options, count, false);
        trial.operation = operation;
        const std::string what = ns3::training::GetName(operation) + ", " + options.topology +
                                 ", loss " + std::to_string(options.loss);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what);
        const auto& workers = trial.cluster->GetInNetworkCommunicators();
        NS_TEST_EXPECT_MSG_GT(workers[1]->GetCounters().received, 0, what << ": by the tree");
        if (operation == CollectiveOperation::REDUCE)
        {
            const auto sum = workers[0]->GetSum(trial.inputs);
            NS_TEST_EXPECT_MSG_EQ(trial.tensors[0]->values, sum, what);
            continue;
        }
        for (const auto& tensor : trial.tensors)
        {
            NS_TEST_EXPECT_MSG_EQ(tensor->values, trial.inputs[0], what);
        }
    }
}

/** Records when a rank leaves a barrier. */
void
OnDone(std::vector<Time>* times)
{
    times->push_back(Simulator::Now());
}

void
CheckBarrier(const std::string& topology)
{
    const Cluster cluster(MakeOptions(8, topology));
    std::vector<Time> times;
    const Time last = MilliSeconds(3);
    for (uint32_t rank = 0; rank < 8; rank++)
    {
        Simulator::Schedule(rank == 5 ? last : MicroSeconds(rank),
                            &Communicator::Barrier,
                            cluster.GetCommunicator(rank),
                            MakeBoundCallback(&OnDone, &times));
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(times.size(), 8, "all are beyond it");
    NS_TEST_EXPECT_MSG_GT(times.front(), last, "none before the last has come");
    NS_TEST_EXPECT_MSG_LT(times.back(), last + MicroSeconds(10), "all soon after");
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        NS_TEST_EXPECT_MSG_EQ(worker->GetCounters().sent, 1, "a packet each");
        NS_TEST_EXPECT_MSG_EQ(worker->GetCounters().resent, 0, "once");
    }
    Simulator::Destroy();
}

void
TestSharpOperations()
{
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    for (const std::string topology : {"single-switch", "fat-tree:k=4", "torus:3x3"})
    {
        for (const double loss : {0.0, 0.02})
        {
            ClusterOptions options = MakeOptions(9, topology);
            options.loss = loss;
            CheckOperation(CollectiveOperation::REDUCE, options);
            CheckOperation(CollectiveOperation::BROADCAST, options);
        }
        CheckBarrier(topology);
    }
    // Numbers that are added as float16 are broadcast unchanged.
    const Default type("SharpEndpoint::DataType", "float16");
    CheckOperation(CollectiveOperation::BROADCAST, MakeOptions(4));
}

void
CheckRestart(const std::string& topology, CollectiveOperation operation, uint32_t at)
{
    Trial trial(Restart(MakeOptions(4, topology), at, 1), 100000, false);
    trial.operation = operation;
    const std::string what =
        ns3::training::GetName(operation) + ", " + topology + ", " + std::to_string(at) + " us";
    // One of these operations is in progress, or complete at some ranks only.
    NS_TEST_EXPECT_MSG_EQ(trial.Run(4), "", what);
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 4, what << ": all, for good");
    NS_TEST_EXPECT_MSG_EQ(FormatFallback(*trial.cluster).empty(), false, what);
    if (operation == CollectiveOperation::ALL_REDUCE)
    {
        NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-8, what << ": the tensor is intact");
        return;
    }
    for (std::size_t i = 0; i < trial.inputs[0].size(); i++)
    {
        double expected = 0;
        for (const auto& input : trial.inputs)
        {
            const bool isAdded =
                operation == CollectiveOperation::REDUCE || &input == &trial.inputs[0];
            expected += isAdded ? input[i] : 0;
        }
        const bool isRight = std::abs(trial.tensors[0]->values[i] - expected) < 1e-8;
        if (!isRight)
        {
            NS_TEST_EXPECT_MSG_EQ(isRight, true, what << ": number " << i);
            return;
        }
    }
}

/** Switches that restart in the middle of a tensor, and workers that fail. */
void
TestSharpFailure()
{
    const Default failure("InNetworkCommunicator::FailureTimeout", "5ms");
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    const Default retries("SharpEndpoint::RetryLimit", "3");
    for (const std::string topology : {"single-switch", "leaf-spine:leaves=2,spines=1"})
    {
        for (uint32_t at = 5; at <= 115; at += 10)
        {
            CheckRestart(topology, CollectiveOperation::ALL_REDUCE, at);
        }
        for (uint32_t at = 15; at <= 120; at += 21)
        {
            CheckRestart(topology, CollectiveOperation::REDUCE, at);
            CheckRestart(topology, CollectiveOperation::BROADCAST, at);
        }
    }
    CheckDeadSwitch(MakeOptions(4), {"connection to its switch of sharp"});
    CheckDeadWorker(MakeOptions(4));
}

/** Some ranks have completed an operation when the network fails: their help for the others. */
struct SharpMixedFailureTest
{
    /** @param cut rank whose link goes down while the results arrive */
    void Check(CollectiveOperation operation, uint32_t cut)
    {
        const std::string what =
            ns3::training::GetName(operation) + " without rank " + std::to_string(cut);
        ClusterOptions options = MakeOptions(4);
        const uint64_t count = operation == CollectiveOperation::BARRIER ? 0 : 60;
        // The result leaves the switch after about 0.7 us; the link is up again for the notices.
        options.faults = {"host" + std::to_string(cut) + "-switch0:down,from=800ns,until=3ms"};
        Trial trial(options, count, true);
        trial.operation = operation;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 4, what);
        uint64_t received = 0;
        for (const auto& worker : trial.cluster->GetInNetworkCommunicators())
        {
            received += worker->GetCounters().received;
        }
        NS_TEST_EXPECT_MSG_EQ(received, 3, what << ": three had the result");
        if (operation == CollectiveOperation::ALL_REDUCE)
        {
            NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what);
        }
        for (uint64_t i = 0; i < count; i++)
        {
            float sum = 0;
            for (const auto& input : trial.inputs)
            {
                sum += input[i];
            }
            const float expected =
                operation == CollectiveOperation::BROADCAST ? trial.inputs[0][i] : sum;
            NS_TEST_EXPECT_MSG_EQ(trial.tensors[0]->values[i], expected, what << ": root");
            if (operation == CollectiveOperation::BROADCAST)
            {
                NS_TEST_EXPECT_MSG_EQ(trial.tensors[cut]->values[i], expected, what);
            }
        }
        // The next operation runs on the hosts only.
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", what);
    }

    /** A Send() from rank 0 to rank 2, which has no sum yet, is not mistaken for the sum. */
    void CheckSends()
    {
        ClusterOptions options = MakeOptions(4);
        options.faults = {"host2-switch0:down,from=800ns,until=3ms"};
        Trial trial(options, 60, true);
        auto sent = Create<Tensor>();
        sent->values.assign(60, 7);
        sent->bytes = 60 * sizeof(float);
        auto received = Create<Tensor>();
        received->values.assign(60, 0);
        received->bytes = sent->bytes;
        Simulator::Schedule(MicroSeconds(100),
                            &Communicator::Send,
                            trial.cluster->GetCommunicator(0),
                            sent,
                            2,
                            Communicator::Done());
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "the hosts go on");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 4, "all of them");
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, "the sum");
        trial.cluster->GetCommunicator(2)->Receive(received, 0, Communicator::Done());
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->values, sent->values, "what rank 0 has sent");
    }

    void Run()
    {
        const Default failure("InNetworkCommunicator::FailureTimeout", "10ms");
        const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
        const Default retries("SharpEndpoint::RetryLimit", "2");
        for (const CollectiveOperation operation : {CollectiveOperation::ALL_REDUCE,
                                                    CollectiveOperation::REDUCE,
                                                    CollectiveOperation::BROADCAST,
                                                    CollectiveOperation::BARRIER})
        {
            Check(operation, 0);
            Check(operation, 2);
        }
        CheckSends();
    }
};

/** A job that counts the tensors streamed by ranks. */
struct StreamingJob : Job<SharpCommunicator>
{
    StreamingJob()
    {
        onDone = [this](uint32_t rank) { streamed += workers[rank]->HasStreamed(); };
    }

    uint32_t streamed{0};
};

/** @return streamed tensors of each job, out of 4 per rank, summed over ranks */
std::pair<uint32_t, uint32_t>
Run(uint32_t batch, uint32_t streams)
{
    const Default lock("SharpCommunicator::LockBatch", std::to_string(batch));
    const Default most("SharpProgram::Streams", std::to_string(streams));
    Fabric fabric = FabricHelper().Install(
        BuildTopology("leaf-spine:leaves=3,spines=2", 12, DataRate("100Gbps"), MicroSeconds(1)));
    SharpHelper helper;
    helper.SetElementsPerPacket(64);
    helper.SetProgramAttribute("Slots", UintegerValue(100));
    StreamingJob jobs[2];
    jobs[0].Add(helper, fabric, {0, 2, 4, 6, 8, 10}, 60);
    jobs[1].Add(helper, fabric, {1, 3, 5, 7, 9, 11}, 40);
    ExpectPart(GetRefusal([&]() {
                   StreamingJob().Add(helper, fabric, {0, 1}, 1);
               }),
               "sharp job 2 needs 1 outstanding operations of a switch (allowed: 1 to 0, which "
               "are left)");
    for (auto& job : jobs)
    {
        for (uint32_t i = 0; i < 4; i++)
        {
            job.AllReduce(MANY);
        }
    }
    Simulator::Run();
    for (const auto& job : jobs)
    {
        NS_TEST_EXPECT_MSG_EQ(job.done.size(), 24, "all ranks");
        NS_TEST_EXPECT_MSG_EQ(job.GetRange(), std::pair(21.0F, 21.0F), "the sum everywhere");
    }
    uint64_t locks = 0;
    uint64_t denials = 0;
    uint32_t roots = 0;
    uint32_t active = 0;
    for (uint32_t i = 0; i < 5; i++)
    {
        const auto program = helper.GetProgram(i);
        NS_TEST_EXPECT_MSG_NE(program, nullptr, "every switch adds");
        if (!program)
        {
            continue;
        }
        const SharpCounters& counters = program->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.refused + counters.resent, 0, "clean");
        NS_TEST_EXPECT_MSG_EQ(counters.added, counters.completed * (i < 3 ? 2 : 3), "fan-in");
        active += program->GetActiveStreams();
        locks += counters.locks;
        denials += counters.denials;
        roots += i >= 3;
    }
    NS_TEST_EXPECT_MSG_GT(locks, 0, "locks");
    // Held at three leaves and a spine by each job that has one.
    NS_TEST_EXPECT_MSG_EQ(active, (batch == 1 ? 0 : 4 * streams), "locks kept");
    NS_TEST_EXPECT_MSG_EQ((denials == 0), (streams == 2), "denials");
    NS_TEST_EXPECT_MSG_EQ(roots, 2, "two spines");
    Simulator::Destroy();
    return {jobs[0].streamed, jobs[1].streamed};
}

/** Lower switches release their streaming trees when an upper switch refuses. */
void
CheckRefusedAbove()
{
    Fabric fabric = FabricHelper().Install(
        BuildTopology("leaf-spine:leaves=4,spines=1", 8, DataRate("100Gbps"), MicroSeconds(1)));
    SharpHelper helper;
    helper.SetElementsPerPacket(64);
    helper.SetProgramAttribute("Slots", UintegerValue(100));
    StreamingJob jobs[2];
    jobs[0].Add(helper, fabric, {0, 1, 2, 3}, 50);
    jobs[1].Add(helper, fabric, {4, 5, 6, 7}, 50);
    for (auto& job : jobs)
    {
        job.AllReduce(MANY);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(jobs[0].done.size() + jobs[1].done.size(), 8, "all are done");
    NS_TEST_EXPECT_MSG_EQ(jobs[0].streamed + jobs[1].streamed, 4, "one job has streamed");
    uint32_t active = 0;
    for (uint32_t leaf = 0; leaf < 4; leaf++)
    {
        active += helper.GetProgram(leaf)->GetActiveStreams();
        NS_TEST_EXPECT_MSG_EQ(helper.GetProgram(leaf)->GetCounters().locks, 1, "each gave one");
    }
    NS_TEST_EXPECT_MSG_EQ(active, 2, "which the other job's leaves have back");
    NS_TEST_EXPECT_MSG_EQ(helper.GetProgram(4)->GetActiveStreams(), 1, "at the root");
    Simulator::Destroy();
}

void
TestSharpJobs()
{
    CheckRefusedAbove();
    // Both fit: all tensors are streamed.
    NS_TEST_EXPECT_MSG_EQ(Run(0, 2), std::pair(24U, 24U), "two streaming trees");
    // The first job at the leaves keeps the locks; the other one never streams.
    const auto [first, second] = Run(0, 1);
    NS_TEST_EXPECT_MSG_EQ(first + second, 24, "one job streams");
    NS_TEST_EXPECT_MSG_EQ(first * second, 0, "the other one does not");
    // One lock per message: the other job gets a turn when it requests at the right time.
    const auto [third, fourth] = Run(1, 1);
    NS_TEST_EXPECT_MSG_GT(third + fourth, 24, "both stream");
}

/** Small messages: links, adders of each switch upwards, pipelines of the switches downwards. */
void
CheckSmall()
{
    for (const auto& [topology, links] : {std::pair("single-switch", 1),
                                          std::pair("leaf-spine:leaves=2,spines=1", 2),
                                          std::pair("fat-tree:k=4", 3)})
    {
        const ClusterOptions options = MakeOptions(16, topology);
        const auto check = [&](double expected, const std::string& what) {
            NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, 2),
                                      expected,
                                      1e-12,
                                      options.topology << what);
        };
        const double line = 8e-11 * (GetSharpFrameBytes(8) + 8);
        const double expected = 2 * links * (500e-9 + line) + (2 * links - 1) * 130e-9;
        check(expected, "");
        {
            const Default latency("SharpEndpoint::HostLatency", "1us");
            check(expected + 1e-6, ", with the host");
        }
        // Multicast results pass the switches downwards without delay.
        const Default multicast("SharpProgram::Multicast", "true");
        check(links * (1000e-9 + 2 * line + 8e-11 * DETH_BYTES + 130e-9), ", multicast");
    }
}

/** Packets of 256 bytes: limited by the line, or by the quota per round trip. */
void
CheckQuota()
{
    const Default never("SharpCommunicator::StreamingThreshold", "1000000000");
    const uint64_t count = 1 << 20;
    for (const uint64_t window : {1, 4, 16, 512})
    {
        ClusterOptions options = MakeOptions(4);
        SetKey(options, "window", window);
        const double line = 8e-11 * (GetSharpFrameBytes(256) + 20);
        // One ACK per 16 packets in each direction.
        const double shared = line + 8e-11 * (GetSharpAcknowledgeBytes() + 20) / 16;
        const double roundTrip = 2 * (500e-9 + line - 12 * 8e-11) + 130e-9;
        const double packets = static_cast<double>(count) / 64;
        const double expected = packets * std::max(shared, roundTrip / window);
        NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, count) / expected,
                                  1,
                                  0.01,
                                  "window " << window);
    }
}

/** T13: streaming at line rate, compared with a ring. */
void
CheckStreaming()
{
    const uint64_t count = 6 << 20;
    for (const uint32_t ranks : {2, 4, 8, 16})
    {
        for (const std::string topology : {"single-switch", "leaf-spine:leaves=2,spines=1"})
        {
            ClusterOptions options = MakeOptions(ranks, topology);
            const double tree = GetSeconds(options, count);
            const double shared =
                GetSharpFrameBytes(2048) + 20 + (GetSharpAcknowledgeBytes() + 20) / 16.0;
            const double line = 4.0 * count * 8e-11 * shared / 2048;
            NS_TEST_EXPECT_MSG_EQ_TOL(tree / line, 1, 0.01, ranks << ", " << topology);
            options.algorithm = "ring";
            const double ratio = GetSeconds(options, count) / tree;
            NS_TEST_EXPECT_MSG_EQ_TOL(ratio / (2.0 * (ranks - 1) / ranks),
                                      1,
                                      0.05,
                                      ranks << " ranks, " << topology << ": " << ratio);
        }
    }
    // Two bytes per number.
    const Default type("SharpEndpoint::DataType", "bfloat16");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(MakeOptions(4), count) / (2.0 * count * 8e-11),
                              1.05,
                              0.01,
                              "half the bytes");
}

/** Two trees with separate roots double the throughput of a narrow core. */
void
CheckTrees()
{
    const uint64_t count = 4 << 20;
    const ClusterOptions options = MakeOptions(8, "leaf-spine:leaves=2,spines=2,uplink=50Gbps");
    const double one = GetSeconds(options, count);
    const Default trees("SharpCommunicator::Trees", "2");
    const Default streams("SharpProgram::Streams", "2");
    NS_TEST_EXPECT_MSG_EQ_TOL(one / GetSeconds(options, count), 2, 0.02, "two trees");
}

/** The hosts of a server use a tree of the local switch, at its rate. */
void
CheckLocalSwitch()
{
    const uint64_t count = 8 << 20;
    const ClusterOptions options = MakeOptions(8, "rail-optimized:gpus=8,servers=1");
    const double line = 4.0 * count * 8 / 3600e9;
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, count) / line, 1.05, 0.02, "NVLink's rate");
}

/** T14: 8 bytes among 128 hosts; two latencies are calibrated to the first two figures. */
void
CheckLowLatency()
{
    const Default host("SharpEndpoint::HostLatency", "683ns");
    const Default completion("RdmaNic::CompletionLatency", "683ns");
    const Default adders("SharpProgram::Latency", "640ns");
    ClusterOptions options = MakeOptions(128, "leaf-spine:leaves=8,spines=4");
    options.delay = NanoSeconds(50);
    const double tree = GetSeconds(options, 2);
    NS_TEST_EXPECT_MSG_EQ_TOL(tree * 1e6, 2.83, 0.02, "published with SHARP");
    {
        const Default multicast("SharpProgram::Multicast", "true");
        const double gain = 1 - GetSeconds(options, 2) / tree;
        NS_TEST_EXPECT_MSG_EQ_TOL(gain, 0.23, 0.01, "published: 0.16");
    }
    options.algorithm = "recursive-doubling";
    options.congestionControl = "none";
    Trial trial(options, 2, true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "no failure");
    NS_TEST_EXPECT_MSG_EQ_TOL(trial.GetSeconds() * 1e6, 6.01, 0.02, "published without");
}

/** @return seconds of a message among 64 ranks, after another one */
double
GetSecondsOf(uint64_t bytes, bool streams, bool locks)
{
    const Default threshold("SharpCommunicator::StreamingThreshold", streams ? "0" : "1000000");
    const Default batch("SharpCommunicator::LockBatch", locks ? "1" : "0");
    ClusterOptions options = MakeOptions(64, "leaf-spine:leaves=4,spines=4");
    options.delay = NanoSeconds(50);
    options.rate = DataRate("200Gbps");
    SetKey(options, "window", 32);
    Trial trial(options, bytes / sizeof(float), true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", "no failure");
    return trial.GetSeconds();
}

/** Size from which streaming is faster: published 4 to 8 KB, 16 KB with the lock. */
void
CheckCrossover()
{
    const Default host("SharpEndpoint::HostLatency", "683ns");
    const Default adders("SharpProgram::Latency", "640ns");
    const auto gains = [](uint64_t bytes, bool locks) {
        return GetSecondsOf(bytes, true, locks) < GetSecondsOf(bytes, false, locks);
    };
    NS_TEST_EXPECT_MSG_EQ(gains(8192, false), false, "8 KiB");
    NS_TEST_EXPECT_MSG_EQ(gains(16384, false), true, "16 KiB");
    NS_TEST_EXPECT_MSG_EQ(gains(16384, true), false, "16 KiB and a lock");
    NS_TEST_EXPECT_MSG_EQ(gains(32768, true), true, "32 KiB and a lock");
}

void
TestSharpTime()
{
    CheckSmall();
    CheckLowLatency();
    CheckCrossover();
    CheckQuota();
    CheckStreaming();
    CheckTrees();
    CheckLocalSwitch();
}

/** Named refusals of invalid requests. */
void
TestSharpOptions()
{
    ExpectChoice(MakeOptions(4), "SharpEndpoint::DataType", "float32, int32, float16, bfloat16");
    ExpectRefusals(
        {{4, "sharp", ""},
         {1, "sharp", ""},
         {4, "sharp:framing=rdma", "'framing=rdma' (allowed: slots="},
         {4,
          "sharp:window=17,slots=16",
          "sharp job 0 needs 17 outstanding operations of a switch (allowed: 1 to 16, which are "
          "left)"},
         {4,
          "sharp:elements-per-packet=2049",
          "sharp packets of 2049 numbers (allowed: up to 2048)"},
         {64, "sharp", "of register memory of a switch"},
         {64, "sharp:slots=256", ""},
         {65, "sharp:slots=256", "sharp job 0 has 65 children at a switch (allowed: 1 to 64)"}});
    {
        const Default slots("SharpProgram::Slots", "16");
        ExpectRefusals({{4, "sharp:window=17", "sharp job 0 needs 17 outstanding operations"}});
        // Only one of these formats fits into two bytes.
        const Default payload("SharpProgram::Payload", "2");
        ExpectRefusal(MakeOptions(4), "ns3::training::SharpProgram::Payload=2 (allowed: from 4");
        const Default format("SharpEndpoint::DataType", "float16");
        ExpectRefusal(MakeOptions(4), "");
        Trial trial(MakeOptions(4), 100, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "a number in a packet");
        NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, "a number in a packet");
        NS_TEST_EXPECT_MSG_EQ(trial.cluster->GetInNetworkCommunicators()[0]->GetCounters().sent,
                              100,
                              "a number in a packet");
    }
    const Default trees("SharpCommunicator::Trees", "3");
    ExpectRefusals(
        {{4, "sharp:window=2", "sharp job 0 with a window of 2 (allowed: from 3, its trees)"}});
    const Default most("SharpProgram::Trees", "2");
    ExpectRefusal(MakeOptions(4),
                  "sharp job 0 needs one more streaming tree of a switch (allowed: 2)");
}

const Suite g_suite("sharp",
                    Duration::EXTENSIVE,
                    {{"integers are exact under loss, duplication and reordering", TestSharpExact},
                     {"floats of each format: reproducible, within the bound of their error",
                      RunTest<SharpFloatTest>},
                     {"reduce, broadcast, barrier", TestSharpOperations},
                     {"a switch restarts, a worker stops", TestSharpFailure},
                     {"the network fails when some ranks are done", RunTest<SharpMixedFailureTest>},
                     {"two jobs share switches: quotas, trees, the lock", TestSharpJobs},
                     {"times are those of the closed forms", TestSharpTime},
                     {"options that do not fit are refused", TestSharpOptions}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::sharp_test
