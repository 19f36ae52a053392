/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/collective-replay.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-time-resolution.h"

#include <string>
#include <vector>

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-replay-tests Tests of repeated collectives
 */

using namespace ns3;
using namespace ns3::training;

/**
 * @ingroup distributed-training-replay-tests
 * Collectives of two ranks whose simulation takes a given time: which are simulated, and when all
 * of them end.
 */
class CollectiveReplayTest : public TestCase
{
  public:
    CollectiveReplayTest()
        : TestCase("collectives are derived after two that took the same time")
    {
    }

  private:
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
                                          self->m_plan[number].bytes,
                                          0};
        self->m_replay->Arrive(
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
        m_begun[number]++;
        if (m_begun[number] < 2)
        {
            return;
        }
        for (uint32_t each = 0; each < 2; each++)
        {
            // Rank 1 takes 1 ns longer.
            Simulator::Schedule(NanoSeconds(m_plan[number].length + each),
                                &CollectiveReplayTest::End,
                                this,
                                each,
                                number,
                                true);
        }
        m_log += std::to_string(number) + "s ";
    }

    /** @param self this @param rank whose collective ends @param isSimulated whether by packets */
    static void End(CollectiveReplayTest* self, uint32_t rank, uint64_t number, bool isSimulated)
    {
        if (isSimulated)
        {
            self->m_replay->End(rank, number);
        }
        self->m_log +=
            std::to_string(rank) + "@" + std::to_string(Simulator::Now().GetNanoSeconds()) + " ";
    }

    /** @return what happens, in order */
    std::string Run(const std::vector<Planned>& plan)
    {
        UsePicoseconds();
        CollectiveReplay replay(2);
        m_replay = &replay;
        m_plan = plan;
        m_begun.assign(plan.size(), 0);
        m_log.clear();
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
        return m_log + std::to_string(replay.GetSimulated()) + "+" +
               std::to_string(replay.GetDerived());
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000}, {2000, 2000, 1000}, {4000, 4000, 5}}),
                              "0s 0@1000 1@1001 1s 0@3000 1@3001 0@5000 1@5001 2+1",
                              "the third one takes the time of the first two");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000}, {2000, 2000, 1002}, {4000, 4000, 1000}}),
                              "0s 0@1000 1@1001 1s 0@3002 1@3003 2s 0@5000 1@5001 3+0",
                              "two differ by more than a thousandth");
        NS_TEST_EXPECT_MSG_EQ(
            Run({{0, 0, 1000}, {2000, 2000, 1001}, {4000, 4001, 5}, {6000, 6002, 1000}}),
            "0s 0@1000 1@1001 1s 0@3001 1@3002 0@5002 1@5003 3s 0@7002 1@7003 3+1",
            "within a thousandth; from the start of the last rank; a rank that is late");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 10, 1000}, {2000, 2010, 1000}, {4000, 4010, 1000}}),
                              "0s 0@1010 1@1011 1s 0@3010 1@3011 2s 0@5010 1@5011 3+0",
                              "ranks that never start together");
        NS_TEST_EXPECT_MSG_EQ(Run({{0, 0, 1000, 8}, {2000, 2000, 1000, 16}, {4000, 4000, 1000, 8}}),
                              "0s 0@1000 1@1001 1s 0@3000 1@3001 2s 0@5000 1@5001 3+0",
                              "other sizes are other kinds");
    }

    CollectiveReplay* m_replay{nullptr}; // of the run
    std::vector<Planned> m_plan;         // of the run
    std::vector<uint32_t> m_begun;       // ranks, by collective
    std::string m_log;                   // of the run
};

/**
 * @ingroup distributed-training-replay-tests
 * The suite.
 */
class CommunicatorReplayTestSuite : public TestSuite
{
  public:
    CommunicatorReplayTestSuite()
        : TestSuite("distributed-training-communicator-replay", TestSuite::Type::UNIT)
    {
        AddTestCase(new CollectiveReplayTest);
    }
};

static CommunicatorReplayTestSuite g_communicatorReplayTestSuite; ///< registers the suite
