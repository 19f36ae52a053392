/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/pause-receiver.h"
#include "ns3/simulator.h"
#include "ns3/training-time-resolution.h"

#include <cstdint>
#include <vector>

namespace fabric_pause_receiver_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/** Queues without a line. */
class Queues : public PortQueues
{
  public:
    using PortQueues::PortQueues;

    void Wake() override
    {
        wakes.push_back(PicosecondsNow());
    }

    /** @return for how long a priority was paused, ps */
    int64_t GetPausedTime(uint8_t priority)
    {
        return Use().counters[priority].pausedTime;
    }

    std::vector<int64_t> wakes; ///< when frames could be sent again, ps

  private:
    void Notify() override
    {
    }
};

/** Obeys pauses of some classes only. */
class SomeClasses : public PauseFilter
{
  public:
    uint8_t Filter(uint8_t classes, bool) override
    {
        return classes & obeyed;
    }

    void NotifyPause(uint8_t priority, bool paused) override
    {
        changes.push_back(paused ? priority : -priority);
    }

    uint8_t obeyed{0};        ///< bit p: pauses of priority p
    std::vector<int> changes; ///< priorities; negative: resumed
};

/** A port with pauses. */
struct Port
{
    Recorder owner;
    Queues queues{owner, 0, 0};
    PauseReceiver pauses{queues};
};

/** A pause ends after its time, which the peer may renew, or with a resume. */
void
TestTimes()
{
    UsePicoseconds();
    Port port;
    In(1000, [&] { port.pauses.Receive(0b110, 500, Time(0)); });
    In(1200, [&] { port.pauses.Receive(0b010, 800, Time(0)); });
    In(3000, [&] { port.pauses.Receive(0b001, 1000, TimeStep(100)); });
    In(3300, [&] { port.pauses.Receive(0b001, 0, TimeStep(100)); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(port.queues.GetPausedTime(2), 500, "until its end");
    NS_TEST_EXPECT_MSG_EQ(port.queues.GetPausedTime(1), 1000, "renewed");
    NS_TEST_EXPECT_MSG_EQ(port.queues.GetPausedTime(0), 300, "resumed, with the response time");
    NS_TEST_EXPECT_MSG_EQ((port.queues.wakes == std::vector<int64_t>{1500, 2000, 3400}),
                          true,
                          "what waited is sent");
    Simulator::Destroy();
}

/** A filter keeps pauses away, and learns of those that are obeyed; an overriding one has no end.
 */
void
TestFilter()
{
    UsePicoseconds();
    Port port;
    SomeClasses filter;
    filter.obeyed = 0b100;
    port.pauses.SetFilter(&filter);
    In(1000, [&] { port.pauses.Receive(0b110, 500, Time(0)); });
    In(1100, [&] { NS_TEST_EXPECT_MSG_EQ(port.queues.IsPaused(1), false, "not obeyed"); });
    In(2000, [&] { port.pauses.Override(1, true); });
    In(9000, [&] { port.pauses.Forget(1); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(port.queues.GetPausedTime(1), 7000, "without an end");
    NS_TEST_EXPECT_MSG_EQ((filter.changes == std::vector<int>{2, -2, 1, -1}), true, "changes");
    Simulator::Destroy();
}

const Suite g_suite("fabric-pause-receiver",
                    Duration::QUICK,
                    {{"a pause ends after its time or with a resume", TestTimes},
                     {"a filter and the device decide about pauses", TestFilter}});

} // namespace fabric_pause_receiver_test
