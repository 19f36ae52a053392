/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/life-ledger.h"
#include "ns3/spare-nodes.h"

namespace ns3::training::tests::life_ledger_test
{

/** Compares the time of a use. */
void
Expect(const LifeLedger& ledger, LifeUse use, int64_t picoseconds)
{
    NS_TEST_EXPECT_MSG_EQ(ledger.GetTime(use), PicoSeconds(picoseconds), training::GetName(use));
}

/** Spans, and what a failure makes of them. */
void
TestLifeLedger()
{
    LifeLedger ledger;
    NS_TEST_EXPECT_MSG_EQ(ledger.GetEffectiveRatio(), 1, "no time, nothing lost");
    ledger.Add(PicoSeconds(10), LifeUse::PRODUCTIVE, 0);
    ledger.Add(PicoSeconds(11), LifeUse::CHECKPOINT, 0);
    ledger.Add(PicoSeconds(11), LifeUse::PRODUCTIVE, 1);
    NS_TEST_EXPECT_MSG_EQ(ledger.GetSpans().size(), 2, "empty spans are left out");
    ledger.Save(1);
    ledger.Add(PicoSeconds(21), LifeUse::PRODUCTIVE, 1);
    ledger.Add(PicoSeconds(25), LifeUse::CHECKPOINT, 1);
    ledger.Add(PicoSeconds(27), LifeUse::PRODUCTIVE, 2);
    ledger.Lose();
    Expect(ledger, LifeUse::PRODUCTIVE, 10);
    Expect(ledger, LifeUse::CHECKPOINT, 1);
    Expect(ledger, LifeUse::LOST, 16);
    NS_TEST_EXPECT_MSG_EQ(ledger.GetSpans()[3].detail, "checkpoint", "what was lost");
    NS_TEST_EXPECT_MSG_EQ(ledger.GetSpans()[4].detail, "work", "what was lost");
    ledger.Add(PicoSeconds(30), LifeUse::DETECTION, 1, "node3", "GPU");
    ledger.Add(PicoSeconds(40), LifeUse::WAITING, 1);
    ledger.Add(PicoSeconds(45), LifeUse::RESTART, 1);
    ledger.Lose(); // nothing more
    Expect(ledger, LifeUse::LOST, 16);
    ledger.Add(PicoSeconds(55), LifeUse::PRODUCTIVE, 1);
    ledger.Save(2);
    ledger.Lose(); // what is saved is kept
    Expect(ledger, LifeUse::PRODUCTIVE, 20);
    Expect(ledger, LifeUse::DETECTION, 3);
    Expect(ledger, LifeUse::WAITING, 10);
    Expect(ledger, LifeUse::RESTART, 5);
    NS_TEST_EXPECT_MSG_EQ(ledger.GetEnd(), PicoSeconds(55), "the end");
    NS_TEST_EXPECT_MSG_EQ(ledger.GetEffectiveRatio(), 20.0 / 55, "ratio");
    NS_TEST_EXPECT_MSG_EQ(ledger.GetSpans()[5].node, "node3", "what has failed");
}

/** Nodes that are missing, repaired and replaced. */
void
TestSpareNodes()
{
    SpareNodes nodes(1);
    NS_TEST_EXPECT_MSG_EQ(nodes.Replace(), true, "nothing is missing");
    nodes.Fail();
    nodes.Fail();
    NS_TEST_EXPECT_MSG_EQ(nodes.Replace(), false, "one spare for two");
    nodes.Repair();
    NS_TEST_EXPECT_MSG_EQ(nodes.Replace(), true, "the first one is back");
    nodes.Repair();
    nodes.Fail();
    NS_TEST_EXPECT_MSG_EQ(nodes.Replace(), true, "and so is the second one, as a spare");
}

const Suite g_suite("life-ledger",
                    Duration::QUICK,
                    {{"uses of time", TestLifeLedger}, {"spare nodes", TestSpareNodes}});

} // namespace ns3::training::tests::life_ledger_test
