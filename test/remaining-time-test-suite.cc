/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/remaining-time.h"
#include "test-case.h"

#include <algorithm>
#include <cmath>

namespace ns3::training::tests::remaining_time_test
{

/// Time between two updates, s, as on a progress line.
constexpr double PERIOD = 0.5;

/** Calls a visitor with the time and what is left, until the work is complete. */
void
Run(const std::function<double(double)>& getFraction,
    const std::function<void(double, double)>& visit)
{
    RemainingTime remaining;
    for (double now = PERIOD; getFraction(now) < 1; now += PERIOD)
    {
        if (const auto left = remaining.Update(now, getFraction(now)))
        {
            visit(now, *left);
        }
    }
}

void
TestConstantSpeed()
{
    for (const double length : {10.0, 1000.0, 100000.0})
    {
        double last = 2 * length;
        Run([&](double now) { return now / length; },
            [&](double now, double left) {
                NS_TEST_EXPECT_MSG_LT(left, last, "it falls after " << now << " s");
                NS_TEST_EXPECT_MSG_EQ_TOL(left, length - now, 1e-6 * length, "and is right");
                last = left;
            });
        NS_TEST_EXPECT_MSG_LT(last, 2 * PERIOD, "until the end");
    }
}

void
TestLumps()
{
    // Work that is counted when 2 s of it are complete.
    constexpr double LUMP = 2;
    constexpr double LENGTH = 300;
    double last = 2 * LENGTH;
    Run([](double now) { return std::floor(now / LUMP) * LUMP / LENGTH; },
        [&](double now, double left) {
            if (now > 30)
            {
                NS_TEST_EXPECT_MSG_LT(left, last, "no lump lifts it after " << now << " s");
                NS_TEST_EXPECT_MSG_EQ_TOL(left, LENGTH - now, 0.1 * LENGTH, "about right");
            }
            last = left;
        });
}

void
TestNewSpeed()
{
    // A tenth of the work in 100 s, then at a third of the speed, or at three times it.
    for (const double factor : {1.0 / 3, 3.0})
    {
        const double end = 100 + 900 / factor;
        double before = 0;
        double after = 0;
        double error = 0;
        Run([&](double now) { return now < 100 ? now / 1000 : 0.1 + (now - 100) * factor / 1000; },
            [&](double now, double left) {
                before = now <= 100 ? left : before;
                after = now <= 140 ? left : after;
                error = now >= end - 10 ? std::max(error, std::abs(left - (end - now))) : error;
            });
        NS_TEST_EXPECT_MSG_EQ_TOL(before, 900, 1e-6, "at the first speed");
        NS_TEST_EXPECT_MSG_GT((factor < 1 ? after - 860 : 860 - after), 20, "it has moved");
        NS_TEST_EXPECT_MSG_LT(error, 2, "at the end the speed is known");
    }
}

/** A thousandth of the work takes 10 s, and all the rest 1000 s. */
void
TestSlowStart()
{
    double last = 0;
    Run([](double now) { return now < 10 ? now / 10000 : 0.001 + 0.999 * (now - 10) / 1000; },
        [&](double now, double left) { last = now < 200 ? left : last; });
    NS_TEST_EXPECT_MSG_EQ_TOL(last, 810, 100, "the start is forgotten");
}

/** The time of a clock that the test sets. */
void
TestRemainingTime()
{
    RemainingTime idle;
    NS_TEST_EXPECT_MSG_EQ(idle.Update(1, 0).has_value(), false, "nothing is complete");
    NS_TEST_EXPECT_MSG_EQ_TOL(idle.Update(2, 0.25).value(), 6, 1e-9, "of the whole time");
    NS_TEST_EXPECT_MSG_EQ_TOL(idle.Update(2, 0.25).value(), 6, 1e-9, "no time has passed");
    TestConstantSpeed();
    TestLumps();
    TestNewSpeed();
    TestSlowStart();
}

const Suite g_suite("remaining-time",
                    Duration::QUICK,
                    {{"the time left falls in a steady run, and follows a new speed",
                      TestRemainingTime}});

} // namespace ns3::training::tests::remaining_time_test
