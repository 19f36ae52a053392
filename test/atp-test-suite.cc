/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "innetwork-test-common.h"

#include "ns3/atp-communicator.h"
#include "ns3/atp-helper.h"
#include "ns3/atp-measurement.h"
#include "ns3/atp-program.h"
#include "ns3/atp-server.h"
#include "ns3/nic-program.h"
#include "ns3/topology-builder.h"

#include <functional>
#include <numeric>
#include <utility>

namespace ns3::training::tests::atp_test
{

/** Drops frames of its host. */
class Culprit : public NicProgram
{
  public:
    /** @param isLost whether a frame is lost that is sent, or received */
    explicit Culprit(std::function<bool(const Frame& frame, bool isSent)> isLost)
        : m_isLost(std::move(isLost))
    {
    }

    Time GetSendLatency() const override
    {
        return Time(0);
    }

    Time GetReceiveLatency() const override
    {
        return Time(0);
    }

    bool OnSend(Frame& frame) override
    {
        return Decide(frame, true);
    }

    bool OnReceive(Frame& frame) override
    {
        return Decide(frame, false);
    }

  private:
    bool Decide(Frame& frame, bool isSent) const
    {
        const bool isLost = m_isLost(frame, isSent);
        if (isLost)
        {
            Frame::Free(&frame);
        }
        return !isLost;
    }

    std::function<bool(const Frame& frame, bool isSent)> m_isLost;
};

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    return MakeCluster(ranks, "atp:slots=2000,window=100", topology);
}

/** @return total counters of all switch programs of a cluster */
AtpCounters
GetCounters(const Cluster& cluster)
{
    AtpCounters sum;
    for (const auto& device : cluster.GetFabric().devicesOfSwitches)
    {
        if (const auto program = DynamicCast<AtpProgram>(device->GetProgram(0)))
        {
            const AtpCounters& counters = program->GetCounters();
            sum.received += counters.received;
            sum.refused += counters.refused;
            sum.held += counters.held;
            sum.completed += counters.completed;
            sum.repeated += counters.repeated;
            sum.collisions += counters.collisions;
            sum.evicted += counters.evicted;
            sum.passed += counters.passed;
            sum.preempted += counters.preempted;
            sum.reclaimed += counters.reclaimed;
            sum.released += counters.released;
            sum.multicasts += counters.multicasts;
            sum.saturated += counters.saturated;
        }
    }
    return sum;
}

/** @return number of occupied slots */
uint32_t
CountOccupied(const Cluster& cluster)
{
    uint32_t count = 0;
    for (const auto& device : cluster.GetFabric().devicesOfSwitches)
    {
        if (const auto program = DynamicCast<AtpProgram>(device->GetProgram(0)))
        {
            count += program->GetOccupied(0);
        }
    }
    return count;
}

void
Check(const ClusterOptions& options, uint64_t count, const std::string& what)
{
    Trial trial(options, count, true);
    const uint32_t times = 2;
    NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
    NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
    const uint64_t packets = (count + 61) / 62;
    const AtpCounters counters = GetCounters(*trial.cluster);
    NS_TEST_EXPECT_MSG_EQ(counters.refused, 0, what << ": all frames are known");
    for (const auto& worker : trial.cluster->GetInNetworkCommunicators())
    {
        NS_TEST_EXPECT_MSG_EQ(worker->GetCounters().received, times * packets, what);
    }
    const KeyValues values = Choose<InNetworkSystem>(options.algorithm).values;
    if (options.loss == 0 && options.faults.empty() &&
        values.GetCount("slots") >= values.GetCount("window"))
    {
        NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, what << ": nothing again");
        NS_TEST_EXPECT_MSG_EQ(counters.collisions, 0, what << ": each place has its slot");
        NS_TEST_EXPECT_MSG_EQ(CountOccupied(*trial.cluster), 0, what << ": all slots freed");
    }
}

/**
 * Sums of integers are exact under any impairment, even with fewer slots than packets in flight.
 * Servers verify that each sum contains each contribution once.
 */
void
TestAtpExact()
{
    const Default integers("AtpCommunicator::DataType", "int32");
    const Default verify("AtpProgram::Verify", "true");
    const Default verifyServer("AtpServer::Verify", "true");
    const Default timeout("AtpCommunicator::InitialTimeout", "1ms");
    for (uint32_t ranks : {2, 3, 8, 16})
    {
        for (double loss : {0.0, 0.001, 0.01, 0.05})
        {
            for (const std::string topology :
                 {"single-switch", "single-switch:hosts=17", "leaf-spine:leaves=3,spines=2"})
            {
                ClusterOptions options = MakeOptions(ranks, topology);
                options.loss = loss;
                const std::string what = std::to_string(ranks) + " ranks, loss " +
                                         std::to_string(loss) + ", " + topology;
                Check(options, 15000 + ranks, what);
                SetKey(options, "slots", 30);
                Check(options, 10000, what + ", few slots");
                options.faults = DoubleAndDelay();
                Check(options, 10000, what + ", few slots, duplicates, reordering");
                SetKey(options, "slots", 2000);
                Check(options, 10000, what + ", duplicates, reordering");
            }
        }
    }
    // Servers in several racks, one of them without workers; switches with a single host.
    const Default servers("AtpCommunicator::ParameterServers", "1,8,3");
    for (const std::string topology :
         {"leaf-spine:leaves=4,spines=2,hosts-per-leaf=3", "fat-tree:k=4", "torus:3x3"})
    {
        ClusterOptions options = MakeOptions(8, topology);
        Check(options, 10000, topology);
        options.path = topology == "torus:3x3" ? "ecmp" : "spray";
        options.loss = 0.01;
        SetKey(options, "slots", 110);
        options.faults = DoubleAndDelay();
        Check(options, 10000, topology + ", loss, duplicates, reordering");
    }
}

/** Any single frame, and any two frames, lost or duplicated. */
struct AtpEveryLossTest
{
    /** Indices of the hosts' sent and received frames to drop or duplicate. */
    struct Plan
    {
        std::vector<uint32_t> lost;
        std::vector<uint32_t> doubled; ///< indices of sent frames
        uint32_t count{0};             ///< frames counted so far
    };

    /** @return number of frames of all hosts */
    uint32_t Check(const std::string& topology, uint32_t packets, Plan plan)
    {
        ClusterOptions options = MakeOptions(3, topology);
        Trial trial(options, 62 * packets, true);
        for (const auto& device : trial.cluster->GetFabric().devices)
        {
            device->SetProgram(CreateObject<Culprit>(
                [&plan, &port = device->GetPort()](const Frame& frame, bool isSent) {
                    const uint32_t number = plan.count++;
                    if (isSent && std::count(plan.doubled.begin(), plan.doubled.end(), number))
                    {
                        port.Send(frame.Clone());
                    }
                    return std::count(plan.lost.begin(), plan.lost.end(), number) > 0;
                }));
        }
        const auto list = [](const std::vector<uint32_t>& numbers) {
            std::string text;
            for (uint32_t number : numbers)
            {
                text += " " + std::to_string(number);
            }
            return text;
        };
        const std::string what =
            topology + ", lost" + list(plan.lost) + ", doubled" + list(plan.doubled);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
        if (plan.doubled.empty())
        {
            NS_TEST_EXPECT_MSG_EQ(CountOccupied(*trial.cluster), 0, what << ": all slots are free");
            NS_TEST_EXPECT_MSG_EQ((trial.CountResent() > 0), !plan.lost.empty(), what << ": again");
        }
        return plan.count;
    }

    void Run()
    {
        const Default integers("AtpCommunicator::DataType", "int32");
        const Default verify("AtpProgram::Verify", "true");
        const Default verifyServer("AtpServer::Verify", "true");
        const Default timeout("AtpCommunicator::InitialTimeout", "100us");
        const std::vector<std::string> topologies{"single-switch:hosts=4",
                                                  "leaf-spine:leaves=2,spines=1,hosts-per-leaf=2",
                                                  "leaf-spine:leaves=3,spines=1,hosts-per-leaf=2"};
        for (const std::string& topology : topologies)
        {
            // 15 packets of workers, 5 sums, 5 results to 3 workers, unless all go two ways.
            const uint32_t frames = Check(topology, 5, {});
            NS_TEST_EXPECT_MSG_GT_OR_EQ(frames, 40, topology);
            for (uint32_t frame = 0; frame < frames; frame++)
            {
                Check(topology, 5, {{frame}, {}});
                Check(topology, 5, {{}, {frame}});
            }
            const uint32_t few = Check(topology, 2, {});
            for (uint32_t first = 0; first < few; first++)
            {
                for (uint32_t second = first + 1; second < few + 4; second++)
                {
                    Check(topology, 2, {{first, second}, {}});
                    Check(topology, 2, {{second}, {first}});
                }
            }
        }
    }
};

/** A packet that is lost several times in a row costs round trips, not timeouts. */
struct AtpRepeatedLossTest
{
    double GetMicroseconds(uint32_t losses, uint64_t& resent)
    {
        Trial trial(MakeOptions(3, "single-switch:hosts=4"), 62 * 2000, true, false);
        uint32_t left = losses; // transmissions to drop
        trial.cluster->GetFabric().devices[1]->SetProgram(
            CreateObject<Culprit>([&left](const Frame& frame, bool isSent) {
                const bool isLost = isSent && left > 0 && frame.As<AtpHeader>().packet == 500;
                left -= isLost ? 1 : 0;
                return isLost;
            }));
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", losses << " losses");
        resent = trial.CountResent();
        return 1e6 * trial.GetSeconds();
    }

    void Run()
    {
        uint64_t resent = 0;
        const double idle = GetMicroseconds(0, resent);
        NS_TEST_EXPECT_MSG_EQ(resent, 0, "no timer without a loss");
        // A round trip takes 4.3 us. A timeout is 200 us.
        const std::vector<double> limits{0, 12, 24, 48, 96};
        for (uint32_t losses = 1; losses < limits.size(); losses++)
        {
            NS_TEST_EXPECT_MSG_LT(GetMicroseconds(losses, resent) - idle, limits[losses], losses);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(resent, 2 + losses, losses);
        }
    }
};

/** The use of floats depends on which contributions of either sign are added first. */
void
CheckPartsThatSaturate()
{
    const Default scale("AtpCommunicator::ScalingFactor", "1e9");
    uint32_t integers = 0;
    uint32_t floats = 0;
    for (uint32_t large = 1; large < 5; large++)
    {
        Trial trial(MakeOptions(5, "single-switch:hosts=6"), 1000, false);
        trial.inputs[0][500] = 1.6F;
        trial.inputs[large][500] = 1.6F;
        trial.inputs[large % 4 + 1][500] = -1.6F;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", large);
        NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, large);
        const auto sum = trial.cluster->GetInNetworkCommunicators()[0]->GetSum(trial.inputs);
        (trial.tensors[0]->values == sum ? integers : floats)++;
    }
    NS_TEST_EXPECT_MSG_GT(integers, 0, "sums that have come as integers");
    NS_TEST_EXPECT_MSG_GT(floats, 0, "and as floats");
}

/**
 * Float32 sums: the same bits at all ranks, within the closed-form error bound. Values and sums out
 * of range are added as floats.
 */
void
TestAtpFloat()
{
    const Default verify("AtpProgram::Verify", "true");
    const Default verifyServer("AtpServer::Verify", "true");
    const Default timeout("AtpCommunicator::InitialTimeout", "1ms");
    for (uint32_t ranks : {2, 5, 16})
    {
        for (uint64_t count : {1, 61, 62, 63, 20001})
        {
            for (double loss : {0.0, 0.01})
            {
                ClusterOptions options = MakeOptions(ranks, "leaf-spine:leaves=3,spines=1");
                options.loss = loss;
                SetKey(options, "elements-per-packet", count == 20001 ? 32 : 62);
                Trial trial(options, count, false);
                const std::string what =
                    std::to_string(ranks) + " ranks, " + std::to_string(count) + " numbers";
                NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
                NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
                const double bound = trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound();
                NS_TEST_EXPECT_MSG_GT_OR_EQ(bound, ranks * 0.5e-6, what);
                NS_TEST_EXPECT_MSG_LT_OR_EQ(trial.GetError(), bound, what);
            }
        }
    }
    const float infinite = std::numeric_limits<float>::infinity();
    for (double loss : {0.0, 0.02})
    {
        ClusterOptions options = MakeOptions(16, "leaf-spine:leaves=3,spines=1");
        options.loss = loss;
        Trial trial(options, 5000, false);
        trial.inputs[3][70] = 213.5F;    // more than LargestValue
        trial.inputs[4][700] = infinite; // not an integer
        trial.inputs[5][1000] = -1e30F;  // out of range
        for (auto& input : trial.inputs) // each value fits, the sum does not
        {
            input[2000] = 200;
            input[3000] = -200;
        }
        NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", "floats");
        NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, "the same bits");
        NS_TEST_EXPECT_MSG_EQ(trial.tensors[0]->values[700], infinite, "infinity");
        NS_TEST_EXPECT_MSG_EQ(trial.tensors[1]->values[2000], 3200, "beyond the range");
        NS_TEST_EXPECT_MSG_EQ(trial.tensors[2]->values[3000], -3200, "below it");
        NS_TEST_EXPECT_MSG_GT(GetCounters(*trial.cluster).saturated, 0, "in a switch");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, "by the network");
    }
    CheckPartsThatSaturate();
    const Default integers("AtpCommunicator::DataType", "int32");
    for (const float wrong : {0.5F, 2147483648.0F})
    {
        Trial trial(MakeOptions(2), 100, true);
        trial.inputs[1][50] = wrong;
        ExpectPart(trial.Run(), "rank 1: a value is no 32-bit integer");
    }
    Trial overflow(MakeOptions(2), 100, true);
    overflow.inputs[0][70] = overflow.inputs[1][70] = 1 << 30;
    ExpectPart(overflow.Run(), "the sum of packet 1 of atp job 0 overflows 32 bits");
}

/** A switch that restarts in the middle of a tensor; servers and workers that fail. */
void
TestAtpFailure()
{
    const Default timeout("InNetworkCommunicator::FailureTimeout", "20ms");
    const Default initial("AtpCommunicator::InitialTimeout", "1ms");
    const Default verify("AtpServer::Verify", "true");
    const Default verifySwitch("AtpProgram::Verify", "true");
    for (uint32_t at = 5; at <= 245; at += 30)
    {
        for (const std::string topology : {"single-switch:hosts=5", "leaf-spine:leaves=2,spines=1"})
        {
            ClusterOptions options = MakeOptions(4, topology);
            options.loss = at % 2 ? 0.001 : 0;
            Trial trial(Restart(options, at, 3), 200000, false);
            const std::string what = topology + ", " + std::to_string(at) + " us";
            NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
            // Workers and servers keep their state: retransmissions restore what the switch
            // lost.
            NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
            NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
            NS_TEST_EXPECT_MSG_GT(trial.CountResent(), 0, what << ": sent again");
        }
    }

    ClusterOptions options = MakeOptions(4, "single-switch:hosts=5");
    options.faults = {"host4:down,from=30us"}; // the server
    {
        Trial trial(options, 200000, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", "the hosts go on");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 4, "all of them");
        NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-8, "the tensor is intact");
        ExpectPart(FormatFallback(*trial.cluster), "has had no result of packet");
    }
    {
        const Default error("InNetworkCommunicator::OnFailure", "error");
        Trial trial(options, 200000, false);
        const std::string text = trial.Run();
        ExpectPart(text, "has had no result of packet");
        ExpectPart(text, "of atp");
    }
    for (const std::string host : {"host2", "host3"}) // a worker; a worker with the server
    {
        CheckDeadWorker(MakeOptions(4), host);
    }
}

/** Jobs that share slots: T10 by conservation, exact sums, and shares of slots and links. */
struct AtpJobsTest
{
    /** Two jobs, each of four workers and a server, sum 400 packets on one switch. */
    void Run(uint32_t slots, double loss)
    {
        const Default integers("AtpCommunicator::DataType", "int32");
        const Default verify("AtpProgram::Verify", "true");
        const Default verifyServer("AtpServer::Verify", "true");
        constexpr uint64_t COUNT = 62 * 400;
        fabric = FabricHelper().Install(
            BuildTopology("single-switch", 10, DataRate("100Gbps"), MicroSeconds(1)));
        LoseFrames(fabric, loss);
        shared = std::make_unique<AtpHelper>();
        shared->SetProgramAttribute("Slots", UintegerValue(slots));
        for (uint32_t number : {0, 1})
        {
            auto& job = jobs[number];
            job = {};
            std::vector<uint32_t> endpoints(4);
            std::iota(endpoints.begin(), endpoints.end(), 5 * number);
            job.Add(*shared, fabric, endpoints, 50, std::vector<uint32_t>{5 * number + 4});
            for (const auto& worker : job.workers)
            {
                worker->SetAttribute("JobPriority", UintegerValue(number));
            }
            job.AllReduce(COUNT, 1000.0F * number);
        }
        Simulator::Run();
        for (uint32_t number : {0, 1})
        {
            const std::string what = std::to_string(slots) + " slots";
            NS_TEST_EXPECT_MSG_EQ(jobs[number].done.size(), 4, what << ": all ranks");
            const float sum = 4000.0F * number + 6;
            NS_TEST_EXPECT_MSG_EQ(jobs[number].GetRange(),
                                  std::pair(sum, sum),
                                  what << ": the sum everywhere");
        }
    }

    void End()
    {
        shared.reset();
        for (auto& job : jobs)
        {
            job = {};
        }
        fabric = Fabric();
        Simulator::Destroy();
    }

    /** Without losses the fate of each contribution is known. */
    void CheckConservation(uint32_t slots)
    {
        // Retransmissions only after timeouts.
        const Default threshold("AtpCommunicator::ReorderingThreshold", "0");
        Run(slots, 0);
        const AtpHelper& helper = *shared;
        const std::string what = std::to_string(slots) + " slots";
        const AtpCounters& counters = helper.GetProgram(0)->GetCounters();
        uint64_t sent = 0;
        uint64_t resent = 0;
        uint64_t parts = 0;
        for (uint32_t number : {0, 1})
        {
            const auto& job = jobs[number];
            for (const auto& worker : job.workers)
            {
                sent += worker->GetCounters().sent;
                resent += worker->GetCounters().resent;
            }
            const AtpServerCounters& server = helper.GetServers(number)[0]->GetCounters();
            NS_TEST_EXPECT_MSG_EQ(server.results, 400, what << ": a result for each packet");
            parts += server.received;
            NS_TEST_EXPECT_MSG_EQ(helper.GetProgram(0)->GetOccupied(static_cast<uint8_t>(number)),
                                  0,
                                  what << ": all slots are free");
        }
        NS_TEST_EXPECT_MSG_EQ(sent, 2 * 4 * 400, what << ": each contribution once");
        // A switch holds a contribution, completes a sum with it, collides, or sees a
        // retransmission.
        NS_TEST_EXPECT_MSG_EQ(counters.received,
                              sent + resent + counters.multicasts,
                              what << ": frames to the switch");
        NS_TEST_EXPECT_MSG_EQ(sent + resent,
                              counters.held + counters.completed + counters.collisions +
                                  counters.evicted + counters.passed,
                              what << ": what became of them");
        NS_TEST_EXPECT_MSG_EQ(parts,
                              counters.completed + counters.collisions + counters.evicted +
                                  counters.passed,
                              what << ": frames to the servers");
        NS_TEST_EXPECT_MSG_EQ((counters.collisions > 0), (slots < 1000), what << ": collisions");
        End();
    }

    /** With losses, preemption and A2TP's windows, sums of both jobs are exact. */
    void CheckLosses(uint32_t slots)
    {
        Run(slots, 0.02);
        const std::string what = std::to_string(slots) + " slots, losses";
        NS_TEST_EXPECT_MSG_GT(shared->GetProgram(0)->GetCounters().preempted, 0, what);
        End();
    }

    void Run()
    {
        for (uint32_t slots : {5, 40, 60, 100, 20000})
        {
            CheckConservation(slots);
        }
        const Default preemption("AtpProgram::Preemption", "true");
        const Default windows("AtpCommunicator::WindowControl", "a2tp");
        for (uint32_t slots : {5, 40, 60})
        {
            CheckLosses(slots);
        }
        CheckBottleneck();
    }

    /** The link of a server that gets every contribution separately limits its job. */
    void CheckBottleneck()
    {
        AtpScenario scenario;
        scenario.jobs = 1;
        scenario.workers = 4;
        scenario.duration = MilliSeconds(3);
        scenario.warmup = MilliSeconds(1);
        const double bound = 62 * 32 / (332.0 * 8) * 100;
        const AtpResult alone = MeasureAtpJobs(scenario);
        NS_TEST_EXPECT_MSG_EQ_TOL(alone.jobs[0].goodput, bound, 0.02 * bound, "line rate");
        NS_TEST_EXPECT_MSG_EQ_TOL(alone.jobs[0].serverFrames, 1, 0.01, "a frame for each sum");
        scenario.slots = 1;
        const AtpResult none = MeasureAtpJobs(scenario);
        NS_TEST_EXPECT_MSG_GT(none.jobs[0].serverFrames, 3.9, "a frame for each part");
        NS_TEST_EXPECT_MSG_EQ_TOL(none.jobs[0].goodput * none.jobs[0].serverFrames,
                                  bound,
                                  0.02 * bound,
                                  "which fill the server's link");
        // Two uncoordinated jobs soon have separate slots if there are enough.
        scenario.jobs = 2;
        scenario.slots = 450;
        scenario.window = 200;
        scenario.warmup = Time(0);
        const AtpResult both = MeasureAtpJobs(scenario);
        for (const AtpJobResult& job : both.jobs)
        {
            NS_TEST_EXPECT_MSG_GT(job.server.remapped, 20, "other slots");
            NS_TEST_EXPECT_MSG_EQ_TOL(job.serverFrames, 1, 0.01, "no collisions");
            NS_TEST_EXPECT_MSG_EQ_TOL(job.goodput, bound, 0.02 * bound, "line rate");
        }
    }

    Fabric fabric;
    std::unique_ptr<AtpHelper> shared;
    Job<AtpCommunicator> jobs[2];
};

struct AtpTimeTest
{
    /** @return million elements per second and rank */
    double GetRate(ClusterOptions options, uint64_t count)
    {
        options.algorithm = "atp";
        return ns3::training::tests::GetRate(options, count);
    }

    void Run()
    {
        // T9: 62 elements take 332 bytes on the line, independent of the number of workers.
        const double bound = 62 * 100e3 / (332 * 8);
        for (uint32_t ranks : {2, 4, 8})
        {
            const std::string topology = "single-switch:hosts=" + std::to_string(ranks + 1);
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(MakeOptions(ranks, topology), 1 << 20) / bound,
                                      1,
                                      0.02,
                                      ranks << " ranks");
        }
        // A server on the last rank's host: its line carries all data twice.
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(MakeOptions(4), 1 << 20) / bound, 0.5, 0.01, "shared");
        {
            // Four of them, each with a quarter.
            const Default servers("AtpCommunicator::ParameterServers", "0,1,2,3");
            NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(MakeOptions(4), 4 << 20) / bound, 0.8, 0.01, "four");
        }
        // Three racks of four and a fourth with the server: three sums on the path to its switch.
        const std::string racks = "leaf-spine:leaves=4,spines=3,hosts-per-leaf=4";
        ClusterOptions options = MakeOptions(12, racks);
        options.path = "spray";
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 1 << 20) / bound, 1, 0.02, "two levels");
        options = MakeOptions(2, "single-switch:hosts=3");
        options.rate = DataRate("10Gbps");
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, 1 << 20) / bound, 0.1, 0.002, "10 Gbit/s");
    }
};

/** The purposes of congestion windows, A2TP's windows for stragglers, and ESA's priorities. */
void
TestAtpSharing()
{
    AtpScenario scenario;
    scenario.duration = MilliSeconds(4);
    scenario.warmup = MilliSeconds(1);
    scenario.slots = 200;
    scenario.window = 400;
    {
        const Default preemption("AtpProgram::Preemption", "true");
        const AtpResult equal = MeasureAtpJobs(scenario);
        NS_TEST_EXPECT_MSG_EQ(equal.program.preempted, 0, "equal priorities");
        NS_TEST_EXPECT_MSG_EQ_TOL(equal.jobs[0].goodput / equal.jobs[1].goodput, 1, 0.1, "fair");
        scenario.priorities = {1, 0};
        const AtpResult higher = MeasureAtpJobs(scenario);
        NS_TEST_EXPECT_MSG_GT(higher.program.preempted, 0, "a higher one takes slots");
        NS_TEST_EXPECT_MSG_GT(higher.jobs[0].occupancy, 2 * higher.jobs[1].occupancy, "more");
        NS_TEST_EXPECT_MSG_GT(higher.jobs[0].goodput, 1.1 * equal.jobs[0].goodput, "faster");
        scenario.priorities.clear();
    }
    // All packets go to the server: marks keep the queue short, and so tensors in less time than
    // the timeout. Spurious retransmissions back off, and leave the sums the server's line.
    scenario = AtpScenario();
    scenario.jobs = 1;
    scenario.workers = 8;
    scenario.slots = 1;
    scenario.duration = MilliSeconds(6);
    scenario.warmup = MilliSeconds(3);
    const double bound = 62 * 32 / (332.0 * 8) * 100 / scenario.workers;
    const AtpResult ecn = MeasureAtpJobs(scenario);
    NS_TEST_EXPECT_MSG_EQ_TOL(ecn.jobs[0].goodput, bound, 0.02 * bound, "the server's link");
    {
        const Default fixed("AtpCommunicator::WindowControl", "fixed");
        const AtpResult result = MeasureAtpJobs(scenario);
        NS_TEST_EXPECT_MSG_EQ_TOL(result.jobs[0].goodput, bound, 0.02 * bound, "in the queue");
        NS_TEST_EXPECT_MSG_GT(result.jobs[0].serverFrames, ecn.jobs[0].serverFrames, "timeouts");
    }

    // T11: the sample of A2TP's release: 450 slots, 9 threads of 50 packets, and 8 times 10
    // Gbit/s of background traffic at a worker of the second job.
    scenario = AtpScenario();
    scenario.slots = 450;
    scenario.window = 450;
    scenario.duration = MilliSeconds(12);
    scenario.background = DataRate("80Gbps");
    const Default threads("AtpCommunicator::Threads", "9");
    // Hosts of the released client reach 50 Gbit/s.
    const Default cost("AtpCommunicator::PacketCost", "350ns");
    const AtpResult atp = MeasureAtpJobs(scenario);
    const Default windows("AtpCommunicator::WindowControl", "a2tp");
    const AtpResult a2tp = MeasureAtpJobs(scenario);
    NS_TEST_EXPECT_MSG_EQ_TOL(a2tp.jobs[0].goodput, 50, 10, "job A");
    NS_TEST_EXPECT_MSG_EQ_TOL(a2tp.jobs[1].goodput, 15.5, 3.1, "job B, which straggles");
    NS_TEST_EXPECT_MSG_LT(a2tp.jobs[1].occupancy, 0.1, "job B takes few slots");
    NS_TEST_EXPECT_MSG_GT(a2tp.jobs[0].occupancy, 1.5 * a2tp.jobs[1].occupancy, "job A more");
    NS_TEST_EXPECT_MSG_LT(a2tp.program.collisions, atp.program.collisions / 2, "collisions");
    NS_TEST_EXPECT_MSG_GT(a2tp.jobs[0].goodput, 0.98 * atp.jobs[0].goodput, "job A keeps");
    NS_TEST_EXPECT_MSG_GT(a2tp.jobs[1].goodput, atp.jobs[1].goodput, "job B gains");
}

/** A window that limits the rate, and slots that are taken, are reported. */
void
TestAtpLimit()
{
    ClusterOptions options = MakeOptions(4, "single-switch:hosts=5"); // one for the server
    SetKey(options, "window", 400);
    NS_TEST_EXPECT_MSG_EQ(GetWarning(options), "", "a large window");
    SetKey(options, "window", 16);
    const std::string warning = GetWarning(options);
    ExpectPart(warning, "window=16 limits atp to ");
    FollowWarnings(options, "window", warning);
    SetKey(options, "slots", 8);
    ExpectPart(GetWarning(options), " % of the results of atp, as slots of the switches were");
    // The line of the server's host carries all data twice, whatever the window.
    ClusterOptions shared = MakeOptions(4);
    SetKey(shared, "window", 400);
    NS_TEST_EXPECT_MSG_EQ(GetWarning(shared), "", "not the window");
}

/** Ranks that start further apart than the timeout: packets of the first ones go to the server. */
struct AtpSkewTest
{
    static void Start(AtpSkewTest* self, Ptr<Communicator> communicator, Ptr<Tensor> tensor)
    {
        communicator->AllReduce(tensor, MakeBoundCallback(&AtpSkewTest::OnDone, self));
    }

    static void OnDone(AtpSkewTest* self)
    {
        self->done++;
    }

    void Run()
    {
        const Default integers("AtpCommunicator::DataType", "int32");
        const Default verify("AtpProgram::Verify", "true");
        const Default verifyServer("AtpServer::Verify", "true");
        for (const bool patient : {true, false})
        {
            const Default timeout("AtpCommunicator::InitialTimeout", patient ? "50ms" : "200us");
            for (const std::string topology :
                 {"single-switch:hosts=6", "leaf-spine:leaves=3,spines=2"})
            {
                Trial trial(MakeOptions(5, topology), 20000, true);
                done = 0;
                for (uint32_t rank = 0; rank < 5; rank++)
                {
                    Simulator::Schedule(MicroSeconds(700 * (rank * 3 % 5)),
                                        &AtpSkewTest::Start,
                                        this,
                                        trial.cluster->GetCommunicator(rank),
                                        trial.tensors[rank]);
                }
                Simulator::Run();
                NS_TEST_EXPECT_MSG_EQ(done, 5, topology << ": all ranks");
                NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, topology << ": exact");
                NS_TEST_EXPECT_MSG_EQ((trial.CountResent() == 0), patient, topology);
                NS_TEST_EXPECT_MSG_EQ(CountOccupied(*trial.cluster), 0, topology << ": all free");
            }
        }
    }

    uint32_t done{0};
};

/** Named refusals of invalid requests. */
void
TestAtpOptions()
{
    const std::string few = "atp:slots=2000,window=100";
    ExpectRefusals({{4, few, ""},
                    {4, "atp", ""},
                    {4,
                     "atp:framing=udp",
                     "in-network aggregation 'atp:framing=udp': 'framing=udp' (allowed: "},
                    {4,
                     "atp:elements-per-packet=66,slots=2000,window=100",
                     "'elements-per-packet=66' (allowed: elements-per-packet=2 to 64, "},
                    {4,
                     "atp:elements-per-packet=33,slots=2000,window=100",
                     "33 elements per packet (allowed: even numbers up to 64)"},
                    {33, few, "atp job 0 has 33 workers at a switch (allowed: up to 32)"},
                    {34,
                     few,
                     "34 racks and workers at the switch of its server (allowed: up to 32)",
                     "leaf-spine:leaves=34,spines=1,hosts-per-leaf=1"},
                    {64, few, "", "leaf-spine:leaves=4,spines=1"}}); // racks of 16 fit
    ExpectChoice(MakeOptions(4), "AtpCommunicator::DataType", "float32, int32");
    ExpectChoice(MakeOptions(4), "AtpCommunicator::WindowControl", "fixed, ecn, a2tp");
    for (const std::string servers : {"4", "1,1", "x", ""})
    {
        const Default wrong("AtpCommunicator::ParameterServers", servers);
        ExpectRefusal(MakeOptions(4),
                      "AtpCommunicator::ParameterServers=" + servers + " (allowed: ");
    }
    {
        const Default wrong("AtpCommunicator::ParameterServers", "0,1,2,3,4");
        ExpectRefusal(MakeOptions(5), "(allowed: 1 to 4 hosts)");
    }
    Fabric fabric = FabricHelper().Install(
        BuildTopology("single-switch", 4, DataRate("100Gbps"), MicroSeconds(1)));
    AtpHelper helper;
    Job<AtpCommunicator> job;
    job.Add(helper, fabric, {0, 1}, 0);
    const Default windows("AtpCommunicator::WindowControl", "a2tp");
    ExpectPart(GetRefusal([&]() { job.Add(helper, fabric, {2, 3}, 0); }), "switches without");
    Simulator::Destroy();
}

const Suite g_suite(
    "atp",
    Duration::EXTENSIVE,
    {{"integers are exact under loss, duplication, reordering and collisions", TestAtpExact},
     {"whichever frames are lost or doubled, sums are exact", RunTest<AtpEveryLossTest>},
     {"a packet that is lost several times costs round trips", RunTest<AtpRepeatedLossTest>},
     {"float32 sums are within the bound of their error; what does not fit goes as floats",
      TestAtpFloat},
     {"a switch restarts, a server or a worker stops", TestAtpFailure},
     {"jobs share few slots: every contribution is in one frame to a server", RunTest<AtpJobsTest>},
     {"rates are those of the closed forms, within 2 %", RunTest<AtpTimeTest>},
     {"windows, stragglers and priorities", TestAtpSharing},
     {"a warning names the window or the slots that limit the rate", TestAtpLimit},
     {"ranks that begin late", RunTest<AtpSkewTest>},
     {"options that do not fit are refused", TestAtpOptions}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::atp_test
