/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"
#include "switch-ps-test-common.h"

#include "ns3/reference-sums.h"
#include "ns3/switch-device.h"
#include "ns3/switch-ps-helper.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::switch_ps_test
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    return MakeCluster(ranks, "switch-ps", topology);
}

/** @return the program of the only switch that has one */
Ptr<SwitchPsProgram>
FindProgram(const Cluster& cluster)
{
    for (const auto& device : cluster.GetFabric().devicesOfSwitches)
    {
        if (auto program = DynamicCast<SwitchPsProgram>(device->GetProgram(0)))
        {
            return program;
        }
    }
    return nullptr;
}

/// Added gradients: job, packet and worker of each.
using Pushes = Contributions<SwitchPsProgram, uint8_t, uint32_t, uint32_t>;

/** Workers that make steps with the tensors of one model, each at its own pace. */
class Training
{
  public:
    /** @param sizes size of each tensor, numbers */
    Training(const ClusterOptions& options, std::vector<uint64_t> sizes, uint32_t steps)
        : cluster(options),
          m_sizes(std::move(sizes)),
          m_steps(steps),
          m_run(cluster),
          m_next(options.ranks, 0),
          m_tensors(options.ranks)
    {
        for (const auto& worker : cluster.GetInNetworkCommunicators())
        {
            worker->SetTensorsOfStep(static_cast<uint32_t>(m_sizes.size()));
        }
        paces.assign(options.ranks, Time(0));
        results.resize(options.ranks);
        weights.resize(options.ranks);
        finished.resize(options.ranks);
    }

    ~Training()
    {
        Simulator::Destroy();
    }

    /** @return description of the error, or empty */
    std::string Run()
    {
        for (uint32_t rank = 0; rank < m_next.size(); rank++)
        {
            Simulator::ScheduleWithContext(cluster.GetFabric().hosts.Get(rank)->GetId(),
                                           paces[rank],
                                           &Training::Start,
                                           this,
                                           rank);
        }
        try
        {
            m_run.Run();
        }
        catch (const SimulationStuck& stuck)
        {
            return stuck.what();
        }
        return "";
    }

    /** @return the gradient of a tensor in a step */
    std::vector<float> GetGradient(uint32_t rank, uint32_t step, uint32_t tensor) const
    {
        std::mt19937 random(rank + 100 * tensor + 10000 * step);
        std::normal_distribution<float> normal(0, 1e-3F);
        std::vector<float> values;
        for (uint64_t i = 0; i < m_sizes[tensor]; i++)
        {
            values.push_back(normal(random));
        }
        return values;
    }

    /** @return the gradients of a tensor in a step, by rank */
    std::vector<std::vector<float>> GetGradients(uint32_t step, uint32_t tensor) const
    {
        std::vector<std::vector<float>> gradients;
        for (uint32_t rank = 0; rank < m_next.size(); rank++)
        {
            gradients.push_back(GetGradient(rank, step, tensor));
        }
        return gradients;
    }

    /** Expects that the ranks have pulled these weights of the last tensor. */
    void CheckPulled(const std::vector<float>& expected, const std::string& what) const
    {
        for (uint32_t rank = 0; rank < m_next.size(); rank++)
        {
            const auto from = expected.begin() + FIRST_PULLED + rank;
            const std::vector<float> part(from, from + PULLED);
            NS_TEST_EXPECT_MSG_EQ(weights[rank]->values, part, what << ": pulled by rank " << rank);
        }
    }

    /** @return a worker with its concrete type */
    Ptr<SwitchPsCommunicator> GetWorker(uint32_t rank) const
    {
        return DynamicCast<SwitchPsCommunicator>(cluster.GetCommunicator(rank));
    }

    Cluster cluster;
    std::vector<Time> paces;                              ///< of each rank, before each step
    std::vector<std::vector<std::vector<float>>> results; ///< by rank, all-reduce
    std::vector<Ptr<Tensor>> weights;                     ///< by rank: weights pulled at the end
    std::vector<Time> finished;                           ///< by rank

  private:
    void Start(uint32_t rank)
    {
        const uint32_t next = m_next[rank]++;
        const auto tensors = static_cast<uint32_t>(m_sizes.size());
        auto tensor = Create<Tensor>();
        tensor->values = GetGradient(rank, next / tensors, next % tensors);
        tensor->bytes = sizeof(float) * tensor->values.size();
        m_tensors[rank] = tensor;
        cluster.GetCommunicator(rank)->AllReduce(tensor,
                                                 MakeBoundCallback(&Training::OnDone, this, rank));
    }

    static void OnDone(Training* self, uint32_t rank)
    {
        self->results[rank].push_back(self->m_tensors[rank]->values);
        const uint32_t next = self->m_next[rank];
        const auto tensors = static_cast<uint32_t>(self->m_sizes.size());
        if (next < self->m_steps * tensors)
        {
            const Time pause = next % tensors == 0 ? self->paces[rank] : Time(0);
            Simulator::Schedule(pause, &Training::Start, self, rank);
            return;
        }
        self->finished[rank] = Simulator::Now();
        if (++self->m_ready == self->m_next.size())
        {
            // All steps are done: each rank pulls some weights of the last tensor.
            for (uint32_t i = 0; i < self->m_next.size(); i++)
            {
                self->weights[i] = Create<Tensor>();
                self->weights[i]->values.assign(PULLED, 0);
                self->weights[i]->bytes = sizeof(float) * PULLED;
                self->GetWorker(i)->Pull(self->weights[i],
                                         tensors - 1,
                                         FIRST_PULLED + i,
                                         MakeBoundCallback(&Training::OnPulled, self));
            }
        }
    }

    static void OnPulled(Training* self)
    {
        if (--self->m_ready == 0)
        {
            self->m_run.End();
        }
    }

  public:
    static constexpr uint64_t FIRST_PULLED = 60; ///< first weight that rank 0 pulls
    static constexpr uint64_t PULLED = 150;      ///< number of weights that each rank pulls

  private:
    std::vector<uint64_t> m_sizes;
    uint32_t m_steps;
    GuardedRun m_run;
    std::vector<uint32_t> m_next; // by rank: started all-reduces
    std::vector<Ptr<Tensor>> m_tensors;
    std::size_t m_ready{0};
};

void
Check(const ClusterOptions& options, uint64_t count, const std::string& what)
{
    Trial trial(options, count, false);
    const Pushes pushes(*trial.cluster, "Push");
    const uint32_t times = 2;
    NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
    const auto sum = AddInOrder(trial.inputs);
    for (const auto& tensor : trial.tensors)
    {
        NS_TEST_EXPECT_MSG_EQ(tensor->values, sum, what << ": the sum");
    }
    NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what << ": the reference");
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
    const double bound = trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound();
    NS_TEST_EXPECT_MSG_GT(bound, 0, what);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(trial.GetError(), bound, what);
    const uint64_t packets = (count + 63) / 64;
    NS_TEST_EXPECT_MSG_EQ(pushes.GetCount(),
                          times * packets * options.ranks,
                          what << ": every gradient");
    NS_TEST_EXPECT_MSG_EQ(pushes.GetMost(), 1, what << ": once");
    CheckResent(trial, options, what);
}

/**
 * Sums equal those of a host that adds in rank order, bit for bit, under losses, duplicates and
 * reordering; each gradient is added once.
 */
void
TestSwitchPsExact()
{
    const Default verify("SwitchPsProgram::Verify", "true");
    const Default timeout("SwitchPsCommunicator::RetransmissionTimeout", "100us");
    for (uint32_t ranks : {2, 3, 8, 16})
    {
        ClusterOptions options = MakeOptions(ranks);
        SetKey(options, "slots", 64);
        CheckLosses(options, 30000 + ranks, std::to_string(ranks) + " ranks", &Check);
    }
    for (const std::string topology : {"leaf-spine:leaves=3,spines=2", "fat-tree:k=4"})
    {
        ClusterOptions options = MakeOptions(9, topology);
        options.path = "spray";
        SetKey(options, "slots", 32);
        Check(options, 5000, topology);
        options.loss = 0.01;
        options.faults = DoubleAndDelay();
        Check(options, 20000, topology + ", loss, duplicates, reordering");
    }
    // One packet per tensor, one number per packet, and NaN or infinity.
    for (uint64_t elements : {1, 2048})
    {
        ClusterOptions options = MakeOptions(3);
        SetKey(options, "elements-per-packet", elements);
        SetKey(options, "slots", 64);
        Trial trial(options, 1000, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", elements);
        NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, elements);
    }
    // Numbers, or sums, beyond float32: results follow float32, and the bound shows it.
    const float infinity = std::numeric_limits<float>::infinity();
    const float large = std::ldexp(0.9F, 127);
    for (const auto& [first, second] :
         {std::pair(infinity, 1.0F), std::pair(large, large), std::pair(1.0F, 1.0F)})
    {
        Trial trial(MakeOptions(3), 100, false);
        trial.inputs[0][50] = first;
        trial.inputs[1][50] = second;
        trial.inputs[2][50] = second;
        const bool isFinite = first == 1;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", first);
        NS_TEST_EXPECT_MSG_EQ(trial.tensors[1]->values[50], first + second + second, first);
        NS_TEST_EXPECT_MSG_EQ((trial.tensors[1]->values[50] < infinity), isFinite, first);
        NS_TEST_EXPECT_MSG_EQ(
            std::isfinite(trial.cluster->GetInNetworkCommunicators()[0]->GetErrorBound()),
            isFinite,
            "the bound");
    }
}

/** Weights after synchronous steps equal those of an optimizer on a host, bit for bit. */
struct SwitchPsWeightsTest
{
    void Check(const std::string& optimizer, uint32_t ranks, double loss)
    {
        const Default name("SwitchPsProgram::Optimizer", optimizer);
        const std::string what =
            optimizer + ", " + std::to_string(ranks) + " ranks, loss " + std::to_string(loss);
        constexpr uint32_t STEPS = 6;
        ClusterOptions options = MakeOptions(ranks);
        options.loss = loss;
        options.faults = DoubleAndDelay();
        SetKey(options, "slots", 16);
        Training training(options, {100, 5000, 64, 2000}, STEPS);
        NS_TEST_ASSERT_MSG_EQ(training.Run(), "", what);
        for (uint32_t tensor = 0; tensor < 4; tensor++)
        {
            HostOptimizer host(optimizer, 0.01F, 0);
            std::vector<float> expected;
            for (uint32_t step = 0; step < STEPS; step++)
            {
                expected = host.Step(AddInOrder(training.GetGradients(step, tensor)));
                // The programs' reference processes all-reduces in order.
                const auto& all = training.results;
                for (uint32_t rank = 0; rank < ranks; rank++)
                {
                    NS_TEST_EXPECT_MSG_EQ(all[rank][4 * step + tensor],
                                          expected,
                                          what << ", step " << step << ", tensor " << tensor);
                }
            }
            if (tensor == 3)
            {
                training.CheckPulled(expected, what);
            }
        }
        // The programs' own reference, call by call.
        for (uint32_t i = 0; i < 4 * STEPS; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(
                training.GetWorker(0)->GetSum(training.GetGradients(i / 4, i % 4)),
                training.results[0][i],
                what << ": reference");
        }
        NS_TEST_EXPECT_MSG_EQ(FindProgram(training.cluster)->GetCounters().added,
                              uint64_t{STEPS} * ranks * (2 + 79 + 1 + 32),
                              what << ": each gradient once");
    }

    static void OnPulled(uint32_t* pulls)
    {
        ++*pulls;
    }

    /** Pulls of nothing, of partial numbers, and of missing weights. */
    void CheckPulls()
    {
        Trial trial(MakeOptions(2), 320, false);
        auto worker = DynamicCast<SwitchPsCommunicator>(trial.cluster->GetCommunicator(0));
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "a step");
        uint32_t pulls = 0;
        auto tensor = Create<Tensor>();
        const auto done = MakeBoundCallback(&SwitchPsWeightsTest::OnPulled, &pulls);
        worker->Pull(tensor, 0, 319, done);
        auto rest = Create<Tensor>();
        rest->bytes = 400;
        worker->Pull(rest, 0, 220, done);
        std::string text;
        worker->SetErrorHandler([&](uint32_t, const std::string& error) { text = error; });
        auto beyond = Create<Tensor>();
        beyond->bytes = 404;
        worker->Pull(beyond, 0, 220, done);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(pulls, 2, "two are there");
        NS_TEST_EXPECT_MSG_EQ(text,
                              "rank 0 pulls weights 220 and on of tensor 0 of switch-ps (allowed: "
                              "of what has been pushed)",
                              "one is not");
    }

    void Run()
    {
        const Default timeout("SwitchPsCommunicator::RetransmissionTimeout", "100us");
        for (const std::string optimizer : {"sgd", "momentum", "adam"})
        {
            Check(optimizer, 4, 0);
            Check(optimizer, 3, 0.02);
        }
        Check("adam", 1, 0);
        // Weights that do not fit, or that have changed.
        const Default name("SwitchPsProgram::Optimizer", "sgd");
        CheckPulls();
        {
            const Default weights("SwitchPsProgram::Weights", "640");
            Training training(MakeOptions(2), {320, 330}, 1);
            ExpectPart(training.Run(), "tensor 1 of switch-ps needs 6 key ranges (allowed: 5");
        }
        const Default tensors("SwitchPsCommunicator::Tensors", "1");
        Training training(MakeOptions(2), {320, 330}, 1);
        ExpectPart(training.Run(),
                   "tensor 0 of switch-ps has 6 key ranges (allowed: 5, as before)");
    }
};

/**
 * Bounded staleness, end to end: fast workers are ahead by the bound and no more. The weights
 * result from the gradients in the order of arrival.
 */
struct SwitchPsStragglerTest
{
    void Check(uint32_t staleness, double loss)
    {
        const std::string what =
            "staleness " + std::to_string(staleness) + ", loss " + std::to_string(loss);
        const Default bound("SwitchPsProgram::Staleness", std::to_string(staleness));
        constexpr uint32_t STEPS = 8;
        constexpr uint32_t RANKS = 4;
        constexpr uint64_t SIZE = 64 * 9;
        ClusterOptions options = MakeOptions(RANKS);
        options.loss = loss;
        SetKey(options, "slots", 4);
        Training training(options, {SIZE}, STEPS);
        const Pushes pushes(training.cluster, "Push");
        training.paces = {MicroSeconds(10), MicroSeconds(10), MicroSeconds(400), MicroSeconds(20)};
        NS_TEST_ASSERT_MSG_EQ(training.Run(), "", what);
        // A worker completes its last step when the slowest worker has started its own, that many
        // steps before.
        for (uint32_t rank : {0, 1, 3})
        {
            const int64_t lead = (training.finished[2] - training.finished[rank]).GetMicroSeconds();
            if (loss == 0)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lead), 400.0 * staleness, 40, what);
            }
            NS_TEST_EXPECT_MSG_EQ(training.GetWorker(rank)->GetLargestLead(), staleness, what);
        }
        NS_TEST_EXPECT_MSG_LT_OR_EQ(training.GetWorker(2)->GetLargestLead(), staleness, what);
        NS_TEST_EXPECT_MSG_EQ(pushes.GetMost(), 1, what << ": once");
        NS_TEST_EXPECT_MSG_EQ(pushes.order.size(), RANKS * STEPS * 9, what << ": all");
        std::vector<HostOptimizer> hosts(9, HostOptimizer("momentum", 0.01F, 0));
        std::vector<float> expected(SIZE);
        for (const auto& [job, packet, worker] : pushes.order)
        {
            const auto gradient = training.GetGradient(worker, packet / 9, 0);
            const auto begin = gradient.begin() + packet % 9 * 64;
            const auto& weights = hosts[packet % 9].Step({begin, begin + 64});
            std::copy(weights.begin(), weights.end(), expected.begin() + packet % 9 * 64);
        }
        training.CheckPulled(expected, what);
    }

    void Run()
    {
        const Default optimizer("SwitchPsProgram::Optimizer", "momentum");
        const Default timeout("SwitchPsCommunicator::RetransmissionTimeout", "100us");
        for (uint32_t staleness : {1, 2, 3})
        {
            Check(staleness, 0);
            Check(staleness, 0.02);
        }
        // The programs' reference has no order of arrival.
        const Default bound("SwitchPsProgram::Staleness", "1");
        const Cluster cluster(MakeOptions(2));
        ExpectPart(GetRefusal([&]() {
                       ReferenceSums(cluster).Get(0, 0, {{1}, {2}});
                   }),
                   "Staleness=1 with real payload");
        Simulator::Destroy();
    }
};

/** Host 1 impersonates the switch. */
void
Forge(Ptr<HostDevice> device)
{
    SwitchPsHeader header;
    header.clock = UINT32_MAX; // implies that the slowest worker has made no step
    Frame* frame = Frame::Make(header);
    frame->bytes = GetSwitchPsFrameBytes(64);
    frame->payloadBytes = 256;
    frame->payload = Create<ByteBuffer>();
    frame->payload->bytes.resize(256);
    frame->source = device->GetEndpoint();
    frame->destination = 0;
    device->GetPort().Send(frame);
}

void
Expect(const std::string& part)
{
    Training training(MakeOptions(2), {100}, 2);
    training.paces[1] = MilliSeconds(1);
    Simulator::ScheduleWithContext(training.cluster.GetFabric().hosts.Get(1)->GetId(),
                                   MicroSeconds(100),
                                   &Forge,
                                   training.cluster.GetFabric().devices[1]);
    ExpectPart(training.Run(), part);
}

/** Answers that break an invariant end the run. */
void
TestSwitchPsInvariant()
{
    const std::string answer = "the answer to packet 0 in slot 0 of switch-ps job 0 ";
    Expect(answer + "does not hold each worker's part once");
    const Default optimizer("SwitchPsProgram::Optimizer", "sgd");
    Expect(answer + "does not hold each worker's part once");
    const Default bound("SwitchPsProgram::Staleness", "1");
    const Default latency("SwitchPsProgram::PassLatency", "1ms");
    Expect(answer + "lets rank 0 go 2 steps ahead");
}

/** A switch that restarts in the middle of a tensor, and workers that fail. */
void
TestSwitchPsFailure()
{
    const Default timeout("InNetworkCommunicator::FailureTimeout", "20ms");
    const Default verify("SwitchPsProgram::Verify", "true");
    CheckPoolRestarts({MakeOptions(4)});
    CheckDeadSwitch(MakeOptions(4),
                    {"has had no answer to packet", "of switch-ps, nor to any other"});
    CheckDeadWorker(MakeOptions(4));
    const Default optimizer("SwitchPsProgram::Optimizer", "adam");
    for (uint32_t staleness : {0, 2})
    {
        const Default bound("SwitchPsProgram::Staleness", std::to_string(staleness));
        for (const std::string fault : {"switch0:restart,from=30us,until=33us",
                                        "switch0:down,from=30us",
                                        "host2:down,from=30us"})
        {
            ClusterOptions options = MakeOptions(4);
            options.faults = {fault};
            Training training(options, {20000}, 10);
            const std::string text = training.Run();
            NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MilliSeconds(100), "no hang");
            ExpectPart(text, "has had no answer to packet");
            ExpectPart(text, "the hosts cannot go on, as the weights are in the switch");
            // Workers are ahead of a failed one by the bound, whether its last step has arrived
            // or not.
            const auto dead = static_cast<uint32_t>(training.results[2].size());
            const auto other = static_cast<uint32_t>(training.results[0].size());
            const bool isAhead = other == dead + staleness || other == dead + 1 + staleness;
            NS_TEST_EXPECT_MSG_EQ((isAhead || fault[0] != 'h'), true, other << " steps");
        }
    }
}

/** Two jobs on one switch, each with its part of slots and weights. */
struct SwitchPsJobsTest
{
    void Check(const std::string& optimizer, float factor, const std::string& refusal)
    {
        const Default name("SwitchPsProgram::Optimizer", optimizer);
        const Default weights("SwitchPsProgram::Weights", "64000");
        const Default rate("SwitchPsProgram::LearningRate", "0.5");
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 6, DataRate("100Gbps"), MicroSeconds(1)));
        SwitchPsHelper helper;
        helper.SetProgramAttribute("Slots", UintegerValue(100));
        Job<SwitchPsCommunicator> jobs[2];
        jobs[0].Add(helper, fabric, {0, 2, 4}, 60, 32000);
        jobs[1].Add(helper, fabric, {1, 3, 5}, 40, 32000);
        ExpectPart(GetRefusal([&]() {
                       Job<SwitchPsCommunicator>().Add(helper, fabric, {0, 1}, 1, 32000);
                   }),
                   refusal);
        jobs[0].AllReduce(20000);
        jobs[1].AllReduce(20000, 10, 10);
        Simulator::Run();
        for (const auto& [job, sum] : {std::pair(&jobs[0], 6), std::pair(&jobs[1], 60)})
        {
            const float expected = factor * static_cast<float>(sum);
            NS_TEST_EXPECT_MSG_EQ(job->done.size(), 3, "all ranks");
            NS_TEST_EXPECT_MSG_EQ(job->GetRange(), std::pair(expected, expected), "of its own job");
        }
        const auto& counters = helper.GetProgram(0)->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.refused + counters.repeated + counters.stale, 0, "clean");
        NS_TEST_EXPECT_MSG_EQ(counters.added, 2 * 3 * 313, "each gradient");
        Simulator::Destroy();
    }

    void Run()
    {
        Check("none", 1, "switch-ps job 2 needs slots 100 to 100");
        Check("sgd", -0.5F, "switch-ps job 2 needs slots 100 to 100");

        // The parameter server is the switch with minimum distance to the farthest host.
        const Cluster leaf(MakeOptions(4, "leaf-spine:leaves=2,spines=2"));
        NS_TEST_EXPECT_MSG_NE(leaf.GetFabric().devicesOfSwitches[2]->GetProgram(0),
                              nullptr,
                              "a spine");
        NS_TEST_EXPECT_MSG_EQ(leaf.GetFabric().devicesOfSwitches[0]->GetProgram(0),
                              nullptr,
                              "no leaf");
        Simulator::Destroy();
    }
};

/** Closed forms of the time of an all-reduce: line rate, window, lanes, memory; Itsubo et al. */
struct SwitchPsTimeTest
{
    void Expect(const ClusterOptions& options,
                uint64_t count,
                double expected,
                const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(GetRate(options, count) / expected, 1, 0.01, what);
    }

    /** @return million numbers per second that a line carries */
    static double GetLineRate(double gigabits, uint32_t elements)
    {
        return elements * gigabits * 1e3 / (8 * (GetSwitchPsFrameBytes(elements) + 20));
    }

    void CheckLines()
    {
        for (uint32_t ranks : {2, 8, 16, 64})
        {
            ClusterOptions options = MakeOptions(ranks);
            SetKey(options, "elements-per-packet", 256);
            SetKey(options, "slots", 100);
            Expect(options, 1 << 20, GetLineRate(100, 256), std::to_string(ranks) + " ranks");
        }
        // Itsubo et al.: four GPUs at 10 Gbit/s get 98.3 % of the line.
        ClusterOptions options = MakeOptions(4);
        options.rate = DataRate("10Gbps");
        SetKey(options, "elements-per-packet", 1024);
        SetKey(options, "slots", 64);
        const double share = GetRate(options, 4 << 20) * 32e6 / 10e9;
        NS_TEST_EXPECT_MSG_EQ_TOL(share, 4096.0 / 4178, 0.001, "closed form: 98.04 %");
        NS_TEST_EXPECT_MSG_EQ_TOL(share, 0.983, 0.01, "published");
    }

    void CheckLimits()
    {
        // Window-limited: slots / round trip.
        ClusterOptions options = MakeOptions(2);
        options.delay = MicroSeconds(20);
        SetKey(options, "slots", 32);
        const double line = GetSwitchPsFrameBytes(64) + 8;
        const double roundTrip = 2 * 20e-6 + 500e-9 + 2 * line * 8 / 100e9;
        Expect(options, 1 << 19, 32 * 64 / roundTrip * 1e-6, "window");
        // Lane-limited: numbers per clock cycle, of all workers.
        for (uint32_t ranks : {2, 8})
        {
            const Default lanes("SwitchPsProgram::Lanes", "8");
            Expect(MakeOptions(ranks), 1 << 19, 8 * 200.0 / ranks, "eight lanes");
        }
        // Host-limited: a microsecond of one of two cores per packet.
        {
            const Default cost("SwitchPsCommunicator::PacketCost", "1us");
            const Default cores("SwitchPsCommunicator::Cores", "2");
            Expect(MakeOptions(2), 1 << 17, 2 * 64, "cores");
        }
        // Memory-limited: weights and two means are read and written per sum, or per gradient.
        const Default optimizer("SwitchPsProgram::Optimizer", "adam");
        const double memory = 238.9e3 / (6 * 32);
        Expect(MakeOptions(4), 1 << 19, memory, "memory, synchronous");
        const Default staleness("SwitchPsProgram::Staleness", "1");
        Expect(MakeOptions(4), 1 << 19, memory / 4, "memory, a step for each gradient");
    }

    /** ResNet-50, three workers at 10 Gbit/s (Hashmi): parameter server on a host, in a switch */
    void CheckBaseline()
    {
        constexpr uint64_t WEIGHTS = 25557032;
        ClusterOptions options = MakeOptions(3);
        options.rate = DataRate("10Gbps");
        SetKey(options, "elements-per-packet", 1024);
        SetKey(options, "slots", 64);
        const double inSwitch = WEIGHTS / GetRate(options, WEIGHTS) * 1e-6;
        NS_TEST_EXPECT_MSG_EQ_TOL(inSwitch, 4 * WEIGHTS * 8 / 10e9 * 4178 / 4096, 0.0005, "83 ms");
        // One link carries the weights three times in each direction: 490 ms.
        const double onHost = 2 * 3 * 4 * WEIGHTS * 8 / 10e9;
        NS_TEST_EXPECT_MSG_EQ_TOL(onHost, 0.49, 0.002, "closed form");
        NS_TEST_EXPECT_MSG_GT(onHost / inSwitch, 5.8, "almost six times shorter");
    }

    void Run()
    {
        CheckLines();
        CheckLimits();
        CheckBaseline();
    }
};

/** Named refusals of invalid requests. */
void
TestSwitchPsOptions()
{
    ExpectRefusals(
        {{4, "switch-ps", ""},
         {4, "switch-ps:framing=rdma", "'framing=rdma' (allowed: elements-per-packet=1 to 2048, "},
         {4, "switch-ps:optimizer=sgd2", "SwitchPsProgram::Optimizer='sgd2' (allowed: none, "},
         {65,
          "switch-ps:slots=64",
          "switch-ps job 0 has 65 workers at a switch (allowed: 1 to 64)"},
         {64, "switch-ps:elements-per-packet=256", "of register memory"},
         {4, "switch-ps:window=17,slots=16", "needs slots 0 to 16 (allowed: 0 to 15)"}});
    ExpectChoice(MakeOptions(4), "SwitchPsProgram::Optimizer", "none, adam, momentum, sgd");
    {
        const Default slots("SwitchPsProgram::Slots", "16");
        ExpectRefusals({{4, "switch-ps:window=17", "needs slots 0 to 16 (allowed: 0 to 15)"}});
        const Default elements("SwitchPsProgram::ElementsPerPacket", "2048");
        ExpectRefusals({{4, "switch-ps:slots=512,window=17", "of register memory"}});
    }
    const Default staleness("SwitchPsProgram::Staleness", "1");
    ExpectRefusal(MakeOptions(4), "Staleness=1 without an Optimizer (allowed: 0)");
    const Default optimizer("SwitchPsProgram::Optimizer", "adam");
    NS_TEST_EXPECT_MSG_EQ(Refuse(MakeOptions(4)), "", "but with one");
    {
        const Default adders("SwitchDevice::FloatAdders", "100");
        // 4 ports of 100 Gbit/s at 200 MHz: 63 lanes, of 6 adders each.
        ExpectRefusal(MakeOptions(4), "program switch-ps needs 378 float adders of a switch");
    }
    {
        const Default memory("SwitchDevice::ExternalMemory", "100000000");
        ExpectRefusal(MakeOptions(4), "of external memory");
    }
    ClusterOptions options = MakeOptions(64);
    options.rate = DataRate("800Gbps");
    ExpectRefusal(options, "needs 48000 float adders");
}

/** Few slots are reported, with a number that is enough; slow adders are another limit. */
void
TestSwitchPsLimit()
{
    for (const std::string key : {"slots", "window"})
    {
        ClusterOptions options = MakeOptions(4);
        NS_TEST_EXPECT_MSG_EQ(GetWarning(options), "", "the default");
        SetKey(options, key, 16);
        const std::string warning = GetWarning(options);
        ExpectPart(warning, key + "=16 limits switch-ps to ");
        SetKey(options, "lanes", 1);
        NS_TEST_EXPECT_MSG_EQ(GetWarning(options), "", "adders may be the limit");
        SetKey(options, "lanes", 0);
        FollowWarnings(options, key, warning);
    }
}

const Suite g_suite(
    "switch-ps",
    Duration::EXTENSIVE,
    {{"float32 sums are exact under loss, duplication and reordering", TestSwitchPsExact},
     {"training with an optimizer in the switch is exact", RunTest<SwitchPsWeightsTest>},
     {"stragglers, with bounded staleness", RunTest<SwitchPsStragglerTest>},
     {"an answer without all parts, or beyond the bound, is not used", TestSwitchPsInvariant},
     {"a switch restarts, a worker stops", TestSwitchPsFailure},
     {"two jobs share a switch; a third finds no room", RunTest<SwitchPsJobsTest>},
     {"times are those of the closed forms, within 1 %", RunTest<SwitchPsTimeTest>},
     {"options that do not fit are refused", TestSwitchPsOptions},
     {"a warning names slots that limit the rate", TestSwitchPsLimit}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::switch_ps_test
