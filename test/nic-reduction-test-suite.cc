/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "schedule/schedule-interpreter.h"
#include "test-case.h"

#include "ns3/collective-planner.h"
#include "ns3/nic-communicator.h"
#include "ns3/packet-planner.h"
#include "ns3/string.h"
#include "ns3/training-float-bits.h"

#include <algorithm>
#include <map>
#include <random>

namespace ns3::training::tests::nic_reduction_test
{

/// Payload of a packet in the closed forms, bytes.
constexpr uint64_t PACKET = 1024;

/** A network without queues: one line from each rank to each other one, at one rate and delay. */
struct Lines
{
    int64_t picosecondsPerByte{80}; ///< 100 Gbit/s
    uint32_t headerBytes{102};      ///< of each message
    Time delay{NanoSeconds(500)};   ///< of each line
    uint32_t jitter{0};             ///< largest additional delay, ns; reorders messages
    std::mt19937 random{1};
    std::vector<Ptr<MessageTransport>> ranks;

    /** @return time of a message on the line */
    Time GetTime(uint64_t bytes) const
    {
        return TimeStep(picosecondsPerByte * static_cast<int64_t>(bytes + headerBytes));
    }
};

/** A transport over these lines. */
class LineTransport : public MessageTransport
{
  public:
    LineTransport(uint32_t rank, Lines& lines)
        : m_lines(lines)
    {
        SetRank(rank);
    }

    void Send(uint32_t peer, Message message) override
    {
        Time& free = m_free[peer];
        free = std::max(free, Simulator::Now()) + m_lines.GetTime(message.bytes);
        const Time left = free - Simulator::Now();
        if (message.sent)
        {
            Simulator::Schedule(left, &Invoke, message.sent);
        }
        const Time more =
            m_lines.jitter > 0 ? NanoSeconds(m_lines.random() % m_lines.jitter) : Time(0);
        Simulator::Schedule(left + m_lines.delay + more,
                            &LineTransport::Arrive,
                            DynamicCast<LineTransport>(m_lines.ranks[peer]),
                            m_rank,
                            message);
    }

  private:
    void Arrive(uint32_t peer, Message message)
    {
        Deliver(peer, message);
    }

    Lines& m_lines;
    std::map<uint32_t, Time> m_free;
};

/** NICs of a group of ranks. */
class NicGroup
{
  public:
    /** Attributes of the NICs by name. */
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    NicGroup(const std::string& algorithm,
             uint32_t ranks,
             const Attributes& attributes = {},
             uint64_t packetBytes = PACKET)
        : done(ranks)
    {
        CollectiveRequest request;
        request.ranks = ranks;
        m_planner = std::make_shared<CollectivePlanner>(algorithm, request);
        const auto plan = [this](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
            return m_planner->Get(operation, bytes, root);
        };
        m_packets = std::make_shared<PacketPlanner>(plan, packetBytes);
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            lines.ranks.push_back(CreateObject<LineTransport>(rank, lines));
        }
        const auto oracles = std::make_shared<LockstepOracles>(ranks);
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            auto hosts = CreateObject<ScheduledCommunicator>();
            hosts->Setup(rank, ranks, lines.ranks[rank], plan);
            auto nic = CreateObject<NicCommunicator>();
            for (const auto& [name, value] : attributes)
            {
                nic->SetAttribute(name, StringValue(value));
            }
            nic->Setup(
                hosts,
                [this](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return m_packets->Get(operation, bytes, root);
                },
                {100000000000, 1, 1, 100000000000},
                oracles);
            m_hosts.push_back(hosts);
            nics.push_back(nic);
        }
    }

    ~NicGroup()
    {
        for (uint32_t rank = 0; rank < nics.size(); rank++)
        {
            nics[rank]->Dispose();
            m_hosts[rank]->Dispose();
            lines.ranks[rank]->Dispose();
        }
        Simulator::Destroy();
    }

    /** Starts a collective at a rank after a delay. */
    void Start(uint32_t rank,
               CollectiveOperation operation,
               Ptr<Tensor> tensor,
               Time delay = Time(0),
               uint32_t root = 0)
    {
        Simulator::Schedule(delay, &NicGroup::Begin, this, rank, operation, tensor, root);
    }

    /** Starts a collective with virtual payload. */
    void StartVirtual(uint32_t rank,
                      CollectiveOperation operation,
                      uint64_t bytes,
                      Time delay = Time(0),
                      uint32_t root = 0)
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = bytes;
        Start(rank, operation, tensor, delay, root);
    }

    /** @return time of an operation with virtual payload that all ranks start at once */
    Time Measure(CollectiveOperation operation, uint64_t bytes, uint32_t root = 0)
    {
        for (uint32_t rank = 0; rank < nics.size(); rank++)
        {
            StartVirtual(rank, operation, bytes, Time(0), root);
        }
        Simulator::Run();
        return GetEnd();
    }

    /** @return when the last rank was done; a negative time if one is not */
    Time GetEnd() const
    {
        Time end;
        for (const auto& times : done)
        {
            end = times.empty() ? Seconds(-1) : std::max(end, times.back());
            if (times.empty())
            {
                return end;
            }
        }
        return end;
    }

    /** @return the sums that hosts would get */
    std::vector<std::vector<float>> GetReference(CollectiveOperation operation,
                                                 const std::vector<std::vector<float>>& inputs)
    {
        return InterpretSchedule(*m_planner->Get(operation, inputs[0].size() * sizeof(float), 0),
                                 inputs);
    }

    Lines lines;
    std::vector<Ptr<NicCommunicator>> nics;
    std::vector<std::vector<Time>> done; ///< by rank: completion times of its operations

  private:
    void Begin(uint32_t rank, CollectiveOperation operation, Ptr<Tensor> tensor, uint32_t root)
    {
        nics[rank]->Start(operation,
                          tensor,
                          root,
                          MakeBoundCallback(&NicGroup::OnDone, &done[rank]));
    }

    static void OnDone(std::vector<Time>* times)
    {
        times->push_back(Simulator::Now());
    }

    std::shared_ptr<CollectivePlanner> m_planner;
    std::shared_ptr<PacketPlanner> m_packets;
    std::vector<Ptr<ScheduledCommunicator>> m_hosts;
};

/**
 * @param others further attributes
 * @return 16 lanes at 250 MHz: a packet takes 16 cycles of 4 ns, and 8 cycles more; no credits
 */
NicGroup::Attributes
MakeAdders(const NicGroup::Attributes& others = {})
{
    NicGroup::Attributes all{{"Lanes", "16"},
                             {"Clock", "250"},
                             {"AddLatency", "8"},
                             {"ReceptionBuffer", "0"}};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

constexpr int64_t ADD_NS = 16 * 4 + 8 * 4;
using Round = float (*)(float);

float
RoundFloat16(float value)
{
    return FromFloat16(ToFloat16(value));
}

float
RoundBfloat16(float value)
{
    return FromBfloat16(ToBfloat16(value));
}

/** A vector of 16 bits takes the time of half as many bytes of float32. */
void
CheckTime(const std::string& algorithm, uint32_t ranks, const std::string& format)
{
    constexpr uint64_t BYTES = 840 * PACKET; // whole packets for each number of ranks
    NicGroup full(algorithm, ranks, MakeAdders());
    const Time expected = full.Measure(CollectiveOperation::ALL_REDUCE, BYTES);
    Simulator::Destroy();
    NicGroup half(algorithm, ranks, MakeAdders({{"NumberFormat", format}}), 2 * PACKET);
    NS_TEST_EXPECT_MSG_EQ(half.Measure(CollectiveOperation::ALL_REDUCE, 2 * BYTES),
                          expected,
                          algorithm << ", " << ranks << " ranks, " << format);
}

/** Two ranks, or a chain, whose order of additions is known. */
void
CheckSums(uint32_t ranks, uint32_t count, const std::string& format, Round round)
{
    NicGroup group("chain", ranks, MakeAdders({{"NumberFormat", format}}), 2 * PACKET);
    std::vector<Ptr<Tensor>> tensors;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        auto tensor = Create<Tensor>();
        for (uint32_t i = 0; i < count; i++)
        {
            tensor->values.push_back(
                static_cast<float>(std::sin(0.37 * i + rank) * std::pow(0.5, i % 11)));
        }
        tensor->bytes = sizeof(float) * count;
        tensors.push_back(tensor);
    }
    std::vector<float> up(count);
    std::vector<float> down(count);
    for (uint32_t i = 0; i < count; i++)
    {
        up[i] = round(tensors[0]->values[i]);
        down[i] = round(tensors[ranks - 1]->values[i]);
        for (uint32_t rank = 1; rank < ranks; rank++)
        {
            up[i] = round(up[i] + round(tensors[rank]->values[i]));
            down[i] = round(down[i] + round(tensors[ranks - 1 - rank]->values[i]));
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        group.Start(rank, CollectiveOperation::ALL_REDUCE, tensors[rank]);
    }
    Simulator::Run();
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const std::vector<float>& sums = tensors[rank]->values;
        NS_TEST_EXPECT_MSG_EQ((sums == up || sums == down),
                              true,
                              format << ", rank " << rank << " of " << ranks);
        NS_TEST_EXPECT_MSG_EQ(sums, tensors[0]->values, "equal at all ranks");
    }
}

/** Adders of 16 bits: half the bytes, two numbers in an adder, and sums rounded at every hop. */
void
TestNumberFormat()
{
    for (const std::string format : {"float16", "bfloat16"})
    {
        for (const std::string algorithm : {"chain", "ring", "recursive-doubling"})
        {
            for (const uint32_t ranks : {2, 3, 4, 7, 8})
            {
                CheckTime(algorithm, ranks, format);
            }
        }
    }
    for (const uint32_t ranks : {1, 2, 3, 7})
    {
        for (const uint32_t count : {0, 1, 3, 2049})
        {
            CheckSums(ranks, count, "float16", &RoundFloat16);
            CheckSums(ranks, count, "bfloat16", &RoundBfloat16);
        }
    }
}

/** Reduced along a chain, the sum comes back in the other direction of the links. */
void
CheckBack(uint32_t ranks, uint32_t packets)
{
    NicGroup group("chain", ranks, MakeAdders());
    const Time packet = group.lines.GetTime(PACKET);
    const Time hop = packet + group.lines.delay;
    const Time time = group.Measure(CollectiveOperation::ALL_REDUCE, packets * PACKET);
    NS_TEST_EXPECT_MSG_EQ(time,
                          (packets - 1) * packet + (2 * ranks - 2) * hop +
                              (ranks - 1) * NanoSeconds(ADD_NS),
                          "opposite directions, " << ranks << " ranks, " << packets << " packets");
}

/** Both passes in one direction: most links carry the vector twice. */
void
CheckForward(uint32_t ranks, uint32_t packets)
{
    NicGroup group("chain:distribute=forward", ranks, MakeAdders());
    const Time packet = group.lines.GetTime(PACKET);
    const Time hop = packet + group.lines.delay + NanoSeconds(ADD_NS);
    const Time once = (packets - 1) * packet + 2 * hop - NanoSeconds(ADD_NS);
    const Time twice = 2 * packets * packet + (int64_t{ranks} - 3) * hop + group.lines.delay;
    const Time time = group.Measure(CollectiveOperation::ALL_REDUCE, packets * PACKET);
    NS_TEST_EXPECT_MSG_EQ(time,
                          (ranks == 2 ? once : twice),
                          "one direction, " << ranks << " ranks");
}

/** Each rank starts with a part of its own, of `packets` packets. */
void
CheckRotated(uint32_t ranks, uint32_t packets)
{
    NicGroup group("ring", ranks, MakeAdders());
    const Time part = packets * group.lines.GetTime(PACKET);
    const Time hop = group.lines.GetTime(PACKET) + group.lines.delay;
    // A step takes the line's time, or that of a packet from rank to rank.
    const Time reduces = std::max(part, hop + NanoSeconds(ADD_NS));
    const Time gathers = std::max(part, hop);
    const Time time =
        group.Measure(CollectiveOperation::ALL_REDUCE, uint64_t{ranks} * packets * PACKET);
    NS_TEST_EXPECT_MSG_EQ(time,
                          (ranks - 1) * reduces + (ranks - 2) * gathers + part + group.lines.delay,
                          "rotated, " << ranks << " ranks, " << packets << " packets");
}

/** Adders slower than the line are what limits. */
void
CheckSlowAdders(uint32_t ranks, uint32_t packets)
{
    NicGroup group("chain", ranks, {{"Lanes", "4"}, {"Clock", "250"}, {"AddLatency", "10"}});
    const Time hop = group.lines.GetTime(PACKET) + group.lines.delay;
    const Time adds = NanoSeconds(64 * 4);
    const Time add = adds + NanoSeconds(10 * 4);
    NS_TEST_EXPECT_MSG_GT(adds, group.lines.GetTime(PACKET), "the adders are slower");
    const Time time = group.Measure(CollectiveOperation::ALL_REDUCE, packets * PACKET);
    NS_TEST_EXPECT_MSG_EQ(time,
                          (packets - 1) * adds + (ranks - 1) * (hop + add + hop),
                          "slow adders, " << ranks << " ranks");
}

/** A DMA engine slower than the line is what limits; its latency counts once each way. */
void
CheckDma(uint32_t ranks, uint32_t packets)
{
    NicGroup group("chain",
                   ranks,
                   MakeAdders({{"DmaRate", "50Gbps"},
                               {"DmaLatency", "1us"},
                               {"OwnBuffer", "0"},
                               {"DoorbellLatency", "300ns"},
                               {"CompletionLatency", "700ns"}}));
    const Time hop = group.lines.GetTime(PACKET) + group.lines.delay;
    const Time read = TimeStep(160 * PACKET);
    NS_TEST_EXPECT_MSG_GT(read, group.lines.GetTime(PACKET), "the DMA engine is slower");
    const Time time = group.Measure(CollectiveOperation::ALL_REDUCE, packets * PACKET);
    NS_TEST_EXPECT_MSG_EQ(time,
                          NanoSeconds(300) + packets * read + MicroSeconds(1) +
                              (ranks - 1) * (2 * hop + NanoSeconds(ADD_NS)) + read +
                              MicroSeconds(1) + NanoSeconds(700),
                          "DMA, " << ranks << " ranks");
}

/** The last rank calls late: what has arrived waits in its NIC, then all goes at full rate. */
void
CheckLatePart(uint32_t ranks, uint32_t packets)
{
    NicGroup group("chain", ranks, MakeAdders());
    const Time late = MicroSeconds(200);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        group.StartVirtual(rank,
                           CollectiveOperation::ALL_REDUCE,
                           packets * PACKET,
                           rank + 1 == ranks ? late : Time(0));
    }
    Simulator::Run();
    const Time packet = group.lines.GetTime(PACKET);
    NS_TEST_EXPECT_MSG_EQ(group.GetEnd(),
                          late + NanoSeconds(ADD_NS) + (packets - 1) * packet +
                              (ranks - 1) * (packet + group.lines.delay),
                          "late part, " << ranks << " ranks");
}

/** Small buffers: a round trip for each packet. */
void
CheckSmallBuffers()
{
    constexpr uint32_t PACKETS = 50;
    {
        NicGroup group("ring", 2, MakeAdders({{"ReceptionBuffer", std::to_string(PACKET)}}));
        const Time hop = group.lines.GetTime(PACKET) + group.lines.delay;
        const Time credit = group.lines.GetTime(0) + group.lines.delay;
        const Time add = NanoSeconds(ADD_NS);
        const Time time = group.Measure(CollectiveOperation::REDUCE, PACKETS * PACKET);
        NS_TEST_EXPECT_MSG_EQ(time,
                              PACKETS * (hop + add) + (PACKETS - 1) * credit,
                              "reception buffer of one packet");
    }
    {
        NicGroup group("ring",
                       2,
                       MakeAdders({{"AddLatency", "0"},
                                   {"OwnBuffer", std::to_string(PACKET)},
                                   {"DmaLatency", "1us"}}));
        const Time packet = group.lines.GetTime(PACKET);
        // The DMA engine also writes the result.
        const Time time = group.Measure(CollectiveOperation::REDUCE, PACKETS * PACKET);
        NS_TEST_EXPECT_MSG_EQ(time,
                              PACKETS * (packet + MicroSeconds(1)) + group.lines.delay +
                                  NanoSeconds(64) + MicroSeconds(1),
                              "own buffer of one packet");
    }
    for (const uint64_t window : {2, 3, 4, 8, 1000})
    {
        NicGroup group("ring",
                       2,
                       MakeAdders({{"ReceptionBuffer", std::to_string(window * PACKET)}}));
        const Time packet = group.lines.GetTime(PACKET);
        const Time time = group.Measure(CollectiveOperation::REDUCE, PACKETS * PACKET);
        const Time least = PACKETS * packet + group.lines.delay + NanoSeconds(ADD_NS);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(time, least, "not faster than the line");
        // A window of a round trip (1.2 us, 13 packets) or more, with its credits, fills it.
        NS_TEST_EXPECT_MSG_EQ((time == least), (window == 1000), window << " packets");
    }
}

/** Times of all-reduces against closed forms, to the picosecond. */
void
TestClosedForm()
{
    for (uint32_t ranks : {2, 3, 4, 7, 8})
    {
        for (uint32_t packets : {1, 2, 40, 400})
        {
            CheckBack(ranks, packets);
            CheckRotated(ranks, packets);
        }
        CheckForward(ranks, 400);
        CheckSlowAdders(ranks, 100);
        CheckDma(ranks, 100);
        CheckLatePart(ranks, 100);
    }
    CheckSmallBuffers();
}

/** Sums with real payload against the interpreter, bit for bit. */
struct SumTest
{
    void Run()
    {
        const NicGroup::Attributes ample;
        const NicGroup::Attributes scarce{{"OwnBuffer", "1"},
                                          {"ReceptionBuffer", "1"},
                                          {"DmaRate", "40Gbps"},
                                          {"DmaLatency", "900ns"},
                                          {"Lanes", "1"},
                                          {"ActiveCollectives", "2"}};
        const NicGroup::Attributes packets{{"FlowControl", "packet"}, {"SubMessage", "48"}};
        const NicGroup::Attributes messages{{"FlowControl", "message"},
                                            {"Lockstep", "oracle"},
                                            {"OwnBuffer", "0"},
                                            {"ReceptionBuffer", "0"},
                                            {"TableEntries", "0"},
                                            {"ActiveCollectives", "2"}};
        for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
        {
            for (uint32_t ranks : {1, 2, 3, 7, 8})
            {
                CollectiveRequest request;
                request.ranks = ranks;
                try
                {
                    CheckRequest(name, request);
                }
                catch (const ConfigurationError&)
                {
                    continue; // needs other ranks, a topology, or makes no all-reduce
                }
                checked++;
                for (uint64_t count : {0, 1, 5, 1021, 4099})
                {
                    Check(name, ranks, count, ample, PACKET);
                    Check(name, ranks, count, scarce, 256);
                    Check(name, ranks, count, scarce, 0);
                    Check(name, ranks, count, packets, 0);
                    Check(name, ranks, count, messages, 0);
                }
            }
        }
        NS_TEST_EXPECT_MSG_GT(checked, 40, "algorithms and numbers of ranks");
    }

    void Check(const std::string& name,
               uint32_t ranks,
               uint64_t count,
               const NicGroup::Attributes& attributes,
               uint64_t packetBytes)
    {
        NicGroup group(name, ranks, attributes, packetBytes);
        group.lines.jitter = 3000;
        constexpr uint32_t TENSORS = 3; // issued at once
        std::vector<std::vector<std::vector<float>>> inputs(TENSORS);
        std::vector<std::vector<Ptr<Tensor>>> tensors(TENSORS);
        std::mt19937 random(ranks);
        std::uniform_real_distribution<float> values(-1, 1);
        for (uint32_t i = 0; i < TENSORS; i++)
        {
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                auto tensor = Create<Tensor>();
                tensor->bytes = count * sizeof(float);
                tensor->values.resize(count);
                std::generate(tensor->values.begin(), tensor->values.end(), [&]() {
                    return values(random);
                });
                inputs[i].push_back(tensor->values);
                tensors[i].push_back(tensor);
                group.Start(rank,
                            CollectiveOperation::ALL_REDUCE,
                            tensor,
                            NanoSeconds(random() % 20000 + 100000 * i));
            }
        }
        Simulator::Run();
        const std::string what = name + ", " + std::to_string(ranks) + " ranks, " +
                                 std::to_string(count) + " numbers, packets of " +
                                 std::to_string(packetBytes);
        for (uint32_t i = 0; i < TENSORS; i++)
        {
            const auto sums = group.GetReference(CollectiveOperation::ALL_REDUCE, inputs[i]);
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                NS_TEST_EXPECT_MSG_EQ(group.done[rank].size(), TENSORS, what << ": all complete");
                NS_TEST_EXPECT_MSG_EQ(tensors[i][rank]->values, sums[rank], what);
                NS_TEST_EXPECT_MSG_EQ(group.nics[rank]->GetWaitingFor(), "", what);
            }
        }
    }

    uint32_t checked{0};
};

/** The other operations. */
void
TestOperation()
{
    for (CollectiveOperation operation : GetCollectiveOperations())
    {
        if (operation == CollectiveOperation::ALL_TO_ALL_V)
        {
            continue; // has a matrix; by the hosts, as an all-to-all
        }
        for (uint32_t ranks : {1, 2, 5})
        {
            NicGroup group("ring", ranks, {{"ReceptionBuffer", "1"}}, 256);
            std::vector<std::vector<float>> inputs;
            std::vector<Ptr<Tensor>> tensors;
            const uint64_t count = operation == CollectiveOperation::BARRIER ? 0 : 1003;
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                auto tensor = Create<Tensor>();
                for (uint64_t i = 0; i < count; i++)
                {
                    tensor->values.push_back(0.1F * static_cast<float>(rank + i));
                }
                tensor->bytes = tensor->values.size() * sizeof(float);
                inputs.push_back(tensor->values);
                tensors.push_back(tensor);
                group.Start(rank, operation, tensor);
            }
            Simulator::Run();
            const auto reference = group.GetReference(operation, inputs);
            for (uint32_t rank = 0; rank < ranks; rank++)
            {
                NS_TEST_EXPECT_MSG_EQ(group.done[rank].size(),
                                      1,
                                      ns3::training::GetName(operation));
                NS_TEST_EXPECT_MSG_EQ(tensors[rank]->values,
                                      reference[rank],
                                      ns3::training::GetName(operation) << " at rank " << rank);
            }
        }
    }
}

Time
Measure(uint32_t active)
{
    NicGroup group("ring", 4, MakeAdders({{"ActiveCollectives", std::to_string(active)}}));
    for (uint32_t i = 0; i < 2; i++)
    {
        for (uint32_t rank = 0; rank < 4; rank++)
        {
            group.StartVirtual(rank, CollectiveOperation::ALL_REDUCE, 4 * PACKET);
        }
    }
    Simulator::Run();
    return group.GetEnd();
}

/** Collectives that are issued together. */
void
TestInterleaving()
{
    // Two small all-reduces: apart they take twice the latency, together once.
    const Time apart = Measure(1);
    const Time together = Measure(2);
    NicGroup group("ring", 4, MakeAdders());
    const Time hop = group.lines.GetTime(PACKET) + group.lines.delay;
    const Time one = 6 * hop + 3 * NanoSeconds(ADD_NS);
    NS_TEST_EXPECT_MSG_EQ(apart, 2 * one, "one after the other");
    // The second one's packets follow on the lines, and its additions in the adders.
    NS_TEST_EXPECT_MSG_EQ(together, one + group.lines.GetTime(PACKET), "both at a time");
}

/** An all-reduce of 4 ranks, message by message. */
void
Check(const std::string& flowControl, uint64_t bytes, uint64_t line)
{
    NicGroup group("ring", 4, MakeAdders({{"FlowControl", flowControl}}), 0);
    const Time hop = group.lines.GetTime(line) + group.lines.delay;
    // 16 lanes at 250 MHz, and 8 cycles more, add the numbers only.
    const Time add = NanoSeconds(static_cast<int64_t>((bytes / 4 + 15) / 16 + 8) * 4);
    const Time time = group.Measure(CollectiveOperation::ALL_REDUCE, 4 * bytes);
    NS_TEST_EXPECT_MSG_EQ(time, 6 * hop + 3 * add, flowControl << ", " << bytes << " bytes");
}

void
TestHeadFlits()
{
    for (const uint64_t bytes : {16, 100, 256, 260, 4096, 100000})
    {
        const uint64_t flits = (bytes + 15) / 16;
        Check("none", bytes, bytes);
        Check("packet", bytes, 16 * (flits + (bytes + 255) / 256));
        Check("message", bytes, 16 * (flits + 1));
    }
}

/** A rank that never calls. */
void
TestMissingRank()
{
    NicGroup group("ring", 3);
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        group.StartVirtual(rank, CollectiveOperation::ALL_REDUCE, 3 * PACKET);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(group.nics[0]->GetWaitingFor(),
                          "rank 0 waits in all-reduce 0 (nic-ring) at step 0 for chunk 1 (1024 "
                          "bytes) from rank 2",
                          "it names the missing packet");
    NS_TEST_EXPECT_MSG_EQ(group.nics[2]->GetWaitingFor(), "", "it has not called");
}

const Suite g_suite(
    "nic-reduction",
    Duration::EXTENSIVE,
    {{"packets are added and forwarded as they come: closed forms", TestClosedForm},
     {"numbers of 16 bits halve the bytes, and are rounded at every hop", TestNumberFormat},
     {"sums equal those of the interpreter, whatever the buffers and the order", RunTest<SumTest>},
     {"every operation of a ring, in the NIC or by the hosts", TestOperation},
     {"collectives run one after the other, or several at a time", TestInterleaving},
     {"messages with head flits take the time of all their bytes", TestHeadFlits},
     {"what a rank waits for has rank, step and message", TestMissingRank}});

} // namespace ns3::training::tests::nic_reduction_test
