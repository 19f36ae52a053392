/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/communicator.h"
#include "ns3/layer-loop-application.h"
#include "ns3/layer-loop.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-layer-loop-tests Tests of trainings layer by layer
 */

using namespace ns3;
using namespace ns3::training;

namespace
{

using Operation = CollectiveOperation;

/**
 * @ingroup distributed-training-layer-loop-tests
 * A rank of four whose collectives take a nanosecond a byte, one after the other; it writes down
 * what is asked of it.
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

    std::string log; ///< what was asked, with its size and time

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

    Time m_free; // when all so far are over
};

/** @return what a pass does */
LayerWork
Work(int64_t compute, uint64_t bytes = 0, Operation operation = Operation::ALL_REDUCE)
{
    return {NanoSeconds(compute), operation, bytes};
}

} // namespace

/**
 * @ingroup distributed-training-layer-loop-tests
 * Each order of work: when collectives start, and when all is over, worked out by hand.
 */
class LayerLoopTestCase : public TestCase
{
  public:
    LayerLoopTestCase()
        : TestCase("data, model and hybrid parallel iterations to the nanosecond")
    {
    }

  private:
    /**
     * @param loop what to train
     * @param iterations how often
     * @param expected collectives, with sizes and times
     * @param end time of the last
     */
    void Check(const LayerLoop& loop, uint32_t iterations, const std::string& expected, int64_t end)
    {
        UsePicoseconds();
        auto communicator = CreateObject<ClockCommunicator>();
        auto application = CreateObject<LayerLoopApplication>();
        uint32_t finished = 0;
        application->SetAttribute("Iterations", UintegerValue(iterations));
        application->SetTask(loop, {communicator, communicator, communicator}, [&finished] {
            finished++;
        });
        CreateObject<Node>()->AddApplication(application);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(communicator->log, expected, loop.name);
        NS_TEST_EXPECT_MSG_EQ(application->GetFinishTime(), NanoSeconds(end), loop.name);
        NS_TEST_EXPECT_MSG_EQ(finished, 1, loop.name);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        LayerLoop loop;
        loop.name = "data";
        loop.layers = {{"a", {Work(10), Work(1000), Work(30, 100)}, NanoSeconds(5)},
                       {"b", {Work(20), Work(7), Work(40, 200)}, NanoSeconds(8)}};
        // Forward to 30; b's weights to 70, inputs to 77; a's weights to 107, none of its inputs;
        // b's sum at 270 and in place at 278; a's at 370 and 375.
        Check(loop, 1, "AR200@70 AR100@107 ", 375);
        // Then a's forward pass to 385, b's to 405.
        Check(loop, 2, "AR200@70 AR100@107 AR200@445 AR100@482 ", 750);
        NS_TEST_EXPECT_MSG_EQ(GetComputeTime(loop), NanoSeconds(107), "compute");

        loop.name = "data, compute longer than collectives";
        loop.layers[1].works[0].compute = NanoSeconds(1000);
        loop.layers[1].works[2].bytes = 10;
        // Forward to 1010; b to 1050, 1057; a to 1087; its sum at 1187 and in place at 1192.
        Check(loop, 1, "AR10@1050 AR100@1087 ", 1192);

        loop.name = "model";
        loop.order = LayerLoop::Order::MODEL;
        loop.layers = {
            {"a", {Work(10, 25, Operation::ALL_GATHER), Work(15, 60), Work(30)}, NanoSeconds(5)},
            {"b", {Work(20, 50, Operation::ALL_GATHER), Work(7, 100), Work(40)}, NanoSeconds(8)}};
        // a to 10, its 4 x 25 bytes at 110 and in place at 115; b to 135, 335, 343; its inputs to
        // 350, weights to 390, but the sum is in place at 458 only; a to 473 and 503, without a
        // sum.
        Check(loop, 1, "AG100@10 AG200@135 AR100@350 ", 503);
        NS_TEST_EXPECT_MSG_EQ(GetComputeTime(loop), NanoSeconds(122), "compute");

        loop.name = "hybrid";
        loop.layers[0].works[2].bytes = 70;
        loop.layers[1].works[2].bytes = 80;
        // b's weights at 390 wait for its inputs, 450 to 530, 538; a to 473 and 503; 600, 605.
        Check(loop, 1, "AG100@10 AG200@135 AR100@350 AR80@390 AR70@503 ", 605);
        // a's forward begins at 605 only, b's sum is long in place.
        Check(loop,
              2,
              "AG100@10 AG200@135 AR100@350 AR80@390 AR70@503 "
              "AG100@615 AG200@740 AR100@955 AR80@995 AR70@1108 ",
              1210);

        loop.name = "embedding";
        loop.order = LayerLoop::Order::EMBEDDING;
        loop.lastBottom = 1;
        const auto exchange = Operation::ALL_TO_ALL;
        loop.layers = {
            {"embedding", {Work(3, 500, exchange), Work(999, 300, exchange), Work(2)}, {}},
            {"bottom", {Work(10), Work(11), Work(12, 40)}, NanoSeconds(1)},
            {"top", {Work(20), Work(21), Work(22, 80)}, NanoSeconds(1)}};
        // The exchange from 3 to 503 while the bottom computes to 13; top to 523; its weights to
        // 545, inputs to 566, when the exchange of gradients begins behind the sum: 625 to 925;
        // bottom to 578 and 589, its sum behind: 965, 966; the embedding to 591.
        Check(loop, 1, "A2A500@3 AR80@545 A2A300@566 AR40@578 ", 966);
        // The exchange is waited for, and bottom for its sum, but the embedding has none.
        Check(loop,
              2,
              "A2A500@3 AR80@545 A2A300@566 AR40@578 "
              "A2A500@928 AR80@1507 A2A300@1528 AR40@1540 ",
              1928);
    }
};

/**
 * @ingroup distributed-training-layer-loop-tests
 * The layer files of ASTRA-sim: sums of their columns.
 */
class AstraSimLoopsTestCase : public TestCase
{
  public:
    AstraSimLoopsTestCase()
        : TestCase("sums of the layer files of ASTRA-sim")
    {
    }

  private:
    void Check(const LayerLoop& loop,
               const std::string& name,
               std::array<int64_t, LAYER_PASSES> computes,
               std::array<uint64_t, LAYER_PASSES> bytes,
               int64_t updates)
    {
        NS_TEST_EXPECT_MSG_EQ(loop.name, name, "order");
        Time update;
        for (const LoopLayer& layer : loop.layers)
        {
            update += layer.update;
        }
        NS_TEST_EXPECT_MSG_EQ(update, NanoSeconds(updates), name);
        for (uint32_t pass = 0; pass < LAYER_PASSES; pass++)
        {
            Time compute;
            uint64_t size = 0;
            for (const LoopLayer& layer : loop.layers)
            {
                compute += layer.works[pass].compute;
                size += layer.works[pass].bytes;
            }
            NS_TEST_EXPECT_MSG_EQ(compute, NanoSeconds(computes[pass]), name << ", pass " << pass);
            NS_TEST_EXPECT_MSG_EQ(size, bytes[pass], name << ", pass " << pass);
        }
    }

    void DoRun() override
    {
        const auto loops = GetAstraSimLoops();
        NS_TEST_ASSERT_MSG_EQ(loops.size(), 3, "loops");
        Check(loops[0],
              "DLRM_HybridParallel",
              {19020, 19014, 13644},
              {98304, 98304, 3191808},
              3288);
        Check(loops[1], "MLP_ModelParallel", {78883, 78883, 37440}, {447232, 447232, 0}, 7888);
        Check(loops[2],
              "MLP_HybridParallel_Data_Model",
              {78883, 78883, 78883},
              {447232, 447232, 447232},
              7888);
    }
};

/**
 * @ingroup distributed-training-layer-loop-tests
 * The suite.
 */
class LayerLoopTestSuite : public TestSuite
{
  public:
    LayerLoopTestSuite()
        : TestSuite("distributed-training-layer-loop", TestSuite::Type::UNIT)
    {
        AddTestCase(new LayerLoopTestCase);
        AddTestCase(new AstraSimLoopsTestCase);
    }
};

static LayerLoopTestSuite g_layerLoopTestSuite; ///< registers the suite
