/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/bucket-scheduler.h"
#include "ns3/event-impl.h"
#include "ns3/make-event.h"
#include "ns3/map-scheduler.h"
#include "ns3/random-variable-stream.h"
#include "ns3/test.h"

using namespace ns3;
using namespace ns3::training;

namespace
{

void
DoNothing()
{
}

} // namespace

/**
 * @ingroup distributed-training-tests
 *
 * BucketScheduler hands out exactly what ns-3's own MapScheduler does, whatever the density and
 * spread of the events: dense, sparse, all at one time, far ahead, with removals and with phases of
 * such different density that the buckets change their width in both directions.
 */
class SchedulerOrderTest : public TestCase
{
  public:
    SchedulerOrderTest()
        : TestCase("the order is that of MapScheduler")
    {
    }

  private:
    Scheduler::Event Add(uint64_t time)
    {
        Scheduler::Event event;
        event.impl = m_event;
        event.key.m_ts = time;
        event.key.m_uid = ++m_uid;
        event.key.m_context = 0;
        m_bucket->Insert(event);
        m_map->Insert(event);
        return event;
    }

    void Hold(uint64_t pending, uint64_t spread, uint64_t steps)
    {
        for (uint64_t i = 0; i < pending; i++)
        {
            Add(m_now + m_random->GetInteger(0, spread));
        }
        for (uint64_t i = 0; i < steps; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(m_bucket->IsEmpty(), m_map->IsEmpty(), "empty");
            const auto peeked = m_bucket->PeekNext();
            const auto got = m_bucket->RemoveNext();
            const auto expected = m_map->RemoveNext();
            NS_TEST_ASSERT_MSG_EQ(got.key.m_uid, expected.key.m_uid, "event number " << i);
            NS_TEST_ASSERT_MSG_EQ(peeked.key.m_uid, got.key.m_uid, "PeekNext");
            m_now = got.key.m_ts;
            Add(m_now + m_random->GetInteger(0, spread));
            if (i % 10 == 0)
            {
                const auto removed = Add(m_now + m_random->GetInteger(1, 3 * spread + 1));
                m_bucket->Remove(removed);
                m_map->Remove(removed);
            }
            if (i % 100 == 0) // an event now, and one far ahead
            {
                Add(m_now);
                Add(m_now + 1000000000000);
            }
        }
    }

    void DoRun() override
    {
        m_bucket = CreateObject<BucketScheduler>();
        m_map = CreateObject<MapScheduler>();
        m_random = CreateObject<UniformRandomVariable>();
        m_random->SetStream(1);
        m_event = MakeEvent(&DoNothing);
        Hold(100, 1000000, 20000);    // 100 events in a microsecond
        Hold(20000, 1000000, 50000);  // 200 times denser
        Hold(10, 5000000000000, 500); // seconds apart
        Hold(3000, 0, 5000);          // all at one time
        Hold(2000, 100000, 50000);    // dense again
        uint64_t left = 0;
        while (!m_map->IsEmpty())
        {
            NS_TEST_ASSERT_MSG_EQ(m_bucket->RemoveNext().key.m_uid,
                                  m_map->RemoveNext().key.m_uid,
                                  "the rest");
            left++;
        }
        NS_TEST_EXPECT_MSG_EQ(m_bucket->IsEmpty(), true, "nothing is left over");
        NS_TEST_EXPECT_MSG_GT(left, 20000, "the test needs many pending events");
        m_event->Unref();
    }

    Ptr<BucketScheduler> m_bucket;
    Ptr<MapScheduler> m_map;
    Ptr<UniformRandomVariable> m_random;
    EventImpl* m_event{nullptr};
    uint64_t m_now{0};
    uint32_t m_uid{0};
};

/**
 * @ingroup distributed-training-tests
 * The suite of the event list.
 */
class SchedulerTestSuite : public TestSuite
{
  public:
    SchedulerTestSuite()
        : TestSuite("distributed-training-scheduler", TestSuite::Type::UNIT)
    {
        AddTestCase(new SchedulerOrderTest);
    }
};

static SchedulerTestSuite g_schedulerTestSuite; ///< registers the suite
