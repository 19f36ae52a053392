/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Where the time of an iteration goes, at each rank: computation, bubble, communication that is
 * exposed, by kind, and other waiting add up to the iteration, whatever the job is and whatever
 * carries its messages.
 */

#include "chakra-test-common.h"
#include "file-test-common.h"
#include "pipeline/pipeline-choice.h"

#include "ns3/config.h"
#include "ns3/training-run.h"

namespace ns3::training::tests::iteration_parts_test
{

/** A job, and what it must show. */
struct PartsCase
{
    std::string name;                                      ///< for messages
    std::function<void(TrainingRunOptions& options)> make; ///< sets its options
    bool isPipeline{false};                                ///< stages wait for messages
};

/** Runs jobs, and checks what each rank reports of each iteration. */
struct IterationPartsTestCase
{
    void Check(const PartsCase& job)
    {
        what = job.name;
        reports = 0;
        computed = bubble = exposed = messages = Time();
        {
            TrainingRunOptions options;
            options.iterations = 2;
            options.cluster.ranks = 4;
            options.cluster.topology = "single-switch";
            job.make(options);
            TrainingRun run(options);
            Config::ConnectWithoutContext("/NodeList/*/ApplicationList/*/"
                                          "$ns3::training::TrainingApplication/IterationEnd",
                                          MakeCallback(&IterationPartsTestCase::OnEnd, this));
            const TrainingRunResult result = run.Run();
            for (const IterationRecord& record : result.iterations)
            {
                CheckRecord(record);
            }
        }
        NS_TEST_EXPECT_MSG_GT(reports, 0, what);
        NS_TEST_EXPECT_MSG_GT(computed, Time(), what << ": computations");
        if (job.isPipeline)
        {
            NS_TEST_EXPECT_MSG_GT(bubble, Time(), what << ": bubble");
            NS_TEST_EXPECT_MSG_GT(messages, Time(), what << ": messages are communication");
        }
    }

    /** Sink of IterationEnd. */
    void OnEnd(uint32_t rank, uint32_t iteration, const RankIteration& measured)
    {
        const std::string where =
            what + ", rank " + std::to_string(rank) + ", iteration " + std::to_string(iteration);
        const Time sum = measured.exposedData + measured.exposedTensor + measured.exposedPipeline +
                         measured.exposedContext + measured.exposedExpert + measured.exposedOther;
        const Time length = measured.end - measured.start;
        NS_TEST_EXPECT_MSG_EQ(measured.computeTime + measured.bubble + sum + measured.otherIdle,
                              length,
                              where << ": the parts");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sum, measured.communicationTime, where << ": exposed");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(measured.collectiveTime, measured.communicationTime, where);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(measured.communicationTime, length, where << ": in progress");
        reports++;
        computed += measured.computeTime;
        bubble += measured.bubble;
        exposed += sum;
        messages += measured.communicationTime - measured.collectiveTime;
    }

    void CheckRecord(const IterationRecord& record)
    {
        const double sum = record.exposedDataS + record.exposedTensorS + record.exposedPipelineS +
                           record.exposedContextS + record.exposedExpertS + record.exposedOtherS;
        NS_TEST_EXPECT_MSG_EQ(record.exposedCommunicationS, sum, what << ": exposed, by kind");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sum, record.communicationTimeS + 1e-12, what << ": exposed");
        NS_TEST_EXPECT_MSG_EQ_TOL(record.idleS,
                                  record.iterationTimeS - record.computeTimeS,
                                  1e-12,
                                  what << ": idle");
    }

    std::string what;
    uint32_t reports{0};
    Time computed;
    Time bubble;
    Time exposed;
    Time messages; // communication besides collectives
};

/** @return a small transformer whose ranks are divided in a way */
PartsCase
Divide(const std::string& name,
       const std::function<void(ParallelOptions& options)>& set,
       const std::function<void(TrainingRunOptions& options)>& change = nullptr)
{
    PartsCase job;
    job.name = name;
    job.make = [set, change](TrainingRunOptions& options) {
        options.model.model = WriteFile("parts.json",
                                        R"({"layers": 8, "hidden": 64, "heads": 8,
            "feed_forward": 128, "vocabulary": 256, "sequence": 64, "num_experts": 4,
            "num_experts_per_tok": 2})");
        set(options.model.parallel);
        options.cluster.ranks = options.model.MakePlan(0)->GetRanks();
        if (change)
        {
            change(options);
        }
    };
    return job;
}

/** @return a job that a file describes */
PartsCase
Read(const std::string& name, const std::string& file, const std::string& content, uint32_t ranks)
{
    PartsCase job;
    job.name = name;
    job.make = [=](TrainingRunOptions& o) {
        o.workload = name + ":" + WriteFile(file, content);
        o.cluster.ranks = ranks;
    };
    return job;
}

using O = ParallelOptions&;

/** Each way to divide a model. */
void
TestModels()
{
    IterationPartsTestCase test;
    test.Check(Divide("data", [](O o) { o.data = 4; }));
    for (uint32_t zero : {1, 2, 3})
    {
        test.Check(
            Divide("ZeRO " + std::to_string(zero), [zero](O o) { o.data = 4, o.zero = zero; }));
    }
    test.Check(Divide("tensor", [](O o) { o.tensor = 4, o.data = 1; }));
    test.Check(Divide("context", [](O o) { o.context = 4, o.data = 1; }));
    test.Check(Divide("Ulysses", [](O o) { o.context = 4, o.data = 1, o.cpCommType = "a2a"; }));
    test.Check(Divide("experts", [](O o) { o.data = 4, o.expert = 4; }));
}

/** Each schedule of a pipeline. */
void
TestSchedules()
{
    IterationPartsTestCase test;
    for (const auto& [name, entry] : Registry<PipelineScheduleEntry>::All())
    {
        if (name != "file")
        {
            PartsCase job = Divide(name, [schedule = name](O o) {
                o.pipeline = 4, o.data = 1, o.globalBatch = 8, o.schedule = schedule;
            });
            job.isPipeline = true;
            test.Check(job);
        }
    }
}

/** All transports and built-in workloads, losses, stragglers, jitter. */
void
TestTransports()
{
    IterationPartsTestCase test;
    const auto all = [](O o) { o.tensor = 2, o.pipeline = 2, o.data = 2, o.globalBatch = 4; };
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        test.Check(Divide(transport, all, [transport](TrainingRunOptions& o) {
            o.cluster.transport = transport;
        }));
        test.Check(Divide(transport + ", losses", all, [transport](TrainingRunOptions& o) {
            o.cluster.transport = transport, o.cluster.loss = 0.001;
        }));
    }
    test.Check(Divide("a straggler", all, [](TrainingRunOptions& o) {
        o.stragglers = {"3:1.5"}, o.computeJitter = "normal:cv=0.1";
    }));
    for (const std::string workload :
         {"mlp-model-parallel", "mlp-hybrid-parallel:group=2", "dlrm-hybrid-parallel", "alexnet"})
    {
        test.Check(
            {workload, [workload](TrainingRunOptions& o) { o.workload = workload, o.batch = 32; }});
    }
    test.Check({"by layer", [](TrainingRunOptions& o) {
                    o.workload = "alexnet", o.gradientPriority = "layer";
                }});
}

/** Jobs of files of all formats: computations lie on streams of their own, messages cross. */
void
TestFormats()
{
    IterationPartsTestCase test;
    test.Check(Read("goal",
                    "parts.goal",
                    "num_ranks 2\nrank 0 {\na: calc 3000\nb: send 4096b to 1 tag 7\n"
                    "c: calc 2000 cpu 1\nb requires a\n}\nrank 1 {\nx: recv 4096b from 0 tag 7\n"
                    "y: calc 5000\ny requires x\n}\n",
                    2));
    test.Check(Read("astra",
                    "parts.txt",
                    "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n"
                    "layer\t-1 1000 ALLGATHER 4096\t2000 ALLREDUCE 4096 3000\tALLREDUCE 8192 50\n",
                    4));
    const auto kernel = [](const std::string& name, int start, int length, int stream) {
        return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, )" +
               R"("ts": )" + std::to_string(start) + R"(, "dur": )" + std::to_string(length) +
               R"(, "args": {"device": 0, "stream": )" + std::to_string(stream) + "}}";
    };
    test.Check(Read("kineto",
                    "parts.json",
                    R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, )"
                    R"("world_size": 2}, "traceEvents": [)" +
                        kernel("a", 100, 10, 7) + ", " + kernel("b", 105, 20, 8) + ", " +
                        kernel("c", 140, 5, 7) + "]}",
                    2));
    // 30 us with kernels a and b beside each other, and c after a gap; both streams compute.
    NS_TEST_EXPECT_MSG_EQ(test.computed,
                          test.reports * (MicroSeconds(25) + MicroSeconds(5)),
                          "kernels on two streams");
    // A launch of 5 us on the CPU, and then a kernel of 1 ms on stream 7 (Chakra's schema).
    const std::string launch = Number(1, 1) + Bytes(2, "launch") + Number(3, 4) + Number(7, 5) +
                               MakeAttribute("is_cpu_op", 1, 27);
    const std::string run = Number(1, 2) + Bytes(2, "kernel") + Number(3, 4) + Bytes(5, Varint(1)) +
                            Number(7, 1000) + MakeAttribute("is_cpu_op", 0, 27) +
                            MakeAttribute("stream", 7);
    const auto message = [](const std::string& bytes) { return Varint(bytes.size()) + bytes; };
    const std::string trace = message(Bytes(1, "0.0.4")) + message(launch) + message(run);
    WriteFile("stream.1.et", trace);
    test.Check(Read("chakra", "stream.0.et", trace, 2));
    NS_TEST_EXPECT_MSG_EQ(test.computed,
                          test.reports * MilliSeconds(1),
                          "a kernel on a stream of its own computes, its launch does not");
}

const Suite g_suite("iteration-parts",
                    Duration::EXTENSIVE,
                    {{"each way to divide a model", TestModels},
                     {"each schedule of a pipeline", TestSchedules},
                     {"all transports and workloads, losses, stragglers", TestTransports},
                     {"traces of all formats", TestFormats}});

} // namespace ns3::training::tests::iteration_parts_test
