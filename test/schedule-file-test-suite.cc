/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/collective-algorithm.h"
#include "ns3/collective-measurement.h"
#include "ns3/msccl-schedule.h"
#include "ns3/schedule-file.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/schedule-verifier.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-time-resolution.h"

#include <fstream>
#include <functional>
#include <numeric>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// One chunk around a ring of three, in place, in the older form.
const std::string RING = R"(<?xml version="1.0"?>
<!-- a comment -->
<algo name="ring3" proto="LL" nchannels="1" nchunksperloop="1" ngpus="3" coll="allreduce" inplace="1">
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="1" recv="2" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="2" recv="0" chan="0">
      <step s="0" type="rrs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="1" chan="0">
      <step s="0" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

/** @return two gpus that exchange their whole buffers, out of place, in the newer form */
std::string
MakeSwap()
{
    std::string text =
        R"(<algo name="swap" proto="Simple" nchannels="2" ngpus="2" coll="allreduce" inplace="0">
)";
    for (const std::string peer : {"1", "0"})
    {
        const std::string gpu = peer == "1" ? "0" : "1";
        text += R"(<gpu id=")" + gpu + R"(" i_chunks="2" o_chunks="2" s_chunks="1">
  <tb id="0" send=")" +
                peer + R"(" recv="-1" chan="0">
    <op step="0" type="s" buf="i" off="0"/>
    <op step="1" type="s" buf="i" off="1"/>
  </tb>
  <tb id="1" send="-1" recv=")" +
                peer + R"(" chan="0">
    <op step="0" type="r" buf="s" off="0" hasdep="1"/>
    <op step="1" type="rrc" buf="o" off="1" depid="2" deps="0"/>
  </tb>
  <tb id="2" send="-1" recv="-1" chan="0">
    <op step="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2" hasdep="1"/>
    <op step="1" type="nop"/>
    <op step="2" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" depid="1" deps="0"/>
  </tb>
</gpu>
)";
    }
    return text + "</algo>\n";
}

std::string
Replace(std::string text, const std::string& what, const std::string& by)
{
    const std::size_t at = text.find(what);
    NS_ABORT_MSG_IF(at == std::string::npos, "no " << what);
    return text.replace(at, what.size(), by);
}

/** @return the refusal of a call, or empty */
std::string
GetRefusal(const std::function<void()>& call)
{
    try
    {
        call();
    }
    catch (const ConfigurationError& error)
    {
        return error.what();
    }
    return "";
}

/** @return numbers that differ by rank and index, with exact sums */
std::vector<std::vector<float>>
MakeInputs(uint32_t ranks, uint32_t count)
{
    std::vector<std::vector<float>> inputs(ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        for (uint32_t i = 0; i < count; i++)
        {
            inputs[rank].push_back(static_cast<float>((rank * 37 + i * 11) % 1009));
        }
    }
    return inputs;
}

/** Calls a function for schedules of every algorithm and operation, some with several segments. */
void
ForEachSchedule(const std::function<void(const CollectiveSchedule&, const std::string&)>& visit)
{
    for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
    {
        for (CollectiveOperation operation : algorithm.operations)
        {
            for (uint32_t ranks : {1, 2, 4, 5})
            {
                CollectiveRequest request;
                request.operation = operation;
                request.ranks = ranks;
                request.root = ranks / 2;
                request.segments = ranks == 5 ? 3 : 1;
                try
                {
                    const std::string keys =
                        name == "parameter-server" ? ":servers=" + std::to_string(ranks) : "";
                    visit(BuildSchedule(name + keys, request),
                          name + ", " + GetName(operation) + ", " + std::to_string(ranks));
                }
                catch (const ConfigurationError&)
                {
                    // Some algorithms do not support every number of ranks.
                }
            }
        }
    }
}

} // namespace

/**
 * @ingroup distributed-training-tests
 * A schedule survives the round trip through JSON. An invalid schedule is refused with its position
 * in the file.
 */
class ScheduleJsonTest : public TestCase
{
  public:
    ScheduleJsonTest()
        : TestCase("schedules as JSON")
    {
    }

  private:
    void DoRun() override
    {
        uint32_t count = 0;
        ForEachSchedule([&](const CollectiveSchedule& schedule, const std::string& what) {
            const std::string text = WriteScheduleJson(schedule);
            const CollectiveSchedule read = ReadScheduleJson(text, "test");
            NS_TEST_EXPECT_MSG_EQ(WriteScheduleJson(read), text, what);
            NS_TEST_EXPECT_MSG_EQ(DescribeSchedule(read), DescribeSchedule(schedule), what);
            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", what);
            count++;
        });
        NS_TEST_EXPECT_MSG_GT_OR_EQ(count, 40, "schedules");
        CheckRefusals();
    }

    void CheckRefusals()
    {
        CollectiveRequest request;
        request.ranks = 2;
        const std::string good = WriteScheduleJson(BuildSchedule("ring", request));

        const struct
        {
            const char* what;
            const char* by;
            const char* message;
        } cases[] = {
            {"\"ranks\": 2,", "\"ranks\": 2", "x.json:6: "},
            {"schedule 1",
             "schedule 2",
             "x.json: format 'distributed-training schedule 2' (allowed"},
            {"all-reduce", "all-sum", "x.json: unknown collective operation 'all-sum'"},
            {"\"ranks\": 2", "\"ranks\": 0", "x.json: ranks '0' (allowed: 1 to "},
            {"\"root\": 0", "\"root\": 0, \"root\": 0", "x.json: root twice (allowed: each once)"},
            {"\"after\":[]", "\"after\":0", "x.json: rank 0, action 0: after '0' (allowed: an arr"},
            {"\"ranks\": 2", "\"ranks\": \"2\\n\"", "x.json: ranks '2?' (allowed: 1 to "},
            {"\"root\": 0", "\"root\": 2", "x.json: root '2' (allowed: 0 to 1)"},
            {"\"root\"", "\"roots\"", "x.json: 'roots' (allowed: actions, algorithm, chunks"},
            {"\"chunks\": 2", "\"chunks\": -2", "x.json: chunks '-2' (allowed: 1 to "},
            {"\"segments\": 1", "\"segments\": 0", "x.json: segments '0' (allowed: 1 to 65536)"},
            {"\"rotation\": \"chunks\"",
             "\"rotation\": \"none\"",
             "actions of 1 ranks (allowed: 2)"},
            {"\"kind\":\"send\"",
             "\"kind\":\"give\"",
             "x.json: rank 0, action 0: kind 'give' (allow"},
            {"\"peer\":1", "\"peer\":2", "x.json: rank 0, action 0: peer '2' (allowed: 0 to 1)"},
            {"[[1,1]]",
             "[[1]]",
             "x.json: rank 0, action 0: chunks (allowed: pairs [first, count])"},
            {"[[1,1]]", "[]", "x.json: rank 0, action 0: no chunks"},
            {"[[1,1]]", "[[1,3]]", "x.json: rank 0, action 0: count '3' (allowed: 1 to 2)"},
            {"\"after\":[]",
             "\"after\":[0]",
             "x.json: rank 0, action 0: the first action is after"},
            {"\"after\":[1]",
             "\"after\":[2]",
             "x.json: rank 0, action 2: after '2' (allowed: 0 to"},
            {"\"step\":1", "\"step\":1048576", "x.json: rank 0, action 2: step '1048576'"},
            {"\"chunks\":[[1,1]]", "\"chunks\":[[1048577,1]]", "1048577"},
        };

        for (const auto& wrong : cases)
        {
            const std::string text = Replace(good, wrong.what, wrong.by);
            const std::string refusal = GetRefusal([&] {
                const auto schedule = ReadScheduleJson(text, "x.json");
                const std::string fault = VerifySchedule(schedule);
                throw ConfigurationError(fault.empty() ? "accepted" : fault);
            });
            NS_TEST_EXPECT_MSG_NE(refusal.find(wrong.message),
                                  std::string::npos,
                                  wrong.by << ": " << refusal);
        }
        // A file is proven correct, however large it is.
        const std::string path = CreateTempDirFilename("wrong.json");
        std::ofstream(path) << Replace(good, "receive-reduce", "receive");
        NS_TEST_EXPECT_MSG_NE(GetRefusal([&] { LoadSchedule(path); }).find("rank "),
                              std::string::npos,
                              "a schedule that loses a contribution");
        NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { LoadSchedule(path + "x"); }),
                              path + "x: cannot be read (allowed: a schedule as JSON or MSCCL XML)",
                              "no file");
    }
};

/**
 * @ingroup distributed-training-tests
 * A schedule written as MSCCL XML is read back as a correct schedule with the same numbers.
 */
class MscclRoundTripTest : public TestCase
{
  public:
    MscclRoundTripTest()
        : TestCase("schedules to MSCCL XML and back")
    {
    }

  private:
    void DoRun() override
    {
        uint32_t count = 0;
        ForEachSchedule([&](const CollectiveSchedule& schedule, const std::string& what) {
            const auto operation = schedule.operation;
            const bool known = operation != CollectiveOperation::ALL_TO_ALL_V &&
                               operation != CollectiveOperation::BARRIER &&
                               operation != CollectiveOperation::SEND_RECEIVE;
            std::string text;
            const std::string refusal = GetRefusal([&] { text = WriteMscclSchedule(schedule); });
            NS_TEST_EXPECT_MSG_EQ(refusal.empty(), known, what << ": " << refusal);
            if (!known)
            {
                return;
            }
            const CollectiveSchedule read = ReadMscclSchedule(text, "test");
            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", what);
            NS_TEST_EXPECT_MSG_EQ(read.algorithm, schedule.algorithm, what);
            const uint32_t n = schedule.GetSize();
            const auto inputs = MakeInputs(n, 60);
            const auto expected = InterpretSchedule(schedule, inputs);
            const auto result = InterpretSchedule(read, inputs);
            for (uint32_t rank = 0; rank < n; rank++)
            {
                if (IsExchange(operation))
                {
                    NS_TEST_EXPECT_MSG_EQ((result[rank] == expected[rank]), true, what);
                    continue;
                }
                for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
                {
                    const auto [begin, end] = GetPartRange(240, schedule.chunks, chunk);
                    const bool promised =
                        schedule.GetPromise(rank, chunk) != CollectiveSchedule::Promise::NOTHING;
                    for (uint64_t i = begin / 4; promised && i < end / 4; i++)
                    {
                        NS_TEST_EXPECT_MSG_EQ(result[rank][i], expected[rank][i], what);
                    }
                }
            }
            count++;
        });
        NS_TEST_EXPECT_MSG_GT_OR_EQ(count, 25, "schedules");
        CheckParts();
    }

    /** An all-to-all in which the data from one rank to another is split in two. */
    void CheckParts()
    {
        constexpr uint32_t N = 3;
        CollectiveSchedule schedule;
        schedule.operation = CollectiveOperation::ALL_TO_ALL;
        schedule.algorithm = "two parts";
        schedule.chunks = 2 * N * N;
        schedule.Resize(N);
        for (uint32_t rank = 0; rank < N; rank++)
        {
            for (uint32_t distance = 1; distance < N; distance++)
            {
                for (uint32_t part : {1, 0})
                {
                    const uint32_t to = (rank + distance) % N;
                    const uint32_t chunk = (rank * N + distance) * 2 + part;
                    schedule.Add(rank, ScheduleAction::Kind::SEND, to, chunk, part);
                    schedule.Add(to, ScheduleAction::Kind::RECEIVE, rank, chunk, part);
                }
            }
        }
        schedule.Close();
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", "two parts");
        const CollectiveSchedule read = ReadMscclSchedule(WriteMscclSchedule(schedule), "test");
        NS_TEST_EXPECT_MSG_EQ(read.chunks, schedule.chunks, "chunks");
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(read), "", "two parts");
        const auto inputs = MakeInputs(N, 17);
        for (const auto& result :
             {InterpretSchedule(schedule, inputs), InterpretSchedule(read, inputs)})
        {
            CollectiveRequest request;
            request.operation = schedule.operation;
            request.ranks = N;
            const bool same = result == InterpretSchedule(BuildSchedule("ring", request), inputs);
            NS_TEST_EXPECT_MSG_EQ(same, true, "parts are where they belong");
        }
        schedule.chunks = 2 * N * N + 1;
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule),
                              "all-to-all of 3 ranks cannot have 19 chunks",
                              "parts of different size");
    }
};

/**
 * @ingroup distributed-training-tests
 * Both forms of MSCCL XML, with every type of step, in place and out of place.
 */
class MscclImportTest : public TestCase
{
  public:
    MscclImportTest()
        : TestCase("MSCCL XML becomes a schedule")
    {
    }

  private:
    void DoRun() override
    {
        const CollectiveSchedule ring = ReadMscclSchedule(RING, "ring.xml");
        NS_TEST_EXPECT_MSG_EQ(
            DescribeSchedule(ring),
            "all-reduce by ring3: 3 ranks, 1 chunks, 2 copies, 1 segment, 4 steps\n"
            "rank 0\n"
            "  0: step 0, send to rank 1: chunks 0\n"
            "  1: step 2, receive from rank 2: chunks 0, after 0\n"
            "  2: step 3, send to rank 1: chunks 0, after 1\n"
            "rank 1\n"
            "  0: step 0, copy from copy 0: chunks 0 (copy 1)\n"
            "  1: step 0, receive and add from rank 0: chunks 0 (copy 1), after 0\n"
            "  2: step 1, send to rank 2: chunks 0 (copy 1), after 1\n"
            "  3: step 3, receive from rank 0: chunks 0, after 2\n"
            "rank 2\n"
            "  0: step 1, receive and add from rank 1: chunks 0\n"
            "  1: step 2, send to rank 0: chunks 0, after 0\n",
            "older form");
        CheckSum(ring);
        const CollectiveSchedule swap = ReadMscclSchedule(MakeSwap(), "swap.xml");
        NS_TEST_EXPECT_MSG_EQ(swap.chunks, 2, "chunks of the newer form");
        CheckSum(swap);
        // FIFO order: with exchanged receives, chunk 1 arrives in place of chunk 0.
        const std::string exchanged =
            Replace(MakeSwap(), R"(type="s" buf="i" off="0")", R"(type="s" buf="i" off="1")");
        NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] {
                                  ReadMscclSchedule(Replace(exchanged,
                                                            R"(step="1" type="s" buf="i" off="1")",
                                                            R"(step="1" type="s" buf="i" off="0")"),
                                                    "x");
                              }),
                              "x: gpu 1, tb 2, step 2: adds different chunks",
                              "order on a channel");
        // Without the wait for the copy, sum and copy are unordered.
        const auto race =
            ReadMscclSchedule(Replace(MakeSwap(), R"(off="1" depid="2" deps="0")", R"(off="1")"),
                              "x");
        NS_TEST_EXPECT_MSG_NE(VerifySchedule(race).find("in no order with step"),
                              std::string::npos,
                              "a race: " << VerifySchedule(race));
        CheckRefusals();
    }

    void CheckSum(const CollectiveSchedule& schedule)
    {
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", schedule.algorithm);
        const auto inputs = MakeInputs(schedule.GetSize(), 8);
        const auto results = InterpretSchedule(schedule, inputs);
        for (const auto& result : results)
        {
            for (uint32_t i = 0; i < 8; i++)
            {
                float sum = 0;
                for (const auto& input : inputs)
                {
                    sum += input[i];
                }
                NS_TEST_EXPECT_MSG_EQ(result[i], sum, schedule.algorithm << " " << i);
            }
        }
    }

    void CheckRefusals()
    {
        const struct
        {
            const char* what;
            const char* by;
            const char* message;
        } cases[] = {
            {"</algo>", "", "x.xml:22: "},
            {"<algo ", "<algorithm ", "x.xml:"},
            {"ngpus=\"3\"", "ngpus=\"0\"", "x.xml: ngpus=\"0\" (allowed: 1 to "},
            {"ngpus=\"3\"", "ngpus=\"4\"", "x.xml: no gpu 3"},
            {"allreduce", "allsum", "x.xml: coll=\"allsum\" (allowed: allgather, allreduce, "},
            {"coll=\"allreduce\"", "", "x.xml: no coll"},
            {"allreduce",
             "allgather",
             "x.xml: 1 chunks for 3 gpus (allowed: multiples of the gpus"},
            {"gpu id=\"1\"", "gpu id=\"0\"", "x.xml: gpu 0 twice"},
            {"gpu id=\"1\"", "gpu id=\"3\"", "x.xml: gpu: id=\"3\" (allowed: 0 to 2)"},
            {"send=\"1\" recv=\"2\"",
             "send=\"0\" recv=\"2\"",
             "gpu 0, tb 0: gpu 0 as its own peer"},
            {"send=\"1\" recv=\"2\"",
             "send=\"-1\" recv=\"2\"",
             "tb 0, step 0: type=\"s\" in a thr"},
            {"s=\"1\" type=\"rcs\"", "s=\"2\" type=\"rcs\"", "step 1: s=\"2\" (allowed: 1 to 1)"},
            {"type=\"rcs\"", "type=\"get\"", "step 1: type=\"get\" (allowed: cpy, nop, r, rcs, re"},
            {"srcoff=\"0\"", "srcoff=\"1\"", "gpu 0, tb 0, step 0: srcoff=\"1\" (allowed: 0 to 0)"},
            {"srcbuf=\"i\"",
             "srcbuf=\"q\"",
             "gpu 0, tb 0, step 0: srcbuf=\"q\" (allowed: i, o, s)"},
            {"srcbuf=\"i\"", "srcbuf=\"s\"", "step 0: cnt=\"1\" in a buffer of 0 chunks"},
            {"depid=\"-1\" deps=\"-1\"",
             "depid=\"0\" deps=\"9\"",
             "depid=\"0\" deps=\"9\", which d"},
            {"depid=\"-1\" deps=\"-1\"",
             "depid=\"0\" deps=\"1\"",
             "gpu 0, tb 0, step 0: waits for"},
            {"type=\"rrcs\"",
             "type=\"rrc\"",
             "gpu 0, tb 0, step 1: deadlock: waits for a message or step that never completes"},
            {"type=\"rcs\"",
             "type=\"r\"",
             "gpu 1, tb 0, step 1: deadlock: waits for a message or step that never completes"},
            {"type=\"rrs\"",
             "type=\"rcs\"",
             "rank 1, step 0: receives from rank 0 chunk 0 over different"},
        };

        for (const auto& wrong : cases)
        {
            const std::string text = Replace(RING, wrong.what, wrong.by);
            const std::string refusal = GetRefusal([&] {
                const std::string fault = VerifySchedule(ReadMscclSchedule(text, "x.xml"));
                throw ConfigurationError(fault.empty() ? "accepted" : fault);
            });
            NS_TEST_EXPECT_MSG_NE(refusal.find(wrong.message),
                                  std::string::npos,
                                  wrong.by << ": " << refusal);
        }
        const std::string more = R"(<tb id="1" send="-1" recv="2" chan="0"/></gpu>)";
        NS_TEST_EXPECT_MSG_EQ(
            GetRefusal([&] { ReadMscclSchedule(Replace(RING, "</gpu>", more), "x"); }),
            "x: gpu 0, tb 1: a second thread block receives from gpu 2 on channel 0",
            "two receivers");
        const std::string sent = R"(<tb id="1" send="2" recv="-1" chan="0">
            <step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/></tb></gpu>)";
        NS_TEST_EXPECT_MSG_EQ(
            GetRefusal([&] { ReadMscclSchedule(Replace(RING, "</gpu>", sent), "x"); }),
            "x: a message from gpu 0 to gpu 2 on channel 0 is never received",
            "a message too many");
        NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] {
                                  ReadMscclSchedule(Replace(MakeSwap(),
                                                            "type=\"re\" srcbuf=\"s\"",
                                                            "type=\"re\" srcbuf=\"o\""),
                                                    "x");
                              }),
                              "x: gpu 0, tb 2, step 2: adds chunks to themselves",
                              "a sum twice");
    }
};

/**
 * @ingroup distributed-training-tests
 * A schedule file runs over a network with real payload, in segments, with losses.
 */
class FileRunsTest : public TestCase
{
  public:
    FileRunsTest()
        : TestCase("schedules from files over RDMA and TCP")
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
        const std::string ring = CreateTempDirFilename("ring.xml");
        std::ofstream(ring) << RING;
        const std::string swap = CreateTempDirFilename("swap.xml");
        std::ofstream(swap) << MakeSwap();
        const std::string json = CreateTempDirFilename("ring.json");
        SaveSchedule(LoadSchedule(ring), json);
        for (const std::string transport : {"rdma", "tcp"})
        {
            for (const std::string& path : {ring, swap, json})
            {
                for (uint32_t segments : {0, 4})
                {
                    ClusterOptions options;
                    options.ranks = path == swap ? 2 : 3;
                    options.transport = transport;
                    options.schedule = path;
                    options.segments = segments;
                    options.loss = 0.01;
                    const std::string mismatch = Measure(options);
                    NS_TEST_EXPECT_MSG_EQ(mismatch, "", path << " over " << transport);
                }
            }
        }
        ClusterOptions options;
        options.ranks = 4;
        options.schedule = ring;
        NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { Measure(options); }),
                              "schedule " + ring + " with 4 ranks (allowed: 3)",
                              "number of ranks");
        Simulator::Destroy();
        options.ranks = 3;
        NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { Measure(options, CollectiveOperation::BROADCAST); }),
                              "schedule " + ring + " has no broadcast (allowed: all-reduce)",
                              "operation");
        Simulator::Destroy();
    }

    static std::string Measure(const ClusterOptions& options,
                               CollectiveOperation operation = CollectiveOperation::ALL_REDUCE)
    {
        std::string mismatch;
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            const auto row = MeasureCollective(cluster, run, operation, 100000, true, 7);
            mismatch = row.verified ? row.mismatch : "not verified";
        }
        Simulator::Destroy();
        return mismatch;
    }
};

/**
 * @ingroup distributed-training-tests
 * Suite of schedule files.
 */
class ScheduleFileTestSuite : public TestSuite
{
  public:
    ScheduleFileTestSuite()
        : TestSuite("distributed-training-schedule-file", TestSuite::Type::UNIT)
    {
        AddTestCase(new ScheduleJsonTest);
        AddTestCase(new MscclRoundTripTest);
        AddTestCase(new MscclImportTest);
        AddTestCase(new FileRunsTest);
    }
};

static ScheduleFileTestSuite g_scheduleFileTestSuite; ///< registers the suite
