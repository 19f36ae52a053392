/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/layer-workload.h"
#include "test-case.h"

#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"
#include "ns3/training-communicator.h"
#include "ns3/training-workload.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <memory>

namespace ns3::training::tests::layer_workload_test
{

using Operation = CollectiveOperation;

/**
 * A rank of four whose collectives take one nanosecond per byte, one after the other. It logs the
 * requests.
 */
class ClockCommunicator : public Communicator
{
  public:
    uint32_t GetRank() const override
    {
        return 0;
    }

    uint32_t GetSize() const override
    {
        return 4;
    }

    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t,
               Done done,
               ByteMatrix) override
    {
        static const std::map<CollectiveOperation, const char*> names{
            {CollectiveOperation::ALL_REDUCE, "AR"},
            {CollectiveOperation::REDUCE_SCATTER, "RS"},
            {CollectiveOperation::ALL_GATHER, "AG"},
            {CollectiveOperation::ALL_TO_ALL, "A2A"},
            {CollectiveOperation::BROADCAST, "B"}};
        Begin(names.at(operation), tensor, done);
    }

    std::string log; ///< requested collectives, with size and time

  private:
    void Begin(const char* what, const Ptr<Tensor>& tensor, const Done& done)
    {
        log += std::string(what) + std::to_string(tensor->bytes) + "@" +
               std::to_string(Simulator::Now().GetNanoSeconds()) + " ";
        m_free = std::max(m_free, Simulator::Now()) + NanoSeconds(tensor->bytes);
        if (tensor->bytes == 0)
        {
            NS_FATAL_ERROR("a collective without bytes");
        }
        Simulator::Schedule(m_free - Simulator::Now(), &ClockCommunicator::End, done);
    }

    static void End(Done done)
    {
        done();
    }

    Time m_free; // completion of all collectives so far
};

/** @return the work of a pass */
RowWork
Work(int64_t compute, uint64_t bytes = 0, Operation operation = Operation::ALL_REDUCE)
{
    return {NanoSeconds(compute), bytes > 0, operation, bytes};
}

/** Each order of work: start times of collectives and end of the iteration, computed by hand. */
struct LayerOrdersTestCase
{
    /**
     * @param loop model to train by four ranks
     * @param expected collectives, with sizes and times
     * @param end time at which all results are in place, ns
     */
    void Check(const std::string& name,
               const LayerWorkload& loop,
               uint32_t iterations,
               const std::string& expected,
               int64_t end)
    {
        auto communicator = CreateObject<ClockCommunicator>();
        auto application = CreateObject<TrainingApplication>();
        application->SetAttribute("Iterations", UintegerValue(iterations));
        const auto graph = std::make_shared<LayerRowsGraph>(DivideLayers(loop, 4));
        application->SetGraph(
            graph,
            0,
            communicator,
            std::vector<Ptr<Communicator>>(graph->GetGroups().size(), communicator));
        finished.clear();
        lastEnd = Time(-1);
        application->TraceConnectWithoutContext("Finished",
                                                MakeCallback(&LayerOrdersTestCase::OnFinish, this));
        application->TraceConnectWithoutContext("IterationEnd",
                                                MakeCallback(&LayerOrdersTestCase::OnEnd, this));
        CreateObject<Node>()->AddApplication(application);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(communicator->log, expected, name);
        NS_TEST_EXPECT_MSG_EQ(application->IsFinished(), true, name);
        NS_TEST_ASSERT_MSG_EQ(finished.size(), iterations, name);
        NS_TEST_EXPECT_MSG_EQ(lastEnd, NanoSeconds(end), name);
        for (uint32_t i = 0; i < iterations; i++)
        {
            const Time start = i == 0 ? Time(0) : finished[i - 1].end;
            NS_TEST_EXPECT_MSG_EQ(finished[i].start, start, name << ": no gap");
        }
        Simulator::Destroy();
    }

    /** Sink of Finished. */
    void OnFinish(uint32_t)
    {
        lastEnd = Simulator::Now();
    }

    /** Sink of IterationEnd. */
    void OnEnd(uint32_t, uint32_t, const RankIteration& measured)
    {
        finished.push_back(measured);
    }

    /**
     * @param iteration number of the iteration of the last Check()
     * @param compute expected compute time, ns
     * @param communication expected communication time, ns
     */
    void ExpectTimes(uint32_t iteration, int64_t compute, int64_t communication)
    {
        const RankIteration& measured = finished.at(iteration);
        NS_TEST_EXPECT_MSG_EQ(measured.computeTime, NanoSeconds(compute), "compute");
        NS_TEST_EXPECT_MSG_EQ(measured.communicationTime,
                              NanoSeconds(communication),
                              "communication of iteration " << iteration);
    }

    void Run()
    {
        LayerWorkload loop;
        std::string name = "data";
        loop.rows.rows = {{"a", {Work(10), Work(1000), Work(30, 100)}, NanoSeconds(5)},
                          {"b", {Work(20), Work(7), Work(40, 200)}, NanoSeconds(8)}};
        // Forward until 30; b's weights until 70, inputs until 77; a's weights until 107, no
        // inputs. b's sum arrives at 270 and is applied at 278; a's at 370 and 375.
        Check(name, loop, 1, "AR200@70 AR100@107 ", 375);
        ExpectTimes(0, 107, 300);
        // Then a's forward pass until 385, b's until 405.
        Check(name, loop, 2, "AR200@70 AR100@107 AR200@445 AR100@482 ", 750);
        ExpectTimes(0, 107, 300);
        ExpectTimes(1, 107, 300);

        name = "data, compute longer than collectives";
        loop.rows.rows[1].works[0].compute = NanoSeconds(1000);
        loop.rows.rows[1].works[2].bytes = 10;
        // Forward until 1010; b until 1050, 1057; a until 1087; its sum at 1187, applied at 1192.
        Check(name, loop, 1, "AR10@1050 AR100@1087 ", 1192);

        name = "model";
        loop.rows.order = LayerRows::Order::MODEL;
        loop.rows.rows = {
            {"a", {Work(10, 25, Operation::ALL_GATHER), Work(15, 60), Work(30)}, NanoSeconds(5)},
            {"b", {Work(20, 50, Operation::ALL_GATHER), Work(7, 100), Work(40)}, NanoSeconds(8)}};
        // a until 10, its 4 x 25 bytes at 110, applied at 115; b until 135, 335, 343; its inputs
        // until 350, weights until 390, but the sum is applied only at 458; a until 473 and 503,
        // without a sum.
        Check(name, loop, 1, "AG100@10 AG200@135 AR100@350 ", 503);
        ExpectTimes(0, 122, 400);

        name = "hybrid";
        loop.rows.rows[0].works[2] = Work(30, 70);
        loop.rows.rows[1].works[2] = Work(40, 80);
        // b's weights at 390 wait for its inputs, 450 until 530, 538; a until 473 and 503; 600,
        // 605.
        Check(name, loop, 1, "AG100@10 AG200@135 AR100@350 AR80@390 AR70@503 ", 605);
        // a's forward pass starts only at 605; b's sum is applied long before.
        Check(name,
              loop,
              2,
              "AG100@10 AG200@135 AR100@350 AR80@390 AR70@503 "
              "AG100@615 AG200@740 AR100@955 AR80@995 AR70@1108 ",
              1210);

        name = "embedding";
        loop.rows.order = LayerRows::Order::EMBEDDING;
        loop.rows.lastBottom = 1;
        const auto exchange = Operation::ALL_TO_ALL;
        loop.rows.rows = {
            {"embedding", {Work(3, 500, exchange), Work(999, 300, exchange), Work(2)}, {}},
            {"bottom", {Work(10), Work(11), Work(12, 40)}, NanoSeconds(1)},
            {"top", {Work(20), Work(21), Work(22, 80)}, NanoSeconds(1)}};
        // The exchange runs from 3 to 503, while the bottom computes until 13; top until 523; its
        // weights until 545, inputs until 566, when the exchange of gradients is issued; it runs
        // after the sum, 625 to 925; bottom until 578 and 589, its sum after that: 965, 966; the
        // embedding until 591.
        Check(name, loop, 1, "A2A500@3 AR80@545 A2A300@566 AR40@578 ", 966);
        // The iteration waits for the exchange, and for the bottom's sum; the embedding has none.
        Check(name,
              loop,
              2,
              "A2A500@3 AR80@545 A2A300@566 AR40@578 "
              "A2A500@928 AR80@1507 A2A300@1528 AR40@1540 ",
              1928);
        // The first iteration ends with its exchange at 925: 3 to 503 and 545 to 925. In the second
        // one the first one's sum goes on to 965, the exchange to 1465; then 1507 to 1887, when the
        // iteration ends; the sum of bottom to 1927 is in no iteration.
        ExpectTimes(0, 101, 880);
        ExpectTimes(1, 101, 920);
    }

    Time lastEnd;                        // of all results
    std::vector<RankIteration> finished; // of the last Check()
};

/**
 * The layer files of ASTRA-sim: sums of their columns, without parts that an iteration omits (input
 * gradients of a first layer, whose inputs are data, or their collective).
 */
struct AstraSimLoopsTestCase
{
    /// Operation, groups and bytes of collectives.
    using Volume = std::map<std::pair<Operation, uint32_t>, uint64_t>;

    void Check(const std::string& workload,
               const std::map<std::string, int64_t>& computes,
               const Volume& volume,
               int64_t updates)
    {
        WorkloadRequest request;
        request.ranks = 8;
        const auto graph = MakeWorkload(workload, request).graph;
        const auto source = graph->MakeSource(0, 1);
        std::map<std::string, int64_t> actual;
        Volume bytes;
        Time update;
        for (GraphTask task; source->Next(task); task = {})
        {
            const std::string name = graph->GetNames()[task.name];
            if (task.kind == TaskKind::COMPUTE)
            {
                actual[name.substr(0, name.rfind(' '))] += task.length.GetNanoSeconds();
            }
            else if (task.kind == TaskKind::COLLECTIVE)
            {
                bytes[{task.operation, task.groups}] += task.bytes;
            }
            update += task.kind == TaskKind::MEMORY ? task.length : Time();
        }
        NS_TEST_EXPECT_MSG_EQ(actual, computes, workload << ", compute");
        NS_TEST_EXPECT_MSG_EQ(bytes, volume, workload << ", collectives");
        NS_TEST_EXPECT_MSG_EQ(update, NanoSeconds(updates), workload);
    }

    /** @return the refusal of a workload with eight ranks */
    static std::string GetRefusal(const std::string& workload, bool overlap = true)
    {
        WorkloadRequest request;
        request.ranks = 8;
        request.buckets.overlap = overlap;
        return training::tests::GetRefusal([&] { MakeWorkload(workload, request); });
    }

    void Run()
    {
        Check("dlrm-hybrid-parallel",
              {{"forward", 19020}, {"input gradient", 18714}, {"weight gradient", 13644}},
              {{{Operation::ALL_TO_ALL, 1}, 2 * 98304}, {{Operation::ALL_REDUCE, 0}, 3191808}},
              2 * 98 + 3190);
        Check("dlrm-hybrid-parallel:exchange=7",
              {{"forward", 19020}, {"input gradient", 18714}, {"weight gradient", 13644}},
              {{{Operation::ALL_TO_ALL, 1}, 2 * 7}, {{Operation::ALL_REDUCE, 0}, 3191808}},
              2 * 98 + 3190);
        // Each of eight ranks contributes an eighth to an all-gather.
        Check("mlp-model-parallel",
              {{"forward", 78883}, {"input gradient", 78883}, {"weight gradient", 37440}},
              {{{Operation::ALL_GATHER, 0}, 8 * 447232},
               {{Operation::ALL_REDUCE, 0}, 447232 - 37632}},
              2 * 7888 - 3229);
        Check("mlp-hybrid-parallel:group=4",
              {{"forward", 78883}, {"input gradient", 78883}, {"weight gradient", 78883}},
              {{{Operation::ALL_GATHER, 1}, 4 * 447232},
               {{Operation::ALL_REDUCE, 1}, 447232 - 37632},
               {{Operation::ALL_REDUCE, 2}, 447232}},
              3 * 7888 - 3229);

        WorkloadRequest request;
        request.ranks = 8;
        request.serverRanks = 2;
        const auto graph = MakeWorkload("mlp-hybrid-parallel", request).graph;
        const auto& groups = graph->GetGroups();
        using Groups = std::vector<std::vector<uint32_t>>;
        NS_TEST_EXPECT_MSG_EQ(groups.at(1).groups,
                              (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}),
                              "servers share a model");
        NS_TEST_EXPECT_MSG_EQ(groups.at(2).groups,
                              (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}),
                              "between servers");

        for (const auto& [refusal, part] : std::map<std::string, std::string>{
                 {GetRefusal("mlp-hybrid-parallel:group=3"), "8 ranks in groups of 3 (allowed: "},
                 {GetRefusal("mlp-hybrid-parallel:group=0"), "group=0"},
                 {GetRefusal("mlp-model-parallel:group=4"), "group"},
                 {GetRefusal("dlrm-hybrid-parallel:exchange=0"), "exchange=0"},
                 {GetRefusal("mlp-model-parallel:exchange=8"), "exchange"},
                 {GetRefusal("dlrm-hybrid-parallel", false), "gpu (allowed: "}})
        {
            ExpectPart(refusal, part);
        }
    }
};

const Suite g_suite("layer-workload",
                    Duration::QUICK,
                    {{"data, model and hybrid parallel iterations to the nanosecond",
                      RunTest<LayerOrdersTestCase>},
                     {"sums of the layer files of ASTRA-sim, and the groups of ranks",
                      RunTest<AstraSimLoopsTestCase>}});

} // namespace ns3::training::tests::layer_workload_test
