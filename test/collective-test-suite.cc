/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/collective-algorithm.h"
#include "ns3/collective-planner.h"
#include "ns3/lower-bound.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace ns3;
using namespace ns3::training;

namespace
{

using Kind = ScheduleAction::Kind;

CollectiveRequest
MakeRequest(CollectiveOperation operation, uint32_t ranks, uint64_t bytes, uint32_t root)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = bytes;
    request.root = root;
    return request;
}

/** @return bytes that a rank sends in a schedule */
uint64_t
GetSentBytes(const CollectiveSchedule& schedule, uint32_t rank, uint64_t bytes)
{
    uint64_t sent = 0;
    for (const ScheduleAction& action : schedule.ranks[rank])
    {
        if (action.kind == Kind::SEND)
        {
            const auto [begin, end] = schedule.GetRange(action.chunk, bytes);
            sent += end - begin;
        }
    }
    return sent;
}

} // namespace

/**
 * @ingroup distributed-training-tests
 * Every algorithm, for every operation it offers, is proven right for many numbers of ranks, roots
 * and sizes.
 */
class SchedulesAreRightTest : public TestCase
{
  public:
    SchedulesAreRightTest()
        : TestCase("every schedule of every algorithm is proven right")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
        {
            for (CollectiveOperation operation : algorithm.operations)
            {
                for (uint32_t ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 33})
                {
                    for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 33})
                    {
                        CollectiveRequest request = MakeRequest(operation, ranks, bytes, ranks / 2);
                        for (request.servers = 1; request.servers <= ranks;
                             request.servers += std::max(1U, ranks / 2))
                        {
                            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(BuildSchedule(name, request)),
                                                  "",
                                                  name << " " << training::GetName(operation)
                                                       << " on " << ranks << " ranks");
                        }
                    }
                }
            }
        }
    }
};

/**
 * @ingroup distributed-training-tests
 * Steps and bytes of the ring algorithms are those of the published table.
 */
class RingCostTest : public TestCase
{
  public:
    RingCostTest()
        : TestCase("steps and bytes of a ring")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t n : {2, 3, 7, 16})
        {
            const uint64_t bytes = 4ULL * 1000 * n;
            const auto allReduce =
                BuildSchedule("ring", MakeRequest(CollectiveOperation::ALL_REDUCE, n, bytes, 0));
            const auto half =
                BuildSchedule("ring", MakeRequest(CollectiveOperation::ALL_GATHER, n, bytes, 0));
            NS_TEST_EXPECT_MSG_EQ(allReduce.GetSteps(), 2 * (n - 1), "steps of an all-reduce");
            NS_TEST_EXPECT_MSG_EQ(half.GetSteps(), n - 1, "steps of an all-gather");
            for (uint32_t rank = 0; rank < n; rank++)
            {
                NS_TEST_EXPECT_MSG_EQ(GetSentBytes(allReduce, rank, bytes),
                                      2 * (n - 1) * bytes / n,
                                      "bytes of an all-reduce");
                NS_TEST_EXPECT_MSG_EQ(GetSentBytes(half, rank, bytes),
                                      (n - 1) * bytes / n,
                                      "bytes of an all-gather");
            }
        }
    }
};

/**
 * @ingroup distributed-training-tests
 * Chunks cover the vector without gaps, on borders of numbers, for sizes beyond 32 bits.
 */
class ChunkRangeTest : public TestCase
{
  public:
    ChunkRangeTest()
        : TestCase("chunks cover the vector")
    {
    }

  private:
    void DoRun() override
    {
        CollectiveSchedule schedule;
        for (uint32_t chunks : {1, 3, 7, 16, 1000})
        {
            schedule.chunks = chunks;
            for (uint64_t bytes : {0ULL, 1ULL, 3ULL, 4ULL, 28ULL, 6400000004ULL, 1ULL << 62})
            {
                uint64_t covered = 0;
                for (uint32_t chunk = 0; chunk < chunks; chunk++)
                {
                    const auto [begin, end] = schedule.GetRange(chunk, bytes);
                    NS_TEST_ASSERT_MSG_EQ(begin, covered, "a gap before chunk " << chunk);
                    NS_TEST_EXPECT_MSG_EQ((bytes % 4 == 0 ? begin % 4 : 0), 0, "inside a number");
                    NS_TEST_EXPECT_MSG_LT_OR_EQ(end - begin, bytes / chunks + 8, "uneven");
                    covered = end;
                }
                NS_TEST_EXPECT_MSG_EQ(covered, bytes, "end of the vector");
            }
        }
    }
};

/**
 * @ingroup distributed-training-tests
 * The verifier names each kind of fault.
 */
class VerifierFindsFaultsTest : public TestCase
{
  public:
    VerifierFindsFaultsTest()
        : TestCase("the verifier finds injected faults")
    {
    }

  private:
    void ExpectFault(const std::string& expected,
                     const std::function<void(CollectiveSchedule&)>& inject)
    {
        auto schedule =
            BuildSchedule("ring", MakeRequest(CollectiveOperation::ALL_REDUCE, 4, 64, 0));
        inject(schedule);
        const std::string fault = VerifySchedule(schedule);
        NS_TEST_EXPECT_MSG_NE(fault.find(expected),
                              std::string::npos,
                              "expected '" << expected << "', got '" << fault << "'");
    }

    void DoRun() override
    {
        // Rank 1's actions: send, receive-reduce, send, receive-reduce, ..., receive.
        ExpectFault("rank 2, step 0: receives and adds from rank 1 chunk 0, which is never sent",
                    [](auto& schedule) { schedule.ranks[1][0].step = 17; });
        ExpectFault("a second time", [](auto& schedule) {
            // The sum is added, not copied, in the second half.
            schedule.ranks[1][7].kind = Kind::RECEIVE_REDUCE;
        });
        ExpectFault("which is never received",
                    [](auto& schedule) { schedule.Add(3, Kind::SEND, 0, 0, 9, {11}); });
        ExpectFault("lacks a contribution", [](auto& schedule) {
            // A copy in place of an addition loses what was there.
            schedule.ranks[2][3].kind = Kind::RECEIVE;
        });
        ExpectFault("in no order with", [](auto& schedule) {
            for (auto& action : schedule.ranks[0])
            {
                action.after.clear();
            }
        });
        ExpectFault("after an action that is not before it",
                    [](auto& schedule) { schedule.ranks[0][2].after = {2}; });
        ExpectFault("which does not exist", [](auto& schedule) { schedule.ranks[0][2].chunk = 4; });
        ExpectFault("no multiple", [](auto& schedule) {
            schedule.operation = CollectiveOperation::ALL_GATHER;
            schedule.chunks = 5;
        });
        ExpectFault("before it has received it",
                    [](auto& schedule) { schedule.operation = CollectiveOperation::BROADCAST; });
        // A circle over two ranks: each receives before it sends.
        CollectiveSchedule circle;
        circle.ranks.resize(2);
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            circle.Add(rank, Kind::RECEIVE_REDUCE, 1 - rank, 0, 0, {});
            circle.Add(rank, Kind::SEND, 1 - rank, 0, 0, {0});
        }
        NS_TEST_EXPECT_MSG_NE(VerifySchedule(circle).find("whose sending waits for this"),
                              std::string::npos,
                              "a circle");
    }
};

/**
 * @ingroup distributed-training-tests
 * The interpreter adds in the order that the ring's closed form gives: chunk c starts at rank c
 * + 1.
 */
class RingOrderTest : public TestCase
{
  public:
    RingOrderTest()
        : TestCase("order of additions in a ring")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t N = 7;
        constexpr uint32_t LENGTH = 7 * 13;
        std::vector<std::vector<float>> inputs(N, std::vector<float>(LENGTH));
        for (uint32_t rank = 0; rank < N; rank++)
        {
            for (uint32_t i = 0; i < LENGTH; i++)
            {
                // Of such different sizes that every order gives another sum.
                inputs[rank][i] = std::ldexp(1.0F + 0.1F * (i % 9), static_cast<int>(4 * rank));
            }
        }
        const auto schedule =
            BuildSchedule("ring", MakeRequest(CollectiveOperation::ALL_REDUCE, N, LENGTH * 4, 0));
        const auto results = InterpretSchedule(schedule, inputs);
        bool orderMatters = false;
        for (uint32_t i = 0; i < LENGTH; i++)
        {
            const uint32_t chunk = i / 13;
            float sum = inputs[(chunk + 1) % N][i];
            float other = inputs[chunk][i];
            for (uint32_t k = 2; k <= N; k++)
            {
                sum += inputs[(chunk + k) % N][i];
                other += inputs[(chunk + N + 1 - k) % N][i];
            }
            orderMatters |= sum != other;
            for (uint32_t rank = 0; rank < N; rank++)
            {
                NS_TEST_ASSERT_MSG_EQ(results[rank][i], sum, "element " << i);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(orderMatters, true, "the test could not fail");
    }
};

/**
 * @ingroup distributed-training-tests
 * Requests that make no sense are refused with what is allowed.
 */
class RefusedRequestTest : public TestCase
{
  public:
    RefusedRequestTest()
        : TestCase("refused requests")
    {
    }

  private:
    void ExpectRefusal(const std::string& algorithm,
                       const CollectiveRequest& request,
                       const std::string& expected)
    {
        std::string text;
        try
        {
            BuildSchedule(algorithm, request);
        }
        catch (const ConfigurationError& error)
        {
            text = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(text.find(expected), std::string::npos, "got '" << text << "'");
        NS_TEST_EXPECT_MSG_NE(text.find("allowed:"), std::string::npos, "got '" << text << "'");
    }

    void DoRun() override
    {
        auto request = MakeRequest(CollectiveOperation::ALL_REDUCE, 4, 64, 0);
        ExpectRefusal("rnig", request, "'rnig'");
        request.root = 4;
        ExpectRefusal("ring", request, "root 4");
        request.root = 0;
        request.servers = 5;
        ExpectRefusal("parameter-server", request, "5 parameter servers");
        request.servers = 1;
        request.operation = CollectiveOperation::BROADCAST;
        ExpectRefusal("parameter-server", request, "broadcast");
    }
};

/**
 * @ingroup distributed-training-tests
 * Bus factors of nccl-tests, and lower bounds worked out by hand.
 */
class BoundTest : public TestCase
{
  public:
    BoundTest()
        : TestCase("bus factors and lower bounds")
    {
    }

  private:
    void DoRun() override
    {
        using Operation = CollectiveOperation;
        UsePicoseconds();
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_REDUCE, 16), 1.875, "all-reduce");
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_GATHER, 16), 0.9375, "all-gather");
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::BROADCAST, 16), 1, "broadcast");
        NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_REDUCE, 1), 0, "one rank");

        const DataRate rate("100Gbps"); // 12.5e9 B/s
        const auto fatTree = BuildTopology("fat-tree:k=4", 16, rate, NanoSeconds(500));
        const LowerBound full(fatTree, 16, 0.8); // 10e9 B/s of payload
        NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::ALL_REDUCE, 1000000000),
                                  0.1875,
                                  1e-9,
                                  "bandwidth");
        NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::ALL_REDUCE, 4),
                                  3e-6,
                                  1e-12,
                                  "latency: six links");
        NS_TEST_EXPECT_MSG_EQ(full.GetSeconds(Operation::ALL_REDUCE, 0), 0, "nothing to do");
        // Four leaves of four hosts on one spine: S must cross each leaf's only up-link.
        const auto thin = BuildTopology("leaf-spine:leaves=4,spines=1", 16, rate, NanoSeconds(500));
        const LowerBound cut(thin, 16, 0.8);
        NS_TEST_EXPECT_MSG_EQ_TOL(cut.GetSeconds(Operation::ALL_GATHER, 1000000000),
                                  0.09375,
                                  1e-9,
                                  "all-gather: own link");
        const auto wide = BuildTopology("leaf-spine:leaves=2,spines=1,hosts-per-leaf=8",
                                        16,
                                        rate,
                                        NanoSeconds(1));
        const LowerBound narrow(wide, 4, 0.8); // all four ranks on one leaf: no cut
        NS_TEST_EXPECT_MSG_EQ_TOL(narrow.GetSeconds(Operation::ALL_REDUCE, 1000000000),
                                  0.15,
                                  1e-9,
                                  "ranks on one leaf");
        const LowerBound alone(fatTree, 1, 0.8);
        NS_TEST_EXPECT_MSG_EQ(alone.GetSeconds(Operation::ALL_REDUCE, 1 << 30), 0, "one rank");
    }
};

/**
 * @ingroup distributed-training-tests
 * The suite of the collective room.
 */
class CollectiveTestSuite : public TestSuite
{
  public:
    CollectiveTestSuite()
        : TestSuite("distributed-training-collective", TestSuite::Type::UNIT)
    {
        AddTestCase(new SchedulesAreRightTest);
        AddTestCase(new RingCostTest);
        AddTestCase(new ChunkRangeTest);
        AddTestCase(new VerifierFindsFaultsTest);
        AddTestCase(new RingOrderTest);
        AddTestCase(new RefusedRequestTest);
        AddTestCase(new BoundTest);
    }
};

static CollectiveTestSuite g_collectiveTestSuite; ///< registers the suite
