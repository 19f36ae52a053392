/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "accelerate/private-groups.h"
#include "graph-test-common.h"
#include "test-case.h"

#include "ns3/cluster-options.h"
#include "ns3/topology-graph.h"

#include <numeric>

namespace ns3::training::tests::private_groups_test
{

constexpr uint32_t NO_SERVER = TopologyGraph::NO_SERVER;

/** Lists of ranks, by group. */
using Lists = std::vector<std::vector<uint32_t>>;

/** A message from a rank to another. */
using Message = std::pair<uint32_t, uint32_t>;

/** A job, and where it runs. */
struct Job
{
    std::vector<uint32_t> servers; ///< by rank
    std::vector<Lists> groups;     ///< in which each rank runs a collective
    std::vector<Message> messages{};
    std::vector<Lists> idle{}; ///< groups behind them, without collectives
    bool hasFaults{false};
    bool isWhole{true};
    std::vector<uint32_t> senders{}; ///< empty: all
};

PrivateGroups
Make(const Job& job, const ClusterOptions& options = {})
{
    std::vector<TaskGroups> groups;
    for (const auto* lists : {&job.groups, &job.idle})
    {
        for (const Lists& of : *lists)
        {
            groups.emplace_back();
            groups.back().groups = of;
        }
    }
    const auto ranks = static_cast<uint32_t>(job.servers.size());
    const auto used = static_cast<uint32_t>(job.groups.size());
    const auto write = [&job, used, groups, ranks](TaskWriter& writer, uint32_t rank) {
        for (uint32_t index = 0; index < used; index++)
        {
            if (groups[index].GetIndices(ranks)[rank] != TaskGroups::NO_GROUP)
            {
                GraphTask task;
                task.kind = TaskKind::COLLECTIVE;
                task.groups = index;
                task.bytes = 1000;
                writer.Start(task);
            }
        }
        for (const auto& [from, to] : job.messages)
        {
            if (rank == from || rank == to)
            {
                GraphTask task;
                task.kind = rank == from ? TaskKind::SEND : TaskKind::RECEIVE;
                task.peer = rank == from ? to : from;
                task.bytes = 1000;
                writer.Start(task);
            }
        }
    };
    const WrittenGraph graph(ranks, groups, write);
    std::vector<uint32_t> senders(ranks);
    std::iota(senders.begin(), senders.end(), 0);
    return PrivateGroups(
        {job.hasFaults || !options.FindVariation().empty(), job.isWhole, job.servers},
        graph,
        job.senders.empty() ? senders : job.senders);
}

/** @return a digit for each rank: 1 if its group is private */
std::string
GetPrivate(const Job& job, uint32_t groups, const ClusterOptions& options = {})
{
    const PrivateGroups privates = Make(job, options);
    std::string digits;
    for (uint32_t rank = 0; rank < job.servers.size(); rank++)
    {
        digits += privates.IsPrivate(groups, rank) ? '1' : '0';
    }
    return digits;
}

void
TestServers()
{
    const Lists inside{{0, 1}, {2, 3}};
    const Lists across{{0, 2}, {1, 3}};
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {inside}, {}}, 0), "1111", "inside");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {across}, {}}, 0), "0000", "across");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {{{0, 1, 2}}}, {}}, 0), "0000", "partly");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {across, inside}, {}}, 0), "0000", "across");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {across, inside}, {}}, 1),
                          "1111",
                          "one rank in a server uses its other network");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{NO_SERVER, NO_SERVER, 1, 1}, {inside}, {{0, 1}}}, 0),
                          "0011",
                          "hosts without a network of a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {{{0, 1}}}, {}}, 0), "1100", "in no group");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {inside}, {}, {inside}}, 1),
                          "0000",
                          "without collectives");
}

void
TestUsers()
{
    const Lists inside{{0, 1}, {2, 3}};
    for (uint32_t index : {0, 1})
    {
        NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {inside, inside}, {}}, index),
                              "0000",
                              "two groups share both servers");
    }
    const Job partly{{0, 0, 1, 1}, {inside, {{0, 1}}}, {}};
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(partly, 0), "0011", "they share one server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(partly, 1), "0000", "they share one server");
    const Job uneven{{0, 0, 1, 1}, {inside, {{0, 1, 2}}}, {}};
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(uneven, 0), "0011", "two of three ranks are in a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(uneven, 1), "0000", "two of three ranks are in a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {inside}, {{2, 3}}}, 0),
                          "1100",
                          "a message in a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {inside}, {{1, 2}}}, 0),
                          "1111",
                          "a message between servers");
    NS_TEST_EXPECT_MSG_EQ(
        GetPrivate({{0, 0, 1, 1}, {inside}, {{2, 3}}, {}, false, true, {0, 1}}, 0),
        "1111",
        "a message of a rank that is not looked at");
}

void
TestOneRank()
{
    const Lists ones{{0}, {1, 2}};
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 1, 1}, {ones}, {}}, 0),
                          "111",
                          "a rank alone on its server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 1, 1}, {ones}, {{0, 1}}}, 0),
                          "111",
                          "which sends to another one");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0, 1, 1}, {{{0}, {1}, {2, 3}}}, {}}, 0),
                          "1111",
                          "two groups of one rank in a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{0, 0}, {{{0}, {1}}, {{0, 1}}}, {{0, 1}}}, 0),
                          "00",
                          "a server with other users");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{NO_SERVER, 1}, {{{0}, {1}}}, {}}, 0),
                          "01",
                          "a host without a network of a server");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate({{7}, {{{0}}}, {{0, 0}}}, 0), "0", "a message to itself");
}

void
TestAlone()
{
    const std::vector<uint32_t> servers{0, 0, NO_SERVER};
    const Lists all; // in one group
    const Job job{servers, {all}, {}};
    NS_TEST_EXPECT_MSG_EQ(Make(job).IsAlone(0), true, "the only group");
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(job, 0), "111", "the only group");
    NS_TEST_EXPECT_MSG_EQ(Make({servers, {{{0, 1, 2}}}, {}}).IsAlone(0), true, "all ranks listed");
    const Job others[] = {{servers, {{{1, 0, 2}}}, {}},           // in another order
                          {servers, {{{0, 1}}}, {}},              // not all ranks
                          {servers, {{{0, 1}, {2}}}, {}},         // several groups
                          {servers, {all, all}, {}},              // a second use
                          {servers, {all}, {{2, 0}}},             // messages
                          {servers, {all}, {}, {}, false, false}, // other jobs
                          {servers, {all}, {}, {}, true, true}};  // faults
    for (const Job& other : others)
    {
        NS_TEST_EXPECT_MSG_EQ(Make(other).IsAlone(0), false, "case " << &other - &others[0]);
    }
    const PrivateGroups idle = Make({servers, {all}, {}, {all}});
    NS_TEST_EXPECT_MSG_EQ(idle.IsAlone(0), true, "beside a group without collectives");
    NS_TEST_EXPECT_MSG_EQ(idle.IsAlone(1), false, "a group without collectives");
}

void
TestOptions()
{
    Job job{{0, 0}, {{{0, 1}}}, {}};
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(job, 0), "11", "by default");
    const std::pair<std::string ClusterOptions::*, std::string> changes[] = {
        {&ClusterOptions::background, "poisson"},
        {&ClusterOptions::hostJitter, "exponential"},
        {&ClusterOptions::nic, "inceptionn"},
        {&ClusterOptions::codec, "fp16"},
        {&ClusterOptions::pcap, "frames"}};
    for (const auto& [field, value] : changes)
    {
        ClusterOptions options;
        options.*field = value;
        NS_TEST_EXPECT_MSG_EQ(GetPrivate(job, 0, options), "00", value);
        NS_TEST_EXPECT_MSG_EQ(Make(job, options).IsAlone(0), false, value);
    }
    job.hasFaults = true;
    NS_TEST_EXPECT_MSG_EQ(GetPrivate(job, 0), "00", "faults");
}

const Suite g_suite("private-groups",
                    Duration::QUICK,
                    {{"groups within a server, and across servers", TestServers},
                     {"who else uses the network of a server", TestUsers},
                     {"groups of one rank", TestOneRank},
                     {"a group that is alone in the network", TestAlone},
                     {"nothing is private with what does not repeat itself", TestOptions}});

} // namespace ns3::training::tests::private_groups_test
