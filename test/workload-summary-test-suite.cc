/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"
#include "run/job-plan.h"
#include "run/workload-summary.h"

namespace ns3::training::tests::workload_summary_test
{

WorkloadSummary
SummarizeFile(const std::string& path, uint32_t ranks, bool lenient)
{
    const auto read = ReadWorkloadFormat(path, ranks, lenient);
    auto summary = SummarizeWorkload(*read.graph, read.isUniform, read.gathersParts);
    summary.format = read.format;
    summary.problems = read.problems;
    return summary;
}

std::string
Summarize(const std::string& path, uint32_t ranks)
{
    return SummarizeFile(path, ranks, true).ToJson().Write();
}

void
CheckAicb()
{
    // The size of an all-gather is that of the result; forward sizes are at least 4096.
    const std::string path = WriteFile(
        "aicb.txt",
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 "
        "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n2\n"
        "a -1 10 ALLGATHER 8192 20 NONE 0 30 REDUCESCATTER_DP_EP 16384 0\n"
        "b -1 1 ALLTOALL_EP 8 2 ALLREDUCE 64 3 NONE 0 0\n");
    NS_TEST_EXPECT_MSG_EQ(
        Summarize(path, 0),
        R"({"format":"aicb","ranks":8,"tasks":{"compute":48,"collective":32,)"
        R"("send":0,"receive":0,"memory":0,"mark":0},"compute_s":6.6e-08,)"
        R"("idle_s":0,"collectives":[{"operation":"all-reduce","bytes":64,)"
        R"("count":1},{"operation":"reduce-scatter","bytes":16384,"count":1},)"
        R"({"operation":"all-gather","bytes":8192,"count":1},)"
        R"({"operation":"all-to-all","bytes":4096,"count":1}],"problems":[")" +
            path +
            R"(:4: a collective of a forward pass below 4096 bytes, which has 4096 as in )"
            R"(SimAI, 1 time"]})",
        "aicb");
}

void
CheckChakra()
{
    // Today's schema: a computation of 5 us, an all-gather of parts of 1024 bytes, a message,
    // and a computation that waits for a node that does not exist.
    const auto field = [](uint32_t number, const std::string& bytes) {
        return MakeBytes(number << 3 | 2, 1) + MakeBytes(bytes.size(), 1) + bytes;
    };
    const auto attribute = [&](const std::string& name, uint64_t value) {
        const std::string number =
            value < 128 ? MakeBytes(value, 1)
                        : MakeBytes(0x80 | (value & 0x7f), 1) + MakeBytes(value >> 7, 1);
        return field(10, field(1, name) + MakeBytes(9 << 3, 1) + number);
    };
    const auto node = [&](uint8_t id, uint8_t type, const std::string& more) {
        const std::string bytes = MakeBytes(1 << 3, 1) + MakeBytes(id, 1) + field(2, "n") +
                                  MakeBytes(3 << 3, 1) + MakeBytes(type, 1) + more;
        return MakeBytes(bytes.size(), 1) + bytes;
    };
    std::string path;
    for (const uint32_t rank : {1, 0})
    {
        const std::string metadata = field(1, "0.0.4");
        path = WriteFile(
            "trace." + std::to_string(rank) + ".et",
            MakeBytes(metadata.size(), 1) + metadata +
                node(1, 4, MakeBytes(7 << 3, 1) + MakeBytes(5, 1)) +
                node(2,
                     7,
                     field(5, MakeBytes(1, 1)) + attribute("comm_type", 2) +
                         attribute("comm_size", 1024)) +
                node(3,
                     rank == 0 ? 5 : 6,
                     attribute(rank == 0 ? "comm_dst" : "comm_src", 1 - rank) +
                         attribute("comm_size", 64)) +
                node(4, 4, field(5, MakeBytes(9, 1)) + MakeBytes(7 << 3, 1) + MakeBytes(1, 1)));
    }
    NS_TEST_EXPECT_MSG_EQ(
        Summarize(path, 0),
        R"({"format":"chakra","ranks":2,"tasks":{"compute":4,"collective":2,)"
        R"("send":1,"receive":1,"memory":0,"mark":0},"compute_s":6e-06,)"
        R"("idle_s":0,"collectives":[{"operation":"all-gather","bytes":1024,"count":1}],)"
        R"("problems":[")" +
            path +
            R"(: node 4: waits for a node that the trace does not have, which is left out, )"
            R"(2 times"]})",
        "chakra");
}

void
CheckKineto()
{
    // Kernels of 10 and 4 us with a gap of 2, and beside them an all-reduce of 1000 numbers of
    // 2 bytes and an all-gather that makes 20 of 4.
    const auto kernel =
        [](const char* start, const char* length, uint32_t stream, const std::string& more) {
            return std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)") +
                   start + R"(,"dur":)" + length + R"(,"args":{"stream":)" +
                   std::to_string(stream) + more + "}}";
        };
    const auto collective =
        [](const std::string& name, uint32_t in, uint32_t out, const std::string& type) {
            return R"(,"Collective name":")" + name + R"(","In msg nelems":)" + std::to_string(in) +
                   R"(,"Out msg nelems":)" + std::to_string(out) + R"(,"Group size":2,"dtype":")" +
                   type + R"(","Process Group Ranks":"[0, 1]")";
        };
    const std::string path = WriteFile(
        "trace.json",
        R"({"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[)" +
            kernel("100", "10", 7, "") + "," + kernel("112", "4", 7, "") + "," +
            kernel("110", "5", 27, collective("allreduce", 1000, 1000, "BFloat16")) + "," +
            kernel("115", "5", 27, collective("_allgather_base", 10, 20, "Float")) + "]}");
    NS_TEST_EXPECT_MSG_EQ(
        Summarize(path, 0),
        R"({"format":"kineto","ranks":2,"tasks":{"compute":4,"collective":4,)"
        R"("send":0,"receive":0,"memory":0,"mark":0},"compute_s":1.4e-05,)"
        R"("idle_s":2e-06,"collectives":[{"operation":"all-reduce","bytes":2000,)"
        R"("count":1},{"operation":"all-gather","bytes":80,"count":1}],"problems":[")" +
            path + R"(: the trace of one rank, which all 2 ranks repeat, 1 time"]})",
        "kineto");
}

void
CheckPipeline()
{
    // Two stages, two micro-batches; the first rank's gradients are split.
    const std::string path = WriteFile("pipeline.csv", "0F0,0F1,,0I0,0W0,0B1\n,1F0,1B0,1F1,1B1\n");
    NS_TEST_EXPECT_MSG_EQ(
        Summarize("pipeline-csv:" + path + ",forward=2ms,input=3ms,weight=5ms,bytes=64", 0),
        R"({"format":"pipeline-csv","ranks":2,"tasks":{"compute":9,"collective":0,)"
        R"("send":4,"receive":4,"memory":0,"mark":0},"compute_s":0.02,"idle_s":0,)"
        R"("collectives":[],"problems":[")" +
            path +
            R"(: a schedule has neither times nor sizes: those of forward=, input=, weight= )"
            R"(and bytes= are taken; --schedule=FILE with --model= has those of a model, 1 time"]})",
        "pipeline-csv");
}

void
TestWorkloadSummary()
{
    CheckAicb();
    CheckChakra();
    CheckKineto();
    CheckPipeline();
    const std::string layers =
        WriteFile("layers.txt",
                  "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 2\n"
                  "a -1 10 ALLGATHER 300 20 ALLREDUCE 7 30 ALLREDUCE 1000 0\n"
                  "b -1 1 NONE 0 2 BROADCAST 5 3 ALLREDUCE 1001 0\n");
    NS_TEST_EXPECT_MSG_EQ(Summarize(layers, 4),
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

/** The number of ranks that a user gives is never taken for one that was not given. */
void
TestGivenRanks()
{
    TrainingRunOptions options;
    options.workload = WriteFile("two.goal", "num_ranks 2 rank 0 { calc 5 } rank 1 { calc 5 }");
    NS_TEST_EXPECT_MSG_EQ(options.cluster.ranks, 16, "the default");
    TrainingRunOptions open = options;
    MakeJobPlan(open);
    NS_TEST_EXPECT_MSG_EQ(open.cluster.ranks, 2, "of the file");
    options.cluster.hasRanks = true;
    ExpectPart(GetRefusal([&] { MakeJobPlan(options); }), "ranks 16 with ");
}

const Suite g_suite("workload-summary",
                    Duration::QUICK,
                    {{"summaries count the tasks and bytes and problems of files",
                      TestWorkloadSummary},
                     {"ranks that were given are those of the file", TestGivenRanks}});

} // namespace ns3::training::tests::workload_summary_test
