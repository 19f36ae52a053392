/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/collective-replay.h"
#include "ns3/simulator.h"

namespace ns3::training::tests::communicator_replay_test
{

/**
 * Collectives of two ranks whose simulation takes a given time: which are simulated, and when all
 * of them end.
 */
struct CollectiveReplayTest
{
    /** A collective: when its ranks start, and how long its simulation would take from the last. */
    struct Planned
    {
        int64_t start0;
        int64_t start1;
        int64_t length;
        uint64_t bytes{8};
    };

    /** @param self this @param rank that starts @param number of the collective */
    static void Arrive(CollectiveReplayTest* self, uint32_t rank, uint64_t number)
    {
        const CollectiveReplay::Kind kind{CollectiveOperation::ALL_REDUCE,
                                          self->planned[number].bytes,
                                          0};
        self->running->Arrive(
            rank,
            number,
            kind,
            {[self, number] { self->Begin(number); },
             [self, rank, number](Time time) {
                 Simulator::Schedule(time, &CollectiveReplayTest::End, self, rank, number, false);
             }});
    }

    /** Starts a simulation, which ends when all ranks have started. */
    void Begin(uint64_t number)
    {
        begun[number]++;
        if (begun[number] < 2)
        {
            return;
        }
        for (uint32_t each = 0; each < 2; each++)
        {
            // Rank 1 takes 1 ns longer.
            Simulator::Schedule(NanoSeconds(planned[number].length + each),
                                &CollectiveReplayTest::End,
                                this,
                                each,
                                number,
                                true);
        }
        log += std::to_string(number) + "s ";
    }

    /** @param self this @param rank whose collective ends @param isSimulated whether by packets */
    static void End(CollectiveReplayTest* self, uint32_t rank, uint64_t number, bool isSimulated)
    {
        if (isSimulated)
        {
            self->running->End(rank, number);
        }
        self->log +=
            std::to_string(rank) + "@" + std::to_string(Simulator::Now().GetNanoSeconds()) + " ";
    }

    /** @return what happens, in order */
    std::string Run(const std::vector<Planned>& plan)
    {
        CollectiveReplay replay(2);
        running = &replay;
        planned = plan;
        begun.assign(plan.size(), 0);
        log.clear();
        for (uint64_t number = 0; number < plan.size(); number++)
        {
            Simulator::Schedule(NanoSeconds(plan[number].start0),
                                &CollectiveReplayTest::Arrive,
                                this,
                                0,
                                number);
            Simulator::Schedule(NanoSeconds(plan[number].start1),
                                &CollectiveReplayTest::Arrive,
                                this,
                                1,
                                number);
        }
        Simulator::Run();
        Simulator::Destroy();
        return log + std::to_string(replay.GetSimulated()) + "+" +
               std::to_string(replay.GetDerived());
    }

    void Run()
    {
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000}, {2000, 2000, 1000}, {4000, 4000, 5}}),
                              "0s 0@1000 1@1001 1s 0@3000 1@3001 0@5000 1@5001 2+1",
                              "the third one takes the time of the first two");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000}, {2000, 2000, 1002}, {4000, 4000, 1000}}),
                              "0s 0@1000 1@1001 1s 0@3002 1@3003 2s 0@5000 1@5001 3+0",
                              "two differ by more than a thousandth");
        NS_TEST_EXPECT_MSG_EQ(
            Run({{0, 0, 1000}, {2000, 2000, 1001}, {4000, 4010, 5}, {6000, 6012, 1000}}),
            "0s 0@1000 1@1001 1s 0@3001 1@3002 0@5011 1@5012 3s 0@7012 1@7013 3+1",
            "within a hundredth; from the start of the last rank; a rank that is late");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 20, 1000}, {2000, 2020, 1000}, {4000, 4020, 1000}}),
                              "0s 0@1020 1@1021 1s 0@3020 1@3021 2s 0@5020 1@5021 3+0",
                              "ranks that never start together");
        NS_TEST_EXPECT_MSG_EQ(
            Run({{0, 9, 1000}, {2000, 2000, 1009}, {4000, 4000, 1002}, {6000, 6000, 5}}),
            "0s 0@1009 1@1010 1s 0@3009 1@3010 2s 0@5002 1@5003 3s 0@6005 1@6006 4+0",
            "equal starts, and times that differ");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000}, {2000, 2009, 1007}, {4000, 4000, 5}}),
                              "0s 0@1000 1@1001 1s 0@3016 1@3017 0@5007 1@5008 2+1",
                              "times that differ by less than their starts do");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000, 8}, {2000, 2000, 1000, 16}, {4000, 4000, 1000, 8}}),
                              "0s 0@1000 1@1001 1s 0@3000 1@3001 2s 0@5000 1@5001 3+0",
                              "other sizes are other kinds");
    }

    CollectiveReplay* running{nullptr}; // of the run
    std::vector<Planned> planned;       // of the run
    std::vector<uint32_t> begun;        // ranks, by collective
    std::string log;                    // of the run
};

const Suite g_suite("communicator-replay",
                    Duration::QUICK,
                    {{"collectives are derived after two that took the same time",
                      RunTest<CollectiveReplayTest>}});

} // namespace ns3::training::tests::communicator_replay_test
