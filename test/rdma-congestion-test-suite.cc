/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Each congestion control against its published rule, one acknowledgement at a time.
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "rdma/congestion/rdma-dctcp.h"
#include "rdma/congestion/rdma-fixed-window.h"
#include "rdma/congestion/rdma-hpcc.h"
#include "rdma/congestion/rdma-power-tcp.h"
#include "rdma/congestion/rdma-swift.h"
#include "rdma/congestion/rdma-theta-power-tcp.h"
#include "rdma/congestion/rdma-timely.h"
#include "rdma/rdma-telemetry.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3::training::tests::rdma_congestion_test
{

constexpr double LINE = 100e9;                   // bit/s
constexpr int64_t ROUND_TRIP = 13 * MICROSECOND; // MakePath()'s
constexpr double PRODUCT = LINE * 13e-6 / 8;     // bytes in a round trip
constexpr uint64_t UNLIMITED = std::numeric_limits<uint64_t>::max();

/** @return an acknowledgement of the first packet, when 100 have been sent */
RdmaCongestionControl::Ack
MakeAck(uint64_t firstUnackedPsn, int64_t roundTrip = ROUND_TRIP)
{
    RdmaCongestionControl::Ack ack{};
    ack.now = static_cast<int64_t>(firstUnackedPsn) * MICROSECOND;
    ack.roundTrip = roundTrip;
    ack.bytes = 1000;
    ack.firstUnackedPsn = firstUnackedPsn;
    ack.nextPsn = firstUnackedPsn + 100;
    return ack;
}

/** @return a congestion control of a path at line rate */
template <typename T>
Ptr<T>
Make(const std::map<std::string, std::string>& attributes = {})
{
    auto control = CreateObject<T>();
    for (const auto& [name, value] : attributes)
    {
        control->SetAttribute(name, StringValue(value));
    }
    control->Initialize(MakePath(LINE));
    return control;
}

/** Expects a value within a tolerance. */
void
ExpectNear(double value, double expected, double tolerance, const std::string& what)
{
    NS_TEST_EXPECT_MSG_EQ_TOL(value, expected, tolerance, what);
}

/** Expects a window, bytes. */
void
ExpectWindow(const RdmaCongestionControl& control,
             double window,
             double tolerance,
             const std::string& what)
{
    ExpectNear(static_cast<double>(control.GetWindow()), window, tolerance, what);
}

/** Feeds an algorithm the telemetry of a path. */
class Telemetry
{
  public:
    /** @param rates of the links, bit/s */
    explicit Telemetry(const std::vector<double>& rates)
    {
        for (const double rate : rates)
        {
            m_stack.push_back({MICROSECOND, 0, 0, static_cast<uint64_t>(rate)});
        }
    }

    /**
     * Advances the time at one link.
     * @param interval elapsed time, ps
     * @param load used fraction of its rate
     * @param queue queue length at the end, bytes
     */
    void Pass(std::size_t hop, int64_t interval, double load, uint64_t queue)
    {
        HopTelemetry& link = m_stack[hop];
        link.time += interval;
        link.sentBytes += static_cast<uint64_t>(
            std::llround(load * GetBytesSent(static_cast<double>(link.rate), interval)));
        link.queueBytes = queue;
    }

    /**
     * @param control receives the current telemetry of the path
     * @param firstUnackedPsn of the acknowledgement
     */
    void Tell(RdmaCongestionControl& control, uint64_t firstUnackedPsn) const
    {
        auto ack = MakeAck(firstUnackedPsn);
        ack.telemetry = &m_stack;
        control.OnAck(ack);
    }

    /** Tells the telemetry after a round trip in which the first link had this load and queue. */
    void PassAndTell(RdmaCongestionControl& control, uint64_t psn, double load, uint64_t queue)
    {
        Pass(0, ROUND_TRIP, load, queue);
        Tell(control, psn);
    }

  private:
    TelemetryStack m_stack;
};

/// W_AI of HPCC's paper, for 100 flows.
const std::map<std::string, std::string> PAPER{{"AdditiveIncrease", "0.0005"}, {"MaxStage", "5"}};

void
CheckLoads()
{
    constexpr double INCREASE = PRODUCT * 0.0005;

    /** Telemetry of a path in one round trip, and the resulting window. */
    struct Row
    {
        std::string name;
        double rate;        // of the second link, bit/s
        double load;        // of the second link
        uint64_t before;    // queue of the second link
        uint64_t after;     // queue of the second link at the end
        int64_t interval;   // between the two packets, ps
        double utilization; // expected
    };

    const auto bdp = static_cast<uint64_t>(PRODUCT);
    for (const Row& row : std::vector<Row>{
             {"full, no queue", LINE, 1, 0, 0, ROUND_TRIP, 1},
             {"a queue of one product", LINE, 1, bdp, bdp, ROUND_TRIP, 2},
             {"a queue that has only just come", LINE, 1, 0, bdp, ROUND_TRIP, 1},
             {"a queue that has gone", LINE, 1, bdp, 0, ROUND_TRIP, 1},
             {"quarter of a round trip", LINE, 1, bdp, bdp, ROUND_TRIP / 4, 0.75 + 0.25 * 2},
             {"more than a round trip", LINE, 1, bdp, bdp, 3 * ROUND_TRIP, 2},
             {"a faster link", 4 * LINE, 1, 4 * bdp, 4 * bdp, ROUND_TRIP, 2},
             {"a slower link", LINE / 4, 1, bdp, bdp, ROUND_TRIP, 5}})
    {
        auto hpcc = Make<RdmaHpcc>(PAPER);
        NS_TEST_EXPECT_MSG_EQ(hpcc->GetNeeds().telemetry, true, "it lives by telemetry");
        NS_TEST_EXPECT_MSG_EQ(hpcc->GetNeeds().ackPerPacket, true, "of each packet");
        NS_TEST_EXPECT_MSG_EQ(hpcc->GetNeeds().cnp, false, "no notifications");
        Telemetry path({LINE, row.rate, LINE});
        path.Pass(1, MICROSECOND, 0, row.before);
        hpcc->OnAck(MakeAck(1));
        path.Tell(*hpcc, 1);
        NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetRate(0), LINE, 1, "line rate until something is known");
        NS_TEST_EXPECT_MSG_EQ(hpcc->GetWindow(), bdp, "and one product");
        path.Pass(0, ROUND_TRIP, 0.3, 0);
        path.Pass(1, row.interval, row.load, row.after);
        path.Pass(2, ROUND_TRIP / 2, 0.5, 0);
        path.Tell(*hpcc, 2);
        const double window = PRODUCT / (row.utilization / 0.95) + INCREASE;
        NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetUtilization(), row.utilization, 1e-5, row.name);
        ExpectWindow(*hpcc, window, 1.5, row.name);
        NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetRate(0),
                                  static_cast<double>(hpcc->GetWindow()) * 8 / 13e-6,
                                  1e6,
                                  "rate = window / T");
    }
}

void
CheckStages()
{
    // All ACKs of a round trip start from the same reference window.
    auto hpcc = Make<RdmaHpcc>(PAPER);
    Telemetry path({LINE});
    path.Tell(*hpcc, 1); // the round trip ends when packet 101 is acknowledged
    for (uint64_t psn = 2; psn <= 101; psn++)
    {
        path.PassAndTell(*hpcc, psn, 1, 0);
        NS_TEST_EXPECT_MSG_EQ(hpcc->GetWindow(), 154456, ".95 of the product + W_AI, once");
    }
    path.PassAndTell(*hpcc, 102, 1, 0); // and updates the reference
    NS_TEST_EXPECT_MSG_EQ(hpcc->GetWindow(), 154456, "still the old reference");
    path.PassAndTell(*hpcc, 103, 1, 0);
    NS_TEST_EXPECT_MSG_EQ(hpcc->GetWindow(), 146815, "the next round trip: .95 of that + W_AI");

    // Below eta: five additive steps, then multiplicative ones.
    path.PassAndTell(*hpcc, 1000, 1, 162500); // ends the round trip; the queue does not count yet
    path.PassAndTell(*hpcc, 2000, 1, 162500); // halves the window
    double window = static_cast<double>(hpcc->GetWindow());
    path.Pass(0, ROUND_TRIP, 0.9, 0);
    for (uint32_t stage = 0; stage < 5; stage++)
    {
        path.Tell(*hpcc, 3000 + stage * 1000);
        window += 81.25;
        ExpectWindow(*hpcc, window, 1.1, "additive, stage " + std::to_string(stage));
        path.Pass(0, ROUND_TRIP, 0.9, 0);
    }
    path.Tell(*hpcc, 9000);
    ExpectWindow(*hpcc, window * 0.95 / 0.9 + 81.25, 1.1, "multiplicative after five");
    // Without stages all changes are multiplicative.
    auto eager = Make<RdmaHpcc>({{"MaxStage", "0"}, {"Eta", "0.8"}, {"AdditiveIncrease", "0.01"}});
    path.Tell(*eager, 1);
    path.PassAndTell(*eager, 1000, 1, 0);
    path.PassAndTell(*eager, 2000, 0.75, 0);
    ExpectWindow(*eager, PRODUCT * (0.81 * 0.8 / 0.75 + 0.01), 1.1, "attributes, no stages");
}

void
CheckLimits()
{
    auto hpcc = Make<RdmaHpcc>(
        {{"AdditiveIncrease", "0.0005"}, {"MinimumRate", "2Gbps"}, {"MaxStage", "0"}});
    Telemetry path({LINE});
    path.PassAndTell(*hpcc, 1, 1, 100000000);
    for (uint64_t psn = 1000; psn <= 5000; psn += 1000)
    {
        path.PassAndTell(*hpcc, psn, 1, 100000000);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetRate(0), 2e9, 1, "never below the minimum");
    Telemetry other({LINE, LINE});
    other.Tell(*hpcc, 6000);
    NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetRate(0), 2e9, 1, "another path tells nothing at first");
    for (uint64_t psn = 7000; psn <= 20000; psn += 1000)
    {
        other.Pass(0, ROUND_TRIP, 0.001, 0);
        other.Pass(1, ROUND_TRIP, 0.001, 0);
        other.Tell(*hpcc, psn);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(hpcc->GetRate(0), LINE, 1, "never above the line");
    auto slow = CreateObject<RdmaHpcc>();
    slow->SetAttribute("AdditiveIncrease", DoubleValue(0.0005));
    slow->Initialize(MakePath(1e6));
    NS_TEST_EXPECT_MSG_EQ_TOL(slow->GetRate(0), 1e6, 1e-3, "a line below the minimum rate");
    auto zero = Make<RdmaHpcc>({{"AdditiveIncrease", "0.0005"}, {"MinimumRate", "0bps"}});
    for (uint64_t psn = 1000; psn <= 9000; psn += 1000)
    {
        path.PassAndTell(*zero, psn, 1, 100000000);
    }
    NS_TEST_EXPECT_MSG_GT(zero->GetRate(0), 0.999, "a rate of 0 would be the end");
}

/** HPCC, algorithm 1, by hand: T = 13 us, first window 162500 bytes, W_AI 81.25 bytes. */
void
TestHpcc()
{
    CheckLoads();
    CheckStages();
    CheckLimits();
}

/** Link loads from successive telemetry, and cases without a result. */
void
TestTelemetryHistory()
{
    const TelemetryStack first{{1000000, 5000, 700, 100000000000}, {2000000, 9000, 0, 25000000000}};
    const TelemetryStack second{{1160000, 7000, 10, 100000000000},
                                {2640000, 11000, 5, 25000000000}};
    TelemetryHistory history;
    NS_TEST_EXPECT_MSG_EQ(history.Update(first).empty(), true, "nothing to compare with");
    const auto loads = history.Update(second);
    NS_TEST_ASSERT_MSG_EQ(loads.size(), 2, "one a link");
    NS_TEST_EXPECT_MSG_EQ(loads[0].interval, 160000, "time");
    NS_TEST_EXPECT_MSG_EQ_TOL(loads[0].throughput, 100e9, 1, "2000 bytes in 160 ns");
    NS_TEST_EXPECT_MSG_EQ(loads[0].rate, 100e9, "rate");
    NS_TEST_EXPECT_MSG_EQ(loads[0].previousQueue, 700, "queue before");
    NS_TEST_EXPECT_MSG_EQ(loads[0].queue, 10, "queue now");
    NS_TEST_EXPECT_MSG_EQ_TOL(loads[1].throughput, 25e9, 1, "2000 bytes in 640 ns");
    NS_TEST_EXPECT_MSG_EQ(history.Update(second).empty(), true, "the same packet");
    NS_TEST_EXPECT_MSG_EQ(history.Update(first).empty(), true, "an older packet");
    NS_TEST_EXPECT_MSG_EQ(history.Update(second).size(), 2, "the last is what counts");
    TelemetryStack third = second;
    third.pop_back();
    NS_TEST_EXPECT_MSG_EQ(history.Update(third).empty(), true, "a shorter path");
    third = first;
    third[1].rate = 100000000000;
    history.Update(third);
    NS_TEST_EXPECT_MSG_EQ(history.Update(second).empty(), true, "a link of another rate");
    third = second;
    third[0].time += 1000;
    third[1].time += 1000;
    third[0].sentBytes += 100;
    third[1].sentBytes -= 100;
    NS_TEST_EXPECT_MSG_EQ(history.Update(third).empty(), true, "a port that sent less");
    third[0].sentBytes += 100;
    third[1].sentBytes += 100;
    NS_TEST_EXPECT_MSG_EQ(history.Update(third).empty(), true, "at the same time as before");

    TelemetryStack one{{1000000, 5000, 0, 100000000000, 1}};
    const TelemetryStack other{{1010000, 900000, 0, 100000000000, 2}};
    TelemetryHistory paths;
    NS_TEST_EXPECT_MSG_EQ(paths.Update(one).empty(), true, "nothing to compare with");
    NS_TEST_EXPECT_MSG_EQ(paths.Update(other).empty(), true, "a link that has sent more before");
    one[0].time += 160000;
    one[0].sentBytes += 2000;
    const auto again = paths.Update(one);
    NS_TEST_ASSERT_MSG_EQ(again.size(), 1, "the first path again");
    NS_TEST_EXPECT_MSG_EQ_TOL(again[0].throughput, 100e9, 1, "2000 bytes in 160 ns");
}

/** TIMELY by hand. */
void
TestTimely()
{
    uint64_t psn = 1;
    auto timely = CreateObject<RdmaTimely>();
    timely->SetAttribute("LargestCut", DoubleValue(1)); // as published
    const auto tell = [&](int64_t microseconds) {
        timely->OnAck(MakeAck(psn, microseconds * MICROSECOND));
        psn += 101;
        return timely->GetRate(0) / LINE;
    };
    timely->Initialize(MakePath(LINE));
    NS_TEST_EXPECT_MSG_EQ(timely->GetRate(0), LINE, "starts at line rate");
    double got = 0;
    NS_TEST_EXPECT_MSG_EQ(timely->GetNeeds().cnp, false, "needs nothing but round trips");
    NS_TEST_EXPECT_MSG_EQ(timely->GetNeeds().telemetry, false, "needs nothing but round trips");
    got = tell(1000);
    NS_TEST_EXPECT_MSG_EQ(got, 1, "the first round trip is only noted");
    ExpectNear(tell(1000), 0.6, 1e-12, "1 - .8 (1 - 500 / 1000)");
    for (int i = 0; i < 50; i++)
    {
        timely->OnAck(MakeAck(psn - 50, 900 * MICROSECOND));
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(timely->GetRate(0) / LINE, 0.6, 1e-12, "once per round trip");
    // Below the low threshold the rate is raised, however fast the round trip grows.
    double rate = 0.6;
    for (int i = 0; i < 8; i++)
    {
        rate += i < 5 ? 0.001 : 0.005;
        ExpectNear(tell(20 + 3 * i), rate, 1e-12, "raise " + std::to_string(i));
    }
    // From 1000 us on the smoothed difference is known only from the rule itself.
    double difference = 0;
    int64_t previous = 1000;
    const auto smooth = [&](int64_t roundTrip) {
        difference = 0.125 * difference + 0.875 * static_cast<double>(roundTrip - previous);
        previous = roundTrip;
        return difference / 20;
    };
    for (int i = 0; i < 8; i++)
    {
        smooth(20 + 3 * i);
    }
    NS_TEST_EXPECT_MSG_EQ(previous, 41, "the oracle itself");
    // The cuts above at 1000 us left a difference of 0; the jump to 20 us has decayed.
    double factor = 1 - 0.8 * smooth(52);
    NS_TEST_EXPECT_MSG_EQ_TOL(factor, 1 - 0.8 * (0.125 * 3 + 0.875 * 11) / 20, 0.001, "oracle");
    rate *= factor;
    ExpectNear(tell(52), rate, 1e-12, "grows between the thresholds: a cut");
    factor = 1 - 0.8 * smooth(60);
    rate *= factor;
    ExpectNear(tell(60), rate, 1e-12, "and another");
    smooth(55);
    rate += 0.001;
    ExpectNear(tell(55), rate, 1e-12, "shrinks: raised, stages begin again");
    got = tell(400);
    NS_TEST_EXPECT_MSG_EQ(got, 0.01, "a steep growth leaves the minimum");
    timely->SetAttribute("HyperStages", UintegerValue(0));
    timely->SetAttribute("HyperIncrease", DoubleValue(0.6));
    tell(10);
    got = tell(10);
    NS_TEST_EXPECT_MSG_EQ(got, 1, "never above the line");
    timely->SetAttribute("Window", BooleanValue(false));
    NS_TEST_EXPECT_MSG_EQ(timely->GetWindow(), UNLIMITED, "no window");
    timely->SetAttribute("Window", BooleanValue(true));
    NS_TEST_EXPECT_MSG_EQ(timely->GetWindow(), 162500, "one product at line rate");
    tell(1000);
    rate = tell(1000);
    NS_TEST_EXPECT_MSG_EQ(timely->GetWindow(),
                          static_cast<uint64_t>(162500 * rate + 0.5),
                          "in proportion to the rate");
}

/** DCTCP by hand. */
void
TestDctcp()
{
    const auto tell = [](RdmaDctcp& dctcp, uint64_t psn, bool marked, uint64_t bytes = 1000) {
        auto ack = MakeAck(psn);
        ack.ecnEcho = marked;
        ack.bytes = bytes;
        dctcp.OnAck(ack);
        return static_cast<double>(dctcp.GetWindow());
    };
    double got = 0;
    // No marks: alpha decays by the closed form, the window stays at its maximum.
    auto quiet = Make<RdmaDctcp>();
    NS_TEST_EXPECT_MSG_EQ(quiet->GetNeeds().ackPerPacket, true, "counts marked packets");
    NS_TEST_EXPECT_MSG_EQ(quiet->GetNeeds().cnp, false, "without notifications");
    NS_TEST_EXPECT_MSG_EQ(quiet->GetAlpha(), 1, "RFC 8257: starts at 1");
    for (int i = 0; i < 20; i++)
    {
        got = tell(*quiet, 1 + i * 101, false);
        NS_TEST_EXPECT_MSG_EQ(got, 162500, "one product");
        NS_TEST_EXPECT_MSG_EQ_TOL(quiet->GetAlpha(), std::pow(15.0 / 16, i + 1), 1e-12, "decay");
        tell(*quiet, 50 + i * 101, false);
    }
    // The first mark cuts by alpha / 2, once per round trip.
    const double alpha = quiet->GetAlpha();
    double window = tell(*quiet, 2000, true);
    NS_TEST_EXPECT_MSG_EQ_TOL(window, 162500 * (1 - alpha / 2), 0.51, "the cut");
    got = tell(*quiet, 2010, true);
    NS_TEST_EXPECT_MSG_EQ(got, window, "no second cut");
    quiet->OnLoss(0);
    got = tell(*quiet, 2020, false);
    NS_TEST_EXPECT_MSG_EQ(got, window, "nor for a loss");
    // In this round trip (packets 1969 to 2022) the bytes of two packets were marked.
    tell(*quiet, 2022, false, 17000);
    NS_TEST_EXPECT_MSG_EQ_TOL(quiet->GetAlpha(),
                              alpha * 15 / 16 + 2000.0 / 21000 / 16,
                              1e-12,
                              "part of the bytes");
    got = tell(*quiet, 2100, true);
    NS_TEST_EXPECT_MSG_EQ(got, window, "packet 2100 was the next to send at the cut");
    ExpectNear(tell(*quiet, 2123, false), window + 1000, 0.51, "one packet");

    // All marked: alpha tends to 1, a cut halves the window.
    auto flooded = Make<RdmaDctcp>();
    uint64_t psn = 1;
    for (int i = 0; i < 3; i++, psn += 101)
    {
        const double last = static_cast<double>(flooded->GetWindow());
        ExpectNear(tell(*flooded, psn, true), last / 2, 1, "halved");
        NS_TEST_EXPECT_MSG_EQ_TOL(flooded->GetAlpha(), 1, 1e-12, "alpha");
    }
    for (int i = 0; i < 30; i++, psn += 101)
    {
        tell(*flooded, psn, true);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(flooded->GetRate(0), 100e6, 1, "down to the minimum");
    ExpectNear(tell(*flooded, psn, false), 162.5 + 1000, 0.51, "and up again");

    // Losses.
    auto lossy = Make<RdmaDctcp>();
    lossy->OnLoss(0);
    lossy->OnLoss(0);
    NS_TEST_EXPECT_MSG_EQ(lossy->GetWindow(), 81250, "halved once");
    lossy->OnTimeout(0);
    NS_TEST_EXPECT_MSG_EQ(lossy->GetWindow(), 163, "the smallest");
}

/** Swift by hand. */
void
TestSwift()
{
    constexpr int64_t PATH_TARGET = 20 * MICROSECOND + 5 * 3053000;
    auto swift = Make<RdmaSwift>();
    int64_t now = 0;
    const auto tell = [&](int64_t delay, uint64_t bytes = 1000) {
        auto ack = MakeAck(1, delay);
        ack.now = now;
        ack.bytes = bytes;
        swift->OnAck(ack);
        return swift->GetCongestionWindow();
    };
    NS_TEST_EXPECT_MSG_EQ(swift->GetCongestionWindow(), 162500, "one product");
    NS_TEST_EXPECT_MSG_EQ(swift->GetWindow(), 162000, "whole packets in flight");
    NS_TEST_EXPECT_MSG_EQ(swift->GetRate(0), LINE, "no pace above one packet");
    NS_TEST_EXPECT_MSG_EQ(swift->GetTargetDelay(), PATH_TARGET, "100 packets and more: no scaling");
    ExpectNear(tell(PATH_TARGET - 1), 162500 + 1000 / 162.5, 1, "below the target");
    ExpectNear(tell(PATH_TARGET - 1, 10000), 162567.7, 1, "ten packets at once");
    double window = 162567.7;
    ExpectNear(tell(2 * PATH_TARGET), window * 0.6, 1, "1 - .8 * .5");
    window *= 0.6;
    now += 2 * PATH_TARGET - 1;
    ExpectNear(tell(2 * PATH_TARGET), window, 1, "once per round trip");
    now++;
    const auto scaled = static_cast<double>(swift->GetTargetDelay());
    const double range = 100e6 / (1 / std::sqrt(0.1) - 0.1);
    NS_TEST_EXPECT_MSG_EQ_TOL(scaled,
                              PATH_TARGET + range * (1 / std::sqrt(window / 1000) - 0.1),
                              100,
                              "flow scaling");
    ExpectNear(tell(static_cast<int64_t>(1.1 * scaled)),
               window * (1 - 0.8 * 0.1 / 1.1),
               1,
               "in proportion to the excess");
    window *= 1 - 0.8 * 0.1 / 1.1;
    now += MILLISECOND;
    ExpectNear(tell(MILLISECOND), window / 2, 1, "by one half at most");
    window /= 2;
    swift->OnLoss(now);
    NS_TEST_EXPECT_MSG_EQ_TOL(swift->GetCongestionWindow(), window, 1, "not twice");
    now += MILLISECOND;
    swift->OnLoss(now);
    NS_TEST_EXPECT_MSG_EQ_TOL(swift->GetCongestionWindow(), window / 2, 1, "a loss");
    window /= 2;
    // Below one packet the window becomes a pace.
    while (window > 600)
    {
        now += MILLISECOND;
        window = tell(MILLISECOND);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(swift->GetRate(0), window * 8 / 1e-3, 2e4, "window / round trip");
    NS_TEST_EXPECT_MSG_EQ(swift->GetWindow(), 1000, "one packet in flight");
    ExpectNear(tell(MICROSECOND), window + 1000, 1, "raised by whole packets");
    NS_TEST_EXPECT_MSG_EQ(swift->GetRate(0), LINE, "and back to no pace");
    for (int i = 0; i < 5; i++)
    {
        NS_TEST_EXPECT_MSG_GT(swift->GetCongestionWindow(), 20, "timeout " << i);
        now += MILLISECOND;
        swift->OnTimeout(now);
    }
    NS_TEST_EXPECT_MSG_EQ(swift->GetCongestionWindow(),
                          10,
                          "five timeouts in a row: the smallest window");
    NS_TEST_EXPECT_MSG_EQ(swift->GetTargetDelay(), PATH_TARGET + 100 * MICROSECOND, "whole range");
    for (int i = 0; i < 100000; i++)
    {
        tell(MICROSECOND, 1000000);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(swift->GetCongestionWindow(),
                              LINE * (PATH_TARGET + 100 * MICROSECOND) / 8e12,
                              1,
                              "the largest: line rate for the longest target");
    auto wrong = CreateObject<RdmaSwift>();
    wrong->SetAttribute("ScalingTo", DoubleValue(0.1));
    ExpectPart(GetRefusal([&] { wrong->Initialize(MakePath(LINE)); }), "RdmaSwift::ScalingTo=0.1");
}

/** Both forms of PowerTCP by hand, with the increase of .006 of the line rate of ns3-datacenter. */
void
TestPowerTcp()
{
    /** Telemetry of one link in a round trip, and the resulting rate. */
    struct Row
    {
        std::string name;
        double load;   // of the link
        double before; // queue, products
        double after;  // queue at the end
        double power;  // expected
    };

    for (const Row& row : std::vector<Row>{{"full, no queue", 1, 0, 0, 1},
                                           {"a standing queue", 1, 1, 1, 2},
                                           {"a growing queue", 1, 0, 1, 4},
                                           {"a slowly draining queue", 1, 1.3, 1, 0.7 * 2},
                                           {"a fast draining queue", 1, 1.8, 1, 0.5 * 2},
                                           {"hardly used", 0.1, 0, 0, 0.5}})
    {
        for (const bool half : {false, true})
        {
            auto power = Make<RdmaPowerTcp>({{"AdditiveIncrease", "0.006"}});
            NS_TEST_EXPECT_MSG_EQ(power->GetNeeds().telemetry, true, "it lives by telemetry");
            Telemetry path({LINE, LINE});
            path.Pass(1, MICROSECOND, 0, static_cast<uint64_t>(row.before * PRODUCT));
            power->OnAck(MakeAck(1));
            path.Tell(*power, 1);
            NS_TEST_EXPECT_MSG_EQ(power->GetRate(0), LINE, "line rate until something is known");
            // Half the round trip and half the change of the queue give the same slope.
            const double queue = half ? row.before + (row.after - row.before) / 2 : row.after;
            path.Pass(0, ROUND_TRIP, 0.001, 0);
            path.Pass(1,
                      half ? ROUND_TRIP / 2 : ROUND_TRIP,
                      row.load,
                      static_cast<uint64_t>(queue * PRODUCT));
            path.Tell(*power, 2);
            double measured = row.power / 0.95;
            if (half)
            {
                measured = measured * (queue + 1) / (row.after + 1) / 2 + 0.5;
            }
            const double rate = 0.9 * (1 / measured + 0.006) + 0.1;
            NS_TEST_EXPECT_MSG_EQ_TOL(power->GetRate(0) / LINE,
                                      std::min(1.0, rate),
                                      1e-5,
                                      row.name << ", half " << half);
            NS_TEST_EXPECT_MSG_EQ(power->GetWindow(),
                                  static_cast<uint64_t>(power->GetRate(0) * 13e-6 / 8 + 0.5),
                                  "window = rate * T");
        }
    }
    // The reference is updated once per round trip; the rate ends at its minimum.
    auto power = Make<RdmaPowerTcp>({{"AdditiveIncrease", "0.006"}});
    Telemetry path({LINE});
    path.PassAndTell(*power, 1, 1, 162500);
    for (uint64_t psn = 2; psn <= 102; psn++)
    {
        path.PassAndTell(*power, psn, 1, 162500);
        NS_TEST_EXPECT_MSG_EQ_TOL(power->GetRate(0) / LINE, 0.5329, 1e-5, "from the line rate");
    }
    path.PassAndTell(*power, 103, 1, 162500);
    NS_TEST_EXPECT_MSG_EQ_TOL(power->GetRate(0) / LINE,
                              0.9 * (0.5329 * 0.95 / 2 + 0.006) + 0.05329,
                              1e-5,
                              "from there");

    auto theta = Make<RdmaThetaPowerTcp>({{"AdditiveIncrease", "0.006"}}); // ns3-datacenter
    NS_TEST_EXPECT_MSG_EQ(theta->GetNeeds().telemetry, false, "it lives by round trips");
    uint64_t psn = 1;
    int64_t now = 0;
    const auto tell = [&](double roundTrips, double interval) {
        auto ack = MakeAck(psn, static_cast<int64_t>(roundTrips * ROUND_TRIP));
        psn += 101; // the packet after those of the last round trip
        now += static_cast<int64_t>(interval * ROUND_TRIP);
        ack.now = now;
        theta->OnAck(ack);
        return theta->GetRate(0) / LINE;
    };
    double got = 0;
    double reference = 1; // of the last round trip
    const auto expected = [&](double measured) {
        reference = std::min(1.0, 0.7 * (reference / measured + 0.006) + 0.3 * reference);
        return reference;
    };
    got = tell(2, 1);
    NS_TEST_EXPECT_MSG_EQ(got, 1, "the first round trip is only noted");
    ExpectNear(tell(2, 1), expected(2 / 1.05), 1e-9, "twice the idle one");
    ExpectNear(tell(3, 1), expected(2 * 3 / 1.05), 1e-9, "and grows");
    ExpectNear(tell(2, 1), expected(0.5 * 2 / 1.05), 1e-9, "shrinks, by one half");
    const double smoothed = 0.75 * (0.5 * 2 / 1.05) + 0.25 * 2 / 1.05;
    ExpectNear(tell(2, 0.25), expected(smoothed), 1e-9, "smoothed");
    tell(0.5, 10); // a short packet, which tells nothing of full ones
    expected(0.85 * 0.5 / 1.05);
    ExpectNear(tell(1, 1), expected(1.5 / 1.05), 1e-9, "against the path's");
    for (int i = 0; i < 20; i++)
    {
        tell(1000, 1);
    }
    // Decays until the increase balances the cut: reference = gamma (increase) + small terms.
    NS_TEST_EXPECT_MSG_EQ_TOL(theta->GetRate(0) / LINE, 0.006, 0.0001, "the increase alone");
    NS_TEST_EXPECT_MSG_EQ(theta->GetWindow(),
                          static_cast<uint64_t>(theta->GetRate(0) * 13e-6 / 8 + 0.5),
                          "window = rate * T");
}

/** The fixed window, and the window of DCQCN. */
void
TestWindow()
{
    auto fixed = Make<RdmaFixedWindow>();
    NS_TEST_EXPECT_MSG_EQ(fixed->GetWindow(), 162500, "one product");
    NS_TEST_EXPECT_MSG_EQ(fixed->GetRate(0), LINE, "line rate");
    auto given = Make<RdmaFixedWindow>({{"Window", "5000"}});
    NS_TEST_EXPECT_MSG_EQ(given->GetWindow(), 5000, "as the user says");

    NS_TEST_EXPECT_MSG_EQ(Make<RdmaDcqcn>()->GetWindow(), UNLIMITED, "DCQCN has none");
    auto dcqcn = Make<RdmaDcqcn>({{"Window", "true"}});
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetWindow(), 162500, "DCQCN+w: one product");
    dcqcn->OnCnp(MICROSECOND);
    auto ack = MakeAck(1);
    ack.now = 6 * MICROSECOND;
    dcqcn->OnAck(ack);
    ExpectWindow(*dcqcn, 0.50777 * 162500, 1, "in proportion to the rate");
    ack.now += 300 * MICROSECOND;
    dcqcn->OnAck(ack);
    ExpectWindow(*dcqcn, 0.75388 * 162500, 1, "grows while it holds back the next packet");
}

/** Defaults that are times or increases follow the round trip of the path. */
void
TestLongPaths()
{
    const auto initialize = [](RdmaCongestionControl& control, int64_t roundTrip, uint32_t mtu) {
        control.Initialize({LINE, roundTrip, mtu, 2});
    };
    for (const int64_t roundTrip : {5, 20, 21, 40, 400})
    {
        auto swift = CreateObject<RdmaSwift>();
        initialize(*swift, roundTrip * MICROSECOND, 1000);
        const double before = swift->GetCongestionWindow();
        auto ack = MakeAck(1, roundTrip * MICROSECOND);
        swift->OnAck(ack);
        const double longer = static_cast<double>(roundTrip) / 20;
        ExpectNear(swift->GetTargetDelay(),
                   (std::max<int64_t>(roundTrip, 20) * MICROSECOND + 2 * 3053000) +
                       std::max(0.0,
                                100e6 / (1 / std::sqrt(0.1) - 0.1) *
                                    (1 / std::sqrt(swift->GetCongestionWindow() / 1000) - 0.1)),
                   2,
                   "above the idle round trip");
        ExpectNear((swift->GetCongestionWindow() - before) * before / 1e6,
                   std::clamp(longer * longer, 1.0, std::max(1.0, before / 1000 / 8)),
                   1e-6,
                   "increase of " + std::to_string(roundTrip) + " us");

        auto dctcp = CreateObject<RdmaDctcp>();
        initialize(*dctcp, roundTrip * MICROSECOND, 1000);
        dctcp->OnTimeout(0);
        const auto smallest = static_cast<double>(dctcp->GetWindow());
        dctcp->OnAck(MakeAck(1));
        const double product = LINE / 8 * static_cast<double>(roundTrip) * 1e-6;
        const double more = static_cast<double>(roundTrip) / 13;
        ExpectWindow(*dctcp,
                     smallest + 1000 * std::clamp(more * more, 1.0, std::max(1.0, product / 8000)),
                     1,
                     "DCTCP, " + std::to_string(roundTrip) + " us");

        // An idle path of any length raises TIMELY's rate, a queue of a round trip does not cut it
        // by more than a half.
        auto timely = CreateObject<RdmaTimely>();
        initialize(*timely, roundTrip * MICROSECOND, 1000);
        timely->OnAck(MakeAck(1, roundTrip * MICROSECOND));
        timely->OnAck(MakeAck(200, 10 * std::max<int64_t>(roundTrip, 20) * MICROSECOND));
        NS_TEST_EXPECT_MSG_EQ(timely->GetRate(0), LINE / 2, "a long queue halves the rate");
        timely->OnAck(MakeAck(400, roundTrip * MICROSECOND));
        ExpectNear(timely->GetRate(0) / LINE,
                   0.5 + 0.001 * std::max(1.0, longer),
                   1e-9,
                   "an idle path raises it");
    }
    auto given = Make<RdmaSwift>({{"BaseTarget", "7us"}, {"AdditiveIncrease", "3"}});
    NS_TEST_EXPECT_MSG_EQ(given->GetTargetDelay(), 7 * MICROSECOND + 5 * 3053000, "as given");
}

const Suite g_suite("rdma-congestion",
                    Duration::QUICK,
                    {{"changes of telemetry", TestTelemetryHistory},
                     {"HPCC", TestHpcc},
                     {"TIMELY", TestTimely},
                     {"DCTCP", TestDctcp},
                     {"Swift", TestSwift},
                     {"PowerTCP", TestPowerTcp},
                     {"long paths", TestLongPaths},
                     {"windows of rates", TestWindow}});

} // namespace ns3::training::tests::rdma_congestion_test
