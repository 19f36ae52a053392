/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-program-test-common.h"

#include "ns3/number-format.h"
#include "ns3/sharp-connection.h"
#include "ns3/sharp-program.h"
#include "ns3/sharp-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <random>

namespace ns3::training::tests::sharp_program_test
{

constexpr uint32_t LAST_PSN = PSN_MODULUS - 1;

/** An end of a connection over a wire with impairments set by the test. */
class WireEnd : public SharpConnection::Owner
{
  public:
    /** @param other endpoint of the remote end */
    WireEnd(uint32_t endpoint,
            const SharpConnection::Peer& other,
            uint8_t job,
            const SharpConnection::Settings& settings)
        : connection(*this, endpoint, other, job, settings)
    {
    }

    void Transmit(Frame* frame) override
    {
        sent++;
        acknowledgements += frame->opcode == ACKNOWLEDGE;
        if (port)
        {
            port->Send(frame);
            return;
        }
        const std::vector<Time> copies = wire ? wire(*frame) : std::vector<Time>{MicroSeconds(1)};
        for (const Time& delay : copies)
        {
            Simulator::Schedule(delay,
                                &SharpConnection::Receive,
                                &peer->connection,
                                frame->Clone());
        }
        Frame::Free(frame);
    }

    void OnResent() override
    {
        resent++;
    }

    void OnDuplicate() override
    {
        duplicates++;
    }

    void OnBroken(const SharpConnection&) override
    {
        broken++;
        brokenAt = Simulator::Now();
    }

    void OnPacket(const Frame& frame) override
    {
        const auto& header = frame.As<SharpHeader>();
        received.push_back(header.packet);
        results.push_back(
            {header.operation, header.check, std::numeric_limits<float>::quiet_NaN()});
        if (frame.payload)
        {
            ReadNumbers(NumberFormat::FLOAT32,
                        frame.payload->bytes.data() + frame.payloadOffset,
                        1,
                        &results.back().value);
        }
    }

    /** @param packet number in the message */
    void Send(uint32_t packet)
    {
        SharpMessage message;
        message.header.packet = packet;
        connection.Send(message);
    }

    /** Contents of a received message. */
    struct Result
    {
        uint8_t operation;
        uint64_t check;
        float value; ///< NaN: no value
    };

    SharpConnection connection;
    FabricPort* port{nullptr}; ///< of a host; null: a wire to `peer`
    WireEnd* peer{nullptr};
    std::vector<Result> results; ///< of messages received
    /// Delays of the copies of a frame that arrive; null: one copy after 1 us.
    std::function<std::vector<Time>(const Frame&)> wire;
    std::vector<uint32_t> received;
    uint64_t sent{0};
    uint64_t acknowledgements{0};
    uint64_t resent{0};
    uint64_t duplicates{0};
    uint64_t broken{0};
    Time brokenAt;
};

/** Both ends of a connection. */
struct Pair
{
    explicit Pair(const SharpConnection::Settings& settings)
        : a(0, {1, 0}, 0, settings),
          b(1, {0, 0}, 0, settings)
    {
        a.peer = &b;
        b.peer = &a;
    }

    ~Pair()
    {
        a.connection.Close();
        b.connection.Close();
        Simulator::Destroy();
    }

    WireEnd a;
    WireEnd b;
};

SharpConnection::Settings
MakeSettings()
{
    SharpConnection::Settings settings;
    settings.ackInterval = 4;
    settings.ackDelay = MicroSeconds(10);
    settings.timeout = MicroSeconds(100);
    settings.retryLimit = 3;
    settings.firstPsn = LAST_PSN - 5;
    return settings;
}

/** Hosts on one switch with the program, each with scripted connections. */
class Bench : public ProgramBench<SharpProgram>
{
  public:
    static constexpr uint8_t JOB = 3;
    static constexpr uint32_t SLOTS = 4;

    /** A tree of the job over this bench's hosts, and the host ends of its connections. */
    struct Tree
    {
        uint32_t number{0}; ///< at the switch
        uint32_t first{0};  ///< connection at the switch
        std::vector<std::unique_ptr<WireEnd>> ends;
    };

    explicit Bench(uint32_t children)
        : ProgramBench(CreateWith<SharpProgram>({{"Slots", std::to_string(3 * SLOTS)}}), children),
          m_children(children)
    {
        for (uint32_t child = 0; child < children; child++)
        {
            m_fabric.devices[child]->SetProgramReceiver(
                SharpHeader::PROTOCOL,
                JOB,
                [this, child](Frame* frame) { OnFrame(child, frame); });
        }
    }

    ~Bench()
    {
        for (const auto& tree : trees)
        {
            for (const auto& end : tree.ends)
            {
                end->connection.Close();
            }
        }
    }

    /** @param streaming type of the tree @param locks low latency: number of its streaming tree */
    void AddTree(bool streaming, uint32_t locks)
    {
        SharpNode node;
        node.job = JOB;
        node.streaming = streaming;
        node.slots = SLOTS;
        node.locks = locks;
        node.firstQueuePair = program->AddQueuePairs(m_children + 1);
        node.settings = MakeSettings();
        trees.emplace_back();
        Tree& tree = trees.back();
        for (uint32_t child = 0; child < m_children; child++)
        {
            const auto number = static_cast<uint32_t>(trees.size() - 1);
            node.children.push_back({child, number});
            node.childOf.push_back(static_cast<uint16_t>(child));
            const SharpConnection::Peer peer{program->GetEndpoint(), node.firstQueuePair + child};
            tree.ends.push_back(std::make_unique<WireEnd>(child, peer, JOB, MakeSettings()));
            tree.ends.back()->port = &m_fabric.devices[child]->GetPort();
        }
        tree.first = node.firstQueuePair;
        tree.number = program->AddTree(node);
    }

    /** Sends a packet of a child, with or without a value. @param value float32, or NaN: none */
    void Send(uint32_t tree, uint32_t child, uint32_t packet, float value, uint8_t operation = 0)
    {
        SharpMessage message;
        message.header.job = JOB;
        message.header.packet = packet;
        message.header.check = uint64_t{1} << 8 * child;
        message.header.operation = operation;
        message.header.slot = 1; // root of a reduce
        if (!std::isnan(value))
        {
            message.payloadBytes = 4;
            message.payload = Create<ByteBuffer>();
            message.payload->bytes.resize(4);
            WriteNumbers(NumberFormat::FLOAT32, &value, 1, message.payload->bytes.data());
        }
        trees[tree].ends[child]->connection.Send(message);
    }

    /** Sends a frame on an arbitrary connection number. */
    void SendRaw(uint32_t child, uint32_t queuePair)
    {
        Frame* frame = MakeFrame(GetSharpFrameBytes(0), LOSSY, child, program->GetEndpoint());
        frame->opcode = SEND_ONLY;
        frame->destinationQp = queuePair;
        frame->Set(SharpHeader());
        m_fabric.devices[child]->GetPort().Send(frame);
    }

    std::deque<Tree> trees;

  private:
    void OnFrame(uint32_t child, Frame* frame)
    {
        trees[frame->destinationQp].ends[child]->connection.Receive(frame);
    }

    uint32_t m_children;
};

void
CheckPerfect()
{
    Pair pair(MakeSettings());
    for (uint32_t i = 0; i < 10; i++)
    {
        pair.a.Send(i);
    }
    Simulator::Run();
    std::vector<uint32_t> expected(10);
    std::iota(expected.begin(), expected.end(), 0);
    NS_TEST_EXPECT_MSG_EQ(pair.b.received, expected, "all, beyond the last PSN");
    NS_TEST_EXPECT_MSG_EQ(pair.a.resent, 0, "once");
    NS_TEST_EXPECT_MSG_EQ(pair.b.acknowledgements, 3, "one for each four, and for the rest");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/** A single message is lost on its first transmission. */
void
CheckLoss(uint32_t lost, uint64_t resent, const Time& end)
{
    Pair pair(MakeSettings());
    bool done = false;
    pair.a.wire = [&](const Frame& frame) {
        const bool drops = !done && frame.As<SharpHeader>().packet == lost;
        done = done || drops;
        return drops ? std::vector<Time>{} : std::vector<Time>{MicroSeconds(1)};
    };
    for (uint32_t i = 0; i < 3; i++)
    {
        pair.a.Send(i);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.b.received, (std::vector<uint32_t>{0, 1, 2}), lost);
    NS_TEST_EXPECT_MSG_EQ(pair.a.resent, resent, lost);
    NS_TEST_EXPECT_MSG_LT(Simulator::Now(), end, lost);
}

void
CheckLosses()
{
    // Later messages reveal the gap; only the sender's timer detects the loss of the last one.
    CheckLoss(0, 3, MicroSeconds(120));
    CheckLoss(1, 2, MicroSeconds(120));
    CheckLoss(2, 1, MicroSeconds(320));

    // An ACK is lost: everything is retransmitted, and accepted once.
    Pair pair(MakeSettings());
    pair.b.wire = [&](const Frame&) {
        return pair.b.acknowledgements == 1 ? std::vector<Time>{}
                                            : std::vector<Time>{MicroSeconds(1)};
    };
    pair.a.Send(7);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.b.received, std::vector<uint32_t>{7}, "once");
    NS_TEST_EXPECT_MSG_EQ(pair.b.duplicates, 1, "and once again");
    NS_TEST_EXPECT_MSG_EQ(pair.b.acknowledgements, 2, "which is acknowledged");
}

/** After a negative acknowledgement the last message in flight waits for a twentieth of the
 * timeout. */
void
CheckShortTimeout()
{
    SharpConnection::Settings settings = MakeSettings();
    settings.timeout = MilliSeconds(4);
    Pair pair(settings);
    std::vector<uint32_t> losses{0, 9, 9};
    pair.a.wire = [&](const Frame& frame) {
        const bool drops = !losses.empty() && frame.As<SharpHeader>().packet == losses[0];
        if (drops)
        {
            losses.erase(losses.begin());
        }
        return drops ? std::vector<Time>{} : std::vector<Time>{MicroSeconds(1)};
    };
    pair.a.Send(0);
    pair.a.Send(1); // which tells that 0 is missing
    Simulator::Schedule(MilliSeconds(1), &WireEnd::Send, &pair.a, 9);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.b.received, (std::vector<uint32_t>{0, 1, 9}), "all");
    NS_TEST_EXPECT_MSG_EQ(pair.a.resent, 4, "0, 1, and 9 twice");
    // 1 ms, at most a check of the former timeout, every 2 ms, then 200 and 400 us.
    NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MicroSeconds(3600), "no timeout of 4 ms");

    // A dead link breaks the connection no sooner.
    pair.a.wire = [](const Frame&) { return std::vector<Time>{}; };
    const Time start = Simulator::Now();
    pair.a.Send(10);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.a.broken, 1, "broken");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(pair.a.brokenAt - start, MilliSeconds(4 * 15), "4, 8, 16, 32 ms");
}

/** Frames are lost, duplicated and delayed at random, in both directions. */
void
CheckChaos()
{
    for (uint32_t seed = 0; seed < 30; seed++)
    {
        SharpConnection::Settings settings = MakeSettings();
        settings.retryLimit = 30;
        Pair pair(settings);
        std::mt19937 random(seed);
        const auto wire = [&](const Frame&) {
            std::vector<Time> copies;
            for (uint32_t copy = 0; copy < 2; copy++)
            {
                if (random() % 10 < (copy == 0 ? 8 : 2))
                {
                    copies.push_back(NanoSeconds(500 + random() % 3000));
                }
            }
            return copies;
        };
        pair.a.wire = wire;
        pair.b.wire = wire;
        std::vector<uint32_t> expected(200);
        std::iota(expected.begin(), expected.end(), 0);
        for (uint32_t i : expected)
        {
            // In bursts, in both directions.
            Simulator::Schedule(MicroSeconds(i / 20 * 7), &WireEnd::Send, &pair.a, i);
            Simulator::Schedule(MicroSeconds(i / 30 * 9), &WireEnd::Send, &pair.b, i);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(pair.b.received, expected, "one way, " << seed);
        NS_TEST_EXPECT_MSG_EQ(pair.a.received, expected, "the other, " << seed);
        NS_TEST_EXPECT_MSG_GT(pair.a.resent + pair.b.resent, 0, "with losses");
        NS_TEST_EXPECT_MSG_EQ(pair.a.broken + pair.b.broken, 0, "unbroken");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

void
CheckBroken()
{
    Pair pair(MakeSettings());
    pair.a.wire = [](const Frame&) { return std::vector<Time>{}; };
    pair.a.Send(1);
    pair.a.Send(2);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.a.broken, 1, "broken");
    NS_TEST_EXPECT_MSG_EQ(pair.a.resent, 6, "after three times two");
    NS_TEST_EXPECT_MSG_EQ(pair.a.brokenAt, MicroSeconds(1500), "100, 200, 400 and 800 us");
    NS_TEST_EXPECT_MSG_EQ(pair.a.connection.IsOpen(), false, "for good");
    const uint64_t sent = pair.a.sent;
    pair.a.Send(3);
    pair.b.Send(4);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(pair.a.sent, sent, "nothing is sent");
    NS_TEST_EXPECT_MSG_EQ(pair.a.received.size(), 0, "or taken");
}

void
TestSharpConnection()
{
    CheckPerfect();
    CheckLosses();
    CheckShortTimeout();
    CheckChaos();
    CheckBroken();
}

constexpr float NOTHING = std::numeric_limits<float>::quiet_NaN();

void
CheckOrder()
{
    // Their float32 sum depends on the order.
    const std::vector<float> values{1e8F, 3, -1e8F, 5, 0.25F};
    float expected = 0;
    for (float value : values)
    {
        expected += value;
    }
    Bench bench(5);
    bench.AddTree(false, SharpNode::NONE);
    std::vector<uint32_t> order(5);
    std::iota(order.begin(), order.end(), 0);
    uint32_t packet = 0;
    do
    {
        for (uint32_t child : order)
        {
            bench.Send(0, child, packet, values[child]);
            Simulator::Run();
        }
        for (const auto& end : bench.trees[0].ends)
        {
            NS_TEST_ASSERT_MSG_EQ(end->results.size(), packet + 1, "a result each");
            NS_TEST_EXPECT_MSG_EQ(end->results.back().value, expected, "the sum");
            NS_TEST_EXPECT_MSG_EQ(end->results.back().check, 0x0101010101, "each once");
        }
        packet++;
    } while (std::next_permutation(order.begin(), order.end()));
    const SharpCounters& counters = bench.program->GetCounters();
    NS_TEST_EXPECT_MSG_EQ(counters.added, 5 * 120, "contributions");
    NS_TEST_EXPECT_MSG_EQ(counters.completed, 120, "sums");
    NS_TEST_EXPECT_MSG_EQ(counters.refused + counters.resent + counters.duplicates, 0, "clean");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/** Operations overlap up to the quota; some have no values, or one. */
void
CheckOperations()
{
    Bench bench(3);
    bench.AddTree(false, SharpNode::NONE);
    for (uint32_t packet = 0; packet < Bench::SLOTS; packet++)
    {
        bench.Send(0, 0, packet, static_cast<float>(packet));
        bench.Send(0, 1, packet, NOTHING);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.trees[0].ends[0]->results.size(), 0, "child 2 is missing");
    for (uint32_t packet = 0; packet < Bench::SLOTS; packet++)
    {
        bench.Send(0, 2, packet, packet == 3 ? 10 : NOTHING);
    }
    bench.Send(0, 0, 4, 1, SHARP_TO_ONE);
    bench.Send(0, 1, 4, 2, SHARP_TO_ONE);
    bench.Send(0, 2, 4, 3, SHARP_TO_ONE);
    for (uint32_t child : {0, 1, 2})
    {
        bench.Send(0, child, 5, NOTHING);
    }
    Simulator::Run();
    for (uint32_t child : {0, 1, 2})
    {
        const auto& end = *bench.trees[0].ends[child];
        NS_TEST_ASSERT_MSG_EQ(end.results.size(), 6, "all");
        for (uint32_t packet = 0; packet < 3; packet++)
        {
            NS_TEST_EXPECT_MSG_EQ(end.results[packet].value, packet, "a broadcast's value");
            NS_TEST_EXPECT_MSG_EQ(end.received[packet], packet, "in order");
        }
        NS_TEST_EXPECT_MSG_EQ(end.results[3].value, 13, "two values");
        NS_TEST_EXPECT_MSG_EQ(std::isnan(end.results[4].value), (child != 1), "a reduce");
        NS_TEST_EXPECT_MSG_EQ(end.results[4].check, 0x010101, "whose others are told, too");
        NS_TEST_EXPECT_MSG_EQ(std::isnan(end.results[5].value), true, "a barrier");
    }
    NS_TEST_EXPECT_MSG_EQ(bench.trees[0].ends[1]->results[4].value, 6, "at the root");
}

void
CheckLocks()
{
    Bench bench(2);
    bench.AddTree(true, SharpNode::NONE);
    bench.AddTree(true, SharpNode::NONE);
    bench.AddTree(false, 0);
    bench.AddTree(false, 1);
    const auto ask = [&](uint32_t tree, uint32_t packet, uint8_t operation = SHARP_LOCK) {
        bench.Send(tree, 0, packet, NOTHING, SHARP_LOCK);
        bench.Send(tree, 1, packet, NOTHING, operation);
        Simulator::Run();
        return (bench.trees[tree].ends[0]->results.back().operation & SHARP_REFUSED) == 0;
    };
    NS_TEST_EXPECT_MSG_EQ(ask(2, 0), true, "the only active tree there can be");
    NS_TEST_EXPECT_MSG_EQ(ask(3, 0), false, "is taken");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetActiveStreams(), 1, "by the first");
    for (uint32_t child : {0, 1})
    {
        bench.Send(0, child, 0, 4, 0);
        bench.Send(0, child, 1, 5, SHARP_UNLOCK);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.trees[0].ends[1]->results.back().value, 10, "streamed");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetActiveStreams(), 0, "and released");
    NS_TEST_EXPECT_MSG_EQ(ask(3, 1, SHARP_LOCK | SHARP_REFUSED), false, "refused below");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetActiveStreams(), 0, "so not taken here");
    NS_TEST_EXPECT_MSG_EQ(ask(3, 2), true, "now it is");
    const SharpCounters& counters = bench.program->GetCounters();
    NS_TEST_EXPECT_MSG_EQ(counters.locks, 2, "locks");
    NS_TEST_EXPECT_MSG_EQ(counters.denials, 1, "denials");
    bench.device->Restart();
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetActiveStreams(), 0, "a restart forgets");
}

void
CheckStrangers()
{
    Bench bench(2);
    bench.AddTree(false, SharpNode::NONE);
    const SharpCounters& counters = bench.program->GetCounters();
    bench.SendRaw(0, 99);                       // no such connection
    bench.SendRaw(0, bench.trees[0].first + 2); // the parent's, which the root does not have
    bench.SendRaw(0, bench.trees[0].first + 1); // the other child's
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(counters.refused, 3, "refused");
    NS_TEST_EXPECT_MSG_EQ(counters.added, 0, "not added");
    // A restart ends connections permanently.
    bench.Send(0, 0, 0, 1);
    Simulator::Run();
    bench.device->Restart();
    bench.Send(0, 1, 0, 1);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(counters.completed, 0, "no sum");
    NS_TEST_EXPECT_MSG_EQ(counters.refused, 3 + 4, "the packet, and three retries");
    NS_TEST_EXPECT_MSG_EQ(bench.trees[0].ends[1]->broken, 1, "the child gives up");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

void
CheckBrokenChild()
{
    Bench bench(2);
    bench.AddTree(false, SharpNode::NONE);
    bench.Send(0, 0, 0, 1);
    bench.Send(0, 1, 0, 1);
    bench.trees[0].ends[1]->port = nullptr; // its acknowledgements are lost
    bench.trees[0].ends[1]->wire = [](const Frame&) { return std::vector<Time>{}; };
    Simulator::Run();
    const SharpCounters& counters = bench.program->GetCounters();
    NS_TEST_EXPECT_MSG_EQ(counters.broken, 1, "given up");
    NS_TEST_EXPECT_MSG_EQ(counters.resent, 3, "after the retries");
    NS_TEST_EXPECT_MSG_EQ(bench.trees[0].ends[0]->results.size(), 1, "the other has its sum");
}

void
CheckResources()
{
    auto program = CreateObject<SharpProgram>();
    NS_TEST_EXPECT_MSG_EQ(program->GetResources().registerBytes,
                          512U * (256 * 32 + 24) + 64U * (2048 * 32 + 24),
                          "buffers of each child");
    program->SetAttribute("Children", UintegerValue(8));
    program->SetAttribute("Slots", UintegerValue(32));
    program->SetAttribute("Credits", UintegerValue(10));
    program->SetAttribute("Streams", UintegerValue(3));
    NS_TEST_EXPECT_MSG_EQ(program->GetResources().registerBytes,
                          32U * (256 * 8 + 24) + 10U * (2048 * 8 + 24),
                          "of fewer");
    NS_TEST_EXPECT_MSG_EQ(program->GetCredits(), 3, "a third each");
    program->SetAttribute("Streams", UintegerValue(11));
    SharpNode node;
    node.children.resize(2);
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&]() { program->AddTree(node); }),
                          "ns3::training::SharpProgram::Credits=10 (allowed: from Streams=11)",
                          "too few");
}

/** The switch program packet by packet. */
void
TestSharpProgram()
{
    CheckOrder();
    CheckOperations();
    CheckLocks();
    CheckStrangers();
    CheckBrokenChild();
    CheckResources();
}

const Suite g_suite("sharp-program",
                    Duration::QUICK,
                    {{"connections deliver once and in order, or break", TestSharpConnection},
                     {"any order of arrival makes the same sum; locks; restarts; strange frames",
                      TestSharpProgram}});

} // namespace ns3::training::tests::sharp_program_test
