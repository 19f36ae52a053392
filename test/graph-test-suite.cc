/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-test-common.h"
#include "graph/graph-timing.h"
#include "graph/shared-path.h"
#include "test-case.h"

#include "ns3/task-meetings.h"
#include "ns3/task-runner.h"
#include "ns3/task-trace.h"

#include <map>

namespace ns3::training::tests::graph_test
{

/** @return a collective of the first groups */
GraphTask
Collective(Parallelism parallelism, uint64_t bytes, uint16_t stream = NO_STREAM)
{
    GraphTask task;
    task.kind = TaskKind::COLLECTIVE;
    task.parallelism = parallelism;
    task.bytes = bytes;
    task.stream = stream;
    return task;
}

/** @return a message */
GraphTask
Message(TaskKind kind, uint32_t peer, uint64_t tag = 0)
{
    GraphTask task;
    task.kind = kind;
    task.parallelism = Parallelism::PIPELINE;
    task.stream = NO_STREAM;
    task.peer = peer;
    task.tag = tag;
    return task;
}

/** @return the tasks that start, after the given ones have ended in this order */
std::string
Run(const std::vector<GraphTask>& tasks,
    const std::vector<uint64_t>& ends,
    std::size_t window = 256)
{
    std::string log;
    TaskRunner runner(std::make_unique<ListSource>(tasks),
                      window,
                      [&](const GraphTask& task, const TaskTrace::Pointer& cause) {
                          log += std::to_string(task.id) +
                                 (cause ? "<" + std::to_string(cause->name) : "") + " ";
                      });
    runner.Run();
    for (uint64_t id : ends)
    {
        log += "| ";
        GraphTask done;
        done.name = static_cast<uint32_t>(id);
        runner.Complete(id, std::make_shared<TaskTrace>(done, 0));
    }
    return log + (runner.IsFinished() ? "end" : "open");
}

GraphTask
Make(uint64_t id, uint16_t stream, const std::vector<uint64_t>& after = {})
{
    GraphTask task;
    task.id = id;
    task.stream = stream;
    task.after = after;
    return task;
}

/** Which tasks start, in which order, and what let them start. */
void
TestTaskRunner()
{
    NS_TEST_EXPECT_MSG_EQ(Run({Make(1, 0), Make(2, 0), Make(3, 1)}, {3, 1, 2}),
                          "1 3 | | 2<1 | end",
                          "two streams");
    NS_TEST_EXPECT_MSG_EQ(
        Run({Make(1, 0), Make(2, NO_STREAM, {1}), Make(3, NO_STREAM, {1, 2})}, {1, 2, 3}),
        "1 | 2<1 | 3<2 | end",
        "dependencies");
    NS_TEST_EXPECT_MSG_EQ(Run({Make(1, 0), Make(2, 0), Make(3, 0, {1})}, {1, 2, 3}, 1),
                          "1 | 2<1 | 3<2 | end",
                          "a window of one task; a dependency that has ended");
    NS_TEST_EXPECT_MSG_EQ(Run({Make(1, 0), Make(2, 1, {1}), Make(3, 1), Make(4, NO_STREAM)}, {4}),
                          "1 4 | open",
                          "a stream keeps its order");
    auto first = Make(2, 1, {1});
    auto second = Make(3, 2);
    first.kind = TaskKind::COLLECTIVE;
    second.kind = TaskKind::COLLECTIVE;
    NS_TEST_EXPECT_MSG_EQ(Run({Make(1, 0), first, second}, {1, 3, 2}),
                          "1 | 2<1 3 | | end",
                          "collectives of a group keep their order over streams");
    second.groups = 1;
    NS_TEST_EXPECT_MSG_EQ(Run({Make(1, 0), first, second}, {1, 3, 2}),
                          "1 3 | 2<1 | | end",
                          "those of several groups do not");
    NS_TEST_EXPECT_MSG_EQ(Run({}, {}), "end", "no tasks");
}

/** How soon a message may be sent: computations take 10 ns, of which 4 ns are left of the first. */
void
TestLeastTime()
{
    const auto find = [](std::vector<GraphTask> tasks, std::size_t window = 256) {
        for (GraphTask& task : tasks)
        {
            task.length = NanoSeconds(10);
        }
        TaskRunner runner(std::make_unique<ListSource>(tasks),
                          window,
                          [](const GraphTask&, const TaskTrace::Pointer&) {});
        runner.Run();
        return runner.GetLeastTimeTo(
            [](const GraphTask& task) { return task.kind == TaskKind::SEND; },
            [](const GraphTask& task, bool isRunning) {
                return task.kind != TaskKind::COMPUTE ? NanoSeconds(0)
                       : isRunning                    ? NanoSeconds(4)
                                                      : task.length;
            });
    };
    auto send = Make(4, NO_STREAM, {3});
    send.kind = TaskKind::SEND;
    auto wait = Make(2, NO_STREAM);
    wait.kind = TaskKind::RECEIVE;
    const auto first = Make(1, 0);
    NS_TEST_EXPECT_MSG_EQ(find({first, Make(3, 0), send}), NanoSeconds(14), "of one stream");
    NS_TEST_EXPECT_MSG_EQ(find({first, wait, Make(3, 0, {2}), send}),
                          NanoSeconds(14),
                          "other waits take no time");
    NS_TEST_EXPECT_MSG_EQ(find({first, Make(3, 1, {1}), send}), NanoSeconds(14), "of two streams");
    NS_TEST_EXPECT_MSG_EQ(find({first, Make(3, 1), send}), NanoSeconds(4), "running in the other");
    NS_TEST_EXPECT_MSG_EQ(find({first, Make(3, 0)}), Time::Max(), "there is no message");
    auto early = send;
    early.id = 2;
    early.after = {1};
    NS_TEST_EXPECT_MSG_EQ(find({first, early, Make(3, 0), send}), NanoSeconds(4), "the first one");
    NS_TEST_EXPECT_MSG_EQ(find({first, Make(2, 0), Make(3, 0), send}, 1),
                          NanoSeconds(4),
                          "beyond the window: behind the start of its last computation");
    auto running = send;
    running.after = {};
    NS_TEST_EXPECT_MSG_EQ(find({first, running}), Time(0), "is running");
}

constexpr auto DATA = static_cast<uint32_t>(Parallelism::DATA);
constexpr auto PIPELINE = static_cast<uint32_t>(Parallelism::PIPELINE);

void
TestIdleTimes()
{
    CommunicationTimes times;
    times.collective = [](const GraphTask& task, uint32_t) { return NanoSeconds(task.bytes); };
    times.message = [](const GraphTask&) { return NanoSeconds(5); };

    // Rank 0 computes 10 ns, rank 1 30 ns; a sum of 7 ns; both compute 4 ns.
    const WrittenGraph straggler(2, {{}}, [](TaskWriter& writer, uint32_t rank) {
        writer.Compute(1, NanoSeconds(rank == 0 ? 10 : 30));
        writer.Await(writer.Start(Collective(Parallelism::DATA, 7)));
        writer.Compute(2, NanoSeconds(4));
    });
    GraphTiming timing = TimeGraph(straggler, 2, times);
    NS_TEST_EXPECT_MSG_EQ(timing.end, NanoSeconds(82), "two iterations of 41 ns");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[0].idle.bubble, NanoSeconds(40), "waits for rank 1");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[1].idle.bubble, NanoSeconds(0), "waits for nobody");
    for (const RankTiming& rank : timing.ranks)
    {
        NS_TEST_EXPECT_MSG_EQ(rank.idle.exposed[DATA], NanoSeconds(14), "sums");
        NS_TEST_EXPECT_MSG_EQ(rank.idle.other, NanoSeconds(0), "nothing else");
    }
    const auto path = FindCriticalPath(timing.last, NanoSeconds(41));
    NS_TEST_ASSERT_MSG_EQ(path.size(), 3, "computation, sum, computation");
    NS_TEST_EXPECT_MSG_EQ(path[0].task->rank, 1, "the straggler's");
    NS_TEST_EXPECT_MSG_EQ(path[0].start, NanoSeconds(41), "second iteration");
    NS_TEST_EXPECT_MSG_EQ(path[1].start, NanoSeconds(71), "the sum");
    NS_TEST_EXPECT_MSG_EQ(path[1].task->IsCommunication(), true, "the sum");
    NS_TEST_EXPECT_MSG_EQ(path[2].start, NanoSeconds(78), "the last computation");
    NS_TEST_EXPECT_MSG_EQ(path[2].end, NanoSeconds(82), "the end");

    // Rank 0 computes 10 ns and sends; rank 1 computes 2 ns, waits, computes 3 ns.
    const WrittenGraph pipeline(2, {}, [](TaskWriter& writer, uint32_t rank) {
        writer.Compute(1, NanoSeconds(rank == 0 ? 10 : 2));
        if (rank == 0)
        {
            writer.Start(Message(TaskKind::SEND, 1));
            return;
        }
        writer.Await(writer.Post(Message(TaskKind::RECEIVE, 0)));
        writer.Compute(2, NanoSeconds(3));
    });
    timing = TimeGraph(pipeline, 1, times);
    NS_TEST_EXPECT_MSG_EQ(timing.end, NanoSeconds(18), "10 + 5 + 3");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[1].idle.bubble, NanoSeconds(8), "until it was sent");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[1].idle.exposed[PIPELINE], NanoSeconds(5), "on its way");

    // A delay behind a sum: 10 ns, sum 7 ns, delay 2 ns, 4 ns.
    const WrittenGraph delayed(1, {{}}, [](TaskWriter& writer, uint32_t) {
        writer.Compute(1, NanoSeconds(10));
        const uint64_t sum = writer.Start(Collective(Parallelism::DATA, 7));
        writer.Await(writer.Delay(2, NanoSeconds(2), sum));
        writer.Compute(2, NanoSeconds(4));
    });
    timing = TimeGraph(delayed, 1, times);
    NS_TEST_EXPECT_MSG_EQ(timing.end, NanoSeconds(23), "the sum of all");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[0].idle.exposed[DATA], NanoSeconds(7), "the sum");
    NS_TEST_EXPECT_MSG_EQ(timing.ranks[0].idle.other, NanoSeconds(2), "the delay");

    // Receives in another order than sends: the tags match.
    const WrittenGraph tagged(2, {}, [](TaskWriter& writer, uint32_t rank) {
        for (uint64_t tag : {1, 2})
        {
            if (rank == 0)
            {
                writer.Compute(1, NanoSeconds(10));
                writer.Start(Message(TaskKind::SEND, 1, tag));
                continue;
            }
            writer.Await(writer.Post(Message(TaskKind::RECEIVE, 0, 3 - tag)));
            writer.Compute(2, NanoSeconds(1));
        }
    });
    timing = TimeGraph(tagged, 1, times);
    NS_TEST_EXPECT_MSG_EQ(timing.end, NanoSeconds(27), "second message at 25, then 2 x 1");
    NS_TEST_EXPECT_MSG_EQ(timing.stuck, "", "all received");
}

using Trace = std::shared_ptr<TaskTrace>;

/** What a rank does. */
struct Act
{
    int64_t time;    ///< ns
    uint32_t rank;   ///< that does it
    bool isEnd;      ///< whether it ends rather than starts
    uint64_t number; ///< of the collective
};

/** The same acts seen by one process, or by the process of a rank. */
std::vector<Trace>
Play(const std::vector<Act>& acts, const GraphTask& task, const std::vector<TaskMeetings*>& ofRank)
{
    std::map<std::pair<uint32_t, uint64_t>, Trace> traces;
    std::vector<Trace> ended;
    for (const Act& act : acts)
    {
        GraphTask mine = task;
        mine.peer = 3 - act.rank; // of a message
        if (task.kind != TaskKind::COLLECTIVE)
        {
            mine.kind = act.isEnd ? TaskKind::RECEIVE : TaskKind::SEND;
        }
        Trace& trace = traces[{act.rank, act.number}];
        if (!trace)
        {
            trace = std::make_shared<TaskTrace>(mine, act.rank);
            trace->start = NanoSeconds(act.time);
            trace->ready = trace->start;
        }
        if (!act.isEnd)
        {
            auto cause = std::make_shared<TaskTrace>(GraphTask(), act.rank);
            cause->end = NanoSeconds(act.time);
            ofRank[act.rank]->Start(act.rank, mine, act.number, NanoSeconds(act.time), cause);
            continue;
        }
        trace->end = NanoSeconds(act.time);
        ofRank[act.rank]->End(mine, act.number, trace);
        ended.push_back(trace);
    }
    return ended;
}

void
Check(const std::vector<Act>& acts,
      const GraphTask& task,
      const std::vector<int64_t>& ready,
      const std::vector<int32_t>& partners)
{
    const WrittenGraph graph(4, {{}}, [](TaskWriter&, uint32_t) {});
    TaskMeetings whole(graph);
    TaskMeetings first(graph, {true, true, false, false});
    TaskMeetings second(graph, {false, false, true, true});
    NS_TEST_EXPECT_MSG_EQ(whole.IsDivided(), false, "one process");
    NS_TEST_EXPECT_MSG_EQ(first.IsDivided(), true, "two processes");
    const auto alone = Play(acts, task, {&whole, &whole, &whole, &whole});
    const auto shared = Play(acts, task, {&first, &first, &second, &second});
    const std::string fromFirst = first.Pack();
    const std::string fromSecond = second.Pack();
    first.Merge(fromSecond);
    second.Merge(fromFirst);
    first.Resolve();
    second.Resolve();
    NS_TEST_EXPECT_MSG_EQ(first.Pack() + second.Pack(), "", "each start travels once");
    NS_TEST_ASSERT_MSG_EQ(alone.size(), ready.size(), "ends");
    for (std::size_t i = 0; i < alone.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(alone[i]->ready, NanoSeconds(ready[i]), "one process " << i);
        NS_TEST_EXPECT_MSG_EQ(shared[i]->ready, NanoSeconds(ready[i]), "two processes " << i);
        for (const Trace& trace : {alone[i], shared[i]})
        {
            const auto& partner = trace->partner;
            NS_TEST_ASSERT_MSG_EQ((partner != nullptr), (partners[i] >= 0), "partner " << i);
            NS_TEST_EXPECT_MSG_EQ((partner ? static_cast<int32_t>(partner->rank) : -1),
                                  partners[i],
                                  "partner " << i);
        }
        const auto& partner = shared[i]->partner;
        const bool isFar = partner && partner->rank / 2 != shared[i]->rank / 2;
        NS_TEST_ASSERT_MSG_EQ((partner && partner->isDistant), isFar, "place of " << i);
        if (isFar)
        {
            const auto& distant = static_cast<const DistantCause&>(*partner);
            TaskMeetings& there = partner->rank < 2 ? first : second;
            const auto cause = there.FindCause(distant);
            NS_TEST_ASSERT_MSG_NE(cause, nullptr, "cause of " << i);
            NS_TEST_EXPECT_MSG_EQ(cause->end, NanoSeconds(ready[i]), "cause of " << i);
            there.Forget(NanoSeconds(ready[i]));
            NS_TEST_EXPECT_MSG_EQ(there.FindCause(distant), cause, "still known");
        }
    }
    first.Forget(Seconds(1));
    second.Forget(Seconds(1));
    for (const Trace& trace : shared)
    {
        if (trace->partner && trace->partner->isDistant)
        {
            const auto& distant = static_cast<const DistantCause&>(*trace->partner);
            TaskMeetings& there = distant.rank < 2 ? first : second;
            NS_TEST_EXPECT_MSG_EQ(there.FindCause(distant), nullptr, "forgotten");
        }
    }
}

/** One process: what it follows alone. */
void
CheckPath()
{
    CommunicationTimes times;
    times.collective = [](const GraphTask& task, uint32_t) { return NanoSeconds(task.bytes); };
    const WrittenGraph graph(3, {{}}, [](TaskWriter& writer, uint32_t rank) {
        writer.Compute(1, NanoSeconds(10 + 7 * rank));
        writer.Await(writer.Start(Collective(Parallelism::DATA, 7)));
        writer.Compute(2, NanoSeconds(40 - 9 * rank));
    });
    const GraphTiming timing = TimeGraph(graph, 2, times);
    const TaskMeetings meetings(graph);
    const auto path = FindSharedPath(meetings, timing.last, NanoSeconds(5));
    const auto expected = FindCriticalPath(timing.last, NanoSeconds(5));
    NS_TEST_ASSERT_MSG_EQ(path.size(), expected.size(), "parts");
    NS_TEST_EXPECT_MSG_GT(path.size(), 4, "of two iterations");
    for (std::size_t i = 0; i < path.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(path[i].task, expected[i].task, i);
        NS_TEST_EXPECT_MSG_EQ(path[i].start, expected[i].start, i);
        NS_TEST_EXPECT_MSG_EQ(path[i].end, expected[i].end, i);
    }
    NS_TEST_EXPECT_MSG_EQ(FindSharedPath(meetings, nullptr, NanoSeconds(5)).size(),
                          0,
                          "nothing has ended");
}

/** Ranks that are divided among processes learn later who was last, and learn the same. */
void
TestDividedMeetings()
{
    // Of two that are last the one with the higher number, whatever the order of the events.
    const GraphTask sum = Collective(Parallelism::DATA, 4);
    Check({{2, 3, false, 0},
           {5, 0, false, 0},
           {9, 2, false, 0},
           {9, 1, false, 0},
           {20, 3, true, 0},
           {20, 0, true, 0},
           {20, 2, true, 0},
           {20, 1, true, 0}},
          sum,
          {9, 9, 9, 9},
          {2, 2, -1, -1});
    // A rank ends before another one starts, as the root of a broadcast may.
    Check({{21, 0, false, 0},
           {21, 2, false, 0},
           {22, 1, false, 0},
           {25, 0, true, 0},
           {30, 3, false, 0},
           {31, 1, true, 0},
           {31, 2, true, 0},
           {31, 3, true, 0}},
          sum,
          {22, 30, 30, 30},
          {1, 3, 3, -1});
    // Two messages of a tag from rank 0 to rank 3: the receiver waits for the first one only.
    Check({{45, 0, false, 0}, {46, 0, false, 1}, {50, 3, true, 0}, {60, 3, true, 1}},
          Message(TaskKind::SEND, 3),
          {50, 60},
          {-1, -1});
    CheckPath();
}

/** Chains of traces are as long as an iteration. */
void
TestLongTrace()
{
    TaskTrace::Pointer last;
    for (uint32_t i = 0; i < 1000000; i++)
    {
        auto trace = std::make_shared<TaskTrace>(GraphTask(), 0);
        trace->start = NanoSeconds(i);
        trace->ready = trace->start;
        trace->end = NanoSeconds(i + 1);
        trace->cause = last;
        last = trace;
    }
    NS_TEST_EXPECT_MSG_EQ(FindCriticalPath(last, NanoSeconds(0)).size(), 1000000, "all");
    IdleTimes idle;
    idle.Add(last, NanoSeconds(10), NanoSeconds(1000000));
    NS_TEST_EXPECT_MSG_EQ(idle.other, NanoSeconds(999990), "computations of others");
    last = nullptr;
}

const Suite g_suite("graph",
                    Duration::QUICK,
                    {{"tasks start when their dependencies, streams and groups allow it",
                      TestTaskRunner},
                     {"the earliest start of a message", TestLeastTime},
                     {"bubble, exposed communication and critical path by hand", TestIdleTimes},
                     {"meetings of two processes equal those of one", TestDividedMeetings},
                     {"a chain of a million tasks is released without recursion", TestLongTrace}});

} // namespace ns3::training::tests::graph_test
