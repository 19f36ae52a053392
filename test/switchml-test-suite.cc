/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/configuration-error.h"
#include "ns3/program-options.h"
#include "ns3/program.h"
#include "ns3/simulator.h"
#include "ns3/switchml-communicator.h"
#include "ns3/switchml-helper.h"
#include "ns3/switchml-program.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

namespace
{

/** Counts every contribution that a switch adds. */
class Contributions
{
  public:
    void Observe(Ptr<SwitchMlProgram> program)
    {
        program->TraceConnectWithoutContext("Add", MakeCallback(&Contributions::OnAdd, this));
    }

    /** @return the most often that one has been added */
    uint32_t GetMost() const
    {
        uint32_t most = 0;
        for (const auto& [key, count] : m_counts)
        {
            most = std::max(most, count);
        }
        return most;
    }

    /** @return how many there were */
    std::size_t GetCount() const
    {
        return m_counts.size();
    }

  private:
    void OnAdd(uint8_t job, uint32_t packet, uint32_t child)
    {
        m_counts[{job, packet, child}]++;
    }

    std::map<std::tuple<uint8_t, uint32_t, uint32_t>, uint32_t> m_counts;
};

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    ClusterOptions options;
    options.ranks = ranks;
    options.topology = topology;
    options.algorithm = "switchml";
    return options;
}

} // namespace

/**
 * @ingroup distributed-training-innetwork-tests
 * Sums of integers are exact under losses, duplicates and reordering, each contribution being added
 * once.
 */
class SwitchMlExactTest : public TestCase
{
  public:
    SwitchMlExactTest()
        : TestCase("integers are exact under loss, duplication and reordering")
    {
    }

  private:
    void Check(const ClusterOptions& options, uint64_t count, const std::string& what)
    {
        Trial trial(options, count, true);
        Contributions contributions;
        for (uint32_t i = 0; i < trial.cluster->GetFabric().devicesOfSwitches.size(); i++)
        {
            // One switch only: with two levels a child has the same number at several.
            auto program = trial.cluster->GetFabric().devicesOfSwitches[i]->GetProgram(0);
            if (program && options.topology == "single-switch")
            {
                contributions.Observe(DynamicCast<SwitchMlProgram>(program));
            }
        }
        const uint32_t times = 2;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
        if (options.topology == "single-switch")
        {
            // Messages and packets are filled up with zeros.
            const uint64_t message =
                options.inNetwork.framing == "rdma" ? options.inNetwork.messagePackets : 1;
            const uint64_t packets = (count + 64 * message - 1) / (64 * message) * message;
            NS_TEST_EXPECT_MSG_EQ(contributions.GetCount(),
                                  times * packets * options.ranks,
                                  what << ": every contribution");
            NS_TEST_EXPECT_MSG_EQ(contributions.GetMost(), 1, what << ": once");
        }
        // What is late by more than the timeout is sent again, too.
        const bool perfect = options.loss < 0.01 && options.faults.empty();
        NS_TEST_EXPECT_MSG_EQ((options.loss == 0.001 || (trial.CountResent() == 0) == perfect),
                              true,
                              what << ": retransmissions");
    }

    void DoRun() override
    {
        const Default integers("SwitchMlCommunicator::DataType", "int32", "float32");
        const Default verify("SwitchMlProgram::Verify", "true", "false");
        const Default timeout("SwitchMlCommunicator::RetransmissionTimeout", "100us", "1ms");
        for (uint32_t ranks : {2, 3, 8, 16})
        {
            for (double loss : {0.0, 0.001, 0.01, 0.05})
            {
                ClusterOptions options = MakeOptions(ranks);
                options.loss = loss;
                options.inNetwork.slots = 64;
                const std::string what =
                    std::to_string(ranks) + " ranks, loss " + std::to_string(loss);
                Check(options, 30000 + ranks, what);
                options.faults = {"*:duplicate=0.02", "*:reorder=0.02/150us"};
                Check(options, 10000, what + ", duplicates, reordering");
            }
        }
        for (uint32_t packets : {1, 4, 16})
        {
            ClusterOptions options = MakeOptions(5);
            options.inNetwork.framing = "rdma";
            options.inNetwork.messagePackets = packets;
            options.inNetwork.slots = 64;
            for (double loss : {0.0, 0.001, 0.01, 0.05})
            {
                options.loss = loss;
                options.faults.clear();
                const std::string what = "RDMA, messages of " + std::to_string(packets) +
                                         ", loss " + std::to_string(loss);
                Check(options, 30001, what);
                options.faults = {"*:duplicate=0.02", "*:reorder=0.02/150us"};
                Check(options, 10000, what + ", duplicates, reordering");
            }
        }
        for (const std::string topology : {"leaf-spine:leaves=3,spines=2", "fat-tree:k=4"})
        {
            for (const std::string balancing : {"ecmp", "spray"})
            {
                ClusterOptions options = MakeOptions(9, topology);
                options.path = balancing;
                options.inNetwork.slots = 32;
                Check(options, 5000, topology + ", " + balancing);
                options.loss = 0.01;
                Check(options, 20000, topology + ", loss, " + balancing);
                options.faults = {"*:duplicate=0.02", "*:reorder=0.02/150us"};
                Check(options, 20000, topology + ", loss, duplicates, reordering, " + balancing);
            }
        }
    }
};

/**
 * @ingroup distributed-training-innetwork-tests
 * Float32 sums: the same bits at all ranks, within the closed form of their error.
 */
class SwitchMlQuantizedTest : public TestCase
{
  public:
    SwitchMlQuantizedTest()
        : TestCase("float32 sums are within the bound of their error at all ranks")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t ranks : {2, 5, 16})
        {
            for (uint64_t count : {1, 63, 64, 65, 640, 4096, 20001})
            {
                for (uint64_t slots : {1, 4, 16, 512})
                {
                    ClusterOptions options = MakeOptions(ranks);
                    options.loss = slots == 16 ? 0.01 : 0;
                    options.inNetwork.slots = slots;
                    options.inNetwork.elementsPerPacket = slots == 4 ? 32 : 64;
                    options.inNetwork.framing = slots == 16 && ranks == 5 ? "rdma" : "udp";
                    Trial trial(options,
                                slots > 1 ? count : std::min<uint64_t>(count, 4096),
                                false);
                    const std::string what = std::to_string(ranks) + " ranks, " +
                                             std::to_string(count) + " numbers, " +
                                             std::to_string(slots) + " slots";
                    NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
                    NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
                    const double bound =
                        trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound();
                    NS_TEST_EXPECT_MSG_GT(bound, 0, what);
                    NS_TEST_EXPECT_MSG_LT_OR_EQ(trial.GetError(), bound, what);
                }
            }
        }
        // Numbers that cannot be quantized.
        for (const float wrong : {std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN(),
                                  std::ldexp(1.0F, 127)})
        {
            Trial trial(MakeOptions(2), 100, false);
            trial.inputs[1][50] = wrong;
            const std::string text = trial.Run();
            NS_TEST_EXPECT_MSG_NE(text.find("rank 1: a value that is not below 2^127"),
                                  std::string::npos,
                                  text);
        }
        const Default integers("SwitchMlCommunicator::DataType", "int32", "float32");
        for (const float wrong : {0.5F, 2147483648.0F})
        {
            Trial trial(MakeOptions(2), 100, true);
            trial.inputs[1][50] = wrong;
            const std::string text = trial.Run();
            NS_TEST_EXPECT_MSG_NE(text.find("rank 1: a value is no 32-bit integer"),
                                  std::string::npos,
                                  text);
        }
        Trial overflow(MakeOptions(2), 100, true);
        overflow.inputs[0][50] = overflow.inputs[1][50] = 1 << 30;
        const std::string text = overflow.Run();
        NS_TEST_EXPECT_MSG_NE(text.find("packet 0 in slot 0 of switchml job 0 overflows 32 bits"),
                              std::string::npos,
                              text);
    }
};

/**
 * @ingroup distributed-training-innetwork-tests
 * A switch that restarts in mid-tensor, links and workers that die.
 */
class SwitchMlFailureTest : public TestCase
{
  public:
    SwitchMlFailureTest()
        : TestCase("a switch restarts, a worker stops")
    {
    }

  private:
    void DoRun() override
    {
        const Default timeout("InNetworkCommunicator::FailureTimeout", "20ms", "1s");
        uint32_t fallbacks = 0;
        uint32_t recoveries = 0;
        for (uint32_t at = 5; at <= 245; at += 30)
        {
            for (const std::string topology : {"single-switch", "leaf-spine:leaves=2,spines=1"})
            {
                ClusterOptions options = MakeOptions(4, topology);
                options.inNetwork.slots = 128;
                // A sum that only some have had when the switch forgets it cannot be made again.
                options.loss = at % 2 ? 0.001 : 0;
                options.faults = {"switch0:restart,from=" + std::to_string(at) +
                                  "us,until=" + std::to_string(at + 3) + "us"};
                options.rerouteDelay = MicroSeconds(1);
                Trial trial(options, 200000, false);
                const std::string what = topology + ", " + std::to_string(at) + " us";
                NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
                const uint32_t count = trial.CountFallenBack();
                NS_TEST_EXPECT_MSG_EQ((count == 0 || count == 4), true, what << ": all or none");
                (count > 0 ? fallbacks : recoveries)++;
                NS_TEST_EXPECT_MSG_EQ(FormatFallback(*trial.cluster).empty(), (count == 0), what);
                NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), (count == 0), what);
                NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-8, what << ": the tensor is intact");
            }
        }
        NS_TEST_EXPECT_MSG_GT(fallbacks, 0, "some sums are lost in part");
        NS_TEST_EXPECT_MSG_GT(recoveries, 0, "some are not, and retransmissions are enough");

        ClusterOptions options = MakeOptions(4);
        options.faults = {"switch0:down,from=30us"};
        {
            const Default error("InNetworkCommunicator::OnFailure", "error", "ring");
            Trial trial(options, 200000, false);
            const std::string text = trial.Run();
            NS_TEST_EXPECT_MSG_NE(text.find("has had no answer to packet"),
                                  std::string::npos,
                                  text);
            NS_TEST_EXPECT_MSG_NE(text.find("of switchml"), std::string::npos, text);
        }
        options.faults = {"host2:down,from=30us"};
        Trial trial(options, 200000, false);
        const std::string text = trial.Run();
        NS_TEST_EXPECT_MSG_NE(text.find("no notice of rank"), std::string::npos, text);
        NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MilliSeconds(100), "no hang");
    }
};

/**
 * @ingroup distributed-training-innetwork-tests
 * Two jobs on one switch, each with its part of the pool.
 */
class SwitchMlJobsTest : public TestCase
{
  public:
    SwitchMlJobsTest()
        : TestCase("two jobs share a switch; a third finds no slots")
    {
    }

  private:
    /** Ranks of a job that all-reduce one tensor. */
    struct Job
    {
        std::vector<Ptr<SwitchMlCommunicator>> workers;
        std::vector<Ptr<Tensor>> tensors;
        uint32_t done{0};
    };

    static void OnDone(Job* job)
    {
        job->done++;
    }

    void DoRun() override
    {
        UsePicoseconds();
        Fabric fabric = FabricHelper().Install(BuildTopology("leaf-spine:leaves=2,spines=2",
                                                             12,
                                                             DataRate("100Gbps"),
                                                             MicroSeconds(1)));
        SwitchMlHelper helper(fabric, 64, 100);
        const auto add = [&](const std::vector<uint32_t>& endpoints, uint32_t window) {
            std::vector<Ptr<ScheduledCommunicator>> hosts;
            for (std::size_t i = 0; i < endpoints.size(); i++)
            {
                hosts.push_back(CreateObject<ScheduledCommunicator>());
            }
            return helper.AddJob(endpoints, hosts, window);
        };
        Job jobs[2];
        jobs[0].workers = add({0, 2, 4, 6, 8, 10}, 60);
        jobs[1].workers = add({1, 3, 5, 7, 9, 11}, 40);
        std::string text;
        try
        {
            add({0, 1}, 1);
        }
        catch (const ConfigurationError& error)
        {
            text = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(text.find("switchml job 2 needs slots 100 to 100"),
                              std::string::npos,
                              text);
        for (Job& job : jobs)
        {
            for (const auto& worker : job.workers)
            {
                auto tensor = Create<Tensor>();
                tensor->values.assign(50000, static_cast<float>(1 + worker->GetRank()));
                tensor->bytes = tensor->values.size() * sizeof(float);
                job.tensors.push_back(tensor);
                worker->AllReduce(tensor, MakeBoundCallback(&SwitchMlJobsTest::OnDone, &job));
            }
        }
        Simulator::Run();
        for (const Job& job : jobs)
        {
            NS_TEST_EXPECT_MSG_EQ(job.done, 6, "all ranks");
            for (const auto& tensor : job.tensors)
            {
                const auto [least, most] =
                    std::minmax_element(tensor->values.begin(), tensor->values.end());
                NS_TEST_EXPECT_MSG_EQ_TOL(*least, 21, 1e-5, "the sum");
                NS_TEST_EXPECT_MSG_EQ_TOL(*most, 21, 1e-5, "everywhere");
            }
        }
        // Six workers at two leaves: each leaf sends one packet up for three, by roots of their
        // own.
        uint64_t roots = 0;
        for (uint32_t i = 0; i < 4; i++)
        {
            const auto program = helper.GetProgram(i);
            NS_TEST_ASSERT_MSG_NE(program, nullptr, "every switch adds");
            const auto& counters = program->GetCounters();
            NS_TEST_EXPECT_MSG_EQ(counters.refused + counters.repeated + counters.stale,
                                  0,
                                  "clean");
            NS_TEST_EXPECT_MSG_EQ(counters.completed * (i < 2 ? 3 : 2), counters.added, "fan-in");
            roots += i >= 2;
        }
        NS_TEST_EXPECT_MSG_EQ(roots, 2, "two spines");
        Simulator::Destroy();
    }
};

/**
 * @ingroup distributed-training-innetwork-tests
 * Closed forms of the time of an all-reduce: line rate, window, passes.
 */
class SwitchMlTimeTest : public TestCase
{
  public:
    SwitchMlTimeTest()
        : TestCase("times are those of the closed forms, within 1 %")
    {
    }

  private:
    /** @return million elements per second and rank */
    double GetRate(const ClusterOptions& options, uint64_t count)
    {
        Trial trial(options, count, true, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "no failure");
        NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, "no retransmission");
        return static_cast<double>(count) / (trial.end - trial.start).GetSeconds() * 1e-6;
    }

    void DoRun() override
    {
        const Default integers("SwitchMlCommunicator::DataType", "int32", "float32");
        // T2: 256 elements in 1100 bytes of the line, flat in the number of workers.
        for (uint32_t ranks : {2, 4, 8, 16})
        {
            ClusterOptions options = MakeOptions(ranks);
            options.inNetwork.elementsPerPacket = 256;
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 4 << 20) / 2909, 1, 0.01, ranks << " ranks");
        }
        // T1: 256 elements over RDMA, messages of 16, 4 and 1 packets.
        for (const auto& [ranks, packets, expected] : {std::tuple(2, 16, 2890),
                                                       std::tuple(4, 16, 2890),
                                                       std::tuple(8, 16, 2890),
                                                       std::tuple(16, 16, 2890),
                                                       std::tuple(2, 4, 2880),
                                                       std::tuple(2, 1, 2842)})
        {
            ClusterOptions options = MakeOptions(static_cast<uint32_t>(ranks));
            options.inNetwork.elementsPerPacket = 256;
            options.inNetwork.framing = "rdma";
            options.inNetwork.messagePackets = static_cast<uint64_t>(packets);
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 4 << 20) / expected,
                                      1,
                                      0.01,
                                      ranks << " ranks, messages of " << packets);
        }
        // 32 and 64 elements at 25 and 100 Gbit/s.
        for (const auto& [elements, rate, expected] :
             {std::tuple(32, 25, 490), std::tuple(64, 25, 602), std::tuple(64, 100, 2410)})
        {
            ClusterOptions options = MakeOptions(2);
            options.rate = DataRate(rate * 1000000000ULL);
            options.inNetwork.elementsPerPacket = elements;
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 4 << 20) / expected,
                                      1,
                                      0.01,
                                      elements << " elements at " << rate << " Gbit/s");
        }
        // T3: 128 slots of 32 elements at 10 Gbit/s: a window of 20.9 us.
        for (uint32_t delay : {1000, 6000, 9000, 12000, 24000, 80000})
        {
            ClusterOptions options = MakeOptions(2);
            options.rate = DataRate("10Gbps");
            options.delay = NanoSeconds(delay);
            options.inNetwork.elementsPerPacket = 32;
            options.inNetwork.slots = 128;
            const double line = 204 * 8 / 10e9;
            const double roundTrip = 2 * delay * 1e-9 + 400e-9 + 2 * 192 * 8 / 10e9;
            const double expected = 32e-6 * std::min(1 / line, 128 / roundTrip);
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 2 << 20) / expected,
                                      1,
                                      0.01,
                                      "delay " << delay << " ns");
        }
        // Two levels cost two more hops and a pass, no bandwidth.
        ClusterOptions options = MakeOptions(16, "leaf-spine:leaves=4,spines=1");
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 2 << 20) / 2410, 1, 0.01, "two levels");
    }
};

/**
 * @ingroup distributed-training-innetwork-tests
 * Requests that cannot be carried out, by name.
 */
class SwitchMlOptionsTest : public TestCase
{
  public:
    SwitchMlOptionsTest()
        : TestCase("options that do not fit are refused")
    {
    }

  private:
    std::string Refuse(ClusterOptions options)
    {
        options.algorithm = m_algorithm;
        return ns3::training::tests::Refuse(options);
    }

    void Expect(const ClusterOptions& options, const std::string& part)
    {
        const std::string text = Refuse(options);
        NS_TEST_EXPECT_MSG_NE(text.find(part), std::string::npos, text << ": " << part);
    }

    void DoRun() override
    {
        ClusterOptions options = MakeOptions(4);
        NS_TEST_EXPECT_MSG_EQ(Refuse(options), "", "the defaults are fine");
        options.inNetwork.elementsPerPacket = 128;
        Expect(options, "128 elements per packet (allowed: 32, 64, 256)");
        options.inNetwork.elementsPerPacket = 512;
        Expect(options, "127 recirculation ports");
        options = MakeOptions(17);
        options.inNetwork.elementsPerPacket = 256;
        Expect(options, "58 recirculation ports");
        Expect(MakeOptions(33), "33 children");
        options = MakeOptions(4);
        options.inNetwork.slots = 32768;
        Expect(options, "register memory");
        options.inNetwork.slots = 16;
        options.inNetwork.window = 17;
        Expect(options, "needs slots 0 to 16 of a pool (allowed: up to 15)");
        options = MakeOptions(4);
        options.inNetwork.framing = "rdma";
        options.inNetwork.slots = 1024;
        options.inNetwork.messagePackets = 1;
        Expect(options, "1024 queue pairs of a worker (allowed: up to 512)");
        options.inNetwork.messagePackets = 2048;
        Expect(options, "messages of 2048 packets (allowed: up to the window, 1024)");
        options.inNetwork.messagePackets = 4;
        options.topology = "leaf-spine:leaves=2,spines=1";
        Expect(options, "has hosts on several switches (allowed: on one)");
        options = MakeOptions(4);
        options.inNetwork.messagePackets = 8;
        Expect(options, "--message-packets=8 (allowed with --framing=rdma only)");
        m_algorithm = "ring";
        NS_TEST_EXPECT_MSG_EQ(Refuse(MakeOptions(4)), "", "a ring needs none of this");
        options = MakeOptions(4);
        options.inNetwork.slots = 511;
        Expect(options, "with algorithm ring (allowed with ");
        m_algorithm = "switchml";
        options = MakeOptions(255, "leaf-spine:leaves=16,spines=1");
        Expect(options, "switchml with 255 workers");
    }

    std::string m_algorithm{"switchml"};
};

/** @ingroup distributed-training-innetwork-tests SwitchML from end to end. */
class SwitchMlTestSuite : public TestSuite
{
  public:
    SwitchMlTestSuite()
        : TestSuite("distributed-training-switchml", TestSuite::Type::SYSTEM)
    {
        AddTestCase(new SwitchMlExactTest);
        AddTestCase(new SwitchMlQuantizedTest);
        AddTestCase(new SwitchMlFailureTest);
        AddTestCase(new SwitchMlJobsTest);
        AddTestCase(new SwitchMlTimeTest);
        AddTestCase(new SwitchMlOptionsTest);
    }
};

/// The suite, registered.
static SwitchMlTestSuite g_switchMlTestSuite;
