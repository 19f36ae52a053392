/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/collective-replay.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <memory>
#include <utility>

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

    using Spans = std::vector<std::pair<int64_t, int64_t>>; // from and to, ns

    /** Other messages on the links, and computations of a rank. */
    struct Others : public CollectiveReplay::Guard
    {
        /** @param messages with others on the links @param computations of a rank */
        explicit Others(Spans messages, Spans computations = {})
            : m_messages(std::move(messages)),
              m_computations(std::move(computations))
        {
        }

        bool IsIdle() const override
        {
            return !IsInside(m_messages);
        }

        Time GetIdleUntil(Time) override
        {
            Time until = Time::Max();
            for (const auto& span : m_messages)
            {
                const Time start = NanoSeconds(span.first);
                until = start > Simulator::Now() ? std::min(until, start) : until;
            }
            return until;
        }

        std::vector<bool> GetLoad() const override
        {
            return {IsInside(m_computations)};
        }

        Time GetLoadUntil(Time) override
        {
            Time until = Time::Max();
            for (const auto& span : m_computations)
            {
                for (const Time& change : {NanoSeconds(span.first), NanoSeconds(span.second)})
                {
                    until = change > Simulator::Now() ? std::min(until, change) : until;
                }
            }
            return until;
        }

      private:
        static bool IsInside(const Spans& spans)
        {
            const int64_t now = Simulator::Now().GetNanoSeconds();
            return std::any_of(spans.begin(), spans.end(), [now](const auto& span) {
                return span.first <= now && now < span.second;
            });
        }

        Spans m_messages;
        Spans m_computations;
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
    std::string Run(const std::vector<Planned>& plan, std::unique_ptr<Others> others = nullptr)
    {
        CollectiveReplay replay(2, {}, nullptr, std::move(others));
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
        return log + std::to_string(replay.GetSums().simulated) + "+" +
               std::to_string(replay.GetSums().derived);
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
        const auto share = [this](const Spans& messages, const Spans& computations = {}) {
            return Run({{0, 0, 1000}, {2000, 2000, 1000}, {4000, 4000, 1000}, {6000, 6005, 9}},
                       std::make_unique<Others>(messages, computations));
        };
        const std::string two = "0s 0@1000 1@1001 1s 0@3000 1@3001 ";
        NS_TEST_EXPECT_MSG_EQ(share({}), two + "0@5000 1@5001 0@7005 1@7006 2+2", "no others");
        NS_TEST_EXPECT_MSG_EQ(share({{1100, 1900}, {3100, 3900}, {5001, 6000}}),
                              two + "0@5000 1@5001 0@7005 1@7006 2+2",
                              "others before and behind");
        NS_TEST_EXPECT_MSG_EQ(share({{4500, 4600}}),
                              two + "2s 0@5000 1@5001 0@7005 1@7006 3+1",
                              "others begin during one");
        NS_TEST_EXPECT_MSG_EQ(share({{3900, 4001}}),
                              two + "2s 0@5000 1@5001 0@7005 1@7006 3+1",
                              "others are there at its start");
        NS_TEST_EXPECT_MSG_EQ(share({{6003, 6100}}),
                              two + "0@5000 1@5001 3s 0@6014 1@6015 3+1",
                              "others come before its last rank");
        NS_TEST_EXPECT_MSG_EQ(share({{500, 600}}),
                              two + "2s 0@5000 1@5001 0@7005 1@7006 3+1",
                              "what shared its links is no measure");
        NS_TEST_EXPECT_MSG_EQ(share({{3005, 3006}}),
                              two + "2s 0@5000 1@5001 0@7005 1@7006 3+1",
                              "nor what shared them with its last acknowledgements");
        const std::string third = two + "2s 0@5000 1@5001 ";
        NS_TEST_EXPECT_MSG_EQ(share({}, {{0, 1500}, {2000, 3500}, {4000, 5500}, {6000, 6100}}),
                              two + "0@5000 1@5001 3s 0@6014 1@6015 3+1",
                              "computations go on, the last one not for long enough");
        NS_TEST_EXPECT_MSG_EQ(share({}, {{0, 1500}, {2000, 3500}}),
                              third + "3s 0@6014 1@6015 4+0",
                              "without computations others are a measure");
        NS_TEST_EXPECT_MSG_EQ(share({}, {{500, 600}, {1500, 3500}}),
                              third + "3s 0@6014 1@6015 4+0",
                              "a load that changes is no measure");
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
