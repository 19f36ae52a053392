/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats-test-common.h"
#include "graph/graph-timing.h"

#include "ns3/nstime.h"

namespace ns3::training::tests::formats_layer_test
{

/**
 * @param forward collective of the forward pass, with its bytes; likewise the others
 * @return two layers; computations of 10 and 20 ns forward, 30 and 40 for the inputs, 50 and 60 for
 *         the weights
 */
std::string
MakeRows(const std::string& forward,
         const std::string& inputs,
         const std::string& weights,
         const std::string& update = "0")
{
    std::string rows;
    for (uint32_t layer = 0; layer < 2; layer++)
    {
        rows += "layer" + std::to_string(layer) + "\t-1 " + std::to_string(10 + 10 * layer) + " " +
                forward + "\t" + std::to_string(30 + 10 * layer) + " " + inputs + " " +
                std::to_string(50 + 10 * layer) + "\t" + weights + " " + update + "\t\r\n";
    }
    return rows;
}

/** @return end of a job in ns; each collective takes 100 ns from the last rank's start */
int64_t
GetEnd(const FormatResult& job, uint32_t iterations = 1)
{
    CommunicationTimes times;
    times.collective = [](const GraphTask&, uint32_t) { return NanoSeconds(100); };
    const auto timing = TimeGraph(*job.graph, iterations, times);
    return timing.stuck.empty() ? timing.end.GetNanoSeconds() : -1;
}

void
Expect(const std::string& header,
       const std::string& rows,
       int64_t end,
       const std::string& keys = "",
       uint32_t iterations = 1)
{
    const std::string path = WriteFile("layers.txt", header + "\n2\n" + rows);
    const auto read = ReadWorkloadFormat("astra:" + path + keys, 4, false);
    NS_TEST_EXPECT_MSG_EQ(GetEnd(read, iterations), end, header << keys << "\n" << rows);
}

void
TestLayerOrder()
{
    const std::string none = "NONE 0";
    const std::string reduce = "ALLREDUCE 4096";
    const std::string exchange = "ALLTOALL 4096";
    // The gradients of the inputs of layer 0 are not computed by DATA and HYBRID_DLRM.
    Expect("DATA", MakeRows(none, none, none), 30 + 60 + 40 + 50);
    Expect("MODEL", MakeRows(none, none, none), 30 + 40 + 60 + 30 + 50);
    Expect("DISTRIBUTED_INFERENCE", MakeRows(none, none, none), 30);
    Expect("MICRO", MakeRows(none, none, reduce), 100);
    // Collectives of weights overlap, and the next forward pass of the layer waits for them.
    Expect("DATA", MakeRows(none, none, reduce, "7"), 180 + 107);
    Expect("DATA", MakeRows(none, none, reduce, "7"), 287 + 180 + 107, "", 2);
    // Those of activations block; those of inputs overlap with the weights of the layer.
    Expect("MODEL", MakeRows(reduce, none, none), 210 + 2 * 100);
    Expect("MODEL", MakeRows(none, reduce, none), 30 + 40 + 100 + 30 + 50);
    const std::string transformer = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2";
    Expect(transformer, MakeRows(reduce, reduce, reduce), 230 + 140 + 60 + 130 + 50 + 100);
    Expect(transformer,
           MakeRows(reduce, reduce, reduce),
           230 + 140 + 130 + 50,
           ",transformer-ig=overlap");
    // The forward passes of both layers are repeated before the first backward pass.
    Expect("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 "
           "checkpoint_initiates: 1 1",
           MakeRows(reduce, none, none),
           230 + 230 + 180);
    // The embedding's exchange overlaps with the layers up to the last bottom one.
    Expect("HYBRID_DLRM 0", MakeRows(exchange, exchange, none), 2 * 330, "", 2);
    Expect("HYBRID_DLRM_ENHANCED 0", MakeRows(exchange, exchange, none), 280 + 330, "", 2);
    Expect("HYBRID_DLRM 1", MakeRows(exchange, none, none), 110 + 60 + 40 + 50);
    // The row's own policy
    const std::string rows = "a -1 10 ALLREDUCE 8 30 NONE 0 50 NONE 0 0 MODEL\n"
                             "b -1 20 ALLREDUCE 8 40 NONE 0 60 NONE 0 0 DATA\n";
    Expect("HYBRID_CUSTOMIZED", rows, 210 + 100);
}

struct LayerGroupTestCase
{
    /// Ranks of the group of rank 1, operation and bytes, by number of the task.
    using Expected = std::vector<std::tuple<std::vector<uint32_t>, CollectiveOperation, uint64_t>>;

    void Expect(const std::string& spec, uint32_t ranks, const Expected& expected)
    {
        const auto read = ReadWorkloadFormat(spec, ranks, false);
        std::size_t next = 0;
        for (const GraphTask& task : GetTasks(*read.graph, 1))
        {
            if (task.kind != TaskKind::COLLECTIVE)
            {
                continue;
            }
            NS_TEST_ASSERT_MSG_LT(next, expected.size(), spec);
            const auto& [group, operation, bytes] = expected[next++];
            NS_TEST_EXPECT_MSG_EQ(read.graph->GetGroup(task.groups, 1), group, next);
            NS_TEST_EXPECT_MSG_EQ(training::GetName(task.operation),
                                  training::GetName(operation),
                                  next);
            NS_TEST_EXPECT_MSG_EQ(task.bytes, bytes, next);
        }
        NS_TEST_EXPECT_MSG_EQ(next, expected.size(), spec);
    }

    void Run()
    {
        using Operation = CollectiveOperation;
        const std::string row = "a -1 1 ALLGATHER 8192 1 NONE 0 1 ALLREDUCE 4096 0\n";
        const auto write = [&](const std::string& header) {
            return WriteFile("groups.txt", header + "\n" + row);
        };
        const std::vector<uint32_t> all{0, 1, 2, 3};
        // In ASTRA-sim the size of an all-gather is that of a part.
        Expect(write("DATA 1"), 4, {{all, Operation::ALL_REDUCE, 4096}});
        Expect(write("MODEL 1"), 4, {{all, Operation::ALL_GATHER, 4 * 8192}});
        Expect("astra:" + write("MODEL 1") + ",gather-size=whole",
               4,
               {{all, Operation::ALL_GATHER, 8192}});
        const Expected inner{{{0, 1}, Operation::ALL_GATHER, 2 * 8192},
                             {{1, 3}, Operation::ALL_REDUCE, 4096}};
        Expect("astra:" + write("HYBRID_DATA_MODEL 1") + ",inner=2", 4, inner);
        Expect(write("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 1"), 4, inner);
        Expect("astra:" + write("HYBRID_MODEL_DATA 1") + ",inner=2",
               4,
               {{{1, 3}, Operation::ALL_GATHER, 2 * 8192}, {{0, 1}, Operation::ALL_REDUCE, 4096}});
        // In AICB it is that of the result; words name groups of experts.
        const std::string header =
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 "
            "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n4\n";
        const std::string aicb =
            WriteFile("aicb.txt",
                      header + "a -1 1 ALLGATHER 8192 1 NONE 0 1 NONE 0 100\n"
                               "b -1 1 ALLTOALL_EP 8192 1 NONE 0 1 NONE 0 100   \n"
                               "c -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER_DP_EP 8192 100\n"
                               "a -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 8192 100\n");
        NS_TEST_EXPECT_MSG_EQ(FindWorkloadFormat(aicb), "aicb", "detected");
        Expect(aicb,
               0,
               {{{0, 1}, Operation::ALL_GATHER, 8192},
                {{1, 3}, Operation::ALL_TO_ALL, 8192},
                {{1, 3, 5, 7, 9, 11, 13, 15}, Operation::REDUCE_SCATTER, 8192},
                {{1, 5, 9, 13}, Operation::REDUCE_SCATTER, 8192}});
        // A suffix alone tells the dialect, too.
        const std::string old = WriteFile("old.txt",
                                          "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n2\n"
                                          "a -1 1 ALLGATHER 8192 1 NONE 0 1 NONE 0 0\n"
                                          "b -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_DP_EP 8192 0\n");
        const auto read = ReadWorkloadFormat(old, 4, false);
        NS_TEST_EXPECT_MSG_EQ(read.format, "aicb", "suffix");
        Expect(old,
               4,
               {{{0, 1}, Operation::ALL_GATHER, 8192}, {{1, 3}, Operation::ALL_REDUCE, 8192}});
        // SimAI raises small collectives of forward passes.
        const auto small =
            ReadWorkloadFormat(WriteFile("small.txt",
                                         header + "a -1 1 ALLGATHER 8 1 NONE 0 1 NONE 0 0\n" +
                                             "b -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n" +
                                             "c -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n" +
                                             "d -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8 0\n"),
                               0,
                               false);
        NS_TEST_ASSERT_MSG_EQ(small.problems.size(), 1, "small");
        ExpectPart(small.problems[0], "small.txt:3: a collective of a forward pass below 4096");
    }
};

std::string
Write(const std::string& text)
{
    return "astra:" + WriteFile("wrong.txt", text);
}

void
TestLayerDamage()
{
    const std::string row = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\n";
    ExpectRefusal(Write("DATA\n3\n" + row + row), ":5: 2 layers (allowed: 3", 4);
    ExpectRefusal(Write("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE\n"),
                  ":4: '' (allowed: bytes",
                  4);
    ExpectRefusal(Write("DATA\n1\na -1 1.5 NONE 0\n"), ":3: '1.5' (allowed: ns", 4);
    ExpectRefusal(Write("DATA\n0\n"), ":2: '0' (allowed: a number of layers", 4);
    ExpectRefusal(Write("DATUM\n1\n" + row), ":1: 'DATUM' (allowed: ", 4);
    ExpectRefusal(Write("DATA\n1\na -1 1 NONE -8 1 NONE 0 1 NONE 0 0\n"), ":3: '-8'", 4);
    ExpectRefusal(Write("DATA\n1\na -1 99999999999999 NONE 0 1 NONE 0 1 NONE 0 0\n"),
                  ":3: '99999999999999' (allowed: ns",
                  4);
    std::string slow = "DATA\n80\n";
    for (uint32_t layer = 0; layer < 80; layer++)
    {
        slow += "a -1 35000000000000 NONE 0 1 NONE 0 1 NONE 0 0\n";
    }
    ExpectRefusal(Write(slow), "an iteration of 32 days", 4);
    ExpectLenient(Write("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 BROADCAST 8 0\n"),
                  ":3: 'BROADCAST' (allowed: NONE, ALLREDUCE",
                  ":3: unknown collective, which is NONE, 1 time");
    ExpectLenient(Write("HYBRID_TRANSFORMER zz: 4 1\n" + row),
                  ":1: 'zz:'",
                  ":1: an unknown word of the header");
    ExpectRefusal(Write("HYBRID_TRANSFORMER model_parallel_NPU_group: 3 1\n" + row),
                  "groups of 3, 1 stages and 1 parts of experts with 4 ranks",
                  4);
    ExpectRefusal(Write("HYBRID_DLRM 1 1\n" + row), "last bottom layer 1 (allowed: below 1", 4);
    ExpectRefusal(Write("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 "
                        "checkpoints: 1 5 checkpoint_initiates: 0 1\n" +
                        row),
                  "checkpoint at layer 5 (allowed: below 1",
                  4);
    const auto more = ReadWorkloadFormat(Write("DATA\n1\n" + row + "more\n"), 4, false);
    NS_TEST_ASSERT_MSG_EQ(more.problems.size(), 1, "more words");
    ExpectPart(more.problems[0], ":4: more words than the header says");
    const auto unnamed = ReadWorkloadFormat(Write("DATA\n1\n" + row), 0, false);
    NS_TEST_EXPECT_MSG_EQ(unnamed.graph->GetRanks(), 2, "no number of ranks");
    ExpectPart(unnamed.problems.at(0), "the file has no number of ranks; 2 make two");
    const auto single = ReadWorkloadFormat(Write("HYBRID_DATA_MODEL\n1\n" + row), 4, false);
    ExpectPart(single.problems.at(0), "a collective among one rank, which sends nothing");
    ExpectRefusal("astra:/nowhere", "cannot be read");
    ExpectRefusal(WriteFile("unknown.txt", "hello\n"), "no known format (allowed: files of");
}

const Suite g_suite("formats-layer",
                    Duration::QUICK,
                    {{"each policy orders computations and collectives as ASTRA-sim 1.0 does",
                      TestLayerOrder},
                     {"collectives of layer files have the groups and sizes of their dialect",
                      RunTest<LayerGroupTestCase>},
                     {"damaged layer files are refused with the line", TestLayerDamage}});

} // namespace ns3::training::tests::formats_layer_test
