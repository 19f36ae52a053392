/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-timing.h"
#include "parallel/transformer-graph.h"
#include "pipeline/pipeline-choice.h"
#include "pipeline/pipeline-timing.h"
#include "test-case.h"

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"
#include "ns3/parallel-plan.h"
#include "ns3/rank-tasks.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"
#include "ns3/training-job-helper.h"
#include "ns3/transformer-model.h"

#include <algorithm>
#include <memory>
#include <set>

namespace ns3::training::tests::pipeline_packets_test
{

/// Memory takes no time.
const TransformerRates RATES{1e15, 1e30};

/// Layers of a rank, which divide among up to 4 stages.
constexpr uint32_t LAYERS = 4;

/// A message of asynchronous sends or of batches takes this part of a forward pass.
constexpr double QUARTER = 0.25;

/// Makespans may be longer by the embedding, the output layer and the scores of attention.
constexpr double REST = 5e-4;

/// Numbers of a message: of the hidden size, for each token of a micro-batch.
constexpr uint64_t HIDDEN = 8192;
constexpr uint64_t TOKENS = 16;

/// Data of a frame, and a frame of an acknowledgement on the wire at most, bytes.
constexpr double FRAME = 4096;
constexpr double ACKNOWLEDGEMENT = 84;

/// Frames of a message.
constexpr double FRAMES = 2 * HIDDEN * TOKENS / FRAME;

/** A schedule. */
struct Row
{
    const char* schedule;
    uint32_t stages; ///< of a rank
    /// Closed form without messages, in forward passes of a rank.
    double (*getEnd)(double p, double m);
    bool isBatched{false}; ///< messages are
    bool isLong{false};    ///< its closed form needs twice as many micro-batches as ranks
};

double
GetPlain(double p, double m)
{
    return 3 * (m + p - 1);
}

template <uint32_t V>
double
GetInterleaved(double p, double m)
{
    return 3 * m + 3 * (p - 1) / V;
}

/** Two stages a rank, in a V. */
double
GetHalved(double p, double m)
{
    return 3 * m + (p - 1) / 2;
}

const std::vector<Row> ROWS{{"gpipe", 1, &GetPlain},
                            {"1f1b", 1, &GetPlain, true},
                            {"1f1b:messages=asynchronous", 1, &GetPlain},
                            {"interleaved:v=2", 2, &GetInterleaved<2>},
                            {"interleaved:v=4", 4, &GetInterleaved<4>},
                            {"zb1p", 1, [](double p, double m) { return 3 * m + p - 1; }},
                            {"zbv", 2, &GetHalved, false, true},
                            {"dualpipev", 2, &GetHalved, false, true}};

/** @return a model whose layers compute long and send little */
TransformerModel
MakeModel(uint32_t layers)
{
    TransformerModel model;
    model.layers = layers;
    model.hidden = HIDDEN;
    model.heads = 8;
    model.keyValueHeads = 8;
    model.feedForward = 4 * HIDDEN;
    model.vocabulary = 1;
    model.sequence = 1; // so scores of attention take next to no time
    return model;
}

/** Iterations of pipelines whose messages are packets. */
struct PipelinePacketsTestCase
{
    /** A network: a ring, so that messages to the next and to the previous rank share no link. */
    struct Network
    {
        DataRate rate{50000000000000};
        Time delay{NanoSeconds(1)};
    };

    /** @return the job, in which a rank has LAYERS layers */
    static std::shared_ptr<const TransformerGraph> MakeGraph(const std::string& schedule,
                                                             uint32_t p,
                                                             uint32_t m)
    {
        ParallelOptions options;
        options.pipeline = p;
        options.microBatch = TOKENS;
        options.globalBatch = TOKENS * m;
        options.schedule = schedule;
        return std::make_shared<const TransformerGraph>(
            std::make_shared<const ParallelPlan>(MakeModel(p * LAYERS), options),
            RATES);
    }

    void OnFinished(uint32_t /* rank */)
    {
        end = std::max(end, Simulator::Now());
    }

    /** @return time of an iteration, in forward passes of a rank */
    double Simulate(const std::string& schedule, uint32_t p, uint32_t m, const Network& network)
    {
        ClusterOptions options;
        options.ranks = p;
        options.topology = "ring:" + std::to_string(p);
        options.rate = network.rate;
        options.delay = network.delay;
        options.congestionControl = "none";
        auto cluster = std::make_unique<Cluster>(options);
        const auto graph = MakeGraph(schedule, p, m);
        const auto applications = TrainingJobHelper().Install(
            *cluster,
            graph,
            std::vector<std::set<CollectiveOperation>>(graph->GetGroups().size()));
        end = Time();
        for (uint32_t rank = 0; rank < p; rank++)
        {
            applications.Get(rank)->TraceConnectWithoutContext(
                "Finished",
                MakeCallback(&PipelinePacketsTestCase::OnFinished, this));
        }
        Simulator::Run();
        cluster.reset();
        Simulator::Destroy();
        return end.GetSeconds() / unit;
    }

    /** @return time of a message that meets no other one, in forward passes of a rank */
    double GetMessage(uint32_t p, const Network& network)
    {
        // One micro-batch: forward through all ranks, and back.
        return (Simulate("gpipe", p, 1, network) - GetPlain(p, 1)) / (2 * (p - 1));
    }

    /** @return makespan if each message takes a time, in forward passes of a rank */
    static double GetEnd(const Row& row, uint32_t p, uint32_t m, double message)
    {
        if (row.isBatched)
        {
            // See the test of batches without packets.
            return row.getEnd(p, m) + message * (p == 2 ? m + 1.0 : 2.0 * (m + p) - 5);
        }
        const double pass = 1.0 / row.stages;
        PipelineSchedule schedule = MakePipelineSchedule(row.schedule, p, m);
        schedule.SeparateActions(); // as jobs do
        return TimePipeline(schedule, {pass, pass, pass, message}).end;
    }

    void Check(const Row& row, uint32_t p, uint32_t m)
    {
        const std::string what = std::string(row.schedule) + ", " + std::to_string(p) + " ranks, " +
                                 std::to_string(m) + " micro-batches";
        const double closed = row.getEnd(p, m);
        NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(row, p, m, 0), closed, 1e-9, what);
        const double rest = REST * closed;
        // The time of a schedule never falls if messages take longer. So it is between those of
        // messages that meet nothing, and of messages that meet an acknowledgement for each of
        // their frames. A send of a batch is over when its last frame has been passed to the link,
        // before which up to two wait.
        const auto check = [&](double message, double found) {
            const double least = message * (row.isBatched ? 1 - 2 / FRAMES : 1);
            const double most = message * (1 + ACKNOWLEDGEMENT / FRAME);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(found, GetEnd(row, p, m, least) - rest, what);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(found, GetEnd(row, p, m, most) + rest, what);
        };
        const Network fast;
        const double cheap = GetMessage(p, fast);
        NS_TEST_EXPECT_MSG_LT(cheap, 1e-3, what);
        const double free = Simulate(row.schedule, p, m, fast);
        check(cheap, free);
        NS_TEST_EXPECT_MSG_EQ_TOL(free, closed, 1e-3 * closed, what << ": no cost");
        check(QUARTER, Simulate(row.schedule, p, m, slow));
    }

    void Run()
    {
        unit = TimeGraph(*MakeGraph("gpipe", 1, 1), 1).end.GetSeconds() / 3;
        const double bytes = FRAME * FRAMES;
        for (const auto& [p, m] : {std::make_pair(2U, 4U), {4U, 8U}, {8U, 8U}})
        {
            // The rate at which a message takes a quarter of a forward pass with its headers.
            slow = {DataRate(static_cast<uint64_t>(8 * bytes / (QUARTER * unit))), NanoSeconds(1)};
            const double longer = GetMessage(p, slow) / QUARTER;
            slow.rate = DataRate(static_cast<uint64_t>(slow.rate.GetBitRate() * longer));
            NS_TEST_ASSERT_MSG_EQ_TOL(GetMessage(p, slow), QUARTER, 2 * REST, "a quarter");
            for (const Row& row : ROWS)
            {
                if (!row.isLong || m >= 2 * p)
                {
                    Check(row, p, m);
                }
            }
        }
    }

    double unit{1}; // forward pass of a rank, s
    Network slow;
    Time end; // of the last rank
};

const Suite g_suite("pipeline-packets",
                    Duration::QUICK,
                    {{"makespans of pipelines by packets equal closed forms",
                      RunTest<PipelinePacketsTestCase>}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::pipeline_packets_test
