/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "parallel/transformer-graph.h"
#include "quantized-test-common.h"
#include "run/job-check.h"

#include "ns3/boolean.h"
#include "ns3/gradient-source.h"
#include "ns3/graph-checker.h"
#include "ns3/guarded-run.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/simulator.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/training-run.h"

#include <map>
#include <memory>
#include <set>

namespace ns3::training::tests::whole_job_quantized_test
{

/// Seed of the numbers, the default of TrainingApplication.
constexpr uint64_t SEED = 1;

/** @return options of a job with ZeRO++ @param near ranks of a node @param model in JSON */
TrainingRunOptions
MakeOptions(uint32_t data, uint32_t near, const std::string& model)
{
    TrainingRunOptions options;
    options.model.model = WriteFile("model.json", model);
    options.model.parallel.zero = 3;
    options.model.parallel.globalBatch = data;
    options.model.parallel.hpzPartition = near;
    options.model.parallel.quantizedWeights = true;
    options.model.parallel.quantizedGradients = true;
    options.cluster.ranks = data;
    return options;
}

/** ZeRO++ with real numbers: what every rank ends with is computed once more. */
struct QuantizedJobTestCase
{
    /** What has arrived at a rank. */
    struct Arrival
    {
        uint32_t rank{0};
        GraphTask task;
        uint64_t number{0};
        Ptr<const Tensor> result;
    };

    void OnArrival(uint32_t rank, const GraphTask& task, uint64_t number, Ptr<const Tensor> result)
    {
        if (task.code)
        {
            arrivals.push_back({rank, task, number, result});
        }
    }

    static void OnSend(std::map<uint32_t, uint64_t>* sent,
                       uint32_t groups,
                       const MessageRecord& message)
    {
        (*sent)[groups] += message.source == 0 ? message.bytes : 0;
    }

    /** Runs an iteration of a job. */
    void Run(uint32_t data, uint32_t near)
    {
        arrivals.clear();
        sentBytes.clear();
        auto options = MakeOptions(data,
                                   near,
                                   R"({"layers": 1, "hidden": 96, "heads": 4, "feed_forward": 200,
                                       "vocabulary": 303, "sequence": 32})");
        options.model.parallel.data = data;
        options.cluster.algorithm = "direct"; // no rank forwards the parts of others
        const auto plan = options.model.MakePlan(data);
        graph = std::make_shared<TransformerGraph>(plan, TransformerRates{1e14, 1e12});
        check = CheckJob(plan, {1e14, 1e12}, options.cluster);
        const Cluster cluster(options.cluster);
        std::vector<std::set<CollectiveOperation>> operations(graph->GetGroups().size());
        const auto source = graph->MakeSource(0, 1);
        for (GraphTask task; source->Next(task); task = {})
        {
            if (task.kind == TaskKind::COLLECTIVE)
            {
                operations[task.groups].insert(task.operation);
            }
        }
        TrainingJobHelper helper;
        helper.SetAttribute("RealPayload", BooleanValue(true));
        const auto applications = helper.Install(cluster, graph, operations, "");
        TrainingJob job(data, 1, 0, 0.0);
        std::vector<Ptr<TrainingApplication>> ranks;
        for (uint32_t rank = 0; rank < data; rank++)
        {
            ranks.push_back(DynamicCast<TrainingApplication>(applications.Get(rank)));
            ranks[rank]->TraceConnectWithoutContext(
                "Arrival",
                MakeCallback(&QuantizedJobTestCase::OnArrival, this));
            job.Observe(ranks[rank]);
        }
        const auto& groups = ranks[0]->GetCommunicators();
        for (uint32_t index = 0; index < groups.size(); index++)
        {
            if (groups[index])
            {
                groups[index]->TraceConnectWithoutContext(
                    "Send",
                    MakeBoundCallback(&QuantizedJobTestCase::OnSend, &sentBytes, index));
            }
        }
        GuardedRun run(cluster);
        job.OnRanksFinished([&] { run.End(); });
        run.Run();
        CheckChecker(ranks);
    }

    /** A checker accepts what has arrived, and finds one wrong number in it. */
    void CheckChecker(const std::vector<Ptr<TrainingApplication>>& ranks)
    {
        const auto schedules = [&ranks](uint32_t rank, const GraphTask& task) {
            const auto group = ranks[rank]->GetCommunicators()[task.groups];
            return DynamicCast<ScheduledCommunicator>(group)->GetSchedule(task.operation,
                                                                          task.bytes,
                                                                          task.peer);
        };
        const std::size_t count = arrivals.size();
        for (const std::size_t wrong : {count, std::size_t{0}, count / 2, count - 1})
        {
            GraphChecker checker(graph,
                                 GraphChecker::From(MakeGradientSource("hash")),
                                 SEED,
                                 GraphChecker::Execute(schedules));
            std::size_t right = 0;
            for (std::size_t i = 0; i < count; i++)
            {
                Tensor result = *arrivals[i].result;
                if (i == wrong)
                {
                    float& last = result.values.back();
                    last = std::nextafter(last, 2 * std::fabs(last) + 1);
                }
                const Arrival& arrival = arrivals[i];
                right += checker.Check(arrival.rank, arrival.task, arrival.number, result);
            }
            NS_TEST_EXPECT_MSG_EQ(right, count - (wrong < count ? 1 : 0), "but the wrong one");
            NS_TEST_EXPECT_MSG_EQ(checker.GetMismatch().empty(),
                                  (wrong == count),
                                  checker.GetMismatch());
        }
    }

    /** @return numbers of a rank in a collective */
    Numbers MakeOwn(uint32_t rank, const GraphTask& task, uint64_t number, uint64_t count) const
    {
        return MakeGradientSource("hash")->Make(GetGraphPlace(*graph, SEED, rank, task, 0, number),
                                                count);
    }

    void CheckGather(const Arrival& arrival)
    {
        const auto group = graph->GetGroup(arrival.task.groups, arrival.rank);
        Numbers all;
        for (uint32_t member : group)
        {
            const auto own =
                MakeOwn(member, arrival.task, arrival.number, arrival.task.code->count);
            const Coded coded = Quantize(own, 8, 8000);
            NS_TEST_EXPECT_MSG_EQ(IsClose(coded, own), true, "within half a step");
            NS_TEST_EXPECT_MSG_EQ(4 * group.size() * coded.words.size(),
                                  arrival.task.bytes,
                                  "declared size");
            all.insert(all.end(), coded.numbers.begin(), coded.numbers.end());
        }
        NS_TEST_EXPECT_MSG_EQ(GetBits(arrival.result->values),
                              GetBits(all),
                              "weights at " << arrival.rank);
    }

    const Arrival* Find(uint32_t rank, PlanGroups groups, uint64_t index) const
    {
        for (const Arrival& arrival : arrivals)
        {
            const bool isSame = arrival.rank == rank &&
                                arrival.task.operation == CollectiveOperation::ALL_TO_ALL &&
                                arrival.task.groups == static_cast<uint32_t>(groups);
            if (isSame && index-- == 0)
            {
                return &arrival;
            }
        }
        return nullptr;
    }

    /** Sums of parts that some ranks send to one of them. */
    struct Sums
    {
        Numbers numbers;
        std::vector<double> exact;  ///< without any code
        std::vector<double> bounds; ///< of the difference, without the rounding of sums
    };

    /** Adds what a rank sends: as it is decoded, as it is, and with the bound of its error. */
    void AddPart(Sums& sums, const Sums& part, const Arrival& arrival)
    {
        const Coded coded = Quantize(part.numbers, 4, 96);
        const auto size = graph->GetGroup(arrival.task.groups, arrival.rank).size();
        NS_TEST_EXPECT_MSG_EQ(4 * size * coded.words.size(), arrival.task.bytes, "declared size");
        NS_TEST_EXPECT_MSG_EQ(IsClose(coded, part.numbers), true, "within half a step");
        Add(sums.numbers, coded.numbers);
        sums.exact.resize(part.exact.size());
        sums.bounds.resize(part.exact.size());
        for (std::size_t i = 0; i < part.exact.size(); i++)
        {
            sums.exact[i] += part.exact[i];
            sums.bounds[i] += part.bounds[i] + coded.half[i];
        }
    }

    /** @return the part of a place in some numbers of a rank */
    static Sums Take(const Sums& all, uint32_t place, uint64_t count)
    {
        const auto first = static_cast<std::ptrdiff_t>(place * count);
        const auto end = first + static_cast<std::ptrdiff_t>(count);
        return {GetPart(all.numbers, place, count),
                {all.exact.begin() + first, all.exact.begin() + end},
                {all.bounds.begin() + first, all.bounds.begin() + end}};
    }

    static Sums MakeExact(const Numbers& numbers)
    {
        return {numbers,
                std::vector<double>(numbers.begin(), numbers.end()),
                std::vector<double>(numbers.size())};
    }

    /** @return what a rank sends across: gradients of its own, or sums inside its node */
    Sums MakeInside(uint32_t rank, uint32_t near, const Arrival* across, uint64_t index)
    {
        if (near == 1)
        {
            const uint64_t ranks = graph->GetGroup(across->task.groups, rank).size();
            return MakeExact(
                MakeOwn(rank, across->task, across->number, ranks * across->task.code->count));
        }
        const Arrival& inside = *Find(rank, PlanGroups::SHARD, index);
        const uint64_t count = inside.task.code->count;
        Sums sums;
        for (uint32_t sender = rank - rank % near; sender < rank - rank % near + near; sender++)
        {
            const auto own = MakeOwn(sender, inside.task, inside.number, near * count);
            AddPart(sums, Take(MakeExact(own), rank % near, count), inside);
        }
        NS_TEST_EXPECT_MSG_EQ(GetBits(inside.result->values),
                              GetBits(sums.numbers),
                              "sums inside the node of " << rank);
        return sums;
    }

    /** Gradients of a unit that rank `rank` has at the end. */
    void CheckGradients(uint32_t data, uint32_t near, uint32_t rank, uint64_t index)
    {
        const Arrival* across = Find(rank, PlanGroups::REPLICA, index);
        NS_TEST_ASSERT_MSG_EQ((across != nullptr), (data > near), "an exchange between nodes");
        Sums sums;
        if (!across)
        {
            sums = MakeInside(rank, near, nullptr, index);
        }
        for (uint32_t from = 0; from < data / near && across; from++)
        {
            const Sums inside = MakeInside(from * near + rank % near, near, across, index);
            AddPart(sums, Take(inside, rank / near, across->task.code->count), *across);
        }
        if (across)
        {
            NS_TEST_EXPECT_MSG_EQ(GetBits(across->result->values),
                                  GetBits(sums.numbers),
                                  "sums of all nodes at " << rank);
        }
        bool isClose = true;
        for (std::size_t i = 0; i < sums.exact.size(); i++)
        {
            const double error = std::fabs(sums.numbers[i] - sums.exact[i]);
            isClose &= error <= sums.bounds[i] * (1 + 1e-5);
        }
        NS_TEST_EXPECT_MSG_EQ(isClose, true, "gradients of " << rank << " within half steps");
    }

    /** What rank 0 sends is what it declares, and what a check without a simulation says. */
    void CheckBytes()
    {
        std::map<uint32_t, uint64_t> declared; // by groups
        uint64_t all = 0;
        for (const Arrival& arrival : arrivals)
        {
            const auto size = graph->GetGroup(arrival.task.groups, 0).size();
            const uint64_t bytes = arrival.task.bytes / size * (size - 1);
            declared[arrival.task.groups] += arrival.rank == 0 ? bytes : 0;
            all += arrival.rank == 0 ? bytes : 0;
        }
        for (const auto& [groups, bytes] : sentBytes)
        {
            NS_TEST_EXPECT_MSG_EQ(bytes, declared[groups], "bytes of groups " << groups);
        }
        NS_TEST_EXPECT_MSG_EQ(sentBytes.size(), declared.size(), "groups that communicate");
        uint64_t checked = 0;
        for (const CheckedGroup& group : check.groups)
        {
            for (const CheckedCollective& each : group.collectives)
            {
                checked += each.count * (each.bytes / group.size * (group.size - 1));
            }
        }
        NS_TEST_EXPECT_MSG_EQ(checked, all, "bytes of the check");
    }

    void Check(uint32_t data, uint32_t near)
    {
        Run(data, near);
        Simulator::Destroy();
        CheckBytes();
        uint64_t gathers = 0;
        for (const Arrival& arrival : arrivals)
        {
            if (arrival.task.operation == CollectiveOperation::ALL_GATHER)
            {
                CheckGather(arrival);
                gathers++;
            }
        }
        // With one rank in a node there is nothing to gather in the backward pass.
        constexpr uint64_t UNITS = 3;
        NS_TEST_EXPECT_MSG_EQ(gathers, (near == 1 ? 1 : 2) * UNITS * data, "gathers");
        const uint64_t exchanges = (near > 1 ? 1 : 0) + (data > near ? 1 : 0);
        NS_TEST_EXPECT_MSG_EQ(arrivals.size() - gathers, exchanges * UNITS * data, "exchanges");
        for (uint64_t unit = 0; unit < UNITS; unit++)
        {
            for (uint32_t rank = 0; rank < data; rank++)
            {
                CheckGradients(data, near, rank, unit);
            }
        }
    }

    void Run()
    {
        Check(4, 2);
        Check(6, 3);
        Check(3, 1);
        Check(4, 4);
    }

    std::shared_ptr<const TransformerGraph> graph;
    JobCheck check;
    std::vector<Arrival> arrivals;
    std::map<uint32_t, uint64_t> sentBytes; // by rank 0, by groups
};

/** @return a model of so many hidden numbers */
std::string
MakeModel(uint64_t hidden)
{
    return R"({"layers": 1, "heads": 1, "feed_forward": 3, "vocabulary": 5, "sequence": 4,
            "hidden": )" +
           std::to_string(hidden) + "}";
}

void
Check(uint32_t data, uint32_t near, uint64_t hidden, const std::string& transport)
{
    TrainingRunOptions options = MakeOptions(data, near, MakeModel(hidden));
    options.cluster.transport = transport;
    options.iterations = 1;
    const std::string what = std::to_string(data) + " ranks, " + std::to_string(near) + " near, " +
                             std::to_string(hidden) + ", " + transport;
    options.payload = "virtual";
    const auto without = TrainingRun(options).Run();
    options.payload = "real";
    const auto with = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(with.mismatch, "", what);
    NS_TEST_ASSERT_MSG_EQ(with.iterations.size(), 2, what);
    NS_TEST_ASSERT_MSG_EQ(without.iterations.size(), 2, what);
    for (std::size_t i = 0; i < 2; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(with.iterations[i].iterationTimeS,
                              without.iterations[i].iterationTimeS,
                              what);
        NS_TEST_EXPECT_MSG_EQ(with.iterations[i].verified, (data > 1), what << ": compared");
    }
}

/** A job that fails between its exchanges does them again. */
void
CheckRestart()
{
    TrainingRunOptions options = MakeOptions(4, 2, MakeModel(64));
    options.payload = "real";
    options.iterations = 5;
    options.life.checkpoint = LifeOptions::ASYNCHRONOUS;
    options.life.every = 2;
    options.life.bytes = 4000;
    options.life.spares = 1;
    options.life.repair = MicroSeconds(5);
    for (const std::string time : {"80us", "83us", "86us", "90us", "93us"})
    {
        options.life.fail = {"rank1:" + time};
        const auto result = TrainingRun(options).Run();
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", time);
        NS_TEST_ASSERT_MSG_EQ(result.iterations.size(), 6, time);
        NS_TEST_EXPECT_MSG_EQ(result.figures.Find<LifeFigures>()->restarts, 1, time);
        for (const IterationRecord& record : result.iterations)
        {
            NS_TEST_EXPECT_MSG_EQ(record.verified, true, time);
        }
    }
}

/** Whole runs: real numbers cost no simulated time, also of parts that are smaller than a scale. */
void
TestQuantizedTimes()
{
    CheckRestart();
    Check(1, 0, 8, "rdma");
    Check(2, 0, 1, "rdma");
    Check(3, 3, 1, "rdma");
    Check(3, 0, 7, "tcp");
    Check(4, 2, 8, "uec");
    Check(16, 4, 1, "rdma"); // most parts of the smallest units are padding
}

const Suite g_suite("whole-job-quantized",
                    Duration::EXTENSIVE,
                    {{"weights of 8 bits and gradients of 4 bits arrive as computed independently",
                      RunTest<QuantizedJobTestCase>},
                     {"real numbers in code take the same time, and are right",
                      TestQuantizedTimes}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::whole_job_quantized_test
