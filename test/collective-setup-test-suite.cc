/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The set-up of collectives: compact forms of schedules against plain constructions, and the growth
 * of memory and work with the number of ranks.
 */

#include "collective/butterfly-phases.h"
#include "collective/gather-synthesizer.h"
#include "plain-schedule-test-common.h"
#include "schedule-test-common.h"
#include "schedule/schedule-file.h"
#include "schedule/schedule-interpreter.h"
#include "test-case.h"

#include "ns3/schedule-verifier.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-graph.h"

#include <cmath>
#include <numeric>

namespace ns3::training::tests::collective_setup_test
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;

CollectiveSchedule
Build(const std::string& algorithm,
      Operation operation,
      uint32_t ranks,
      const TopologyGraph* topology = nullptr)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = uint64_t{ranks} << 10;
    request.topology = topology;
    return BuildSchedule(algorithm, request);
}

TopologyGraph
BuildNetwork(const std::string& spec, uint32_t ranks)
{
    return BuildTopology(spec, ranks, DataRate("100Gbps"), NanoSeconds(300));
}

/** Partner of a position in a step. */
using Partner = std::function<uint32_t(uint32_t, uint32_t)>;

/** A butterfly whose sets of chunks are found position by position. */
struct PlainButterfly
{
    std::vector<uint32_t> ranks;              ///< rank at each position
    std::vector<std::vector<uint32_t>> parts; ///< chunks of each position
    uint32_t steps;                           ///< number of steps
    Partner partner;                          ///< partner of a position in a step
    uint32_t message;                         ///< message index

    /** @return the sorted chunks of all positions reachable from one in the steps from `ahead` on
     */
    std::vector<uint32_t> GetReach(uint32_t position, uint32_t ahead) const
    {
        std::vector<uint32_t> members{position};
        for (uint32_t step = ahead; step < steps; step++)
        {
            for (std::size_t i = members.size(); i-- > 0;)
            {
                members.push_back(partner(members[i], step));
            }
        }
        std::vector<uint32_t> chunks;
        for (uint32_t member : members)
        {
            chunks.insert(chunks.end(), parts[member].begin(), parts[member].end());
        }
        std::sort(chunks.begin(), chunks.end());
        return chunks;
    }

    void Add(PlainSchedule& schedule, uint32_t first, bool gathers) const
    {
        for (uint32_t t = 0; t < steps; t++)
        {
            const uint32_t s = gathers ? steps - 1 - t : t;
            for (uint32_t i = 0; i < ranks.size(); i++)
            {
                const uint32_t other = partner(i, s);
                const auto mine = GetReach(i, s + 1);
                const auto theirs = GetReach(other, s + 1);
                const Kind receive = gathers ? Kind::RECEIVE : Kind::RECEIVE_REDUCE;
                auto& actions = schedule[ranks[i]];
                const uint32_t step = first + t;
                actions.push_back(
                    {Kind::SEND, ranks[other], step, message, gathers ? mine : theirs});
                actions.push_back({receive, ranks[other], step, message, gathers ? theirs : mine});
            }
        }
    }
};

/** @return the chunks of [first, first + count) */
std::vector<uint32_t>
GetChunks(uint32_t first, uint32_t count)
{
    std::vector<uint32_t> chunks(count);
    std::iota(chunks.begin(), chunks.end(), first);
    return chunks;
}

/** @return Rabenseifner's algorithm, rank by rank and chunk by chunk */
PlainSchedule
MakeRabenseifner(Operation operation, uint32_t n)
{
    uint32_t bits = 0;
    while (2U << bits <= n)
    {
        bits++;
    }
    const uint32_t folded = n - (1U << bits);
    const uint32_t all = operation == Operation::ALL_REDUCE ? 1U << bits : n; // chunks
    PlainSchedule schedule(n);
    PlainButterfly halves{{},
                          {},
                          bits,
                          [](uint32_t position, uint32_t step) { return position ^ 1U << step; },
                          0};
    std::vector<uint32_t> idle;
    for (uint32_t rank = 0; rank < n; rank++)
    {
        if (rank < 2 * folded && rank % 2 == 0)
        {
            idle.push_back(rank);
            continue;
        }
        auto part = rank < 2 * folded ? GetChunks(rank - 1, 2) : GetChunks(rank, 1);
        if (operation == Operation::ALL_REDUCE)
        {
            part.assign(1, 0);
            for (uint32_t bit = 0; bit < bits; bit++)
            {
                part[0] += (halves.ranks.size() >> bit & 1) << (bits - 1 - bit);
            }
        }
        halves.ranks.push_back(rank);
        halves.parts.push_back(part);
    }
    uint32_t step = 0;
    const auto fold = [&](bool before) {
        for (uint32_t rank : idle)
        {
            const bool isPart =
                operation == (before ? Operation::ALL_GATHER : Operation::REDUCE_SCATTER);
            const auto chunks = isPart ? GetChunks(rank, 1) : GetChunks(0, all);
            const Kind receive = before && !isPart ? Kind::RECEIVE_REDUCE : Kind::RECEIVE;
            const uint32_t from = before ? rank : rank + 1;
            const uint32_t to = before ? rank + 1 : rank;
            schedule[from].push_back({Kind::SEND, to, step, 0, chunks});
            schedule[to].push_back({receive, from, step, 0, chunks});
        }
        step += idle.empty() ? 0 : 1;
    };
    fold(true);
    if (operation != Operation::ALL_GATHER)
    {
        halves.Add(schedule, step, false);
        step += bits;
    }
    if (operation != Operation::REDUCE_SCATTER)
    {
        halves.Add(schedule, step, true);
        step += bits;
    }
    fold(false);
    return schedule;
}

/**
 * @param sides equal sides of a torus, powers of two; one side and `copies` 1: any network
 * @return Swing's bandwidth variant, rank by rank and chunk by chunk
 */
PlainSchedule
MakeSwing(Operation operation, const std::vector<uint32_t>& sides, uint32_t copies)
{
    uint32_t n = 1;
    for (uint32_t side : sides)
    {
        n *= side;
    }
    uint32_t steps = 0;
    while (1U << steps < n)
    {
        steps++;
    }
    const auto dimensions = static_cast<uint32_t>(sides.size());
    PlainSchedule schedule(n);
    for (uint32_t copy = 0; copy < copies; copy++)
    {
        const auto partner = [&sides, n, copy, dimensions](uint32_t position, uint32_t step) {
            const uint32_t dimension = (copy + step) % dimensions;
            int64_t rho = 1;
            for (uint32_t s = 0; s < step / dimensions; s++)
            {
                rho = 1 - 2 * rho; // 1, -1, 3, -5, 11
            }
            rho = copy < dimensions ? rho : -rho;
            const int64_t side = sides[0];
            int64_t stride = 1;
            for (uint32_t d = dimension + 1; d < dimensions; d++)
            {
                stride *= side;
            }
            const int64_t mine = position / stride % side;
            const int64_t to = ((mine % 2 == 0 ? mine + rho : mine - rho) + n * side) % side;
            return static_cast<uint32_t>(position + (to - mine) * stride);
        };
        PlainButterfly swing{GetChunks(0, n), {}, steps, partner, copy};
        for (uint32_t rank = 0; rank < n; rank++)
        {
            swing.parts.push_back({rank * copies + copy});
        }
        if (operation != Operation::ALL_GATHER)
        {
            swing.Add(schedule, 0, false);
        }
        if (operation != Operation::REDUCE_SCATTER)
        {
            swing.Add(schedule, operation == Operation::ALL_GATHER ? 0 : steps, true);
        }
    }
    return schedule;
}

void
Compare(const CollectiveSchedule& schedule, const PlainSchedule& expected, const std::string& name)
{
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        const bool same = GetPlain(schedule, rank) == expected[rank];
        NS_TEST_EXPECT_MSG_EQ(same, true, name << ", rank " << rank);
    }
    NS_TEST_EXPECT_MSG_EQ(HasPlainDependencies(schedule), true, name << ", dependencies");
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", name);
}

/** Rabenseifner's algorithm and Swing have the actions and dependencies of a plain construction. */
void
TestButterfly()
{
    const TopologyGraph square = BuildNetwork("torus:4x4", 16);
    const TopologyGraph cube = BuildNetwork("torus:2x2x2", 8);
    for (Operation operation :
         {Operation::ALL_REDUCE, Operation::REDUCE_SCATTER, Operation::ALL_GATHER})
    {
        const std::string name = training::GetName(operation) + " ";
        for (uint32_t n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23})
        {
            Compare(Build("rabenseifner", operation, n),
                    MakeRabenseifner(operation, n),
                    name + "rabenseifner " + std::to_string(n));
        }
        for (uint32_t n : {1, 2, 4, 8, 16, 32})
        {
            Compare(Build("swing", operation, n),
                    MakeSwing(operation, {n}, 1),
                    name + "swing " + std::to_string(n));
        }
        Compare(Build("swing", operation, 16, &square),
                MakeSwing(operation, {4, 4}, 4),
                name + "torus 4x4");
        Compare(Build("swing", operation, 8, &cube),
                MakeSwing(operation, {2, 2, 2}, 6),
                name + "torus 2x2x2");
    }
}

void
Check(const std::string& form, Operation operation, uint32_t n)
{
    const std::string name =
        form + ", " + training::GetName(operation) + ", " + std::to_string(n) + " ranks";
    const auto schedule = Build("pairwise:form=" + form, operation, n);
    NS_TEST_EXPECT_MSG_EQ(schedule.GetStoredRanks(), 1, name);
    const bool isPairs = operation != Operation::REDUCE_SCATTER;
    const auto chunkOf = [&](uint32_t from, uint32_t to) {
        return isPairs ? from * n + (to + n - from) % n : to;
    };
    for (uint32_t rank = 0; rank < n; rank++)
    {
        std::vector<PlainAction> expected;
        for (uint32_t t = 1; t < n; t++)
        {
            const uint32_t to = form == "xor" ? rank ^ t : (rank + t) % n;
            const uint32_t from = form == "xor" ? rank ^ t : (rank + n - t) % n;
            const Kind receive = isPairs ? Kind::RECEIVE : Kind::RECEIVE_REDUCE;
            expected.push_back({Kind::SEND, to, t - 1, 0, {chunkOf(rank, to)}});
            expected.push_back({receive, from, t - 1, 0, {chunkOf(from, rank)}});
            NS_TEST_EXPECT_MSG_EQ(schedule.FindReceive(rank, from, t - 1, 0),
                                  2 * t - 1,
                                  name << ": receive");
        }
        NS_TEST_EXPECT_MSG_EQ(schedule.FindReceive(rank, rank, 0, 0),
                              CollectiveSchedule::NONE,
                              name << ": nothing from itself");
        NS_TEST_EXPECT_MSG_EQ(GetPlain(schedule, rank), expected, name);
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            // A send waits for the message of the step before.
            const auto after = schedule.GetDependencies(rank, i);
            const bool waits = i % 2 == 0 && i > 0;
            const std::vector<uint32_t> got(after.begin(), after.end());
            const bool right = isPairs ? got == std::vector<uint32_t>(waits, i - 1)
                                       : !waits || std::count(got.begin(), got.end(), i - 1) == 1;
            NS_TEST_EXPECT_MSG_EQ(right, true, name << ": action " << i);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", name);

    std::vector<std::vector<float>> inputs(n);
    for (uint32_t rank = 0; rank < n; rank++)
    {
        for (uint32_t i = 0; i < 37; i++)
        {
            inputs[rank].push_back(static_cast<float>(100 * rank + i));
        }
    }
    const auto all = Inject(schedule, [](auto&) {});
    NS_TEST_EXPECT_MSG_EQ(all.GetStoredRanks(), n, name);
    NS_TEST_EXPECT_MSG_EQ(InterpretSchedule(schedule, inputs),
                          InterpretSchedule(all, inputs),
                          name << ": numbers");
    const auto read = ReadScheduleJson(WriteScheduleJson(schedule), "file");
    NS_TEST_EXPECT_MSG_EQ(read.GetStoredRanks(), 1, name << ": file");
    for (uint32_t rank = 0; rank < n; rank++)
    {
        const bool same = GetPlain(read, rank) == GetPlain(all, rank);
        NS_TEST_EXPECT_MSG_EQ(same, true, name << ": file");
    }
    std::string description = DescribeSchedule(schedule);
    NS_TEST_EXPECT_MSG_EQ(description, DescribeSchedule(read), name);
    NS_TEST_EXPECT_MSG_EQ(description, DescribeSchedule(all), name << ": in words");
}

/**
 * Exchanges in pairs, of which one rank's actions are stored, have the actions of a plain
 * construction, give the same numbers as their expansion, and survive a file.
 */
void
TestPairwise()
{
    for (Operation operation : {Operation::ALL_TO_ALL, Operation::REDUCE_SCATTER})
    {
        for (uint32_t n : {2, 3, 4, 7, 8, 16})
        {
            Check("shift", operation, n);
            if ((n & (n - 1)) == 0)
            {
                Check("xor", operation, n);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(Build("pairwise", operation, 1).GetActions(0), 0, "one rank");
    }

    // Faults in a schedule with exclusive or are found.
    CollectiveSchedule wrong;
    wrong.operation = Operation::ALL_TO_ALL;
    wrong.chunks = 16;
    wrong.Resize(4);
    wrong.UseExclusiveOr();
    for (uint32_t t = 1; t < 4; t++)
    {
        wrong.Add(0, Kind::SEND, t, ChunkRun{t, 1}, t);
        wrong.Add(0, Kind::RECEIVE, t, ChunkRun{t * 4 + t % 3, 1}, t);
    }
    wrong.Close();
    NS_TEST_EXPECT_MSG_NE(VerifySchedule(wrong), "", "other chunks than sent");

    std::string text = WriteScheduleJson(Build("pairwise:form=xor", Operation::ALL_TO_ALL, 4));
    text.replace(text.find("\"ranks\": 4"), 10, "\"ranks\": 3");
    const std::string error = GetRefusal([&] { ReadScheduleJson(text, "odd.json"); });
    NS_TEST_EXPECT_MSG_EQ(error,
                          "odd.json: rotation 'exclusive-or' of 3 ranks and 16 chunks "
                          "(allowed: a power of two, and a multiple of it or, in an "
                          "all-to-all, of its square)",
                          "refused");
}

double
GetBytesPerAction(const std::string& algorithm, uint32_t ranks, const TopologyGraph* topology)
{
    const auto schedule = Build(algorithm, Operation::ALL_REDUCE, ranks, topology);
    double actions = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        actions += schedule.GetActions(rank);
    }
    return static_cast<double>(schedule.GetMemory()) / actions;
}

/** Memory and work per action do not grow with the number of ranks. */
void
TestGrowth()
{
    const TopologyGraph small = BuildNetwork("torus:16x16", 256);
    const TopologyGraph large = BuildNetwork("torus:64x64", 4096);
    for (const std::string name : {"rabenseifner", "swing", "recursive-doubling"})
    {
        const double few = GetBytesPerAction(name, 256, &small);
        const double many = GetBytesPerAction(name, 4096, &large);
        NS_TEST_EXPECT_MSG_LT(few, 90, name);
        NS_TEST_EXPECT_MSG_LT(many, 1.2 * few, name << ": 16 times the ranks");
    }
    for (const std::string name : {"direct", "pairwise:form=xor", "pairwise:form=shift"})
    {
        const auto schedule = Build(name, Operation::ALL_TO_ALL, 8192);
        NS_TEST_EXPECT_MSG_EQ(schedule.GetStoredRanks(), 1, name);
        NS_TEST_EXPECT_MSG_LT(schedule.GetMemory(), 2 << 20, name);
    }

    // Partners that a butterfly asks for.
    for (uint32_t n : {64, 1024})
    {
        uint64_t asked = 0;
        const Butterfly doubling = MakeDistanceDoubling(n);
        const Butterfly counting{doubling.steps, [&](uint32_t position, uint32_t step) {
                                     asked++;
                                     return doubling.partner(position, step);
                                 }};
        CollectiveSchedule schedule;
        schedule.chunks = n;
        schedule.Resize(n);
        AddButterflyReduceScatter(schedule, AllRanks(schedule), counting, 0);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(asked, uint64_t{2} * n * doubling.steps, n << " ranks");
    }

    // Links and chunks that a synthesis looks at.
    double visits[2];
    double attempts[2];
    for (uint32_t i : {0, 1})
    {
        const uint32_t n = i == 0 ? 64 : 1024;
        const TopologyGraph torus = BuildNetwork(i == 0 ? "torus:8x8" : "torus:32x32", n);
        std::vector<uint32_t> hosts(n);
        std::iota(hosts.begin(), hosts.end(), 0);
        SynthesisWork work;
        const auto transfers = SynthesizeAllGather({torus, hosts, 1, 1000, 1, 1, nullptr, &work});
        const auto count = static_cast<double>(transfers.size());
        NS_TEST_ASSERT_MSG_EQ(transfers.size(), uint64_t{n} * (n - 1), "transfers");
        visits[i] = static_cast<double>(work.visits) / count;
        attempts[i] = static_cast<double>(work.attempts) / count;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(static_cast<double>(work.words) / count,
                                    5 * attempts[i] * std::ceil(n / 64.0),
                                    "each rank's and its neighbors' sets");
    }
    NS_TEST_EXPECT_MSG_LT(visits[1], 1.1 * visits[0], "links per transfer");
    NS_TEST_EXPECT_MSG_LT(attempts[1], 1.1 * attempts[0], "attempts per transfer");
    NS_TEST_EXPECT_MSG_LT(attempts[1], 2, "attempts per transfer");
}

/** Synthesized all-gathers among few ranks, of which the duration is known. */
void
TestFewRanks()
{
    for (uint32_t n : {1, 2, 3, 7})
    {
        // Each host receives one chunk at a time over its only link.
        const auto network = BuildNetwork("single-switch:hosts=" + std::to_string(n), n);
        std::vector<uint32_t> hosts(n);
        std::iota(hosts.begin(), hosts.end(), 0);
        const auto transfers = SynthesizeAllGather({network, hosts, 1, 12500, 20, 1});
        NS_TEST_EXPECT_MSG_EQ(transfers.size(), n * (n - 1), n << " ranks");
        uint64_t end = 0;
        for (const auto& transfer : transfers)
        {
            end = std::max(end, transfer.end);
        }
        // 1 us for 12500 bytes, 2 links of 300 ns
        NS_TEST_EXPECT_MSG_LT_OR_EQ((n - 1) * uint64_t{1600000}, end, n << " ranks");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(end, (n + 1) * uint64_t{1600000}, n << " ranks");
    }
}

const Suite g_suite("collective-setup",
                    Duration::EXTENSIVE,
                    {{"butterflies, action by action", TestButterfly},
                     {"exchanges in pairs, action by action", TestPairwise},
                     {"memory and work per action", TestGrowth},
                     {"syntheses for few ranks", TestFewRanks}});

} // namespace ns3::training::tests::collective_setup_test
