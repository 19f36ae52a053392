/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"

#include "ns3/test.h"
#include "ns3/workload-summary.h"

#include <string>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/**
 * @ingroup distributed-training-formats-tests
 * Summaries of files.
 */
class WorkloadSummaryTestCase : public FormatTest
{
  public:
    WorkloadSummaryTestCase()
        : FormatTest("summaries count the tasks and bytes and problems of files")
    {
    }

  private:
    static WorkloadSummary SummarizeFile(const std::string& path, uint32_t ranks, bool lenient)
    {
        const auto read = ReadWorkloadFormat(path, ranks, lenient);
        auto summary = SummarizeWorkload(*read.graph, read.isUniform, read.gathersParts);
        summary.format = read.format;
        summary.problems = read.problems;
        return summary;
    }

    std::string Summarize(const std::string& path, uint32_t ranks)
    {
        return SummarizeFile(path, ranks, true).ToJson().Write();
    }

    void DoRun() override
    {
        const std::string layers =
            WriteFile("layers.txt",
                      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 2\n"
                      "a -1 10 ALLGATHER 300 20 ALLREDUCE 7 30 ALLREDUCE 1000 0\n"
                      "b -1 1 NONE 0 2 BROADCAST 5 3 ALLREDUCE 1001 0\n");
        NS_TEST_EXPECT_MSG_EQ(
            Summarize(layers, 4),
            R"({"format":"astra","ranks":4,"tasks":{"compute":24,"collective":16,)"
            R"("send":0,"receive":0,"memory":0,"mark":0},"compute_s":6.6e-08,)"
            R"("idle_s":0,"collectives":[{"operation":"all-reduce","bytes":2008,)"
            R"("count":3},{"operation":"all-gather","bytes":300,"count":1}],)"
            R"("problems":[")" +
                layers + R"(:3: unknown collective, which is NONE, 1 time"]})",
            "layers");
        const std::string goal = WriteFile("job.goal",
                                           "num_ranks 2 rank 0 { a: calc 5 b: send 8b to 1 "
                                           "c: calc 7 c irequires b } rank 1 { recv 8b from 0 }");
        NS_TEST_EXPECT_MSG_EQ(
            SummarizeFile(goal, 0, false).Format(),
            "format: goal\nranks: 2\n"
            "tasks of all ranks: 2 compute 0 collective 1 send 1 receive 0 memory 1 mark\n"
            "computations of rank 0: 12ns\ncollectives of rank 0: none\nproblems: none\n",
            "goal");
    }
};

/**
 * @ingroup distributed-training-formats-tests
 * The suite.
 */
class WorkloadSummaryTestSuite : public TestSuite
{
  public:
    WorkloadSummaryTestSuite()
        : TestSuite("distributed-training-workload-summary", TestSuite::Type::UNIT)
    {
        AddTestCase(new WorkloadSummaryTestCase);
    }
};

static WorkloadSummaryTestSuite g_workloadSummaryTestSuite; ///< registers the suite
