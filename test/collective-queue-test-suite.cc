/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "note-transport-test-common.h"
#include "test-case.h"

#include "ns3/collective-queue.h"
#include "ns3/simulator.h"

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::training::tests::collective_queue_test
{

/** @return an all-reduce of two ranks, each of which adds one half */
std::shared_ptr<const CollectiveSchedule>
MakeSchedule()
{
    using Kind = ScheduleAction::Kind;
    auto schedule = std::make_shared<CollectiveSchedule>();
    schedule->algorithm = "halves";
    schedule->chunks = 2;
    schedule->Resize(2);
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        const uint32_t peer = 1 - rank;
        schedule->Add(rank, Kind::SEND, peer, peer, 0);
        schedule->Add(rank, Kind::RECEIVE_REDUCE, peer, rank, 0);
        schedule->Add(rank, Kind::SEND, peer, rank, 1);
        schedule->Add(rank, Kind::RECEIVE, peer, peer, 1);
    }
    schedule->Close();
    return schedule;
}

Ptr<ByteBuffer>
ToPayload(float value)
{
    auto payload = Create<ByteBuffer>();
    payload->bytes.resize(sizeof(value));
    std::memcpy(payload->bytes.data(), &value, sizeof(value));
    return payload;
}

/** Rank 0 of two: the test plays rank 1. */
struct QueueBench
{
    explicit QueueBench(const std::string& order)
    {
        ended.ConnectWithoutContext(MakeCallback(&QueueBench::OnEnd, this));
        endpoint.Attach(Create<SharedTransport>(transport, nullptr), 0, 0, 2, {}, nullptr);
        queue.GetOrder().SetOrder(order);
        queue.GetOrder().SetRank(0);
    }

    /** Issues an all-reduce of two numbers, or of eight virtual bytes. */
    Ptr<Tensor> Add(uint64_t number, std::vector<float> values = {})
    {
        CollectiveExecution::Request request;
        request.record.collective = number;
        request.record.algorithm = "halves";
        request.record.bytes = 8;
        request.schedule = MakeSchedule();
        request.tensor = Create<Tensor>();
        request.tensor->bytes = 8;
        request.tensor->values = std::move(values);
        request.reduceRate = DataRate("320Mbps"); // four bytes take 100 ns
        const Ptr<Tensor> tensor = request.tensor;
        queue.Add(std::move(request));
        return tensor;
    }

    /** Rank 1 sends its part of a step. */
    void Receive(uint64_t number, uint32_t step, Ptr<ByteBuffer> payload = nullptr)
    {
        queue.OnChunk(1, MessageTag{0, number, step, 0}.Pack(), {4, payload, Simulator::Now()});
    }

    /** @return "collective.step" of messages so far, in their order; "turn" announces one */
    std::string GetSent() const
    {
        std::string text;
        for (const auto& message : transport->messages)
        {
            const MessageTag tag = MessageTag::Unpack(message.tag);
            const std::string step =
                tag.step == MessageTag::TURN ? "turn" : std::to_string(tag.step);
            text += (text.empty() ? "" : " ") + std::to_string(tag.collective) + "." + step;
        }
        return text;
    }

    void OnEnd(const CollectiveRecord& record)
    {
        ends.push_back(record);
    }

    static void Act(std::function<void()>* action)
    {
        (*action)();
    }

    /** Does something at a time in ns. */
    void At(int64_t time, std::function<void()> action)
    {
        actions.push_back(std::make_unique<std::function<void()>>(std::move(action)));
        Simulator::Schedule(NanoSeconds(time), &QueueBench::Act, actions.back().get());
    }

    static void Run()
    {
        Simulator::Run();
        Simulator::Destroy();
    }

    Ptr<NoteTransport> transport{CreateObject<NoteTransport>()};
    TracedCallback<const MessageRecord&> sent;
    TracedCallback<const CollectiveRecord&> ended;
    uint32_t limit{1};
    CommunicatorEndpoint endpoint{sent};
    CollectiveQueue queue{endpoint, limit, ended};
    std::vector<CollectiveRecord> ends;
    std::vector<std::unique_ptr<std::function<void()>>> actions;
};

/** Numbers and times of one collective. */
void
TestExecution()
{
    QueueBench bench("fifo");
    const Ptr<Tensor> tensor = bench.Add(0, {1, 2});
    NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "", "it starts in an event");
    bench.At(50, [&] {
        NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0", "the other half has left");
        NS_TEST_EXPECT_MSG_EQ(bench.transport->messages[0].payload->bytes,
                              ToPayload(2)->bytes,
                              "its contents");
        NS_TEST_EXPECT_MSG_EQ(bench.queue.DescribeMissing(),
                              "all-reduce 0 (halves) at step 0 for chunk 0 (4 bytes) from rank 1",
                              "missing");
        bench.Receive(0, 0, ToPayload(10));
    });
    bench.At(149, [&] { NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0", "the sum takes 100 ns"); });
    bench.At(151, [&] {
        NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0 0.1", "the sum has left");
        NS_TEST_EXPECT_MSG_EQ(bench.transport->messages[1].payload->bytes,
                              ToPayload(11)->bytes,
                              "its contents");
    });
    bench.At(300, [&] { bench.Receive(0, 1, ToPayload(22)); });
    QueueBench::Run();
    NS_TEST_EXPECT_MSG_EQ(tensor->values, (std::vector<float>{11, 22}), "result");
    NS_TEST_ASSERT_MSG_EQ(bench.ends.size(), 1, "it is complete once");
    NS_TEST_EXPECT_MSG_EQ(bench.ends[0].started, Time(0), "start");
    NS_TEST_EXPECT_MSG_EQ(bench.ends[0].finished, NanoSeconds(300), "end");
    NS_TEST_EXPECT_MSG_EQ(bench.queue.DescribeMissing(), "", "none runs");
}

/** Messages of a collective that waits for its turn are kept. */
void
TestTurns()
{
    QueueBench bench("fifo");
    bench.Add(0);
    bench.Add(1);
    bench.At(10, [&] {
        bench.Receive(1, 0);
        bench.Receive(1, 1);
        NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0", "one at a time");
        bench.Receive(0, 0);
        bench.Receive(0, 1);
    });
    bench.At(109, [&] { NS_TEST_EXPECT_MSG_EQ(bench.ends.size(), 0, "the first one adds"); });
    bench.At(111, [&] {
        NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0 0.1 1.0", "the second one follows");
    });
    QueueBench::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0 0.1 1.0 1.1", "all messages");
    NS_TEST_ASSERT_MSG_EQ(bench.ends.size(), 2, "both are complete");
    NS_TEST_EXPECT_MSG_EQ(bench.ends[0].finished, NanoSeconds(110), "end of the first one");
    NS_TEST_EXPECT_MSG_EQ(bench.ends[1].started, NanoSeconds(110), "start of the second one");
    NS_TEST_EXPECT_MSG_EQ(bench.ends[1].finished, NanoSeconds(210), "end of the second one");
}

/** Rank 0 tells the others which one comes next, if the order is not that of issue. */
void
TestAnnouncements()
{
    QueueBench bench("lifo");
    bench.Add(0);
    bench.Add(1);
    QueueBench::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "1.turn 1.0", "the last one starts");
}

/** Nothing of what has been dropped happens. */
void
TestClear()
{
    QueueBench bench("fifo");
    bench.limit = 2;
    bench.Add(0);
    bench.Add(1);
    bench.Add(2);
    bench.At(10, [&] {
        NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0 1.0", "two at a time");
        bench.Receive(0, 1);
        bench.Receive(0, 0); // is being added
        bench.queue.Clear();
    });
    QueueBench::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.GetSent(), "0.0 1.0", "no more messages");
    NS_TEST_EXPECT_MSG_EQ(bench.ends.size(), 0, "none is complete");
    NS_TEST_EXPECT_MSG_EQ(bench.queue.DescribeMissing(), "", "none runs");
}

const Suite g_suite("collective-queue",
                    Duration::QUICK,
                    {{"numbers and times of a collective", TestExecution},
                     {"turns", TestTurns},
                     {"announcements", TestAnnouncements},
                     {"dropped collectives", TestClear}});

} // namespace ns3::training::tests::collective_queue_test
