/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/switchml-communicator.h"
#include "ns3/switchml-helper.h"
#include "ns3/switchml-program.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::switchml_test
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    return MakeCluster(ranks, "switchml", topology);
}

void
Check(const ClusterOptions& options, uint64_t count, const std::string& what)
{
    Trial trial(options, count, true);
    const Contributions<SwitchMlProgram, uint8_t, uint32_t, uint32_t> contributions(*trial.cluster);
    const uint32_t times = 2;
    NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
    NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
    if (options.topology == "single-switch")
    {
        // Messages and packets are padded with zeros.
        const auto system = Choose<InNetworkSystem>(options.algorithm);
        const uint64_t message = system.values.GetText("framing") == "rdma"
                                     ? system.values.GetCount("message-packets")
                                     : 1;
        const uint64_t packets = (count + 64 * message - 1) / (64 * message) * message;
        NS_TEST_EXPECT_MSG_EQ(contributions.GetCount(),
                              times * packets * options.ranks,
                              what << ": every contribution");
    }
    NS_TEST_EXPECT_MSG_EQ(contributions.GetMost(), 1, what << ": once");
    CheckResent(trial, options, what);
}

/**
 * Sums of integers are exact under losses, duplicates and reordering; each contribution is added
 * once.
 */
void
TestSwitchMlExact()
{
    const Default integers("SwitchMlCommunicator::DataType", "int32");
    const Default verify("SwitchMlProgram::Verify", "true");
    const Default timeout("SwitchMlCommunicator::RetransmissionTimeout", "100us");
    for (uint32_t ranks : {2, 3, 8, 16})
    {
        ClusterOptions options = MakeOptions(ranks);
        SetKey(options, "slots", 64);
        CheckLosses(options, 30000 + ranks, std::to_string(ranks) + " ranks", &Check);
    }
    for (uint32_t packets : {1, 4, 16})
    {
        ClusterOptions options = MakeOptions(5);
        SetKey(options, "framing", "rdma");
        SetKey(options, "message-packets", packets);
        SetKey(options, "slots", 64);
        CheckLosses(options, 30001, "RDMA, messages of " + std::to_string(packets), &Check);
    }
    for (const std::string topology : {"leaf-spine:leaves=3,spines=2", "fat-tree:k=4"})
    {
        for (const std::string balancing : {"ecmp", "spray"})
        {
            ClusterOptions options = MakeOptions(9, topology);
            options.path = balancing;
            SetKey(options, "slots", 32);
            Check(options, 5000, topology + ", " + balancing);
            options.loss = 0.01;
            Check(options, 20000, topology + ", loss, " + balancing);
            options.faults = DoubleAndDelay();
            Check(options, 20000, topology + ", loss, duplicates, reordering, " + balancing);
        }
    }
}

/** Float32 sums: the same bits at all ranks, within the closed-form error bound. */
void
TestSwitchMlQuantized()
{
    for (uint32_t ranks : {2, 5, 16})
    {
        for (uint64_t count : {1, 63, 64, 65, 640, 4096, 20001})
        {
            for (uint64_t slots : {1, 4, 16, 512})
            {
                ClusterOptions options = MakeOptions(ranks);
                options.loss = slots == 16 ? 0.01 : 0;
                SetKey(options, "slots", slots);
                SetKey(options, "elements-per-packet", slots == 4 ? 32 : 64);
                SetKey(options, "framing", slots == 16 && ranks == 5 ? "rdma" : "udp");
                Trial trial(options, slots > 1 ? count : std::min<uint64_t>(count, 4096), false);
                const std::string what = std::to_string(ranks) + " ranks, " +
                                         std::to_string(count) + " numbers, " +
                                         std::to_string(slots) + " slots";
                NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
                NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
                const double bound = trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound();
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
        ExpectPart(trial.Run(), "rank 1: a value that is not below 2^127");
    }
    const Default integers("SwitchMlCommunicator::DataType", "int32");
    for (const float wrong : {0.5F, 2147483648.0F})
    {
        Trial trial(MakeOptions(2), 100, true);
        trial.inputs[1][50] = wrong;
        ExpectPart(trial.Run(), "rank 1: a value is no 32-bit integer");
    }
    Trial overflow(MakeOptions(2), 100, true);
    overflow.inputs[0][50] = overflow.inputs[1][50] = 1 << 30;
    ExpectPart(overflow.Run(), "packet 0 in slot 0 of switchml job 0 overflows 32 bits");
}

/** @return time of a sum of one packet, s */
double
Measure(const ClusterOptions& options, uint64_t resent)
{
    Trial trial(options, 1, true);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", options.algorithm);
    NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, options.algorithm);
    NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), resent, options.algorithm);
    return trial.GetSeconds();
}

/** A lost packet is sent again after exactly the time of the rule. */
void
TestSwitchMlTimer()
{
    const Default integers("SwitchMlCommunicator::DataType", "int32");
    // The released client's first window waits for its packets in a thread, 16 / 4, times 10
    // ms.
    for (const auto& [keys, milliseconds] :
         {std::make_pair("timer=paper", 1),
          std::make_pair("timer=paper,retransmission-timeout=3ms", 3),
          std::make_pair("timer=client", 40),
          std::make_pair("timer=client,cores=2", 80),
          std::make_pair("timer=client,retransmission-timeout=1ms", 4),
          std::make_pair("timer=client,framing=rdma,message-packets=1", 11)})
    {
        ClusterOptions options = MakeOptions(2);
        // No recirculation, which retransmissions would share.
        options.algorithm = std::string("switchml:elements-per-packet=32,window=16,") + keys;
        const double usual = Measure(options, 0);
        options.faults = {"host1-switch0:loss=1,until=500us"};
        NS_TEST_EXPECT_MSG_EQ_TOL(Measure(options, 2), usual + 1e-3 * milliseconds, 1e-12, keys);
    }
}

/** A switch that restarts in the middle of a tensor; links and workers that fail. */
void
TestSwitchMlFailure()
{
    const Default timeout("InNetworkCommunicator::FailureTimeout", "20ms");
    const Default verify("SwitchMlProgram::Verify", "true");
    CheckPoolRestarts({MakeOptions(4), MakeOptions(4, "leaf-spine:leaves=2,spines=1")});
    CheckDeadSwitch(MakeOptions(4), {"has had no answer to packet", "of switchml"});
    CheckDeadWorker(MakeOptions(4));
}

/** Two jobs on one switch, each with its part of the pool. */
void
TestSwitchMlJobs()
{
    Fabric fabric = FabricHelper().Install(
        BuildTopology("leaf-spine:leaves=2,spines=2", 12, DataRate("100Gbps"), MicroSeconds(1)));
    SwitchMlHelper helper;
    helper.SetProgramAttribute("Slots", UintegerValue(100));
    ExpectPart(GetRefusal([&]() { helper.SetProgramAttribute("Slots", UintegerValue(0)); }),
               "SwitchMlProgram::Slots");
    ExpectPart(GetRefusal([&]() { helper.SetWorkerAttribute("Slots", UintegerValue(1)); }),
               "SwitchMlCommunicator::Slots");
    Job<SwitchMlCommunicator> jobs[2];
    jobs[0].Add(helper, fabric, {0, 2, 4, 6, 8, 10}, 60);
    jobs[1].Add(helper, fabric, {1, 3, 5, 7, 9, 11}, 40);
    ExpectPart(GetRefusal([&]() {
                   Job<SwitchMlCommunicator>().Add(helper, fabric, {0, 1}, 1);
               }),
               "switchml job 2 needs slots 100 to 100");
    for (auto& job : jobs)
    {
        job.AllReduce(50000);
    }
    Simulator::Run();
    for (const auto& job : jobs)
    {
        NS_TEST_EXPECT_MSG_EQ(job.done.size(), 6, "all ranks");
        NS_TEST_EXPECT_MSG_EQ_TOL(job.GetRange().first, 21, 1e-5, "the sum");
        NS_TEST_EXPECT_MSG_EQ_TOL(job.GetRange().second, 21, 1e-5, "everywhere");
    }
    // Six workers at two leaves: each leaf sends one packet up for three workers, to separate
    // roots.
    uint64_t roots = 0;
    for (uint32_t i = 0; i < 4; i++)
    {
        const auto program = helper.GetProgram(i);
        NS_TEST_ASSERT_MSG_NE(program, nullptr, "every switch adds");
        const auto& counters = program->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.refused + counters.repeated + counters.stale, 0, "clean");
        NS_TEST_EXPECT_MSG_EQ(counters.completed * (i < 2 ? 3 : 2), counters.added, "fan-in");
        roots += i >= 2;
    }
    NS_TEST_EXPECT_MSG_EQ(roots, 2, "two spines");
    Simulator::Destroy();
}

/** Closed forms of the time of an all-reduce: line rate, window, passes. */
void
TestSwitchMlTime()
{
    const Default integers("SwitchMlCommunicator::DataType", "int32");
    // T2: 256 elements take 1100 bytes on the line, independent of the number of workers.
    for (uint32_t ranks : {2, 4, 8, 16})
    {
        ClusterOptions options = MakeOptions(ranks);
        SetKey(options, "elements-per-packet", 256);
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
        SetKey(options, "elements-per-packet", 256);
        SetKey(options, "framing", "rdma");
        SetKey(options, "message-packets", static_cast<uint64_t>(packets));
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
        SetKey(options, "elements-per-packet", elements);
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
        SetKey(options, "elements-per-packet", 32);
        SetKey(options, "slots", 128);
        const double line = 204 * 8 / 10e9;
        const double roundTrip = 2 * delay * 1e-9 + 400e-9 + 2 * 192 * 8 / 10e9;
        const double expected = 32e-6 * std::min(1 / line, 128 / roundTrip);
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 2 << 20) / expected,
                                  1,
                                  0.01,
                                  "delay " << delay << " ns");
    }
    // Two levels cost two more hops and a pass, but no bandwidth.
    ClusterOptions options = MakeOptions(16, "leaf-spine:leaves=4,spines=1");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 2 << 20) / 2410, 1, 0.01, "two levels");
}

/** Named refusals of invalid requests. */
void
TestSwitchMlOptions()
{
    ExpectChoice(MakeOptions(4), "SwitchMlCommunicator::DataType", "float32, int32");
    ExpectChoice(MakeOptions(4), "SwitchMlCommunicator::Timer", "paper, client");
    ExpectChoice(MakeOptions(4), "InNetworkCommunicator::OnFailure", "ring, error");
    ExpectChoice(MakeOptions(4), "ScheduledCommunicator::Order", "fifo, lifo, priority");
    ExpectRefusals(
        {{4, "switchml", ""},
         {4, "switchml:elements-per-packet=128", "128 elements per packet (allowed: 32, 64, 256)"},
         {4, "switchml:elements-per-packet=512", "127 recirculation ports"},
         {17, "switchml:elements-per-packet=256", "58 recirculation ports"},
         {33, "switchml", "33 children"},
         {4, "switchml:slots=32768", "register memory"},
         {4, "switchml:window=17,slots=16", "needs slots 0 to 16 (allowed: 0 to 15)"},
         {4,
          "switchml:message-packets=1,slots=1024,framing=rdma",
          "1024 queue pairs of a worker (allowed: up to 512)"},
         {4,
          "switchml:message-packets=2048,slots=1024,framing=rdma",
          "messages of 2048 packets (allowed: up to the window, 1024)"},
         {4,
          "switchml:message-packets=4,slots=1024,framing=rdma",
          "has hosts on several switches (allowed: on one)",
          "leaf-spine:leaves=2,spines=1"},
         {4,
          "switchml:message-packets=8",
          "'switchml:message-packets=8': message-packets (allowed with"},
         {4,
          "switchml:slots=32769,message-packets=8",
          "'slots=32769' (allowed: elements-per-packet="},
         {4, "ring:slots=511", "'slots=511' (allowed: no keys)"},
         {255, "switchml", "switchml with 255 workers", "leaf-spine:leaves=16,spines=1"}});
    const Default slots("SwitchMlProgram::Slots", "100");
    const Default elements("SwitchMlProgram::ElementsPerPacket", "63");
    ExpectRefusals({{4, "switchml", "63 elements per packet"},
                    {4, "switchml:elements-per-packet=64", ""}, // the key comes first
                    {4,
                     "switchml:window=101,elements-per-packet=64",
                     "needs slots 0 to 100 (allowed: 0 to 99)"}});
}

/** Slots and recirculation ports follow the rate of the links unless they are given. */
struct SwitchMlRateTest
{
    void Check(const ClusterOptions& options,
               uint32_t slots,
               const std::string& rate,
               const std::string& timers)
    {
        {
            const Cluster cluster(options);
            const auto device = cluster.GetFabric().devicesOfSwitches[0];
            const auto program = DynamicCast<SwitchMlProgram>(device->GetProgram(0));
            NS_TEST_EXPECT_MSG_EQ(program->GetSlots(), slots, options.rate);
            DataRateValue recirculation;
            device->GetAttribute("RecirculationRate", recirculation);
            NS_TEST_EXPECT_MSG_EQ(recirculation.Get(), DataRate(rate), options.rate);
            NS_TEST_EXPECT_MSG_EQ(cluster.GetNotes().back(),
                                  "switchml: timers of the " + timers,
                                  options.rate);
        }
        Simulator::Destroy();
    }

    void Run()
    {
        const std::string paper = "paper: packets time out after 1ms, always";
        const std::string client = "released client: packets time out after 10ms ";
        const std::string hundred = "doubled after 100 timeouts of a thread, then 200, and so on, "
                                    "until the tensor ends";
        ClusterOptions options = MakeOptions(4);
        for (const auto& [rate, slots, recirculation] :
             {std::make_tuple("10Gbps", 512, "100Gbps"),
              std::make_tuple("100Gbps", 512, "100Gbps"),
              std::make_tuple("200Gbps", 1024, "200Gbps"),
              std::make_tuple("800Gbps", 2048, "800Gbps")})
        {
            options.rate = DataRate(rate);
            Check(options, slots, recirculation, paper);
        }
        {
            // As by the command line, whose value may be the default of the code.
            const Default given("SwitchDevice::RecirculationRate", "100Gbps");
            Check(options, 2048, "100Gbps", paper);
        }
        options.attributes["ns3::training::SwitchDevice::RecirculationRate"] = "100Gbps";
        SetKey(options, "slots", 512);
        Check(options, 512, "100Gbps", paper);
        SetKey(options, "timer", "client");
        Check(options, 512, "100Gbps", client + "(in the first window 1280ms), " + hundred);
        SetKey(options, "retransmission-timeout", "2ms");
        SetKey(options, "cores", 512);
        Check(options, 512, "100Gbps", "released client: packets time out after 2ms, " + hundred);
        SetKey(options, "framing", "rdma");
        SetKey(options, "retransmission-timeout", "0us");
        Check(options,
              512,
              "100Gbps",
              "released client: packets time out after 10ms, doubled after 101 timeouts of a "
              "thread, then 201, and so on, for good");
    }
};

/**
 * Slots or recirculation ports that keep workers from filling the line are reported, with values
 * that do not.
 */
struct SwitchMlLimitTest
{
    /**
     * Checks the warnings of a run.
     * @param use expected share of the line
     * @param warning expected start of the only warning; empty: none
     * @return the warning
     */
    std::string Check(const ClusterOptions& options, double use, const std::string& warning)
    {
        Trial trial(options, 16 << 20, true, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", options.algorithm);
        NS_TEST_EXPECT_MSG_EQ_TOL(trial.cluster->GetInNetworkCommunicators()[0]->GetLineUse() / use,
                                  1,
                                  0.02,
                                  options.algorithm);
        const auto warnings = GetWarnings(*trial.cluster);
        NS_TEST_EXPECT_MSG_EQ(warnings.size(), (warning.empty() ? 0 : 1), options.algorithm);
        const std::string text = warnings.empty() ? "" : warnings[0];
        NS_TEST_EXPECT_MSG_EQ(text.substr(0, warning.size()), warning, options.algorithm);
        return text;
    }

    void Run()
    {
        const Default integers("SwitchMlCommunicator::DataType", "int32");
        const double line = 332 * 8 / 800e9;
        ClusterOptions options = MakeOptions(4);
        options.rate = DataRate("800Gbps");
        Check(options, 1, "");
        // 2048 slots take 6.8 us on the line, and a sum takes two passes more than the round trip.
        options.delay = MicroSeconds(5);
        const double roundTrip = 2 * 5e-6 + 2 * 400e-9 + (2 * 320 + 204) * 8 / 800e9;
        std::string warning =
            Check(options, 2048 * line / roundTrip, "slots=2048 limits switchml to 6");
        SetKey(options, "slots", GetRemedy(warning));
        Check(options, 1, "");
        SetKey(options, "window", 1024);
        Check(options, 1024 * line / roundTrip, "window=1024 limits switchml to 31 %");
        options.faults = {"host1:receive-rate=800Gbps"};
        Check(options, 1024 * line / roundTrip, ""); // a fault may be the reason
        // A sum is 204 bytes at the recirculation port, where the line carries 332.
        options = MakeOptions(4);
        options.rate = DataRate("800Gbps");
        const std::string name = "ns3::training::SwitchDevice::RecirculationRate";
        options.attributes[name] = "100Gbps";
        warning = Check(options,
                        332.0 / 204 / 8,
                        "the recirculation ports of the switches, with 100Gbps, limit switchml to "
                        "20 % of the line (a full line takes " +
                            name + "=492Gbps");
        options.attributes[name] = GetRemedy(warning);
        Check(options, 1, "");
        // Of 256 numbers the last reading pass carries 224: 972 bytes, where the line carries 1100.
        SetKey(options, "elements-per-packet", 256);
        options.attributes[name] = "200Gbps";
        Check(options,
              1100.0 / 972 / 4,
              "the recirculation ports of the switches, with 200Gbps, limit switchml to 28 %");
    }
};

const Suite g_suite(
    "switchml",
    Duration::EXTENSIVE,
    {{"integers are exact under loss, duplication and reordering", TestSwitchMlExact},
     {"float32 sums are within the bound of their error at all ranks", TestSwitchMlQuantized},
     {"a lost packet is sent again when the rule says", TestSwitchMlTimer},
     {"a switch restarts, a worker stops", TestSwitchMlFailure},
     {"two jobs share a switch; a third finds no slots", TestSwitchMlJobs},
     {"times are those of the closed forms, within 1 %", TestSwitchMlTime},
     {"options that do not fit are refused", TestSwitchMlOptions},
     {"slots and recirculation grow with the rate; notes name the timers",
      RunTest<SwitchMlRateTest>},
     {"a warning names slots or recirculation that limit the rate", RunTest<SwitchMlLimitTest>}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::switchml_test
