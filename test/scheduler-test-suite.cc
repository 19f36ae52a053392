/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/event-impl.h"
#include "ns3/fabric-port.h"
#include "ns3/make-event.h"
#include "ns3/map-scheduler.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"

#include <deque>
#include <map>

namespace ns3::training::tests::scheduler_test
{

void
DoNothing()
{
}

/**
 * BucketScheduler returns events in the same order as ns3::MapScheduler, whatever the density and
 * spread of the events: dense, sparse, simultaneous, far ahead, with removals, and with phases
 * whose densities differ so much that the bucket width changes in both directions.
 */
struct SchedulerOrderTest
{
    Scheduler::Event Add(uint64_t time)
    {
        Scheduler::Event event;
        event.impl = anyEvent;
        event.key.m_ts = time;
        event.key.m_uid = ++uid;
        event.key.m_context = 0;
        bucket->Insert(event);
        map->Insert(event);
        return event;
    }

    void Hold(uint64_t pending, uint64_t spread, uint64_t steps)
    {
        for (uint64_t i = 0; i < pending; i++)
        {
            Add(now + random->GetInteger(0, spread));
        }
        for (uint64_t i = 0; i < steps; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(bucket->IsEmpty(), map->IsEmpty(), "empty");
            const auto peeked = bucket->PeekNext();
            const auto got = bucket->RemoveNext();
            const auto expected = map->RemoveNext();
            NS_TEST_ASSERT_MSG_EQ(got.key.m_uid, expected.key.m_uid, "event number " << i);
            NS_TEST_ASSERT_MSG_EQ(peeked.key.m_uid, got.key.m_uid, "PeekNext");
            now = got.key.m_ts;
            Add(now + random->GetInteger(0, spread));
            if (i % 10 == 0)
            {
                const auto removed = Add(now + random->GetInteger(1, 3 * spread + 1));
                bucket->Remove(removed);
                map->Remove(removed);
            }
            if (i % 100 == 0) // one event now, and one far ahead
            {
                Add(now);
                Add(now + 1000000000000);
            }
        }
    }

    /** Inserts many events at once, most of them into the bucket at hand, and removes as many. */
    void Burst(uint64_t bursts, uint64_t spread)
    {
        for (uint64_t i = 0; i < bursts; i++)
        {
            const uint64_t size = random->GetInteger(0, 200);
            for (uint64_t number = 0; number < size; number++)
            {
                const auto event = Add(now + random->GetInteger(0, spread));
                if (number % 7 == 3)
                {
                    bucket->Remove(event);
                    map->Remove(event);
                }
            }
            for (uint64_t number = 0; number < size && !map->IsEmpty(); number++)
            {
                const uint64_t next = map->PeekNext().key.m_ts;
                const uint64_t limit = now + random->GetInteger(0, spread);
                NS_TEST_ASSERT_MSG_LT_OR_EQ(bucket->GetEarliestTime(), next, "earliest");
                NS_TEST_ASSERT_MSG_EQ((bucket->PeekBefore(limit) != nullptr),
                                      (next < limit),
                                      "an event before " << limit);
                const auto expected = map->RemoveNext();
                NS_TEST_ASSERT_MSG_EQ(bucket->RemoveNext().key.m_uid,
                                      expected.key.m_uid,
                                      "event " << number << " of burst " << i);
                now = expected.key.m_ts;
            }
        }
        std::size_t left = bucket->GetEntries().size();
        while (!map->IsEmpty())
        {
            const auto expected = map->RemoveNext();
            NS_TEST_ASSERT_MSG_EQ(bucket->RemoveNext().key.m_uid,
                                  expected.key.m_uid,
                                  "after the bursts");
            now = expected.key.m_ts;
            left--;
        }
        NS_TEST_EXPECT_MSG_EQ(left, 0, "number of events");
    }

    void Run()
    {
        bucket = CreateObject<BucketScheduler>();
        map = CreateObject<MapScheduler>();
        random = CreateObject<UniformRandomVariable>();
        random->SetStream(1);
        anyEvent = MakeEvent(&DoNothing);
        Hold(100, 1000000, 20000);    // 100 events per microsecond
        Hold(20000, 1000000, 50000);  // 200 times denser
        Hold(10, 5000000000000, 500); // seconds apart
        Hold(3000, 0, 5000);          // all at one time
        Hold(2000, 100000, 50000);    // dense again
        uint64_t left = 0;
        while (!map->IsEmpty())
        {
            NS_TEST_ASSERT_MSG_EQ(bucket->RemoveNext().key.m_uid,
                                  map->RemoveNext().key.m_uid,
                                  "the rest");
            left++;
        }
        NS_TEST_EXPECT_MSG_EQ(bucket->IsEmpty(), true, "nothing is left over");
        NS_TEST_EXPECT_MSG_GT(left, 20000, "the test needs many pending events");
        Burst(500, 50000);
        Burst(500, 1000000);
        Burst(100, 0);
        NS_TEST_EXPECT_MSG_EQ(bucket->IsEmpty(), true, "nothing is left over after bursts");
        anyEvent->Unref();
    }

    Ptr<BucketScheduler> bucket;
    Ptr<MapScheduler> map;
    Ptr<UniformRandomVariable> random;
    EventImpl* anyEvent{nullptr};
    uint64_t now{0};
    uint32_t uid{0};
};

/**
 * Order of simultaneous events: lower nodes first; at a node, frames by ingress port and then in
 * insertion order, then other events in insertion order; events without a node last.
 */
struct SchedulerTieTest
{
    /** Owns the ports; never receives. */
    struct Owner : public FabricPortOwner
    {
        void Receive(Frame*, FabricPort&) override
        {
        }

        bool BeginTransmit(Frame&, FabricPort&) override
        {
            return true;
        }
    };

    /// (time, context, whether it is not a frame, port number of a frame, event number)
    using Key = std::tuple<uint64_t, uint32_t, bool, uint16_t, uint32_t>;

    void Add(const Key& key, EventImpl* impl)
    {
        Scheduler::Event event;
        event.impl = impl;
        event.key.m_ts = std::get<0>(key);
        event.key.m_context = std::get<1>(key);
        event.key.m_uid = std::get<4>(key);
        scheduler->Insert(event);
        expected[key] = event;
    }

    void Run()
    {
        constexpr uint16_t PORTS = 5;
        scheduler = CreateObject<BucketScheduler>();
        Owner owner;
        std::deque<FabricPort> ports;
        for (uint16_t i = 0; i < PORTS; i++)
        {
            ports.emplace_back(owner, 0, i);
        }
        EventImpl* other = MakeEvent(&DoNothing);
        uint32_t uid = 3;
        std::vector<Frame*> frames;
        for (uint64_t time : {7, 3000000, 7000000}) // the last ones are in another bucket
        {
            for (uint32_t context : {uint32_t{Simulator::NO_CONTEXT}, 3U, 0U, 70000U})
            {
                for (uint16_t i = 0; i < PORTS; i++)
                {
                    uid++;
                    Add({time, context, true, 0, uid}, other);
                    const auto port = static_cast<uint16_t>(i * 3 % PORTS);
                    for (int copy = 0; copy < 2; copy++)
                    {
                        frames.push_back(Frame::Allocate(FrameKind::ROCE_DATA));
                        frames.back()->port = &ports[port];
                        frames.back()->ingress = port;
                        uid++;
                        Add({time, context, false, port, uid}, frames.back());
                    }
                }
                // One of the events other than frames is removed again.
                const auto removed = expected.find({time, context, true, 0, uid - 2});
                scheduler->Remove(removed->second);
                expected.erase(removed);
            }
        }
        for (const auto& [key, event] : expected)
        {
            const auto got = scheduler->RemoveNext();
            const bool isFrame = !std::get<2>(key);
            NS_TEST_ASSERT_MSG_EQ(got.impl, event.impl, "event");
            NS_TEST_ASSERT_MSG_EQ(got.key.m_ts, event.key.m_ts, "time");
            NS_TEST_ASSERT_MSG_EQ(got.key.m_context, event.key.m_context, "context");
            // All other events of a frame's node and time are still to come. The simulator relies
            // on their higher numbers.
            NS_TEST_ASSERT_MSG_EQ(got.key.m_uid, (isFrame ? 0 : event.key.m_uid), "number");
        }
        NS_TEST_EXPECT_MSG_EQ(scheduler->IsEmpty(), true, "nothing is left over");
        for (Frame* frame : frames)
        {
            Frame::Free(frame);
        }
        other->Unref();
        Simulator::Destroy();
    }

    Ptr<BucketScheduler> scheduler;
    std::map<Key, Scheduler::Event> expected;
};

/** Cancels a timer of its node when a frame arrives. */
struct TimerOwner : public FabricPortOwner
{
    void Receive(Frame* frame, FabricPort&) override
    {
        Frame::Free(frame);
        wasRunning = !timer.IsExpired();
        timer.Cancel();
    }

    bool BeginTransmit(Frame&, FabricPort&) override
    {
        return true;
    }

    EventId timer;
    bool wasRunning{false};
};

void
Expire(bool* expired)
{
    *expired = true;
}

void
Set(EventId* timer, bool* expired)
{
    *timer = Simulator::Schedule(TimeStep(500), &Expire, expired);
}

void
Send(FabricPort* port)
{
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->port = port;
    frame->bytes = 64;
    frame->Ref();
    Simulator::ScheduleWithContext(0, TimeStep(400), frame);
}

/**
 * A timer set before a frame was sent expires at its arrival: the frame comes first, finds the
 * timer running and can cancel it.
 */
void
TestSchedulerTimer()
{
    ObjectFactory scheduler;
    scheduler.SetTypeId(BucketScheduler::GetTypeId());
    Simulator::SetScheduler(scheduler);
    TimerOwner owner;
    FabricPort port(owner, 0, 0);
    bool expired = false;
    Simulator::ScheduleWithContext(0, TimeStep(0), &Set, &owner.timer, &expired);
    Simulator::ScheduleWithContext(1, TimeStep(100), &Send, &port);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(owner.wasRunning, true, "the timer is not over yet");
    NS_TEST_EXPECT_MSG_EQ(expired, false, "the timer was cancelled");
    Simulator::Destroy();
}

/** Counts its calls. */
class Owner : public FabricPortOwner
{
  public:
    void Receive(Frame* frame, FabricPort&) override
    {
        received++;
        Frame::Free(frame);
    }

    void Prefetch(const Frame&) override
    {
        asked++;
    }

    const FabricPort* PrefetchSoon(const Frame&) override
    {
        asked++;
        return nullptr;
    }

    bool BeginTransmit(Frame&, FabricPort&) override
    {
        return true;
    }

    uint32_t received{0};
    uint32_t asked{0};
};

/**
 * Destruction of a simulation with frames in flight does not call ports, which may be destroyed.
 */
void
TestSchedulerDestroy()
{
    ObjectFactory scheduler;
    scheduler.SetTypeId(BucketScheduler::GetTypeId());
    Simulator::SetScheduler(scheduler);
    Owner owner;
    FabricPort port(owner, 0, 0);
    for (int64_t i = 0; i < 50; i++)
    {
        Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
        frame->port = &port;
        frame->bytes = 64;
        frame->Ref();
        Simulator::ScheduleWithContext(0, TimeStep(1000 + i), frame);
    }
    Simulator::Stop(TimeStep(1010));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_GT(owner.received, 0, "some have arrived");
    NS_TEST_EXPECT_MSG_LT(owner.received, 50, "some have not");
    NS_TEST_EXPECT_MSG_GT(owner.asked, 0, "ports are asked while it runs");
    const uint32_t asked = owner.asked;
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ(owner.asked, asked, "and not when it does not");
}

const Suite g_suite("scheduler",
                    Duration::QUICK,
                    {{"the order is that of MapScheduler", RunTest<SchedulerOrderTest>},
                     {"ties are decided by node, port and order of insertion",
                      RunTest<SchedulerTieTest>},
                     {"a frame can cancel a timer of the same time", TestSchedulerTimer},
                     {"frames in flight at the end are left alone", TestSchedulerDestroy}});

} // namespace ns3::training::tests::scheduler_test
