/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-program-test-common.h"

#include "ns3/block-quantizer.h"
#include "ns3/slot-timers.h"
#include "ns3/switchml-program.h"
#include "ns3/switchml-wire-format.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace ns3::training::tests::switchml_program_test
{

/** A sum received by a worker. */
struct Sum
{
    uint32_t packet;
    uint8_t set;
    int32_t value; ///< its first element; element i is larger by i times the number of workers
    int8_t exponent;
    bool overflow;
    int64_t time; ///< ps
};

/** Hosts on one switch with the program. The test scripts their packets. */
class Bench : public ProgramBench<SwitchMlProgram>
{
  public:
    Bench(uint32_t workers, uint32_t elements, bool roundTag = true, Time latency = Time(0))
        : ProgramBench(CreateWith<SwitchMlProgram>(
                           {{"ElementsPerPacket", std::to_string(elements)},
                            {"Slots", "8"},
                            {"Workers", std::to_string(std::max<uint32_t>(workers, 16))},
                            {"PassLatency", std::to_string(latency.GetPicoSeconds()) + "ps"},
                            {"RoundTag", roundTag ? "true" : "false"},
                            {"Verify", roundTag ? "true" : "false"}}),
                       workers),
          sums(workers),
          m_workers(workers),
          m_elements(elements)
    {
        SwitchMlJob job;
        job.number = JOB;
        job.firstSlot = 2;
        job.slots = 4;
        job.children.resize(workers);
        std::iota(job.children.begin(), job.children.end(), 0);
        program->AddJob(job);
        for (uint32_t worker = 0; worker < workers; worker++)
        {
            m_fabric.devices[worker]->SetProgramReceiver(
                SwitchMlHeader::PROTOCOL,
                JOB,
                [this, worker](Frame* frame) { Note(sums[worker], frame); });
        }
    }

    /**
     * Sends a packet of a worker, whose element i is value + i.
     * @param set version of slot 3
     * @param value first element
     * @param exponent of the next block
     */
    void Send(uint32_t worker, uint32_t packet, uint8_t set, int32_t value, int8_t exponent = 0)
    {
        SwitchMlHeader header;
        header.job = JOB;
        header.packet = packet;
        header.slot = 3;
        header.set = set;
        header.exponents[0] = exponent;
        header.exponents[1] = NO_EXPONENT;
        Send(worker, header, value);
    }

    void Send(uint32_t worker, const SwitchMlHeader& header, int32_t value)
    {
        Frame* frame = MakeFrame(GetSwitchMlFrameBytes(m_elements), LOSSY, worker, m_workers);
        frame->Set(header);
        std::vector<uint32_t> words(m_elements);
        std::iota(words.begin(), words.end(), static_cast<uint32_t>(value));
        ProgramBench::Send(frame, words);
    }

    /** Sends a packet as above, and runs until all frames have arrived. */
    void Push(uint32_t worker, uint32_t packet, uint8_t set, int32_t value, int8_t exponent = 0)
    {
        Send(worker, packet, set, value, exponent);
        Simulator::Run();
    }

    /** @return number of sums received by a worker */
    std::size_t Count(uint32_t worker) const
    {
        return sums[worker].size();
    }

    static constexpr uint8_t JOB = 7;
    std::vector<std::vector<Sum>> sums; ///< by worker

  private:
    void Note(std::vector<Sum>& notes, Frame* frame)
    {
        const std::vector<uint32_t> words = GetWords(*frame);
        bool regular = words.size() == m_elements;
        for (uint32_t i = 0; i < words.size(); i++)
        {
            // Modulo 2^32, because sums may overflow.
            regular = regular && words[i] - words[0] == i * m_workers;
        }
        const auto& header = frame->As<SwitchMlHeader>();
        notes.push_back({header.packet,
                         header.set,
                         regular || header.overflow ? static_cast<int32_t>(words[0])
                                                    : std::numeric_limits<int32_t>::min(),
                         header.exponents[0],
                         header.overflow,
                         PicosecondsNow()});
        Frame::Free(frame);
    }

    uint32_t m_workers;
    uint32_t m_elements;
};

/** Every order of arrival makes the same sum, sent once to each worker. */
void
TestSwitchMlSum()
{
    for (uint32_t workers : {1, 2, 3, 5, 16, 32})
    {
        for (uint32_t elements : {32, 64, 256})
        {
            if (elements == 256 && workers > 16)
            {
                continue;
            }
            Bench bench(std::max<uint32_t>(workers, 1), elements);
            std::vector<uint32_t> order(workers);
            std::iota(order.begin(), order.end(), 0);
            std::mt19937 random(workers);
            for (uint32_t round = 0; round < 6; round++)
            {
                std::shuffle(order.begin(), order.end(), random);
                int32_t expected = 0;
                for (uint32_t worker : order)
                {
                    const auto value = static_cast<int32_t>(1000 * round + 7 * worker) - 40;
                    expected += value;
                    bench.Push(worker,
                               4 * round,
                               round % 2,
                               value,
                               static_cast<int8_t>(worker) - 9);
                }
                for (uint32_t worker = 0; worker < workers; worker++)
                {
                    NS_TEST_ASSERT_MSG_EQ(bench.Count(worker), round + 1, "one sum a round");
                    const Sum& sum = bench.sums[worker].back();
                    NS_TEST_EXPECT_MSG_EQ(sum.value, expected, "the sum");
                    NS_TEST_EXPECT_MSG_EQ(sum.packet, 4 * round, "of this packet");
                    NS_TEST_EXPECT_MSG_EQ(+sum.set, round % 2, "in this version");
                    NS_TEST_EXPECT_MSG_EQ(+sum.exponent,
                                          static_cast<int32_t>(workers) - 10,
                                          "with the largest exponent");
                }
            }
            NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().multicasts, 6, "sums");
            NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().added, 6 * workers, "parts");
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
        }
    }
}

/** Single losses and duplicates, as algorithm 3 handles them. */
void
TestSwitchMlLoss()
{
    Bench bench(2, 64);
    const auto& counters = bench.program->GetCounters();
    // Worker 1's packet is lost: worker 0's retransmissions change nothing.
    for (int i = 0; i < 3; i++)
    {
        bench.Push(0, 0, 0, 10);
    }
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), 0, "no sum yet");
    NS_TEST_EXPECT_MSG_EQ(counters.repeated, 2, "retransmissions");
    bench.Push(1, 0, 0, 32);
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), 1, "a sum");
    NS_TEST_EXPECT_MSG_EQ(bench.Count(1), 1, "for all");
    NS_TEST_EXPECT_MSG_EQ(bench.sums[0][0].value, 42, "worker 0's part once");
    // Worker 1 has lost the result: the shadow copy answers it alone.
    bench.Push(1, 0, 0, 32);
    NS_TEST_EXPECT_MSG_EQ(bench.Count(0), 1, "worker 0 has had it");
    NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 2, "worker 1 gets it again");
    NS_TEST_EXPECT_MSG_EQ(bench.sums[1][1].value, 42, "unchanged");
    NS_TEST_EXPECT_MSG_EQ(counters.multicasts, 1, "one multicast");
    NS_TEST_EXPECT_MSG_EQ(counters.unicasts, 1, "one unicast");
    // The shadow copy remains while worker 0 is a phase ahead.
    bench.Push(0, 4, 1, 100);
    bench.Push(1, 0, 0, 32);
    NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 3, "and once more");
    NS_TEST_EXPECT_MSG_EQ(bench.sums[1][2].value, 42, "still unchanged");
    bench.Push(1, 4, 1, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.sums[0].back().value, 101, "the next sum");
    NS_TEST_EXPECT_MSG_EQ(counters.stale, 0, "nothing was late");
}

/**
 * @param phases lead of the worker when its retransmission arrives
 * @return the third sum, of packet 8, which reuses the version of packet 0
 */
int32_t
Run(bool roundTag, uint32_t phases)
{
    Bench bench(2, 64, roundTag);
    for (uint32_t worker : {0, 1})
    {
        bench.Push(worker, 0, 0, 10);
    }
    bench.Push(0, 4, 1, 20);
    if (phases == 1)
    {
        bench.Push(0, 0, 0, 10); // late retransmission
        bench.Push(1, 0, 0, 10); // worker 1 has lost the sum
        NS_TEST_EXPECT_MSG_EQ((bench.sums[1].back().value == 20 && bench.Count(1) == 2),
                              roundTag,
                              "the shadow copy answers, if it has not been overwritten");
    }
    bench.Push(1, 4, 1, 20);
    if (phases == 2)
    {
        bench.Push(0, 0, 0, 10);
    }
    bench.Push(0, 8, 0, 300);
    bench.Push(1, 8, 0, 300);
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().stale, (roundTag ? 1 : 0), "late ones");
    return bench.sums[1].back().value;
}

/** A retransmission that arrives when its worker is one or two phases ahead. */
void
TestSwitchMlLate()
{
    for (uint32_t phases : {1, 2})
    {
        NS_TEST_EXPECT_MSG_EQ(Run(true, phases), 600, "exact with a tag");
        NS_TEST_EXPECT_MSG_NE(Run(false, phases), 600, "the hazard of the published protocol");
    }
}

/** A sum that overflows 32 bits is flagged; one that just fits is not. */
void
TestSwitchMlOverflow()
{
    constexpr int32_t LIMIT = std::numeric_limits<int32_t>::max();
    for (const int32_t excess : {0, 1})
    {
        Bench bench(2, 32);
        // The last element, larger by 31, is the first to overflow.
        bench.Send(0, 0, 0, LIMIT - 62 - 5 + excess);
        bench.Push(1, 0, 0, 5);
        NS_TEST_ASSERT_MSG_EQ(bench.Count(0), 1, "a sum");
        NS_TEST_EXPECT_MSG_EQ(bench.sums[0][0].overflow, (excess == 1), "beyond the range");
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().overflows,
                              (excess > 0 ? 1U : 0U),
                              "and counted");
    }
}

/** Frames with an unknown job, slot, worker or size are dropped; other frames pass. */
void
TestSwitchMlRefusal()
{
    Bench bench(2, 64);
    SwitchMlHeader right;
    right.job = Bench::JOB;
    right.slot = 3;
    uint64_t refused = 0;
    const auto refuse = [&](auto change) {
        SwitchMlHeader header = right;
        change(header);
        bench.Send(0, header, 1);
        Simulator::Run();
        refused++;
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().refused, refused, "one more");
    };
    refuse([](SwitchMlHeader& header) { header.job = 8; });
    refuse([](SwitchMlHeader& header) { header.slot = 1; });
    refuse([](SwitchMlHeader& header) { header.slot = 6; });
    bench.Send(0, right, 1);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().added, 1, "the right one is added");

    // Invalid jobs.
    const auto refuseJob = [&](uint8_t number, uint32_t first, uint32_t slots, uint32_t workers) {
        SwitchMlJob job;
        job.number = number;
        job.firstSlot = first;
        job.slots = slots;
        job.children.resize(workers);
        return GetRefusal([&]() { bench.program->AddJob(job); });
    };
    ExpectPart(refuseJob(Bench::JOB, 6, 2, 2), "another number");
    ExpectPart(refuseJob(1, 5, 2, 2), "slots of job 7");
    ExpectPart(refuseJob(1, 0, 3, 2), "slots of job 7");
    ExpectPart(refuseJob(1, 6, 3, 2), "needs slots 6 to 8 (allowed: 6 to 7)");
    ExpectPart(refuseJob(1, 6, 0, 2), "(allowed: 6 to 7)");
    ExpectPart(refuseJob(1, 6, 2, 0), "1 to 16");
    ExpectPart(refuseJob(1, 6, 2, 17), "1 to 16");
    NS_TEST_EXPECT_MSG_EQ(refuseJob(1, 6, 2, 2), "", "this one fits");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetFirstFreeSlot(), 8, "and takes the last slots");
}

/** @return time from the last contribution at the switch to the sum at its port, ps */
int64_t
GetTime(uint32_t elements)
{
    Bench bench(2, elements, true, NanoSeconds(400));
    bench.Push(0, 0, 0, 1);
    const int64_t start = PicosecondsNow();
    bench.Push(1, 0, 0, 1);
    const int64_t line = LineTime(GetSwitchMlFrameBytes(elements) + 8, 100 * GIGA);
    return bench.sums[0][0].time - start - 2 * (line + 500000);
}

/** Passes through the pipeline take time, and a restart clears all state. */
void
TestSwitchMlPass()
{
    const int64_t pass = 400000;
    NS_TEST_EXPECT_MSG_EQ(GetTime(32), pass, "32 elements: one pass");
    // A pass adds 64 elements and reads 32; each further pass uses a recirculation port.
    const auto line = [](uint32_t elements) {
        return LineTime(GetSwitchMlFrameBytes(elements) + 20, 100 * GIGA);
    };
    NS_TEST_EXPECT_MSG_EQ(GetTime(64), 2 * pass + line(32), "64 elements: two");
    int64_t way = line(192) + line(128) + line(64);
    for (uint32_t read = 32; read <= 224; read += 32)
    {
        way += line(read);
    }
    NS_TEST_EXPECT_MSG_EQ(GetTime(256), 11 * pass + way, "256 elements: eleven");

    Bench bench(2, 64);
    bench.Push(0, 0, 0, 1);
    bench.device->Restart();
    bench.Push(1, 0, 0, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.Count(1), 0, "worker 0's part is lost");
    bench.Push(0, 0, 0, 1);
    NS_TEST_ASSERT_MSG_EQ(bench.Count(1), 1, "until it comes again");
    NS_TEST_EXPECT_MSG_EQ(bench.sums[1][0].value, 2, "the sum");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/** Required switch resources, and named refusals. */
struct SwitchMlResourcesTest
{
    /** @return the switch's refusal of a program, or empty */
    std::string Add(uint32_t elements, uint32_t slots, uint32_t workers, bool tag = true)
    {
        const auto program =
            CreateWith<SwitchMlProgram>({{"ElementsPerPacket", std::to_string(elements)},
                                         {"Slots", std::to_string(slots)},
                                         {"Workers", std::to_string(workers)},
                                         {"RoundTag", tag ? "true" : "false"}});
        resources = program->GetResources();
        return RefuseProgram(program, {{"Stages", std::to_string(stages)}});
    }

    void Run()
    {
        NS_TEST_EXPECT_MSG_EQ(Add(64, 8192, 16, false), "", "the released program fits");
        NS_TEST_EXPECT_MSG_EQ(resources.registerBytes,
                              8192U * 2 * (256 + 4 + 1 + 2),
                              "4 MiB of integers, bitmap, counter, exponents");
        NS_TEST_EXPECT_MSG_EQ(resources.stages, 12, "a pipe");
        NS_TEST_EXPECT_MSG_EQ(resources.recirculationPorts, 1, "for the second half");
        NS_TEST_EXPECT_MSG_EQ(Add(32, 512, 32), "", "the paper's");
        NS_TEST_EXPECT_MSG_EQ(resources.recirculationPorts, 0, "one pass is enough");
        NS_TEST_EXPECT_MSG_EQ(Add(256, 4096, 16), "", "1024 bytes, 16 workers");
        NS_TEST_EXPECT_MSG_EQ(resources.recirculationPorts, 3 * 16 + 7, "as released");
        ExpectPart(Add(256, 4096, 17), "58 recirculation ports");
        ExpectPart(Add(256, 8192, 16), "register memory");
        stages = 11;
        ExpectPart(Add(64, 512, 16), "12 stages");
    }

    uint64_t stages{12};
    SwitchProgram::Resources resources;
};

/** Quantization: the sum of n workers fits, and its error stays within the closed form. */
void
TestBlockQuantizer()
{
    const float largest = std::nextafter(1.0F, 0.0F);
    const std::vector<float> powers{0.25F, -1.0F, 0.5F};
    NS_TEST_EXPECT_MSG_EQ(+GetBlockExponent(powers.data(), 3), 1, "1 is below 2");
    NS_TEST_EXPECT_MSG_EQ(+GetBlockExponent(&largest, 1), 0, "just below 1");
    NS_TEST_EXPECT_MSG_EQ(+GetBlockExponent(powers.data(), 0), -126, "nothing");
    const float top = std::ldexp(largest, 127);
    const float above = std::ldexp(1.0F, 127);
    const float infinite = std::numeric_limits<float>::infinity();
    const float none = std::numeric_limits<float>::quiet_NaN();
    NS_TEST_EXPECT_MSG_EQ(IsQuantizable(&top, 1), true, "just below 2^127");
    NS_TEST_EXPECT_MSG_EQ(+GetBlockExponent(&top, 1), 127, "the largest exponent");
    for (const float wrong : {above, infinite, none})
    {
        NS_TEST_EXPECT_MSG_EQ(IsQuantizable(&wrong, 1), false, wrong);
    }
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (uint32_t workers = 2; workers <= MAX_QUANTIZED_GROUP; workers++)
    {
        // With 119 the sum of all workers is still a float32.
        for (const int8_t exponent : {-126, -3, 0, 40, 119})
        {
            const double scale = GetQuantizationScale(exponent, workers);
            const float most = std::nextafter(std::ldexp(1.0F, exponent), 0.0F);
            for (const float extreme : {most, -most})
            {
                const int64_t each = Quantize(extreme, scale);
                NS_TEST_EXPECT_MSG_LT_OR_EQ(std::abs(each * workers),
                                            std::numeric_limits<int32_t>::max(),
                                            workers << " of the largest numbers fit");
            }
            double exact = 0;
            int32_t sum = 0;
            for (uint32_t i = 0; i < workers; i++)
            {
                const float value = std::ldexp(uniform(random), exponent);
                exact += value;
                sum += Quantize(value, scale);
            }
            NS_TEST_EXPECT_MSG_LT_OR_EQ(std::abs(Dequantize(sum, scale) - exact),
                                        GetQuantizationErrorBound(exponent, workers),
                                        "within the bound");
        }
    }
}

/** An unreliable connection drops exactly the rest of a message after a missing packet. */
void
TestUnreliableReceiver()
{
    constexpr uint32_t LAST_PSN = PSN_MODULUS - 1;
    UnreliableReceiver receiver;
    const auto expect = [&](uint8_t opcode, uint32_t psn, bool taken) {
        NS_TEST_EXPECT_MSG_EQ(receiver.Accept(opcode, psn), taken, +opcode << ", " << psn);
    };
    expect(UC_WRITE_MIDDLE, 0, false); // without a message
    expect(UC_WRITE_FIRST, LAST_PSN - 1, true);
    expect(UC_WRITE_MIDDLE, LAST_PSN, true);
    expect(UC_WRITE_LAST_IMMEDIATE, 0, true);
    expect(UC_WRITE_FIRST, 1, true);
    expect(UC_WRITE_MIDDLE, 3, false); // packet 2 is lost
    expect(UC_WRITE_LAST_IMMEDIATE, 4, false);
    expect(UC_WRITE_ONLY_IMMEDIATE, 9, true);
    expect(UC_WRITE_FIRST, 10, true);
    expect(UC_WRITE_FIRST, 10, true); // a duplicate
    expect(UC_WRITE_LAST_IMMEDIATE, 11, true);
}

/** Slots of a thread and the times of their retransmissions. */
class TimedSlots
{
  public:
    TimedSlots(uint32_t slots, const TimeoutRule& rule)
        : resent(slots)
    {
        timers.Configure(
            slots,
            rule,
            [this](uint32_t slot) { resent[slot].push_back(Now()); },
            [this](uint32_t, Time) { failed = Now(); });
    }

    /** @return the time, ms */
    static int64_t Now()
    {
        return Simulator::Now().GetMilliSeconds();
    }

    SlotTimers timers;
    std::vector<std::vector<int64_t>> resent; ///< by slot: times, ms
    int64_t failed{-1};                       ///< time of failure, ms
};

/** @return from, from + step, ..., to */
std::vector<int64_t>
Range(int64_t from, int64_t to, int64_t step)
{
    std::vector<int64_t> times;
    for (int64_t time = from; time <= to; time += step)
    {
        times.push_back(time);
    }
    return times;
}

void
Expect(const std::vector<int64_t>& actual,
       const std::vector<int64_t>& expected,
       const std::string& what)
{
    NS_TEST_EXPECT_MSG_EQ(actual.size(), expected.size(), what);
    NS_TEST_EXPECT_MSG_EQ(actual, expected, what);
}

/** Calls a function at a time, ms. */
void
At(int64_t time, std::function<void()> call)
{
    In(MilliSeconds(static_cast<uint64_t>(time)).GetPicoSeconds(), std::move(call));
}

void
RunUntil(int64_t time)
{
    Simulator::Stop(MilliSeconds(static_cast<uint64_t>(time)) - Simulator::Now());
    Simulator::Run();
}

/** @return the rule of the released client over UDP, with a window of 64 packets a thread */
TimeoutRule
MakeClient()
{
    TimeoutRule rule{MilliSeconds(10)};
    rule.threshold = 100;
    rule.increment = 100;
    rule.firstFactor = 64;
    rule.isPolled = true;
    return rule;
}

void
CheckPaper()
{
    TimedSlots slots(2, {MilliSeconds(1)});
    slots.timers.Begin(MilliSeconds(20));
    slots.timers.Start(0, true);
    At(5, [&] { slots.timers.Stop(0); });
    At(5, [&] { slots.timers.Start(1); });
    RunUntil(100);
    Expect(slots.resent[0], Range(1, 4, 1), "paper: every millisecond");
    Expect(slots.resent[1], Range(6, 24, 1), "paper: until the failure timeout");
    NS_TEST_EXPECT_MSG_EQ(slots.failed, 25, "paper: since the latest answer");
    Simulator::Destroy();
}

void
CheckPolls()
{
    TimedSlots slots(4, MakeClient());
    slots.timers.Begin(Seconds(100));
    slots.timers.Start(0, true);
    slots.timers.Start(1, true);
    slots.timers.Start(2, true);
    At(4, [&] {
        slots.timers.Stop(0);
        slots.timers.Start(0); // looked at after 10 and 20 ms, and late after 14
    });
    At(30, [&] {
        slots.timers.Stop(2);
        slots.timers.Start(2); // late at a look
    });
    RunUntil(705);
    Expect(slots.resent[0], Range(20, 700, 20), "client: each look sees those before the last");
    Expect(slots.resent[1], {640, 660, 680, 700}, "client: the first window waits for longer");
    Expect(slots.resent[2], Range(40, 700, 20), "client: just in time");
    Simulator::Destroy();
}

void
CheckDoubling()
{
    TimedSlots slots(10, MakeClient());
    TimedSlots other(1, MakeClient());
    slots.timers.Begin(Seconds(1000));
    other.timers.Begin(Seconds(1000));
    other.timers.Start(0);
    for (uint32_t slot = 0; slot < 10; slot++)
    {
        slots.timers.Start(slot);
    }
    // Ten timeouts each 20 ms: the hundredth, of slot 9 at 190 ms, doubles to 20 ms. Then it is
    // late at each other look. The two hundredth from then on is again that of slot 9.
    At(995, [&] { slots.timers.Cancel(); });
    RunUntil(1000);
    auto expected = Range(10, 190, 20);
    const auto later = Range(230, 990, 40);
    expected.insert(expected.end(), later.begin(), later.end());
    Expect(slots.resent[9], expected, "client: doubles after 100 timeouts");
    Expect(other.resent[0], Range(10, 999, 20), "client: not so in other threads");
    // The next tensor begins with 10 ms, but with the threshold 300.
    slots.timers.Begin(Seconds(1000));
    slots.timers.Start(0);
    slots.resent[0].clear();
    RunUntil(7100);
    expected = Range(1010, 6990, 20); // 300 timeouts
    expected.push_back(7030);
    expected.push_back(7070);
    Expect(slots.resent[0], expected, "client: starts anew, but for the threshold");
    Simulator::Destroy();
}

void
CheckRdma()
{
    TimeoutRule rule{MilliSeconds(10)};
    rule.threshold = 101;
    rule.increment = 100;
    rule.delay = MilliSeconds(1);
    rule.isKept = true;
    TimedSlots slots(1, rule);
    slots.timers.Begin(Seconds(1000));
    slots.timers.Start(0, true);
    RunUntil(1150);
    auto expected = Range(11, 101 * 11, 11);
    expected.push_back(101 * 11 + 21);
    Expect(slots.resent[0], expected, "client over RDMA: doubles after 101 timeouts");
    slots.timers.Cancel();
    slots.resent[0].clear();
    slots.timers.Begin(Seconds(1000));
    slots.timers.Start(0, true);
    RunUntil(1200);
    Expect(slots.resent[0], {1171, 1192}, "client over RDMA: stays with 20 ms");
    Simulator::Destroy();
}

void
CheckFailure()
{
    // Eight first timeouts, 5.12 s, are longer than the failure timeout. The hundredth timeout,
    // at 640 + 99 * 20 ms, doubles to 20 ms.
    TimedSlots slots(1, MakeClient());
    slots.timers.Begin(Seconds(1));
    slots.timers.Start(0, true);
    RunUntil(10000);
    NS_TEST_EXPECT_MSG_EQ(slots.failed, 640 + 99 * 20 + 63 * 40, "client: fails later");
    NS_TEST_EXPECT_MSG_EQ(slots.resent[0].size(), 100 + 62, "client: after many attempts");
    Simulator::Destroy();
}

/** Timeouts by the rule of SwitchML's paper and by those of the released clients. */
void
TestSlotTimers()
{
    CheckPaper();
    CheckPolls();
    CheckDoubling();
    CheckRdma();
    CheckFailure();
}

const Suite g_suite(
    "switchml-program",
    Duration::QUICK,
    {{"any order of arrival makes the same sum", TestSwitchMlSum},
     {"a lost request, a lost result, duplicates", TestSwitchMlLoss},
     {"late retransmissions: harmless with a tag, added to another sum without", TestSwitchMlLate},
     {"a sum that overflows says so", TestSwitchMlOverflow},
     {"packets of no job, slot or size, and other frames", TestSwitchMlRefusal},
     {"passes of each packet size, and a restart", TestSwitchMlPass},
     {"resources of each packet size", RunTest<SwitchMlResourcesTest>},
     {"quantized sums fit 32 bits and stay within the bound of their error", TestBlockQuantizer},
     {"packets of unreliable connections are taken in order", TestUnreliableReceiver},
     {"requests time out, and timeouts double, by the rules of paper and clients",
      TestSlotTimers}});

} // namespace ns3::training::tests::switchml_program_test
