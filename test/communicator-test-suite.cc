/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "schedule/schedule-interpreter.h"
#include "test-case.h"

#include "ns3/collective-planner.h"
#include "ns3/message-tag.h"
#include "ns3/scheduled-communicator.h"

#include <algorithm>
#include <map>
#include <random>

namespace ns3::training::tests::communicator_test
{

/** A fake transport with a random delay per message, in order per pair of ranks. */
class RandomTransport : public MessageTransport
{
  public:
    /** The transports of a group. */
    struct Group
    {
        std::vector<Ptr<RandomTransport>> ranks;
        std::mt19937 random{1};
        uint64_t bytes{0};
        Time sent; // when the last message with a handler has left
    };

    RandomTransport(uint32_t rank, Group& group)
        : m_group(group)
    {
        SetRank(rank);
    }

    void Send(uint32_t peer, Message message) override
    {
        if (message.sent)
        {
            const Time time = NanoSeconds(1 + m_group.random() % 1000);
            m_group.sent = Simulator::Now() + time;
            Simulator::Schedule(time, &Invoke, message.sent);
        }
        m_group.bytes += message.bytes;
        Time& free = m_free[peer];
        free = std::max(free, Simulator::Now()) + NanoSeconds(1 + m_group.random() % 1000);
        Simulator::Schedule(free - Simulator::Now(),
                            &RandomTransport::Arrive,
                            m_group.ranks[peer],
                            m_rank,
                            message);
    }

  private:
    void Arrive(uint32_t peer, Message message)
    {
        Deliver(peer, message);
    }

    Group& m_group;
    std::map<uint32_t, Time> m_free;
};

/** Communicators of a group of ranks over a RandomTransport. */
class GroupFixture
{
  public:
    GroupFixture(const std::string& algorithm, uint32_t ranks, uint32_t segments = 0)
        : done(ranks)
    {
        CollectiveRequest request;
        request.ranks = ranks;
        request.segments = segments;
        planner = std::make_shared<CollectivePlanner>(algorithm, request);
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            group.ranks.push_back(CreateObject<RandomTransport>(rank, group));
        }
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            auto communicator = CreateObject<ScheduledCommunicator>();
            communicator->Setup(
                rank,
                ranks,
                group.ranks[rank],
                [this](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return planner->Get(operation, bytes, root);
                });
            communicators.push_back(communicator);
        }
    }

    ~GroupFixture()
    {
        for (auto& communicator : communicators)
        {
            communicator->Dispose();
        }
        for (auto& transport : group.ranks)
        {
            transport->Dispose();
        }
        Simulator::Destroy();
    }

    /** @return a callback that notes the completion time of a rank */
    Communicator::Done MakeDone(uint32_t rank)
    {
        return MakeBoundCallback(&GroupFixture::OnDone, &done[rank]);
    }

    RandomTransport::Group group;
    std::shared_ptr<CollectivePlanner> planner;
    std::vector<Ptr<ScheduledCommunicator>> communicators;
    std::vector<std::vector<Time>> done; ///< by rank: completion times of its operations

  private:
    static void OnDone(std::vector<Time>* times)
    {
        times->push_back(Simulator::Now());
    }
};

/** @return numbers that differ by rank and index, with exact sums */
std::vector<float>
MakeNumbers(uint32_t rank, uint64_t count)
{
    std::vector<float> numbers(count);
    for (uint64_t i = 0; i < count; i++)
    {
        numbers[i] = static_cast<float>((rank * 37 + i * 11) % 1009);
    }
    return numbers;
}

Ptr<Tensor>
MakeTensor(std::vector<float> numbers)
{
    auto tensor = Create<Tensor>();
    tensor->bytes = numbers.size() * sizeof(float);
    tensor->values = std::move(numbers);
    return tensor;
}

/** @return bytes from each rank to each, uneven, some of them 0 */
ByteMatrix
MakeMatrix(uint32_t ranks)
{
    auto matrix = std::make_shared<std::vector<uint64_t>>();
    for (uint32_t from = 0; from < ranks; from++)
    {
        for (uint32_t to = 0; to < ranks; to++)
        {
            matrix->push_back(4 * ((from * 5 + to * 3) % 7) + (from == to ? 4 : 0));
        }
    }
    return matrix;
}

/** Expected result of a collective, derived from its definition only. */
class Expectation
{
  public:
    Expectation(CollectiveOperation operation, uint32_t ranks, uint64_t count, uint32_t root)
        : m_operation(operation),
          m_ranks(ranks),
          m_count(count),
          m_root(root),
          m_matrix(operation == CollectiveOperation::ALL_TO_ALL_V ? MakeMatrix(ranks) : nullptr)
    {
    }

    ByteMatrix GetMatrix() const
    {
        return m_matrix;
    }

    std::vector<float> GetInput(uint32_t rank) const
    {
        uint64_t count = m_count;
        if (m_matrix)
        {
            count = 0;
            for (uint32_t to = 0; to < m_ranks; to++)
            {
                count += GetPart(rank, to);
            }
        }
        return MakeNumbers(rank, count);
    }

    /** @return whether a rank's result is correct where it is defined */
    bool IsRight(uint32_t rank, const std::vector<float>& result) const
    {
        const auto [begin, end] = GetPartRange(4 * m_count, m_ranks, rank);
        switch (m_operation)
        {
        case CollectiveOperation::ALL_REDUCE:
            return result == GetSum();
        case CollectiveOperation::REDUCE:
            return rank != m_root || result == GetSum();
        case CollectiveOperation::REDUCE_SCATTER: {
            const auto sum = GetSum();
            return result.size() == m_count && std::equal(sum.begin() + begin / 4,
                                                          sum.begin() + end / 4,
                                                          result.begin() + begin / 4);
        }
        case CollectiveOperation::ALL_GATHER: {
            std::vector<float> all;
            for (uint32_t from = 0; from < m_ranks; from++)
            {
                const auto [first, last] = GetPartRange(4 * m_count, m_ranks, from);
                const auto theirs = GetInput(from);
                all.insert(all.end(), theirs.begin() + first / 4, theirs.begin() + last / 4);
            }
            return result == all;
        }
        case CollectiveOperation::BROADCAST:
            return result == GetInput(m_root);
        case CollectiveOperation::ALL_TO_ALL:
        case CollectiveOperation::ALL_TO_ALL_V: {
            std::vector<float> all;
            for (uint32_t from = 0; from < m_ranks; from++)
            {
                uint64_t offset = 0;
                for (uint32_t to = 0; to < rank; to++)
                {
                    offset += GetPart(from, to);
                }
                const auto theirs = GetInput(from);
                all.insert(all.end(),
                           theirs.begin() + offset,
                           theirs.begin() + offset + GetPart(from, rank));
            }
            return result == all;
        }
        case CollectiveOperation::SEND_RECEIVE:
            return result == GetInput((rank + m_ranks - 1) % m_ranks);
        case CollectiveOperation::BARRIER:
            break;
        }
        return true;
    }

  private:
    /** @return count of numbers from one rank to another in an all-to-all */
    uint64_t GetPart(uint32_t from, uint32_t to) const
    {
        if (m_matrix)
        {
            return (*m_matrix)[from * m_ranks + to] / 4;
        }
        const auto [begin, end] = GetPartRange(4 * m_count, m_ranks, (from + to) % m_ranks);
        return (end - begin) / 4;
    }

    std::vector<float> GetSum() const
    {
        std::vector<float> sum(m_count);
        for (uint32_t rank = 0; rank < m_ranks; rank++)
        {
            const auto numbers = MakeNumbers(rank, m_count);
            for (uint64_t i = 0; i < m_count; i++)
            {
                sum[i] += numbers[i];
            }
        }
        return sum;
    }

    CollectiveOperation m_operation;
    uint32_t m_ranks;
    uint64_t m_count;
    uint32_t m_root;
    ByteMatrix m_matrix;
};

void
Check(const std::string& name,
      CollectiveOperation operation,
      uint32_t ranks,
      uint64_t count,
      uint32_t segments)
{
    const uint32_t root = ranks / 2;
    const Expectation expectation(operation, ranks, count, root);
    GroupFixture fixture(name, ranks, segments);
    try
    {
        fixture.planner->Get(operation, 4 * count, root);
    }
    catch (const ConfigurationError&)
    {
        return; // unsupported number of ranks
    }
    std::vector<Ptr<Tensor>> tensors;
    std::vector<std::vector<float>> inputs;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        inputs.push_back(expectation.GetInput(rank));
        tensors.push_back(MakeTensor(inputs.back()));
        fixture.communicators[rank]->Start(operation,
                                           tensors[rank],
                                           root,
                                           fixture.MakeDone(rank),
                                           expectation.GetMatrix());
    }
    Simulator::Run();
    const auto schedule = fixture.planner->Get(operation, 4 * count, root);
    const auto results = InterpretSchedule(*schedule, inputs, expectation.GetMatrix());
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const std::string what = name + " " + training::GetName(operation) + ", " +
                                 std::to_string(ranks) + " ranks, " + std::to_string(count) +
                                 " numbers, " + std::to_string(segments) + " segments, rank " +
                                 std::to_string(rank);
        NS_TEST_ASSERT_MSG_EQ(fixture.done[rank].size(), 1, "complete: " << what);
        NS_TEST_EXPECT_MSG_EQ(expectation.IsRight(rank, tensors[rank]->values), true, what);
        NS_TEST_EXPECT_MSG_EQ(expectation.IsRight(rank, results[rank]), true, what);
        NS_TEST_EXPECT_MSG_EQ(tensors[rank]->bytes,
                              4 * tensors[rank]->values.size(),
                              "size: " << what);
        NS_TEST_EXPECT_MSG_EQ(fixture.communicators[rank]->GetWaitingFor(), "", what);
    }
}

/**
 * Every algorithm and operation moves real numbers correctly, whatever the order of message
 * arrival. The interpreter gives the same numbers.
 */
void
TestAlgorithmsMoveNumbers()
{
    for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
    {
        for (CollectiveOperation operation : algorithm.operations)
        {
            for (uint32_t ranks : {1, 2, 3, 4, 6, 8, 9})
            {
                for (uint64_t count : {1, 5, 77})
                {
                    for (uint32_t segments : {0, 3})
                    {
                        Check(name, operation, ranks, count, segments);
                    }
                }
            }
        }
    }
}

/**
 * No rank leaves a barrier before the last one has entered it. Barriers of one rank end
 * immediately.
 */
struct BarrierTest
{
    void Run()
    {
        for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
        {
            const auto& able = algorithm.operations;
            for (uint32_t ranks : {1, 2, 5, 8})
            {
                for (uint32_t late = 0; late < ranks; late++)
                {
                    if (std::find(able.begin(), able.end(), CollectiveOperation::BARRIER) !=
                        able.end())
                    {
                        Check(name, ranks, late);
                    }
                }
            }
        }
    }

    void Check(const std::string& name, uint32_t ranks, uint32_t late)
    {
        GroupFixture fixture(name, ranks);
        try
        {
            fixture.planner->Get(CollectiveOperation::BARRIER, 0, 0);
        }
        catch (const ConfigurationError&)
        {
            return; // needs keys
        }
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            Simulator::Schedule(rank == late ? MicroSeconds(300) : NanoSeconds(rank),
                                &ScheduledCommunicator::Barrier,
                                fixture.communicators[rank],
                                fixture.MakeDone(rank));
        }
        Simulator::Run();
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            NS_TEST_ASSERT_MSG_EQ(fixture.done[rank].size(), 1, name << ": left by " << rank);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(fixture.done[rank][0],
                                        MicroSeconds(300),
                                        name << ": rank " << rank << " did not wait for " << late);
        }
        NS_TEST_EXPECT_MSG_EQ(fixture.group.bytes, 0, "a barrier carries nothing");
    }
};

/**
 * Sends and receives of two ranks match in order, whichever comes first, and run in parallel to
 * collectives.
 */
void
TestSendReceive()
{
    GroupFixture fixture("ring", 3);
    auto& first = *fixture.communicators[0];
    auto& last = *fixture.communicators[2];
    std::vector<Ptr<Tensor>> received;
    for (uint32_t i = 0; i < 3; i++)
    {
        received.push_back(MakeTensor(std::vector<float>(i + 1)));
    }
    // A collective that cannot complete, because rank 1 does not take part.
    first.AllReduce(MakeTensor({1, 2, 3}), fixture.MakeDone(1));
    last.Receive(received[0], 0, fixture.MakeDone(2));
    for (uint32_t i = 0; i < 3; i++)
    {
        const auto tensor = MakeTensor(MakeNumbers(i, i + 1));
        first.Send(tensor, 2, fixture.MakeDone(0));
        tensor->values[0] = -1; // changed after sending, without effect
    }
    NS_TEST_EXPECT_MSG_EQ(fixture.done[0].size(), 0, "nothing completes before its call ends");
    NS_TEST_EXPECT_MSG_EQ(last.GetWaitingFor(),
                          "rank 2 waits for tensor 0 (4 bytes) from rank 0",
                          "what it waits for");
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fixture.done[0].size(), 3, "three sent");
    NS_TEST_EXPECT_MSG_EQ(fixture.done[2].size(), 1, "one received");
    last.Receive(received[1], 0, fixture.MakeDone(2));
    last.Receive(received[2], 0, fixture.MakeDone(2));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fixture.done[2].size(), 3, "all received");
    for (uint32_t i = 0; i < 3; i++)
    {
        const bool same = received[i]->values == MakeNumbers(i, i + 1);
        NS_TEST_EXPECT_MSG_EQ(same, true, "tensor " << i);
    }
    const auto tensor = MakeTensor({1});
    tensor->untilSent = true;
    first.Send(tensor, 2, fixture.MakeDone(0));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(fixture.done[0].size(), 4, "a fourth");
    NS_TEST_EXPECT_MSG_GT(fixture.group.sent, fixture.done[0][2], "it takes time");
    NS_TEST_EXPECT_MSG_EQ(fixture.done[0][3], fixture.group.sent, "complete when it has left");
    NS_TEST_EXPECT_MSG_EQ(fixture.done[1].size(), 0, "the collective still waits");
    NS_TEST_EXPECT_MSG_EQ(first.GetWaitingFor(),
                          "rank 0 waits in all-reduce 0 (ring) at step 0 for chunk 1 (4 bytes) "
                          "from rank 2",
                          "what it waits for");
}

/** Fields of a message tag survive packing and unpacking. Collectives are counted modulo 2^18. */
void
TestMessageTag()
{
    const uint64_t tag = MessageTag{0xab, 0x2def3, 0x312345, 0x6789}.Pack();
    NS_TEST_EXPECT_MSG_EQ(tag, 0xabb7bcf123456789ULL, "layout");
    const MessageTag parts = MessageTag::Unpack(tag);
    NS_TEST_EXPECT_MSG_EQ(parts.communicator, 0xab, "communicator");
    NS_TEST_EXPECT_MSG_EQ(parts.collective, 0x2def3, "collective");
    NS_TEST_EXPECT_MSG_EQ(parts.step, 0x312345, "step");
    NS_TEST_EXPECT_MSG_EQ(parts.message, 0x6789, "message");
    const MessageTag wrapped{0, (1 << 18) + 3, 0, 0};
    NS_TEST_EXPECT_MSG_EQ(MessageTag::Unpack(wrapped.Pack()).collective, 3, "modulo");
    NS_TEST_EXPECT_MSG_EQ(MessageTag::IsSameCollective((1 << 18) + 3, 3), true, "modulo");
    NS_TEST_EXPECT_MSG_EQ(MessageTag::IsSameCollective((1 << 18) + 3, 4), false, "another");
}

/** Additions at a rank take their time one after the other, and collectives run in issue order. */
void
TestAdditionsTakeTime()
{
    GroupFixture fixture("parameter-server", 4);
    for (uint32_t rank = 0; rank < 4; rank++)
    {
        auto& communicator = *fixture.communicators[rank];
        communicator.SetAttribute("ReduceRate", DataRateValue(DataRate("8kbps"))); // 1 kB/s
        for (uint32_t i = 0; i < 2; i++)
        {
            communicator.AllReduce(MakeTensor(MakeNumbers(rank, 250)), fixture.MakeDone(rank));
        }
    }
    Simulator::Run();
    for (uint32_t i = 0; i < 2; i++)
    {
        // The server adds three vectors of 1000 bytes.
        NS_TEST_EXPECT_MSG_EQ_TOL(fixture.done[0].at(i).GetSeconds(),
                                  3 * (i + 1),
                                  1e-4,
                                  "all-reduce " << i);
    }
}

const Suite g_suite("communicator",
                    Duration::QUICK,
                    {{"every algorithm gives the right numbers", TestAlgorithmsMoveNumbers},
                     {"no rank leaves a barrier before all have come", RunTest<BarrierTest>},
                     {"send and receive between two ranks", TestSendReceive},
                     {"tags of messages", TestMessageTag},
                     {"additions take their time", TestAdditionsTakeTime}});

} // namespace ns3::training::tests::communicator_test
