/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/frame-archive.h"
#include "fabric/frame-wire-format.h"
#include "switch-program-test-common.h"
#include "switch-ps-test-common.h"

#include "ns3/switch-ps-program.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/training-byte-archive.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace ns3::training::tests::switch_ps_program_test
{

/** An answer to a worker. */
struct Reply
{
    SwitchPsHeader header;
    std::vector<float> values;
    int64_t time; ///< ps
};

/** Configuration of a bench's program. */
struct Kind
{
    uint32_t workers{2};
    std::string optimizer{"none"};
    uint32_t staleness{0};
    uint32_t lanes{64};
    uint32_t latency{0}; ///< of a pass, ns
};

/** Hosts on one switch with the program. The test scripts their packets. */
class Bench : public ProgramBench<SwitchPsProgram>
{
  public:
    static constexpr uint32_t ELEMENTS = 16;
    static constexpr uint8_t JOB = 7;

    explicit Bench(const Kind& kind)
        : ProgramBench(
              CreateWith<SwitchPsProgram>({{"ElementsPerPacket", std::to_string(ELEMENTS)},
                                           {"Slots", "8"},
                                           {"Workers", std::to_string(kind.workers)},
                                           {"Lanes", std::to_string(kind.lanes)},
                                           {"PassLatency", std::to_string(kind.latency) + "ns"},
                                           {"Optimizer", kind.optimizer},
                                           {"LearningRate", "0.1"},
                                           {"WeightDecay", "0.01"},
                                           {"Weights", std::to_string(10 * ELEMENTS)},
                                           {"Staleness", std::to_string(kind.staleness)},
                                           {"MemoryRate", "100Gbps"},
                                           {"Verify", "true"}}),
              kind.workers),
          replies(kind.workers)
    {
        SwitchPsJob job;
        job.number = JOB;
        job.firstSlot = 2;
        job.slots = 4;
        job.firstRange = kind.optimizer == "none" ? 0 : 3;
        job.ranges = kind.optimizer == "none" ? 0 : 5;
        job.workers.resize(kind.workers);
        std::iota(job.workers.begin(), job.workers.end(), 0);
        program->AddJob(job);
        for (uint32_t worker = 0; worker < kind.workers; worker++)
        {
            m_fabric.devices[worker]->SetProgramReceiver(
                SwitchPsHeader::PROTOCOL,
                JOB,
                [this, worker](Frame* frame) { Note(replies[worker], frame); });
        }
    }

    /** @return header of a packet in slot 3 and of key range 1 */
    static SwitchPsHeader MakeHeader(uint32_t packet, uint32_t clock)
    {
        SwitchPsHeader header;
        header.job = JOB;
        header.packet = packet;
        header.slot = 3;
        header.set = packet / 4 % 2;
        header.keyRange = 1;
        header.clock = clock;
        return header;
    }

    /** Sends a packet of a worker, and runs until all frames arrive. */
    void Send(uint32_t worker, const SwitchPsHeader& header, const std::vector<float>& values)
    {
        Frame* frame = MakeFrame(GetSwitchPsFrameBytes(static_cast<uint32_t>(values.size())),
                                 LOSSY,
                                 worker,
                                 static_cast<uint32_t>(replies.size()));
        frame->Set(header);
        std::vector<uint32_t> words(values.size());
        std::transform(values.begin(), values.end(), words.begin(), [](float value) {
            uint32_t word;
            std::memcpy(&word, &value, sizeof(word));
            return word;
        });
        ProgramBench::Send(frame, words);
        Simulator::Run();
    }

    /** Pushes step `clock` of a worker; packet numbers advance by four per step. */
    void Push(uint32_t worker, uint32_t clock, const std::vector<float>& values)
    {
        Send(worker, MakeHeader(1 + 4 * clock, clock), values);
    }

    /** @return number of replies to a worker */
    std::size_t Count(uint32_t worker) const
    {
        return replies[worker].size();
    }

    /** @return numbers of the last reply */
    const std::vector<float>& Latest(uint32_t worker) const
    {
        return replies[worker].back().values;
    }

    std::vector<std::vector<Reply>> replies; ///< by worker

  private:
    static void Note(std::vector<Reply>& notes, Frame* frame)
    {
        Reply reply{frame->As<SwitchPsHeader>(), {}, PicosecondsNow()};
        const std::vector<uint32_t> words = GetWords(*frame);
        reply.values.resize(words.size());
        std::memcpy(reply.values.data(), words.data(), sizeof(float) * words.size());
        notes.push_back(reply);
        Frame::Free(frame);
    }
};

/** @return numbers whose sum depends on the order of addition */
std::vector<float>
MakeNumbers(std::mt19937& random)
{
    std::normal_distribution<float> normal(0, 1);
    std::uniform_int_distribution<int> exponent(-20, 20);
    std::vector<float> values;
    for (uint32_t i = 0; i < Bench::ELEMENTS; i++)
    {
        values.push_back(std::ldexp(normal(random), exponent(random)));
    }
    return values;
}

/** @return a packet of equal numbers */
std::vector<float>
Fill(float value)
{
    return std::vector<float>(Bench::ELEMENTS, value);
}

/** Every order of arrival makes the same bits, sent once to each worker. */
void
TestSwitchPsSum()
{
    for (uint32_t workers : {1, 2, 3, 5, 16, 64})
    {
        Bench bench({workers});
        std::mt19937 random(workers);
        std::vector<uint32_t> order(workers);
        std::iota(order.begin(), order.end(), 0);
        for (uint32_t step = 0; step < 6; step++)
        {
            std::vector<std::vector<float>> parts;
            for (uint32_t worker = 0; worker < workers; worker++)
            {
                parts.push_back(MakeNumbers(random));
            }
            std::shuffle(order.begin(), order.end(), random);
            for (uint32_t worker : order)
            {
                bench.Push(worker, step, parts[worker]);
            }
            const auto expected = AddInOrder(parts);
            for (uint32_t worker = 0; worker < workers; worker++)
            {
                NS_TEST_ASSERT_MSG_EQ(bench.Count(worker), step + 1, "one sum a step");
                NS_TEST_EXPECT_MSG_EQ(bench.Latest(worker), expected, "the sum");
                NS_TEST_EXPECT_MSG_EQ(bench.replies[worker].back().header.packet,
                                      1 + 4 * step,
                                      "of this packet");
            }
        }
        const auto& counters = bench.program->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.multicasts, 6, "sums");
        NS_TEST_EXPECT_MSG_EQ(counters.added, 6 * workers, "parts");
        NS_TEST_EXPECT_MSG_EQ(counters.unicasts + counters.steps + counters.stale, 0, "no more");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

void
Check(const std::string& optimizer)
{
    const float step = optimizer == "none" ? 1 : -0.1F;
    Bench bench({2, optimizer});
    const auto& counters = bench.program->GetCounters();
    // Worker 0's push is lost: retransmissions of worker 1 change nothing.
    for (int i = 0; i < 3; i++)
    {
        bench.Push(1, 0, Fill(32));
    }
    NS_TEST_EXPECT_MSG_EQ(bench.Count(1), 0, "no sum yet");
    NS_TEST_EXPECT_MSG_EQ(counters.repeated, 2, "retransmissions");
    bench.Push(0, 0, Fill(10));
    NS_TEST_ASSERT_MSG_EQ(bench.Count(0) * bench.Count(1), 1, "an answer for each");
    const auto first = Fill(Multiply(step, 42));
    NS_TEST_EXPECT_MSG_EQ(bench.Latest(1), first, "each part once");
    // Worker 1 has lost its answer, and gets it alone, without another step.
    bench.Push(1, 0, Fill(32));
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), 1, "worker 0 has had it");
    NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 2, "worker 1 gets it again");
    NS_TEST_EXPECT_MSG_EQ(bench.Latest(1), first, "unchanged");
    // It also gets it while worker 0 is a step ahead.
    bench.Push(0, 1, Fill(100));
    bench.Push(1, 0, Fill(32));
    NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 3, "and once more");
    NS_TEST_EXPECT_MSG_EQ(bench.Latest(1), first, "still unchanged");
    // Worker 0's duplicate arrives late, and again when the version is used for step 2.
    bench.Push(0, 0, Fill(10));
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), 2, "an answer that it does not need");
    bench.Push(1, 1, Fill(1));
    bench.Push(0, 2, Fill(5));
    bench.Push(0, 0, Fill(10));
    NS_TEST_EXPECT_MSG_EQ(counters.stale, 1, "now it is of a step that is over");
    bench.Push(1, 2, Fill(6));
    NS_TEST_EXPECT_MSG_EQ(counters.multicasts, 3, "one multicast a step");
    NS_TEST_EXPECT_MSG_EQ(counters.unicasts, 3, "and those that were asked for again");
    NS_TEST_EXPECT_MSG_EQ(counters.added, 6, "each part once");
    NS_TEST_EXPECT_MSG_EQ(counters.steps, (optimizer == "none" ? 0 : 3), "steps");
    if (optimizer == "none")
    {
        NS_TEST_EXPECT_MSG_EQ(bench.Latest(1), Fill(11), "the third sum");
    }
}

/** Single losses, duplicates and late packets of synchronous steps, and a restart. */
void
TestSwitchPsLoss()
{
    Check("none");
    Check("sgd");

    Bench sums({2});
    sums.Push(0, 0, Fill(1));
    sums.device->Restart();
    sums.Push(1, 0, Fill(1));
    NS_TEST_EXPECT_MSG_EQ(sums.Count(1), 0, "worker 0's part is lost");
    sums.Push(0, 0, Fill(1));
    NS_TEST_ASSERT_MSG_EQ(sums.Count(1), 1, "until it comes again");
    NS_TEST_EXPECT_MSG_EQ(sums.Latest(1), Fill(2), "the sum");
    // After a restart a worker may be a packet ahead of the slot's sum.
    sums.device->Restart();
    sums.Push(1, 2, Fill(20));
    sums.Push(1, 1, Fill(10));
    sums.Push(0, 1, Fill(10));
    NS_TEST_EXPECT_MSG_EQ(sums.Count(1), 1, "the part that waits is not replaced");
    sums.Push(0, 2, Fill(21));
    NS_TEST_ASSERT_MSG_EQ(sums.Count(1), 2, "a sum");
    NS_TEST_EXPECT_MSG_EQ(sums.Latest(1), Fill(41), "of what belongs together");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");

    Bench weights({2, "sgd"});
    weights.Push(0, 0, Fill(1));
    weights.Push(1, 0, Fill(1));
    weights.device->Restart();
    weights.Push(0, 1, Fill(1));
    weights.Push(1, 1, Fill(1));
    NS_TEST_EXPECT_MSG_EQ(weights.Count(0), 1, "nobody gets weights that are lost");
    NS_TEST_EXPECT_MSG_EQ(weights.program->GetCounters().refused, 2, "the pushes are refused");
}

/** Weights equal those of an optimizer on a host, bit for bit. */
void
TestSwitchPsOptimizer()
{
    for (const std::string optimizer : {"sgd", "momentum", "adam"})
    {
        constexpr uint32_t WORKERS = 3;
        Bench bench({WORKERS, optimizer});
        std::mt19937 random(1);
        HostOptimizer host(optimizer, 0.1F, 0.01F);
        for (uint32_t step = 0; step < 30; step++)
        {
            std::vector<std::vector<float>> parts;
            for (uint32_t worker = 0; worker < WORKERS; worker++)
            {
                parts.push_back(MakeNumbers(random));
            }
            for (uint32_t i = 0; i < WORKERS; i++)
            {
                const uint32_t worker = (i + step) % WORKERS;
                bench.Push(worker, step, parts[worker]);
            }
            const auto expected = host.Step(AddInOrder(parts));
            NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 2 * step + 1, "weights");
            NS_TEST_EXPECT_MSG_EQ(bench.Latest(1), expected, optimizer << ", step " << step);
            SwitchPsHeader pull = Bench::MakeHeader(77, 0);
            pull.isPull = true;
            bench.Send(1, pull, {});
            NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 2 * step + 2, "a pull is answered");
            const Reply& reply = bench.replies[1].back();
            NS_TEST_EXPECT_MSG_EQ(reply.values, expected, "by the same weights");
            NS_TEST_EXPECT_MSG_EQ(reply.header.packet, 77, "with its number");
            NS_TEST_EXPECT_MSG_EQ(reply.header.isPull, true, "as a pull");
        }
        // Another key range is untouched.
        SwitchPsHeader pull = Bench::MakeHeader(0, 0);
        pull.isPull = true;
        pull.keyRange = 0;
        bench.Send(0, pull, {});
        NS_TEST_EXPECT_MSG_EQ(bench.Latest(0), Fill(0), "weights begin at 0");
    }
}

void
CheckBound(uint32_t workers, uint32_t staleness)
{
    Bench bench({workers, "sgd", staleness});
    const auto& counters = bench.program->GetCounters();
    // Worker 0 may make s steps while the slowest worker makes none.
    for (uint32_t step = 0; step < staleness; step++)
    {
        bench.Push(0, step, Fill(1));
        NS_TEST_EXPECT_MSG_EQ(bench.Count(0), step + 1, "answered at once");
    }
    bench.Push(0, staleness, Fill(1));
    bench.Push(0, staleness, Fill(1));
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), staleness, "one more is held back");
    NS_TEST_EXPECT_MSG_EQ(counters.blocked, 1, "once");
    NS_TEST_EXPECT_MSG_EQ(counters.repeated, 1, "whatever it asks");
    // The others follow one by one: only the last of them changes the minimum.
    for (uint32_t worker = 1; worker < workers; worker++)
    {
        NS_TEST_EXPECT_MSG_EQ(bench.Count(0), staleness, "still held back");
        bench.Push(worker, 0, Fill(1));
        NS_TEST_EXPECT_MSG_EQ(bench.Count(worker), 1, "those behind never wait");
    }
    NS_TEST_ASSERT_MSG_EQ(bench.Count(0), staleness + 1, "now it gets its answer");
    const Reply& reply = bench.replies[0].back();
    NS_TEST_EXPECT_MSG_EQ(reply.header.packet, 1 + 4 * staleness, "to its latest push");
    NS_TEST_EXPECT_MSG_EQ(reply.header.clock, 1, "all have made one step");
    NS_TEST_EXPECT_MSG_EQ(reply.values, bench.Latest(workers - 1), "with all that has come");
    bench.Push(0, staleness + 1, Fill(1));
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), staleness + 1, "and is held back again");
    NS_TEST_EXPECT_MSG_EQ(counters.added, staleness + 1 + workers, "each gradient once");
    std::vector<uint32_t> clock(workers, 1);
    clock[0] = staleness + 2;
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetVectorClock(Bench::JOB, 1), clock, "the vector clock");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetVectorClock(Bench::JOB, 4),
                          std::vector<uint32_t>(workers, 0),
                          "of an untouched key range");
}

/** Any order of pushes within the bound: weights and answers equal a host's. */
void
CheckWeights(uint32_t staleness)
{
    constexpr uint32_t WORKERS = 4;
    Bench bench({WORKERS, "adam", staleness});
    HostOptimizer host("adam", 0.1F, 0.01F);
    std::mt19937 random(staleness);
    std::vector<uint32_t> clocks(WORKERS, 0);
    std::vector<std::vector<float>> latest(WORKERS);
    std::vector<bool> blocked(WORKERS, false);
    std::vector<std::size_t> count(WORKERS, 0);
    uint32_t lead = 0;
    for (int i = 0; i < 400; i++)
    {
        const uint32_t worker = random() % WORKERS;
        const bool again = random() % 4 == 0 && clocks[worker] > 0;
        if (blocked[worker] || again)
        {
            // The worker is blocked, but it may retransmit.
            bench.Push(worker, clocks[worker] - 1, latest[worker]);
            count[worker] += !blocked[worker];
            NS_TEST_EXPECT_MSG_EQ(bench.Count(worker), count[worker], "a lost answer");
            continue;
        }
        latest[worker] = MakeNumbers(random);
        const auto weights = host.Step(latest[worker]);
        bench.Push(worker, clocks[worker]++, latest[worker]);
        blocked[worker] = true;
        const uint32_t least = *std::min_element(clocks.begin(), clocks.end());
        for (uint32_t other = 0; other < WORKERS; other++)
        {
            if (blocked[other] && clocks[other] - least <= staleness)
            {
                blocked[other] = false;
                count[other]++;
                lead = std::max(lead, clocks[other] - least);
                NS_TEST_ASSERT_MSG_EQ(bench.Count(other), count[other], "answered");
                NS_TEST_EXPECT_MSG_EQ(bench.Latest(other), weights, "the weights");
            }
            NS_TEST_EXPECT_MSG_EQ(bench.Count(other), count[other], "and no other");
        }
    }
    NS_TEST_EXPECT_MSG_EQ(lead, staleness, "the bound was reached");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().steps,
                          std::accumulate(clocks.begin(), clocks.end(), 0U),
                          "a step for each gradient");
    // A push older than the last one changes nothing and gets no answer.
    const uint64_t steps = bench.program->GetCounters().steps;
    const auto ahead =
        static_cast<uint32_t>(std::max_element(clocks.begin(), clocks.end()) - clocks.begin());
    bench.Push(ahead, clocks[ahead] - 2, Fill(1));
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().steps, steps, "no step");
    NS_TEST_EXPECT_MSG_EQ(bench.Count(ahead), count[ahead], "no answer");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().stale, 1, "it is late");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/**
 * Bounded staleness: a worker is at most s steps ahead, and each gradient counts once, on arrival.
 */
void
TestSwitchPsStaleness()
{
    for (uint32_t staleness : {1, 2, 5})
    {
        for (uint32_t workers : {2, 3, 64})
        {
            CheckBound(workers, staleness);
        }
        CheckWeights(staleness);
    }
}

/** @return time from the last push at the switch to the answer at its port, ps */
int64_t
GetTime(const Kind& kind, bool inOrder = true)
{
    Bench bench(kind);
    const uint32_t last = inOrder ? kind.workers - 1 : 0;
    for (uint32_t worker = 0; worker < kind.workers; worker++)
    {
        if (worker != last)
        {
            bench.Push(worker, 0, Fill(1));
        }
    }
    const int64_t start = PicosecondsNow();
    bench.Push(last, 0, Fill(1));
    const int64_t line = LineTime(GetSwitchPsFrameBytes(Bench::ELEMENTS) + 8, 100 * GIGA);
    return bench.replies[last].back().time - start - 2 * (line + 500000);
}

void
TestSwitchPsLatency()
{
    // 16 numbers at 200 MHz: 80 ns in one lane.
    const Kind one{4, "none", 0, 1};
    NS_TEST_EXPECT_MSG_EQ(GetTime(one), 80000, "one part is left to be added");
    NS_TEST_EXPECT_MSG_EQ(GetTime(one, false), 4 * 80000, "all wait for the first");
    // 64 bytes read and written at 100 Gbit/s: 5.12 ns each.
    for (const auto& [optimizer, staleness, accesses] : {std::tuple("none", 0, 0),
                                                         std::tuple("sgd", 0, 2),
                                                         std::tuple("adam", 0, 6),
                                                         std::tuple("adam", 1, 6)})
    {
        const Kind kind{4, optimizer, static_cast<uint32_t>(staleness), 8, 300};
        NS_TEST_EXPECT_MSG_EQ(GetTime(kind),
                              310000 + accesses * 5120,
                              "eight lanes, the pass, and the memory of "
                                  << optimizer << ", staleness " << staleness);
    }
}

/** Required resources, refusals, and unknown packets. */
struct SwitchPsResourcesTest
{
    /** @return the switch's refusal of a program, or empty */
    std::string Add(const Attributes& attributes)
    {
        Attributes all{{"Lanes", "100"}};
        all.insert(all.end(), attributes.begin(), attributes.end());
        const auto program = CreateWith<SwitchPsProgram>(all);
        resources = program->GetResources();
        return RefuseProgram(program);
    }

    void CheckResources()
    {
        NS_TEST_EXPECT_MSG_EQ(Add({}), "", "the defaults fit");
        NS_TEST_EXPECT_MSG_EQ(resources.registerBytes,
                              512U * (2 * (256 + 17) + 15 * 256),
                              "two versions, and the parts of 15 workers");
        NS_TEST_EXPECT_MSG_EQ(resources.externalBytes, 0, "no weights");
        NS_TEST_EXPECT_MSG_EQ(resources.floatAdders, 100, "one a lane");
        ExpectPart(Add({{"Lanes", "1801"}}), "needs 1801 float adders of a switch");
        ExpectPart(Add({{"Lanes", "1801"}}), "(allowed: 1800)");
        ExpectPart(Add({{"Slots", "4096"}}), "of register memory");
        NS_TEST_EXPECT_MSG_EQ(Add({{"Optimizer", "sgd"}, {"Weights", "6400"}}), "", "fits");
        NS_TEST_EXPECT_MSG_EQ(resources.floatAdders, 300, "and two for the step");
        NS_TEST_EXPECT_MSG_EQ(resources.externalBytes, 100 * (256 + 8), "weights and powers");
        NS_TEST_EXPECT_MSG_EQ(Add({{"Optimizer", "adam"}, {"Weights", "6401"}}), "", "fits");
        NS_TEST_EXPECT_MSG_EQ(resources.floatAdders, 600, "and five for the step");
        NS_TEST_EXPECT_MSG_EQ(resources.externalBytes, 101 * (3 * 256 + 8), "whole packets");
        ExpectPart(Add({{"Optimizer", "adam"}, {"Lanes", "301"}}), "needs 1806 float adders");
        ExpectPart(Add({{"Optimizer", "adam"}, {"Weights", "1000000000"}}), "of external memory");
        NS_TEST_EXPECT_MSG_EQ(
            Add({{"Optimizer", "sgd"}, {"Weights", "64"}, {"Staleness", "1"}, {"Slots", "4096"}}),
            "",
            "no sums to keep");
        NS_TEST_EXPECT_MSG_EQ(resources.registerBytes, 0, "on the chip");
        NS_TEST_EXPECT_MSG_EQ(resources.externalBytes, 256 + 8 + 16 * 8 + 16, "but clocks");
        ExpectPart(GetRefusal([]() {
                       CreateWith<SwitchPsProgram>({{"Optimizer", "sg"}});
                   }),
                   "SwitchPsProgram::Optimizer='sg' (allowed: none, adam, momentum, sgd)");
    }

    void CheckJobs()
    {
        Bench bench({2, "sgd"});
        const auto refuse = [&](Ptr<SwitchPsProgram> program, const SwitchPsJob& job) {
            return GetRefusal([&]() { program->AddJob(job); });
        };
        SwitchPsJob right;
        right.number = 8;
        right.firstSlot = 6;
        right.slots = 2;
        right.firstRange = 8;
        right.ranges = 2;
        right.workers = {0, 1};
        const auto check = [&](auto change, const std::string& part) {
            SwitchPsJob job = right;
            change(job);
            ExpectPart(refuse(bench.program, job), part);
        };
        check([](SwitchPsJob& o) { o.number = Bench::JOB; }, "another number");
        check([](SwitchPsJob& o) { o.workers = {}; }, "0 workers at a switch (allowed: 1 to 2)");
        check([](SwitchPsJob& o) { o.workers = {0, 1, 2}; }, "3 workers at a switch");
        check([](SwitchPsJob& o) { o.firstSlot = 5; }, "needs slots of job 7 (allowed: from 6)");
        check([](SwitchPsJob& o) { o.slots = 3; }, "slots 6 to 8 (allowed: 6 to 7)");
        check([](SwitchPsJob& o) { o.slots = 0; }, "allowed: 6 to 7");
        check([](SwitchPsJob& o) { o.ranges = 3; }, "key ranges 8 to 10");
        check([](SwitchPsJob& o) { o.firstRange = 7; }, "(allowed: 8 to 9)");
        check([](SwitchPsJob& o) { o.ranges = 0; }, "memory for weights");
        NS_TEST_EXPECT_MSG_EQ(refuse(bench.program, right), "", "this one fits");
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetFirstFreeSlot(), 8, "and takes the last slots");
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetFirstFreeRange(), 10, "and weights");

        auto program = CreateObject<SwitchPsProgram>();
        ExpectPart(refuse(program, right), "Lanes=0");
        program->SetAttribute("Lanes", UintegerValue(1));
        program->SetAttribute("Staleness", UintegerValue(2));
        ExpectPart(refuse(program, right), "Staleness=2 without an Optimizer");
        NS_TEST_EXPECT_MSG_EQ(program->GetLanesFor(40000000000), 7, "6.25 numbers per clock");
    }

    void CheckPackets()
    {
        Bench bench({2, "sgd"});
        uint64_t refused = 0;
        const auto refuse = [&](auto change, const std::vector<float>& values) {
            SwitchPsHeader header = Bench::MakeHeader(1, 0);
            change(header);
            bench.Send(0, header, values);
            refused++;
            NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().refused, refused, "one more");
        };
        const auto pull = [](SwitchPsHeader& header) { header.isPull = true; };
        refuse([](SwitchPsHeader& header) { header.job = 8; }, Fill(1));
        refuse([](SwitchPsHeader& header) { header.slot = 1; }, Fill(1));
        refuse([](SwitchPsHeader& header) { header.slot = 6; }, Fill(1));
        refuse([](SwitchPsHeader& header) { header.keyRange = 5; }, Fill(1));
        refuse([](SwitchPsHeader&) {}, {1, 2});
        refuse(pull, Fill(1));
        bench.Push(0, 0, Fill(1));
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().added, 1, "the right one is added");
        Bench sums({2});
        SwitchPsHeader header = Bench::MakeHeader(1, 0);
        pull(header);
        sums.Send(0, header, {});
        NS_TEST_EXPECT_MSG_EQ(sums.program->GetCounters().refused, 1, "there are no weights");
    }

    void Run()
    {
        CheckResources();
        CheckJobs();
        CheckPackets();
    }

    SwitchProgram::Resources resources;
};

/**
 * Vector clocks against a model that scans all workers each time, for random steps of unblocked
 * workers.
 */
struct SwitchPsVectorClocksTest
{
    void Check(uint32_t workers, uint32_t staleness)
    {
        constexpr uint32_t RANGES = 3;
        SwitchPsVectorClocks clocks;
        clocks.Configure(workers, staleness);
        std::vector<std::vector<uint32_t>> steps(RANGES, std::vector<uint32_t>(workers));
        std::vector<uint64_t> blocked(RANGES);
        std::mt19937 random(workers * 100 + staleness);
        for (uint32_t packet = 0; packet < 3000; packet++)
        {
            const auto range = static_cast<uint32_t>(random() % RANGES);
            const auto worker = static_cast<uint32_t>(random() % workers);
            if (blocked[range] >> worker & 1)
            {
                continue;
            }
            const uint64_t released = clocks.Advance(range, worker, packet);
            steps[range][worker]++;
            const uint32_t least = *std::min_element(steps[range].begin(), steps[range].end());
            uint64_t ahead = 0;
            for (uint32_t w = 0; w < workers; w++)
            {
                ahead |= uint64_t{steps[range][w] - least > staleness} << w;
                NS_TEST_ASSERT_MSG_EQ(clocks.GetSteps(range, w), steps[range][w], "steps");
            }
            const uint64_t mayGo = blocked[range] & ~ahead;
            NS_TEST_ASSERT_MSG_EQ(released, mayGo, "workers whose answer may go");
            blocked[range] = ahead;
            for (uint32_t w = 0; w < workers; w++)
            {
                const bool isAhead = (ahead >> w) & 1;
                NS_TEST_ASSERT_MSG_EQ(clocks.IsBlocked(range, w), isAhead, "held back");
            }
            NS_TEST_ASSERT_MSG_EQ(clocks.GetLeast(range), least, "the slowest worker");
            NS_TEST_ASSERT_MSG_EQ(clocks.GetPacket(range, worker), packet, "the latest step");
        }
        clocks.Clear();
        NS_TEST_EXPECT_MSG_EQ(clocks.GetSteps(0, 0) + clocks.GetLeast(0), 0, "forgotten");
    }

    void Run()
    {
        for (uint32_t workers : {1, 2, 7, 64})
        {
            for (uint32_t staleness : {0, 1, 3})
            {
                Check(workers, staleness);
            }
        }
    }
};

/** Lanes and memory serve one packet at a time, each at its rate. */
void
TestSwitchPsLaneTiming()
{
    SwitchPsLaneTiming timing;
    timing.ConfigureLanes(64, 16, 200); // four clock cycles of 5 ns
    timing.ConfigureMemory(256, 100000000000);
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveLanes(1000), 21000, "idle");
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveLanes(2000), 41000, "behind the first");
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveLanes(100000), 120000, "idle again");
    NS_TEST_EXPECT_MSG_EQ(timing.GetLanesFree(), 120000, "until then");
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveMemory(120000, 2), 120000 + 2 * 20480, "read and written");
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveMemory(0, 1), 120000 + 3 * 20480, "behind the first");
    NS_TEST_EXPECT_MSG_EQ(timing.GetMemoryFree(), 120000 + 3 * 20480, "until then");
    timing.Reset();
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveLanes(0), 20000, "free at once");
    NS_TEST_EXPECT_MSG_EQ(timing.ReserveMemory(0, 1), 20480, "free at once");
}

Frame*
Make(uint32_t elements, bool isPull)
{
    SwitchPsHeader header;
    header.isPull = isPull;
    header.job = 5;
    header.packet = 0xfffffffe;
    header.keyRange = 0xabcdef01;
    header.clock = 0x00010203;
    header.slot = SWITCH_PS_MAX_SLOTS - 1;
    header.set = 1;
    Frame* frame = Frame::Make(header);
    frame->bytes = GetSwitchPsFrameBytes(elements);
    frame->source = 3;
    frame->destination = 900;
    frame->priority = 3;
    frame->flowHash = 0x1234;
    frame->payloadBytes = 4 * elements;
    frame->payload = Create<ByteBuffer>();
    frame->payload->bytes.resize(4 * elements);
    std::iota(frame->payload->bytes.begin(), frame->payload->bytes.end(), 1);
    return frame;
}

void
Compare(const Frame& frame, const Frame& copy)
{
    const auto& a = frame.As<SwitchPsHeader>();
    const auto& b = copy.As<SwitchPsHeader>();
    NS_TEST_EXPECT_MSG_EQ((copy.Is<SwitchPsHeader>() && b.isPull == a.isPull), true, "kind");
    NS_TEST_EXPECT_MSG_EQ(copy.bytes, frame.bytes, "size");
    NS_TEST_EXPECT_MSG_EQ(copy.source, 3, "source");
    NS_TEST_EXPECT_MSG_EQ(copy.destination, 900, "destination");
    NS_TEST_EXPECT_MSG_EQ(+b.job, 5, "job");
    NS_TEST_EXPECT_MSG_EQ(b.packet, 0xfffffffe, "packet");
    NS_TEST_EXPECT_MSG_EQ(b.keyRange, 0xabcdef01, "key range");
    NS_TEST_EXPECT_MSG_EQ(b.clock, 0x00010203, "clock");
    NS_TEST_EXPECT_MSG_EQ(b.slot, SWITCH_PS_MAX_SLOTS - 1, "slot");
    NS_TEST_EXPECT_MSG_EQ(+b.set, 1, "version");
    NS_TEST_EXPECT_MSG_EQ(copy.payload->bytes, frame.payload->bytes, "payload");
}

/** Serialization of packets to a file and to another process, in both directions. */
void
TestSwitchPsWireFormat()
{
    for (const bool isPull : {false, true})
    {
        for (uint32_t elements : {0, 1, 64, 2048})
        {
            Frame* frame = Make(elements, isPull);
            const ParsedFrame parsed = FromPacket(*ToPacket(*frame));
            NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "no error");
            Compare(*frame, *parsed.frame);
            ByteWriter writer;
            WriteFrame(writer, *frame);
            const std::string bytes = writer.GetText();
            ByteReader reader(bytes.data(), bytes.size());
            Frame* copy = ReadFrame(reader);
            Compare(*frame, *copy);
            Frame::Free(copy);
            Frame::Free(parsed.frame);
            Frame::Free(frame);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(GetSwitchPsFrameBytes(0), 64, "the shortest frame");
    NS_TEST_EXPECT_MSG_EQ(GetSwitchPsFrameBytes(64), 14 + 20 + 8 + 16 + 256 + 4, "as written");
    Frame* frame = Make(4, false);
    const Ptr<Packet> packet = ToPacket(*frame);
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    for (const auto& [at, error] : std::vector<std::pair<std::size_t, std::string>>{
             {39, "UDP length differs from IPv4 length"},
             {40, "UDP checksum (allowed: none)"},
             {42, "unknown parameter server message type 33"}})
    {
        auto damaged = bytes;
        damaged[at] ^= 0x20;
        const ParsedFrame parsed =
            FromPacket(*Create<Packet>(damaged.data(), static_cast<uint32_t>(damaged.size())));
        NS_TEST_EXPECT_MSG_EQ(parsed.error, error, "byte " << at);
    }
    Frame::Free(frame);
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

const Suite g_suite(
    "switch-ps-program",
    Duration::QUICK,
    {{"vector clocks hold back workers that are too far ahead", RunTest<SwitchPsVectorClocksTest>},
     {"times of lanes and memory", TestSwitchPsLaneTiming},
     {"any order of arrival makes the same bits", TestSwitchPsSum},
     {"a lost push, a lost answer, duplicates, late packets, a restart", TestSwitchPsLoss},
     {"optimizers are exact; a pull gets weights", TestSwitchPsOptimizer},
     {"bounded staleness: the bound, the weights, duplicates", TestSwitchPsStaleness},
     {"times of lanes and memory", TestSwitchPsLatency},
     {"resources are refused by name, strange packets dropped", RunTest<SwitchPsResourcesTest>},
     {"packets as bytes and back", TestSwitchPsWireFormat}});

} // namespace ns3::training::tests::switch_ps_program_test
