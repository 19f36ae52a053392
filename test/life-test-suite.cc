/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "life/checkpoint-interval.h"

#include "ns3/energy-model.h"
#include "ns3/failure-model.h"
#include "ns3/failure-sequence.h"
#include "ns3/job-life.h"

#include <chrono>
#include <cmath>

namespace ns3::training::tests::life_test
{

/// Minutes of a life.
using LifeMinutes = std::chrono::minutes;

/** @return a life with failures at given minutes */
LifeAccount
LiveWith(const LifeSpans& spans, const std::vector<int>& minutes)
{
    std::size_t next = 0;
    return LiveJob(spans, [&] {
        Failure failure;
        if (next < minutes.size())
        {
            failure.time = LifeMinutes(minutes[next++]);
        }
        return failure;
    });
}

/** @return a life with failures of a model */
LifeAccount
LiveWith(const LifeSpans& spans, const FailureModel& model, uint32_t nodes, int64_t stream)
{
    FailureSequence sequence(model, nodes, stream);
    return LiveJob(spans, [&] { return sequence.Next(); });
}

/** @return all time that an account knows of */
LifeTime
GetSum(const LifeAccount& account)
{
    return account.productive + account.checkpoint + account.lost + account.restart +
           account.waiting;
}

/** Optimal intervals. */
void
TestCheckpointInterval()
{
    // Daly 2006, captions of figures 3 to 5, in minutes, with a checkpoint of 5 minutes.
    NS_TEST_EXPECT_MSG_EQ_TOL(GetDalyInterval(5, 24 * 60), 117, 0.5, "mean of 24 h");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetDalyInterval(5, 6 * 60), 57, 0.5, "mean of 6 h");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetDalyInterval(5, 15), 9.1, 0.05, "mean of 15 min");
    NS_TEST_EXPECT_MSG_EQ(GetDalyInterval(30, 15), 15, "longer than twice the mean");
    NS_TEST_EXPECT_MSG_EQ(GetYoungInterval(8, 100), 40, "square root");
    for (double checkpoint : {1e-3, 1.0, 60.0, 600.0})
    {
        for (double mean : {1e3, 1e4, 1e6})
        {
            const double best = GetBestInterval(checkpoint, mean);
            const double most = GetExpectedEfficiency(best, checkpoint, 300, mean);
            for (double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
            {
                NS_TEST_EXPECT_MSG_GT(most,
                                      GetExpectedEfficiency(factor * best, checkpoint, 300, mean),
                                      checkpoint << " s, " << mean << " s, factor " << factor);
            }
            // Daly, figure 2: below 1 % up to dumps of half the mean.
            const double daly = GetDalyInterval(checkpoint, mean);
            NS_TEST_EXPECT_MSG_LT(std::abs(daly / best - 1), 0.01, "Daly is near");
        }
    }
    NS_TEST_EXPECT_MSG_EQ(GetExpectedEfficiency(9, 1, 5, INFINITY), 0.9, "no failures");
    NS_TEST_EXPECT_MSG_EQ_TOL(GetExpectedEfficiency(9, 1, 5, 1e12), 0.9, 1e-9, "few failures");
}

void
TestFailureModel()
{
    const FailureModel llama = MakeFailureModel("llama3");
    const double hours = llama.GetMeanSeconds(16384 / 8) / 3600;
    NS_TEST_EXPECT_MSG_EQ_TOL(hours, 54.0 * 24 / 419, 1e-9, "Llama 3: one in 3.1 h");
    NS_TEST_EXPECT_MSG_EQ_TOL(hours, 3.1, 0.05, "as printed");
    NS_TEST_EXPECT_MSG_EQ_TOL(llama.causes[0].perNodeDay / llama.GetPerNodeDay(),
                              148.0 / 419,
                              1e-12,
                              "faulty GPUs");
    NS_TEST_EXPECT_MSG_EQ(llama.causes.back().name, "other", "the rest");
    NS_TEST_EXPECT_MSG_EQ_TOL(llama.causes.back().perNodeDay * 2048 * 54, 33, 1e-9, "the rest");
    NS_TEST_EXPECT_MSG_EQ_TOL(MakeFailureModel("rsc-1").GetMeanSeconds(16384 / 8) / 3600,
                              1.8,
                              0.05,
                              "RSC-1 at 16,384 GPUs, as printed");
    NS_TEST_EXPECT_MSG_EQ_TOL(MakeFailureModel("rsc-2:factor=2").GetMeanSeconds(1),
                              86400 / 4.68e-3,
                              1e-3,
                              "RSC-2");
    NS_TEST_EXPECT_MSG_EQ(MakeFailureModel("rsc-2:shape=0.7").shape, 0.7, "shape");

    const std::string path =
        WriteFile("failures.csv", "# ours\ncause,per_1000_node_days\r\nGPU, HBM,2.5\n\nNIC,0.5\n");
    const FailureModel mine = MakeFailureModel("file:" + path);
    NS_TEST_ASSERT_MSG_EQ(mine.causes.size(), 2, "lines");
    NS_TEST_EXPECT_MSG_EQ(mine.causes[0].name, "GPU, HBM", "name with a comma");
    NS_TEST_EXPECT_MSG_EQ_TOL(mine.GetPerNodeDay(), 3e-3, 1e-15, "sum");
}

/** Expects an account, minutes. */
void
Expect(const LifeAccount& account,
       const std::vector<int>& minutes,
       uint64_t checkpoints,
       const std::string& what)
{
    NS_TEST_EXPECT_MSG_EQ(account.productive, LifeMinutes(minutes[0]), what << ": work");
    NS_TEST_EXPECT_MSG_EQ(account.checkpoint, LifeMinutes(minutes[1]), what << ": save");
    NS_TEST_EXPECT_MSG_EQ(account.lost, LifeMinutes(minutes[2]), what << ": lost");
    NS_TEST_EXPECT_MSG_EQ(account.restart, LifeMinutes(minutes[3]), what << ": restart");
    NS_TEST_EXPECT_MSG_EQ(account.waiting, LifeMinutes(minutes[4]), what << ": waiting");
    NS_TEST_EXPECT_MSG_EQ(GetSum(account), account.elapsed, what << ": sum");
    NS_TEST_EXPECT_MSG_EQ(account.checkpoints, checkpoints, what << ": checkpoints");
}

void
TestJobLife()
{
    LifeSpans spans;
    spans.interval = LifeMinutes(60);
    spans.checkpoint = LifeMinutes(5);
    spans.restart = LifeMinutes(10);
    spans.duration = LifeMinutes(300);
    Expect(LiveWith(spans, {}), {280, 20, 0, 0, 0}, 4, "no failure");
    Expect(LiveWith(spans, {30}), {240, 20, 30, 10, 0}, 4, "in work");
    Expect(LiveWith(spans, {63}), {212, 15, 63, 10, 0}, 3, "in a checkpoint");
    Expect(LiveWith(spans, {65}), {270, 20, 0, 10, 0}, 4, "at the end of a checkpoint");
    Expect(LiveWith(spans, {30, 35}), {240, 15, 30, 15, 0}, 3, "in a restart");
    Expect(LiveWith(spans, {295}), {240, 20, 35, 5, 0}, 4, "at the end");

    LifeSpans repairs = spans;
    repairs.repair = LifeMinutes(100);
    Expect(LiveWith(repairs, {30, 45}), {135, 10, 30, 10, 115}, 2, "two repairs");
    repairs.spares = 1;
    Expect(LiveWith(repairs, {30, 50}), {150, 10, 40, 20, 80}, 2, "a spare and a repair");
    Expect(LiveWith(repairs, {30, 135}), {205, 15, 60, 20, 0}, 3, "a repair in time");

    LifeSpans drains = spans;
    drains.drain = LifeMinutes(20);
    Expect(LiveWith(drains, {80}), {195, 15, 80, 10, 0}, 2, "before the end of a drain");
    Expect(LiveWith(drains, {90}), {245, 20, 25, 10, 0}, 3, "after the end of a drain");
    drains.drain = LifeMinutes(100);
    Expect(LiveWith(drains, {}), {205, 95, 0, 0, 0}, 2, "drains that are too slow");
    Expect(LiveWith(drains, {150}), {120, 20, 150, 10, 0}, 0, "while waiting for a drain");
}

void
CheckSums()
{
    int64_t stream = 0;
    for (double shape : {0.5, 1.0, 3.0})
    {
        for (int drain : {0, 7, 300})
        {
            for (int repair : {0, 1000})
            {
                for (uint32_t nodes : {1, 3, 7, 1000})
                {
                    LifeSpans spans;
                    spans.interval = std::chrono::seconds(1234);
                    spans.checkpoint = std::chrono::seconds(56);
                    spans.restart = std::chrono::seconds(345);
                    spans.drain = std::chrono::seconds(drain);
                    spans.repair = LifeMinutes(repair);
                    spans.spares = 2;
                    spans.duration = std::chrono::hours(500);
                    const FailureModel model{{{"any", 10.0 / nodes}}, shape};
                    const LifeAccount account = LiveWith(spans, model, nodes, stream);
                    stream += 2;
                    NS_TEST_EXPECT_MSG_EQ(GetSum(account), account.elapsed, "sum");
                    NS_TEST_EXPECT_MSG_EQ(account.elapsed, spans.duration, "end");
                    NS_TEST_EXPECT_MSG_GT(account.failures, 0, "there are failures");
                    NS_TEST_EXPECT_MSG_EQ(account.byCause.at(0), account.failures, "causes");
                    NS_TEST_EXPECT_MSG_EQ((account.productive >= LifeTime(0) &&
                                           account.lost >= LifeTime(0) &&
                                           account.waiting >= LifeTime(0)),
                                          true,
                                          "signs");
                }
            }
        }
    }
}

void
CheckEfficiency()
{
    // Mean of 2 h; 10,000 failures: the mean of a ratio is within 1 %.
    const FailureModel model{{{"any", 12.0 / 100}}, 1};
    int64_t stream = 1000;
    for (double interval : {300.0, 1800.0, 7200.0})
    {
        for (double restart : {0.0, 300.0, 3600.0})
        {
            LifeSpans spans;
            spans.interval = MakeLifeTime(interval);
            spans.checkpoint = MakeLifeTime(120);
            spans.restart = MakeLifeTime(restart);
            spans.duration = std::chrono::hours(20000);
            const LifeAccount account = LiveWith(spans, model, 100, stream);
            stream += 2;
            const double expected = GetExpectedEfficiency(interval, 120, restart, 7200);
            NS_TEST_EXPECT_MSG_EQ_TOL(account.GetEffectiveRatio() / expected,
                                      1,
                                      0.015,
                                      interval << " s, restart " << restart << " s");
        }
    }
}

void
CheckSequence()
{
    // Renewals of 10 nodes in 10,000 days at 1 a day: t / mean + (cv^2 - 1) / 2 of each, with a
    // variance of cv^2 t / mean.
    for (double shape : {0.7, 1.0, 2.0})
    {
        const FailureModel model{{{"a", 0.25}, {"never", 0}, {"b", 0.75}}, shape};
        FailureSequence sequence(model, 10, 5000);
        const LifeTime end = MakeLifeTime(10000 * DAY_SECONDS);
        LifeTime last{0};
        std::vector<double> counts(3);
        for (Failure failure = sequence.Next(); failure.time <= end; failure = sequence.Next())
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(failure.time, last, "order");
            last = failure.time;
            counts[failure.cause]++;
        }
        const double square =
            std::tgamma(1 + 2 / shape) / std::pow(std::tgamma(1 + 1 / shape), 2) - 1;
        const double all = counts[0] + counts[2];
        NS_TEST_EXPECT_MSG_EQ_TOL(all,
                                  1e5 + 5 * (square - 1),
                                  4 * std::sqrt(1e5 * square),
                                  "failures, shape " << shape);
        NS_TEST_EXPECT_MSG_EQ(counts[1], 0, "a cause that never happens");
        NS_TEST_EXPECT_MSG_EQ_TOL(counts[0],
                                  all / 4,
                                  4 * std::sqrt(all * 3 / 16),
                                  "failures of a cause, shape " << shape);
    }
    FailureSequence none({{{"any", 0}}, 1}, 100, 0);
    NS_TEST_EXPECT_MSG_EQ(none.Next().time, LifeTime::max(), "nothing fails");
}

void
CheckRuns()
{
    LifeSpans spans;
    spans.interval = LifeMinutes(30);
    spans.checkpoint = LifeMinutes(1);
    spans.restart = LifeMinutes(10);
    spans.duration = std::chrono::hours(24 * 54);
    const FailureModel model = MakeFailureModel("llama3");
    const LifeAccount first = LiveWith(spans, model, 2048, 0);
    const LifeAccount again = LiveWith(spans, model, 2048, 0);
    NS_TEST_EXPECT_MSG_EQ(first.productive, again.productive, "the same run");
    NS_TEST_EXPECT_MSG_EQ(first.failures, again.failures, "the same run");
    RngSeedManager::SetRun(2);
    const LifeAccount other = LiveWith(spans, model, 2048, 0);
    NS_TEST_EXPECT_MSG_NE(first.productive, other.productive, "another run");
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(first.failures),
                              419,
                              4 * std::sqrt(419.0),
                              "interruptions of Llama 3");
}

void
TestRandomLife()
{
    CheckSums();
    CheckEfficiency();
    CheckSequence();
    CheckRuns();
}

/** Energy of a cluster, by hand. */
void
TestEnergyModel()
{
    const PowerFigures figures = MakePowerFigures(
        "h100:server=1000,gpu-waiting=100,gpu-active=700,cpu-idle=50,cpu-active=250,nic=20,"
        "switch=500,port=10,link-bit=15,switch-bit=5,memory-bit=6,gpus=4");
    ClusterActivity activity;
    activity.seconds = 2;
    activity.ranks = 6; // 2 servers
    activity.computeSeconds = 9;
    activity.collectiveSeconds = 3; // a quarter of the ranks' time
    activity.nics = 6;
    activity.switches = 3;
    activity.ports = 12;
    activity.linkBits = 4e12;
    activity.switchBits = 2e12;
    activity.memoryBits = 1e12;
    activity.retransmittedPart = 0.25;
    const EnergyAccount account = GetEnergy(figures, activity);
    NS_TEST_EXPECT_MSG_EQ_TOL(account.compute, 6300, 1e-9, "9 s of 700 W");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.waiting, 300, 1e-9, "3 s of 100 W");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.hosts,
                              2 * 2 * 1050 + 2 * 120 + 200,
                              1e-9,
                              "servers, NICs, 1 s of a CPU");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.switches, 2 * (1500 + 120), 1e-9, "switches");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.bits, 60 + 10 + 6, 1e-9, "bits");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.retransmissions, 19, 1e-9, "a quarter of them");
    NS_TEST_EXPECT_MSG_EQ_TOL(account.GetTotal(),
                              6300 + 300 + 4640 + 3240 + 76,
                              1e-9,
                              "sum without counting retransmissions twice");
    NS_TEST_EXPECT_MSG_EQ(MakePowerFigures("h100").gpuActive, 700, "data sheet");
    NS_TEST_EXPECT_MSG_EQ(MakePowerFigures("llmservingsim").server, 102, "its example");
}

/** Expects the refusal of a file of rates. */
void
ExpectFile(const std::string& text, const std::string& part)
{
    const std::string path = WriteFile("refused.csv", text);
    ExpectPart(GetRefusal([&] { MakeFailureModel("file:" + path); }), part);
}

void
TestLifeRefusal()
{
    ExpectPart(GetRefusal([] { MakeFailureModel("llama4"); }), "file, llama3, rsc-1, rsc-2");
    ExpectPart(GetRefusal([] { MakeFailureModel("llama3:shape=0"); }), "0.1 to 10");
    ExpectPart(GetRefusal([] { MakeFailureModel("llama3:mean=3"); }), "mean");
    ExpectPart(GetRefusal([] { MakeFailureModel("file:/nowhere.csv"); }), "cannot be read");
    ExpectFile("", "has no causes");
    ExpectFile("cause,per_1000_node_days\n", "has no causes");
    ExpectFile("cause,rate\n", ":1: cause,rate (allowed: the header");
    ExpectFile("cause,per_1000_node_days\nGPU\n", ":2: GPU (allowed:");
    ExpectFile("cause,per_1000_node_days\nGPU,-1\n", ":2: GPU,-1");
    ExpectFile("cause,per_1000_node_days\nGPU,1e9\n", ":2: GPU,1e9");
    ExpectFile("cause,per_1000_node_days\n,1\n", ":2: ,1");
    ExpectFile("cause,per_1000_node_days\nGPU,1\nGPU,2\n", ":3: GPU is there twice");
    ExpectPart(GetRefusal([] { MakePowerFigures("h200"); }), "h100, llmservingsim");
    ExpectPart(GetRefusal([] { MakePowerFigures("h100:link-bit=-1"); }), "link-bit");
    ExpectPart(GetRefusal([] { MakePowerFigures("h100:gpus=0"); }), "gpus");
}

const Suite g_suite(
    "life",
    Duration::QUICK,
    {{"intervals of Young and Daly, and the largest efficiency", TestCheckpointInterval},
     {"rates of published failures", TestFailureModel},
     {"accounts of lives with given failures", TestJobLife},
     {"lives with random failures: sums, closed forms, the same run twice", TestRandomLife},
     {"energy of a cluster", TestEnergyModel},
     {"wrong failure logs and power models are refused", TestLifeRefusal}});

} // namespace ns3::training::tests::life_test
