/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "pipeline/pipeline-choice.h"
#include "pipeline/pipeline-timing.h"

#include "ns3/pipeline-schedule.h"

namespace ns3::training::tests::pipeline_schedule_test
{

/** @return end of an iteration in which messages take no time */
double
GetEnd(const std::string& name,
       uint32_t ranks,
       uint32_t microBatches,
       const PipelineDurations& durations = {})
{
    return TimePipeline(MakePipelineSchedule(name, ranks, microBatches), durations).end;
}

/** @return times of a stage that is one of `chunks` of a rank */
PipelineDurations
Divide(uint32_t chunks, double message = 0)
{
    return {1.0 / chunks, 1.0 / chunks, 1.0 / chunks, message};
}

/** @return message of the refusal of a schedule; empty if it is not refused */
std::string
GetRefusal(const std::string& name, uint32_t ranks, uint32_t microBatches)
{
    return tests::GetRefusal([&] { MakePipelineSchedule(name, ranks, microBatches); });
}

/**
 * Ends of iterations by the formulas of the papers: a forward pass takes 1, a backward pass 2, half
 * of it for the gradients of the weights.
 */
void
TestPipelineMakespan()
{
    for (uint32_t p : {1, 2, 3, 4, 7, 8})
    {
        for (uint32_t m : {1, 2, 4, 8, 32})
        {
            const std::string what =
                std::to_string(p) + " ranks, " + std::to_string(m) + " micro-batches";
            const double ideal = 3.0 * m;
            NS_TEST_EXPECT_MSG_EQ(GetEnd("gpipe", p, m), ideal + 3 * (p - 1), what);
            NS_TEST_EXPECT_MSG_EQ(GetEnd("1f1b", p, m), ideal + 3 * (p - 1), what);
            if (m % p != 0)
            {
                continue;
            }
            NS_TEST_EXPECT_MSG_EQ(GetEnd("zb1p", p, m), ideal + p - 1, what);
            for (uint32_t v : {1, 2, 4})
            {
                const std::string keys = ":v=" + std::to_string(v);
                const double end = ideal + 3.0 * (p - 1) / v;
                NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd("interleaved" + keys, p, m, Divide(v)),
                                          end,
                                          1e-9,
                                          what << ", v " << v);
            }
            if (m >= 2 * p)
            {
                // Only the start of the ranks one after the other is left.
                NS_TEST_EXPECT_MSG_EQ(GetEnd("zbv", p, m), 2 * ideal + p - 1, what);
                NS_TEST_EXPECT_MSG_EQ(GetEnd("dualpipev", p, m), 2 * ideal + 2 * (p - 1), what);
            }
        }
    }
    // Messages between ranks take a quarter; a rank waits for those it needs only.
    NS_TEST_EXPECT_MSG_EQ(GetEnd("gpipe", 4, 8, Divide(1, 0.25)), 34.5, "gpipe");
    NS_TEST_EXPECT_MSG_EQ(GetEnd("1f1b", 4, 8, Divide(1, 0.25)), 37, "1f1b");
    NS_TEST_EXPECT_MSG_EQ(GetEnd("interleaved:v=2", 4, 8, Divide(2, 0.25)), 32, "v 2");
    NS_TEST_EXPECT_MSG_EQ(GetEnd("interleaved:v=4", 4, 8, Divide(4, 0.25)), 33.75, "v 4");
}

/** Micro-batches whose activations a rank keeps. */
void
TestPipelineMemory()
{
    for (uint32_t p : {1, 2, 4, 8})
    {
        const uint32_t m = 4 * p;
        for (uint32_t rank = 0; rank < p; rank++)
        {
            const auto getMost = [&](const std::string& name) {
                return MakePipelineSchedule(name, p, m).GetMostActivations(rank);
            };
            NS_TEST_EXPECT_MSG_EQ(getMost("gpipe"), m, "gpipe: all");
            NS_TEST_EXPECT_MSG_EQ(getMost("1f1b"), p - rank, "1f1b: those behind it");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(getMost("zb1p"), p, "zb1p: as 1f1b");
            NS_TEST_EXPECT_MSG_EQ(getMost("zbv"), 2 * p, "zbv: half stages, as 1f1b");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(getMost("dualpipev"), 2 * p + 1, "dualpipev: p + 1");
        }
    }
}

/**
 * @param letters of FORWARD, BACKWARD, INPUT_GRADIENT and WEIGHT_GRADIENT
 * @param withMessages whether sends and receives are written
 * @return its path
 */
std::string
Write(const std::string& name,
      const PipelineSchedule& schedule,
      const std::vector<std::string>& letters,
      bool withMessages)
{
    const std::string path = CreateTempDirFilename(name);
    std::ofstream file(path);
    for (uint32_t rank = 0; rank < schedule.GetRanks(); rank++)
    {
        for (const PipelineAction& action : schedule.actions[rank])
        {
            const bool isForward = action.work == PipelineWork::FORWARD;
            const auto number = std::to_string(action.microBatch);
            const auto stage = std::to_string(action.stage);
            const std::string letter = isForward ? "F" : "B";
            const auto isApart = [&](uint32_t other) {
                return withMessages && action.work != PipelineWork::WEIGHT_GRADIENT &&
                       other < schedule.GetStages() && schedule.rankOfStage[other] != rank;
            };
            const uint32_t from = isForward ? action.stage - 1 : action.stage + 1;
            const uint32_t to = isForward ? action.stage + 1 : action.stage - 1;
            file << (isApart(from) ? stage + "RECV_" + letter + number + "," : "");
            file << stage << letters[static_cast<uint32_t>(action.work)] << number << ",";
            file << (isApart(to) ? stage + "SEND_" + letter + number + "," : "") << ",";
        }
        file << "\n";
    }
    return path;
}

/** Schedule files in both dialects, with and without messages. */
void
TestPipelineFile()
{
    const std::vector<std::string> today{"F", "B", "I", "W"};
    const std::vector<std::string> before{"F", "BW", "B", "W"};
    for (const std::string name : {"gpipe", "1f1b", "interleaved:v=2", "zb1p:v=2", "zbv"})
    {
        for (const bool withMessages : {false, true})
        {
            for (const auto& letters : {today, before})
            {
                const auto schedule = MakePipelineSchedule(name, 4, 8);
                const auto path = Write("schedule.csv", schedule, letters, withMessages);
                const auto read = MakePipelineSchedule(path, 4, 8);
                for (uint32_t rank = 0; rank < 4; rank++)
                {
                    std::string expected;
                    std::string found;
                    for (const PipelineAction& action : schedule.actions[rank])
                    {
                        expected += action.ToString() + " ";
                    }
                    for (const PipelineAction& action : read.actions[rank])
                    {
                        found += action.ToString() + " ";
                    }
                    NS_TEST_EXPECT_MSG_EQ(found, expected, name);
                }
            }
        }
    }
}

/** @param text of a schedule file @param part of the message */
void
Expect(const std::string& text, const std::string& part)
{
    const std::string path = WriteFile("wrong.csv", text);
    const std::string message = GetRefusal(path, 2, 2);
    NS_TEST_EXPECT_MSG_NE(message.find(part), std::string::npos, text << ": " << message);
}

/** Wrong schedules are refused with the place of the mistake. */
void
TestPipelineRefusal()
{
    Expect("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "");
    NS_TEST_EXPECT_MSG_EQ(GetRefusal(CreateTempDirFilename("wrong.csv"), 2, 2), "", "correct");
    Expect("0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n", "rank 0 never does 0B1");
    Expect("0F0,0F0,0B0,0B1\n1F0,1B0,1F1,1B1\n", "0F0 is done twice");
    Expect("0F0,0B0,0F1,0B1,0B1\n1F0,1B0,1F1,1B1\n", "0B1 is done twice");
    Expect("0B0,0F0,0F1,0B1\n1F0,1B0,1F1,1B1\n", "comes before the forward pass");
    Expect("0F0,0F1,0B0,0B1\n1F0,1G0,1F1,1B1\n", ":2: cell '1G0'");
    Expect("0F0,0F1,0B0,0B1\n", "1 rows");
    Expect("0F0,0F1,0B0,0B1\n0F0,1B0,1F1,1B1\n", "allowed: a stage on one rank");
    Expect("0F0,0F1,0B0,0B1\n2F0,2B0,2F1,2B1\n", "no stage 1");
    Expect("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n", "3 micro-batches");
    Expect("0F0,0SEND_F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "is missing");
    Expect("0F0,0SEND_B0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "one message for each");
    Expect("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n",
           "deadlock: rank 0 waits with 0B0 for 1B0 of rank 1; rank 1 waits with 1F1 for 0F1");
    ExpectPart(GetRefusal("nope", 2, 2), "allowed: 1f1b", "unknown");
    ExpectPart(GetRefusal("1f1b:messages=single", 4, 8), "(allowed: messages=asynchronous|batched");
    NS_TEST_EXPECT_MSG_NE(GetRefusal("gpipe:messages=batched", 4, 8),
                          "",
                          "messages of another schedule");
    ExpectPart(GetRefusal("interleaved:v=2", 4, 9), "allowed: multiples of 2", "rounds");
    ExpectPart(GetRefusal("dualpipev", 4, 7), "allowed: at least 8", "too few");
    ExpectPart(GetRefusal("/nowhere.csv", 2, 2), "cannot be read", "no file");
}

const Suite g_suite("pipeline-schedule",
                    Duration::QUICK,
                    {{"makespans of pipeline schedules equal closed forms", TestPipelineMakespan},
                     {"activations that pipeline schedules keep", TestPipelineMemory},
                     {"pipeline schedules from files", TestPipelineFile},
                     {"wrong pipeline schedules are refused", TestPipelineRefusal}});

} // namespace ns3::training::tests::pipeline_schedule_test
