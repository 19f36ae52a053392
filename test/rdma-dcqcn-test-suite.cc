/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/random-variable-stream.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>

namespace ns3::training::tests::rdma_dcqcn_test
{

/** DCQCN after one isolated CNP, and the closed form of alpha (computed by hand). */
void
TestRdmaDcqcnOracle()
{
    constexpr double LINE = 100e9;
    constexpr int64_t T0 = 123456789;
    constexpr int64_t CUT = T0 + 4 * MICROSECOND + 1000; // decrease timer, 1 ns behind alpha's
    auto dcqcn = CreateObject<RdmaDcqcn>();
    dcqcn->Initialize(MakePath(LINE));
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetNeeds().cnp, true, "it lives by notifications");
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(0), LINE, "starts at line rate");
    dcqcn->OnCnp(T0);
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(T0), LINE, "no cut before the period");
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(CUT - 1), LINE, "not a picosecond early");
    const double rate = dcqcn->GetRate(CUT);
    const double alpha = std::pow(255.0 / 256, 4);
    NS_TEST_EXPECT_MSG_EQ_TOL(rate, LINE * (1 - alpha / 2), 1.0, "the cut");
    NS_TEST_EXPECT_MSG_EQ_TOL(alpha, 0.98447, 0.000005, "as in the reference");
    NS_TEST_EXPECT_MSG_EQ_TOL(rate / LINE, 0.50777, 0.000005, "as in the reference");
    const double expected[] = {0.75388, 0.87694, 0.93847};
    for (int64_t i = 0; i < 3; i++)
    {
        const int64_t time = CUT + (i + 1) * 300 * MICROSECOND;
        NS_TEST_EXPECT_MSG_EQ_TOL(dcqcn->GetRate(time - 1) / LINE,
                                  (i == 0 ? 0.50777 : expected[i - 1]),
                                  0.000006,
                                  "before increase " << i);
        NS_TEST_EXPECT_MSG_EQ_TOL(dcqcn->GetRate(time) / LINE,
                                  expected[i],
                                  0.000006,
                                  "increase " << i);
    }
    for (int64_t i = 4; i < 60; i++)
    {
        const double before = dcqcn->GetRate(CUT + (i - 1) * 300 * MICROSECOND);
        const double after = dcqcn->GetRate(CUT + i * 300 * MICROSECOND);
        NS_TEST_EXPECT_MSG_EQ((after >= before && after <= LINE), true, "never above line rate");
    }
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(CUT + 60 * 300 * MICROSECOND), LINE, "recovers wholly");

    // Alpha decays by the closed form, whether it is read in between or not.
    auto quiet = CreateObject<RdmaDcqcn>();
    auto watched = CreateObject<RdmaDcqcn>();
    quiet->Initialize(MakePath(LINE));
    watched->Initialize(MakePath(LINE));
    quiet->OnCnp(T0);
    watched->OnCnp(T0);
    for (int64_t tick = 0; tick <= 2000; tick++)
    {
        const double decayed = std::pow(255.0 / 256, static_cast<double>(tick));
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetAlpha(T0 + tick * MICROSECOND),
                                  decayed,
                                  1e-12,
                                  "alpha after " << tick << " us");
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetAlpha(T0 + (tick + 1) * MICROSECOND - 1),
                                  decayed,
                                  1e-12,
                                  "alpha just before the next tick");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(quiet->GetAlpha(T0 + 2000 * MICROSECOND),
                              std::pow(255.0 / 256, 2000),
                              1e-12,
                              "looked at once");

    // A second CNP in the same decrease period causes no second cut; one in the next period does.
    auto twice = CreateObject<RdmaDcqcn>();
    twice->Initialize(MakePath(LINE));
    twice->OnCnp(T0);
    twice->OnCnp(T0 + 3900000);
    NS_TEST_EXPECT_MSG_EQ_TOL(twice->GetRate(CUT),
                              LINE * (1 - (alpha + 1.0 / 256) / 2),
                              1.0,
                              "one cut, alpha raised by the second");
    const double once = twice->GetRate(CUT);
    NS_TEST_EXPECT_MSG_EQ(twice->GetRate(CUT + 100 * MICROSECOND), once, "no second cut");
    twice->OnCnp(CUT + 100 * MICROSECOND);
    NS_TEST_EXPECT_MSG_EQ(twice->GetRate(CUT + 104 * MICROSECOND - 1), once, "a period starts");
    NS_TEST_EXPECT_MSG_LT(twice->GetRate(CUT + 104 * MICROSECOND), once, "and ends with a cut");

    // With a CNP in every period alpha tends to 1 and the rate to the minimum.
    auto flooded = CreateObject<RdmaDcqcn>();
    flooded->SetAttribute("MinimumRate", DataRateValue(DataRate("250Mbps")));
    flooded->Initialize(MakePath(LINE));
    for (int64_t i = 0; i < 5000; i++)
    {
        flooded->OnCnp(T0 + i * MICROSECOND);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(flooded->GetRate(T0 + i * MICROSECOND), 250e6, "minimum");
    }
    NS_TEST_EXPECT_MSG_EQ(flooded->GetRate(T0 + 5000 * MICROSECOND), 250e6, "at the minimum");
    NS_TEST_EXPECT_MSG_EQ_TOL(flooded->GetAlpha(T0 + 5000 * MICROSECOND), 1.0, 1e-9, "alpha");
    // A line slower than the minimum rate keeps its line rate.
    auto slow = CreateObject<RdmaDcqcn>();
    slow->Initialize(MakePath(1e6));
    slow->OnCnp(T0);
    NS_TEST_EXPECT_MSG_EQ(slow->GetRate(CUT + MICROSECOND), 1e6, "never above the line");
}

/** Parameters of DCQCN; times in ps. */
struct Parameters
{
    double gain;      ///< weight of a new observation
    uint32_t stages;  ///< of fast recovery
    bool clamp;       ///< whether the target follows every cut
    double minimum;   ///< rate, bit/s
    double additive;  ///< fraction of the line rate
    double hyper;     ///< fraction of the line rate
    int64_t alpha;    ///< period
    int64_t decrease; ///< period
    int64_t increase; ///< period
    double meanGap;   ///< between CNPs, ps
};

/**
 * The lazy DCQCN against a direct simulation of its three timers, tick by tick, for random CNPs.
 * @param name suffix of the test name
 */
void
TestRdmaDcqcnReference(const Parameters& parameters)
{
    const Parameters& p = parameters;
    constexpr double LINE = 400e9;
    constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(7);
    for (uint32_t round = 0; round < 5; round++)
    {
        auto watched = CreateObject<RdmaDcqcn>(); // GetRate() at every step
        auto quiet = CreateObject<RdmaDcqcn>();   // GetRate() only at the end
        for (const auto& dcqcn : {watched, quiet})
        {
            dcqcn->SetAttribute("G", DoubleValue(p.gain));
            dcqcn->SetAttribute("FastRecoveryStages", UintegerValue(p.stages));
            dcqcn->SetAttribute("ClampTarget", BooleanValue(p.clamp));
            dcqcn->SetAttribute("MinimumRate",
                                DataRateValue(DataRate(static_cast<uint64_t>(p.minimum))));
            dcqcn->SetAttribute("AdditiveIncrease", DoubleValue(p.additive));
            dcqcn->SetAttribute("HyperIncrease", DoubleValue(p.hyper));
            dcqcn->SetAttribute("AlphaPeriod", TimeValue(TimeStep(p.alpha)));
            dcqcn->SetAttribute("DecreasePeriod", TimeValue(TimeStep(p.decrease)));
            dcqcn->SetAttribute("IncreasePeriod", TimeValue(TimeStep(p.increase)));
            dcqcn->Initialize(MakePath(LINE));
        }
        double rate = LINE;
        double target = LINE;
        double alpha = 1;
        uint32_t stage = 0;
        bool sawAlpha = false;
        bool sawDecrease = false;
        int64_t nextAlpha = NEVER;
        int64_t nextDecrease = NEVER;
        int64_t nextIncrease = NEVER;
        int64_t now = random->GetInteger(0, 1000000);
        bool started = false;
        uint32_t cuts = 0;
        for (uint32_t cnp = 0; cnp < 400; cnp++)
        {
            // Timers up to now; of equal times the alpha timer goes first, then the decrease timer.
            for (int64_t tick; (tick = std::min({nextAlpha, nextDecrease, nextIncrease})) <= now;)
            {
                if (tick == nextAlpha)
                {
                    alpha = (1 - p.gain) * alpha + (sawAlpha ? p.gain : 0);
                    sawAlpha = false;
                    nextAlpha += p.alpha;
                }
                else if (tick == nextDecrease)
                {
                    if (sawDecrease)
                    {
                        target = p.clamp || stage > 0 ? rate : target;
                        rate = std::max(p.minimum, rate * (1 - alpha / 2));
                        stage = 0;
                        sawDecrease = false;
                        nextIncrease = tick + p.increase;
                        cuts++;
                    }
                    nextDecrease += p.decrease;
                }
                else
                {
                    target += stage < p.stages    ? 0
                              : stage == p.stages ? p.additive * LINE
                                                  : p.hyper * LINE;
                    target = std::min(target, LINE);
                    rate = (rate + target) / 2;
                    stage++;
                    nextIncrease += p.increase;
                }
            }
            NS_TEST_ASSERT_MSG_EQ_TOL(watched->GetRate(now),
                                      rate,
                                      1 + 1e-9 * rate,
                                      "rate at CNP " << cnp << " at " << now << " ps");
            if (started)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(watched->GetAlpha(now), alpha, 1e-9, "alpha");
            }
            // The CNP itself, after timers of the same time.
            watched->OnCnp(now);
            quiet->OnCnp(now);
            sawAlpha = started;
            sawDecrease = true;
            if (!started)
            {
                started = true;
                alpha = 1;
                nextAlpha = now + p.alpha;
                nextDecrease = now + p.decrease + 1000;
            }
            // Bursts, pauses long enough to recover, and round numbers that coincide with ticks.
            const double gap = p.meanGap * std::pow(10, random->GetValue(-2, 1.7));
            now += random->GetInteger(0, 3) ? static_cast<int64_t>(gap)
                                            : static_cast<int64_t>(gap / p.alpha) * p.alpha;
        }
        NS_TEST_EXPECT_MSG_GT(cuts, 10, "the test must reach cuts");
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetRate(now),
                                  quiet->GetRate(now),
                                  1e-9 * LINE,
                                  "asking changes nothing");
    }
}

/** CNPs: at most one per interval and queue pair, only for marked packets, and only if required. */
void
TestRdmaCnp()
{
    constexpr int64_t INTERVAL = 4 * MICROSECOND;
    for (const bool wants : {false, true})
    {
        for (const bool marks : {false, true})
        {
            RdmaNetwork network(MakeChain(1, 100 * GIGA, 500000), FixedRate::GetTypeId());
            network.Connect(0, 1, 1);
            network.Connect(0, 1, 2);
            std::map<uint32_t, int64_t> next;
            uint64_t expected = 0;
            network.SetTap(1, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ(frame.ecn, Ecn::ECT, "data is ECN capable");
                if (marks)
                {
                    frame.ecn = Ecn::CE;
                    if (wants && PicosecondsNow() >= next[frame.destinationQp])
                    {
                        expected++;
                        next[frame.destinationQp] = PicosecondsNow() + INTERVAL;
                    }
                }
                return false;
            });
            uint64_t cnpFrames = 0;
            network.SetTap(0, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ(frame.ecn, Ecn::NOT_ECT, "answers are not");
                const int priority = frame.kind == FrameKind::ROCE_CNP ? 6 : 3;
                NS_TEST_EXPECT_MSG_EQ(+frame.priority, priority, "CNPs go first, ACKs with data");
                if (frame.kind == FrameKind::ROCE_CNP)
                {
                    cnpFrames++;
                    NS_TEST_EXPECT_MSG_EQ(frame.bytes, 78, "size of a CNP");
                    NS_TEST_EXPECT_MSG_EQ(+frame.opcode, 0x81, "opcode of a CNP");
                }
                return false;
            });
            for (uint32_t number : {1, 2})
            {
                network.GetFixedRate(1, number).needs.cnp = wants;
                Write(network.Get(0, number), 1000 * 4096);
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ((expected > 100), (wants && marks), "the oracle itself");
            uint64_t sent = 0;
            uint64_t received = 0;
            for (uint32_t number : {1, 2})
            {
                sent += network.Get(1, number).GetCounters().sentCnps;
                received += network.Get(0, number).GetCounters().receivedCnps;
                NS_TEST_EXPECT_MSG_EQ(network.GetFixedRate(0, number).cnps.size(),
                                      network.Get(0, number).GetCounters().receivedCnps,
                                      "the algorithm learns of each");
            }
            NS_TEST_EXPECT_MSG_EQ(sent, expected, "sent");
            NS_TEST_EXPECT_MSG_EQ(received, expected, "received");
            NS_TEST_EXPECT_MSG_EQ(cnpFrames, expected, "on the wire");
        }
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    cases.push_back({"DCQCN after single notifications", TestRdmaDcqcnOracle});
    const Parameters defaults{1.0 / 256,
                              1,
                              false,
                              100e6,
                              0.0002,
                              0.002,
                              MICROSECOND,
                              4 * MICROSECOND,
                              300 * MICROSECOND,
                              20e6};
    cases.push_back(
        {"DCQCN against its timers: defaults", [defaults] { TestRdmaDcqcnReference(defaults); }});
    auto clamped = defaults;
    clamped.clamp = true;
    clamped.meanGap = 100e6;
    cases.push_back({"DCQCN against its timers: target clamped",
                     [clamped] { TestRdmaDcqcnReference(clamped); }});
    cases.push_back({"DCQCN against its timers: SIGCOMM 2015", [] {
                         TestRdmaDcqcnReference({1.0 / 256,
                                                 5,
                                                 false,
                                                 1e9,
                                                 0.001,
                                                 0.005,
                                                 55 * MICROSECOND,
                                                 50 * MICROSECOND,
                                                 55 * MICROSECOND,
                                                 50e6});
                     }});
    cases.push_back({"DCQCN against its timers: odd periods", [] {
                         TestRdmaDcqcnReference(
                             {0.1, 0, false, 1e6, 0.01, 0.1, 1300007, 3700011, 101000003, 30e6});
                     }});
    cases.push_back({"congestion notification packets", TestRdmaCnp});
    return cases;
}

const Suite g_suite("rdma-dcqcn", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_dcqcn_test
