/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/frame-wire-format.h"
#include "innetwork/saturating-sum.h"
#include "switch-program-test-common.h"

#include "ns3/atp-program.h"
#include "ns3/atp-wire-format.h"
#include "ns3/boolean.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace ns3::training::tests::atp_program_test
{

constexpr uint32_t ELEMENTS = 62;
constexpr int32_t MAX_NUMBER = std::numeric_limits<int32_t>::max();

/** A frame received by a host. */
struct Received
{
    AtpHeader header;
    int32_t value; ///< its first element
    bool regular;  ///< element i is larger by i times the number of contributors
    Ecn ecn;
    int64_t time; ///< ps
};

/** Additional header fields of a frame. */
struct Extra
{
    bool resend{false};
    bool overflow{false};
    uint8_t priority{0};
    Ecn ecn{Ecn::ECT};
    uint16_t slot{3};
};

/**
 * Two jobs of equal size on one switch with the program. The test scripts their packets. Job 0 has
 * workers on hosts 0 to n - 1 and its server on host n; job 1 uses the next hosts.
 */
class Bench : public ProgramBench<AtpProgram>
{
  public:
    /** @param workers number of workers per job @param program with its attributes set */
    Bench(uint32_t workers, Ptr<AtpProgram> program = CreateObject<AtpProgram>())
        : ProgramBench(Prepare(program), 2 * (workers + 1)),
          received(2 * (workers + 1)),
          m_workers(workers)
    {
        for (uint8_t job : {0, 1})
        {
            AtpJob description;
            description.number = job;
            description.window = 4;
            description.servers = {GetServer(job)};
            description.localServers = description.servers;
            for (uint32_t worker = 0; worker < workers; worker++)
            {
                description.workers.push_back(job * (workers + 1) + worker);
            }
            program->AddJob(description);
            for (uint32_t host = job * (workers + 1); host <= GetServer(job); host++)
            {
                const auto note = [this, host](Frame* frame) { Note(received[host], frame); };
                for (const uint32_t key : {uint32_t{job}, GetAtpServerKey(job)})
                {
                    m_fabric.devices[host]->SetProgramReceiver(AtpHeader::PROTOCOL, key, note);
                }
            }
        }
    }

    uint32_t GetServer(uint8_t job) const
    {
        return job * (m_workers + 1) + m_workers;
    }

    /** @return frames received by a job's server */
    const std::vector<Received>& AtServer(uint8_t job) const
    {
        return received[GetServer(job)];
    }

    /**
     * Sends a packet of a worker, whose element i is value + i, and runs until all frames arrive.
     * @param value first element
     * @param extra additional header fields
     */
    void Send(uint8_t job, uint32_t worker, uint32_t packet, int32_t value, Extra extra = {})
    {
        AtpHeader header;
        header.job = job;
        header.packet = packet;
        header.slot = extra.slot;
        header.check = 1ULL << worker;
        header.isRackSum = true;
        header.workers = 1;
        header.children = 1U << worker;
        header.fanIn[0] = 1;
        header.fanIn[1] = static_cast<uint8_t>(m_workers);
        header.resend = extra.resend;
        header.overflow = extra.overflow;
        header.priority = extra.priority;
        Send(job * (m_workers + 1) + worker, GetServer(job), header, value, extra.ecn);
    }

    /** Sends the result of a packet from a job's server, and runs until all frames arrive. */
    void SendResult(uint8_t job, uint32_t packet, bool isFloatRequest = false, uint16_t slot = 3)
    {
        AtpHeader header;
        header.isResult = true;
        header.job = job;
        header.packet = packet;
        header.slot = slot;
        header.overflow = isFloatRequest;
        Send(GetServer(job), program->GetEndpoint(), header, 0, Ecn::NOT_ECT);
    }

    void Send(uint32_t source,
              uint32_t destination,
              const AtpHeader& header,
              int32_t value,
              Ecn ecn,
              uint32_t elements = ELEMENTS)
    {
        Frame* frame = MakeFrame(GetAtpFrameBytes(elements, false), LOSSY, source, destination);
        frame->ecn = ecn;
        frame->Set(header);
        std::vector<uint32_t> words(elements);
        std::iota(words.begin(), words.end(), static_cast<uint32_t>(value));
        ProgramBench::Send(frame, words);
        Simulator::Run();
    }

    std::vector<std::vector<Received>> received; ///< by host

  private:
    static Ptr<AtpProgram> Prepare(Ptr<AtpProgram> program)
    {
        program->SetAttribute("Slots", UintegerValue(8));
        program->SetAttribute("Verify", BooleanValue(true));
        return program;
    }

    static void Note(std::vector<Received>& notes, Frame* frame)
    {
        const std::vector<uint32_t> words = GetWords(*frame);
        const auto& header = frame->As<AtpHeader>();
        const auto contributors = static_cast<uint32_t>(__builtin_popcountll(header.check));
        bool regular = true;
        for (uint32_t i = 0; i < ELEMENTS; i++)
        {
            regular = regular && words.at(i) - words[0] == i * contributors;
        }
        notes.push_back(
            {header, static_cast<int32_t>(words[0]), regular, frame->ecn, PicosecondsNow()});
        Frame::Free(frame);
    }

    uint32_t m_workers;
};

/**
 * Every order of arrival makes the same sum, which goes to the server. Its result frees the slot
 * and is multicast to all workers.
 */
void
TestAtpSum()
{
    for (uint32_t workers : {1, 2, 3, 5, 16, 32})
    {
        Bench bench(workers);
        const auto& counters = bench.program->GetCounters();
        std::vector<uint32_t> order(workers);
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 random(workers);
        for (uint32_t round = 0; round < 6; round++)
        {
            std::shuffle(order.begin(), order.end(), random);
            int32_t expected = 0;
            for (uint32_t worker : order)
            {
                NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).size(), round, "not before the last");
                const auto value = static_cast<int32_t>(1000 * round + 7 * worker) - 40;
                expected += value;
                bench.Send(0, worker, round, value);
            }
            NS_TEST_ASSERT_MSG_EQ(bench.AtServer(0).size(), round + 1, "one sum a round");
            const Received& sum = bench.AtServer(0).back();
            NS_TEST_EXPECT_MSG_EQ(sum.value, expected, "the sum");
            NS_TEST_EXPECT_MSG_EQ(sum.regular, true, "of all elements");
            NS_TEST_EXPECT_MSG_EQ(sum.header.packet, round, "of this packet");
            NS_TEST_EXPECT_MSG_EQ(sum.header.children,
                                  static_cast<uint32_t>((1ULL << workers) - 1),
                                  "of all workers");
            NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 1, "held until the result");
            bench.SendResult(0, round);
            NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "free again");
            for (uint32_t worker = 0; worker < workers; worker++)
            {
                NS_TEST_EXPECT_MSG_EQ(bench.received[worker].size(), round + 1, "results");
            }
        }
        NS_TEST_EXPECT_MSG_EQ(counters.completed, 6, "sums");
        NS_TEST_EXPECT_MSG_EQ(counters.held, 6 * (workers - 1), "parts");
        NS_TEST_EXPECT_MSG_EQ(counters.released, 6, "slots freed");
        NS_TEST_EXPECT_MSG_EQ(counters.received, 6 * (workers + 1), "frames");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/** Collisions, duplicates, retransmissions, and the events that free a slot. */
void
TestAtpSlot()
{
    Bench bench(3);
    const auto& counters = bench.program->GetCounters();
    Extra again;
    again.resend = true;

    bench.Send(0, 0, 0, 10);
    bench.Send(0, 0, 0, 10); // a duplicate changes nothing
    NS_TEST_EXPECT_MSG_EQ(counters.repeated, 1, "a duplicate");
    bench.Send(1, 2, 9, 500); // the other job finds the slot taken
    NS_TEST_ASSERT_MSG_EQ(bench.AtServer(1).size(), 1, "its server has it");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(1)[0].header.collision, true, "with the reason");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(1)[0].header.children, 4, "of this worker");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(1)[0].value, 500, "unchanged");
    bench.Send(0, 1, 1, 70); // so does another packet of the same job
    NS_TEST_ASSERT_MSG_EQ(bench.AtServer(0).size(), 1, "to the server");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0)[0].header.collision, true, "with the reason");
    NS_TEST_EXPECT_MSG_EQ(counters.collisions, 2, "collisions");

    // Worker 1 retransmits: its contribution takes that of worker 0 with it.
    bench.Send(0, 1, 0, 20, again);
    NS_TEST_ASSERT_MSG_EQ(bench.AtServer(0).size(), 2, "what is there goes to the server");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0)[1].header.children, 3, "of both workers");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0)[1].value, 30, "each once");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0)[1].header.check, 3, "as proven");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "and the slot is free");
    bench.Send(0, 0, 0, 10, again);
    NS_TEST_ASSERT_MSG_EQ(bench.AtServer(0).size(), 3, "nothing there: passed on");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0)[2].header.children, 1, "alone");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "and takes no slot");
    NS_TEST_EXPECT_MSG_EQ(counters.evicted, 1, "evictions");
    NS_TEST_EXPECT_MSG_EQ(counters.passed, 1, "passed on");

    // A duplicate contribution is not added again.
    bench.Send(0, 0, 5, 10);
    bench.Send(0, 0, 5, 10, again);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().value, 10, "once");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().header.check, 1, "as proven");

    // Neither a request for floats nor another packet's result frees a slot.
    bench.Send(0, 0, 6, 10);
    bench.SendResult(0, 6, true);
    bench.SendResult(0, 5);
    bench.SendResult(1, 6);
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 1, "still there");
    bench.Send(0, 1, 6, 20);
    bench.Send(0, 2, 6, 30);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().value, 60, "the sum");
    // The last contribution is retransmitted: the sum may have been lost.
    const std::size_t count = bench.AtServer(0).size();
    bench.Send(0, 2, 6, 30);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).size(), count + 1, "again");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().value, 60, "unchanged");
    bench.SendResult(0, 6);
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "free");

    // A late duplicate holds the slot until its job is two windows, 8 packets, ahead.
    bench.Send(0, 0, 6, 10);
    bench.Send(0, 0, 13, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().header.collision, true, "not yet");
    bench.Send(0, 0, 14, 1);
    NS_TEST_EXPECT_MSG_EQ(counters.reclaimed, 1, "taken over");
    bench.Send(0, 1, 14, 2);
    bench.Send(0, 2, 14, 3);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().value, 6, "nothing of the duplicate");

    bench.device->Restart();
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "nothing survives a restart");
    NS_TEST_EXPECT_MSG_EQ(counters.refused, 0, "all were right");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");

    Bench hazard(2, CreateWith<AtpProgram>({{"ReclaimStale", "false"}}));
    hazard.Send(0, 0, 0, 10);
    hazard.Send(0, 0, 100, 10);
    NS_TEST_EXPECT_MSG_EQ(hazard.program->GetCounters().collisions, 1, "as released");
}

/** Two levels: sums of racks, sums at the server's switch, and packets forwarded unchanged. */
void
TestAtpLevels()
{
    // Hosts 0 and 1 on leaf 0, 2 and 3 on leaf 1, 4 (worker) and 5 (server) on leaf 2.
    Fabric fabric = FabricHelper().Install(
        BuildTopology("leaf-spine:leaves=3,spines=1", 6, DataRate("100Gbps"), NanoSeconds(500)));
    std::vector<Ptr<AtpProgram>> leaves;
    for (uint32_t leaf = 0; leaf < 3; leaf++)
    {
        leaves.push_back(CreateWith<AtpProgram>({{"Slots", "8"}, {"Verify", "true"}}));
        leaves[leaf]->SetEndpoint(fabric.AddressSwitch(leaf));
        fabric.devicesOfSwitches[leaf]->AddProgram(leaves[leaf]);
    }
    for (uint32_t leaf = 0; leaf < 3; leaf++)
    {
        AtpJob job;
        job.servers = {5};
        job.window = 4;
        job.workers =
            leaf < 2 ? std::vector<uint32_t>{2 * leaf, 2 * leaf + 1} : std::vector<uint32_t>{4};
        if (leaf == 2)
        {
            job.localServers = {5};
            job.otherSwitches = {leaves[0]->GetEndpoint(), leaves[1]->GetEndpoint()};
        }
        leaves[leaf]->AddJob(job);
    }
    std::vector<AtpHeader> sums;
    std::vector<uint32_t> results(5);
    fabric.devices[5]->SetProgramReceiver(AtpHeader::PROTOCOL,
                                          GetAtpServerKey(0),
                                          [&](Frame* frame) {
                                              sums.push_back(frame->As<AtpHeader>());
                                              Frame::Free(frame);
                                          });
    for (uint32_t host = 0; host < 5; host++)
    {
        fabric.devices[host]->SetProgramReceiver(AtpHeader::PROTOCOL,
                                                 0,
                                                 [&results, host](Frame* frame) {
                                                     results[host]++;
                                                     Frame::Free(frame);
                                                 });
    }
    const auto transmit = [&](uint32_t host, uint32_t destination, const AtpHeader& header) {
        Frame* frame = MakeFrame(GetAtpFrameBytes(ELEMENTS, false), LOSSY, host, destination);
        frame->payloadBytes = 4 * ELEMENTS;
        frame->Set(header);
        fabric.devices[host]->GetPort().Send(frame);
        Simulator::Run();
    };
    const auto send = [&](uint32_t host, uint32_t packet, bool resend = false) {
        AtpHeader header;
        header.packet = packet;
        header.slot = 3;
        header.check = 1ULL << host;
        header.isRackSum = host == 4;
        header.workers = host == 4 ? 1 : 1U << host % 2;
        header.children = 1U << host / 2;
        header.fanIn[0] = host == 4 ? 1 : 2;
        header.fanIn[1] = 3;
        header.resend = resend;
        transmit(host, 5, header);
    };
    const auto sendResult = [&](uint32_t packet) {
        AtpHeader header;
        header.isResult = true;
        header.packet = packet;
        header.slot = 3;
        transmit(5, leaves[2]->GetEndpoint(), header);
    };
    for (uint32_t host = 0; host < 5; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(sums.size(), 0, "not before the last");
        send(host, 0);
    }
    NS_TEST_ASSERT_MSG_EQ(sums.size(), 1, "one frame for five workers");
    NS_TEST_EXPECT_MSG_EQ(sums[0].check, 31, "each once");
    NS_TEST_EXPECT_MSG_EQ(sums[0].isRackSum, true, "of whole racks");
    NS_TEST_EXPECT_MSG_EQ(sums[0].children, 7, "all");
    sendResult(0);
    for (uint32_t host = 0; host < 5; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(results[host], 1, "one result");
    }
    for (const auto& leaf : leaves)
    {
        NS_TEST_EXPECT_MSG_EQ(leaf->GetOccupied(0), 0, "free at both levels");
    }

    // Leaf 0 has one of two, leaf 2 has that of leaf 1 and its own. After retransmissions all
    // goes to the server, the partial sum of the server's switch first.
    sums.clear();
    send(0, 1);
    send(2, 1);
    send(3, 1);
    send(4, 1);
    NS_TEST_EXPECT_MSG_EQ(sums.size(), 0, "one is missing");
    send(0, 1, true);
    NS_TEST_ASSERT_MSG_EQ(sums.size(), 2, "two parts");
    NS_TEST_EXPECT_MSG_EQ(sums[0].check, 28, "of leaf 2");
    NS_TEST_EXPECT_MSG_EQ(sums[0].children, 6, "which are a rack and a worker");
    NS_TEST_EXPECT_MSG_EQ(sums[0].isRackSum, true, "whole");
    NS_TEST_EXPECT_MSG_EQ(sums[1].check, 1, "and of leaf 0");
    NS_TEST_EXPECT_MSG_EQ(sums[1].isRackSum, false, "which is part of a rack");
    NS_TEST_EXPECT_MSG_EQ(sums[1].workers, 1, "this one");
    NS_TEST_EXPECT_MSG_EQ(sums[1].children, 1, "of this rack");
    send(1, 1, true);
    NS_TEST_ASSERT_MSG_EQ(sums.size(), 3, "and the last");
    NS_TEST_EXPECT_MSG_EQ(sums[2].check, 2, "alone");
    NS_TEST_EXPECT_MSG_EQ(leaves[0]->GetOccupied(0) + leaves[2]->GetOccupied(0), 0, "sent on");
    NS_TEST_EXPECT_MSG_EQ(leaves[1]->GetOccupied(0), 1, "complete, waits for the result");
    sendResult(1);
    NS_TEST_EXPECT_MSG_EQ(leaves[1]->GetOccupied(0), 0, "which frees it");

    // A complete rack retransmits: its sum joins the partial sum at the server's switch.
    sums.clear();
    send(2, 2);
    send(4, 2);
    send(3, 2);
    send(3, 2, true);
    NS_TEST_ASSERT_MSG_EQ(sums.size(), 1, "one part");
    NS_TEST_EXPECT_MSG_EQ(sums[0].check, 28, "each once");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** Congestion marks, overflow, and the extensions of A2TP and ESA. */
void
TestAtpExtensions()
{
    Extra marked;
    marked.ecn = Ecn::CE;
    Bench bench(2);
    bench.Send(0, 0, 0, 1, marked);
    bench.Send(0, 1, 0, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().header.congested, true, "marks are kept");
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().ecn, Ecn::ECT, "for a new one");
    bench.SendResult(0, 0);
    bench.Send(0, 0, 1, 1);
    bench.Send(0, 1, 1, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().header.congested, false, "then forgotten");
    bench.SendResult(0, 1);

    // Just in range, just out of range at the last element, and already saturated.
    for (const int32_t excess : {0, 2})
    {
        bench.Send(0, 0, 2, MAX_NUMBER - 61 * 2 - 1 + excess);
        bench.Send(0, 1, 2, 0);
        NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().regular, (excess == 0), "saturation");
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().saturated,
                              (excess > 0 ? 1U : 0U),
                              "counted");
        bench.SendResult(0, 2);
    }
    NS_TEST_EXPECT_MSG_EQ(AddSaturating(MAX_NUMBER, -5), MAX_NUMBER, "is sticky");
    NS_TEST_EXPECT_MSG_EQ(AddSaturating(-5, MAX_NUMBER), MAX_NUMBER, "in any order");
    NS_TEST_EXPECT_MSG_EQ(AddSaturating(-MAX_NUMBER, -2), -MAX_NUMBER - 1, "at both ends");
    NS_TEST_EXPECT_MSG_EQ(AddSaturating(-MAX_NUMBER - 1, 7), -MAX_NUMBER - 1, "sticky, too");
    NS_TEST_EXPECT_MSG_EQ(AddSaturating(MAX_NUMBER - 7, 6), MAX_NUMBER - 1, "not too early");

    Extra floats;
    floats.overflow = true;
    bench.Send(0, 0, 3, 9, floats);
    NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().header.overflow, true, "floats pass");
    NS_TEST_EXPECT_MSG_EQ(bench.program->GetOccupied(0), 0, "and take no slot");

    // A2TP: the result reports a collision with another job, not with the same job.
    for (const bool sticky : {true, false})
    {
        Bench a2tp(2, CreateWith<AtpProgram>({{"StickyCollisions", sticky ? "true" : "false"}}));
        a2tp.Send(0, 0, 0, 1);
        a2tp.Send(0, 0, 1, 1); // its own
        a2tp.Send(0, 1, 0, 1);
        NS_TEST_EXPECT_MSG_EQ(a2tp.AtServer(0).back().header.contested, false, "its own");
        a2tp.SendResult(0, 0);
        a2tp.Send(0, 0, 2, 1);
        a2tp.Send(1, 0, 0, 1);
        a2tp.Send(0, 1, 2, 1);
        NS_TEST_EXPECT_MSG_EQ(a2tp.AtServer(0).back().header.contested, sticky, "with the sum");
        a2tp.SendResult(0, 2);
        NS_TEST_EXPECT_MSG_EQ(a2tp.received[0].back().header.contested, sticky, "and result");
        a2tp.Send(0, 0, 3, 1);
        a2tp.SendResult(0, 3);
        NS_TEST_EXPECT_MSG_EQ(a2tp.received[0].back().header.contested, false, "then cleared");
    }

    // ESA: only a higher priority takes a slot; the partial sum goes to its own server.
    Bench esa(3, CreateWith<AtpProgram>({{"Preemption", "true"}}));
    Extra low;
    low.priority = 4;
    Extra high;
    high.priority = 5;
    esa.Send(0, 0, 0, 100, low);
    esa.Send(0, 2, 0, 10, low);
    esa.Send(1, 0, 0, 1, low);
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(1).size(), 1, "the same priority does not");
    esa.Send(1, 1, 7, 5000, high);
    NS_TEST_EXPECT_MSG_EQ(esa.program->GetCounters().preempted, 1, "a higher one does");
    NS_TEST_ASSERT_MSG_EQ(esa.AtServer(0).size(), 1, "what was there");
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(0)[0].value, 110, "is sent on");
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(0)[0].header.children, 5, "as a part");
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(0)[0].header.packet, 0, "of its packet");
    NS_TEST_EXPECT_MSG_EQ(esa.program->GetOccupied(0), 0, "job 0 has lost it");
    NS_TEST_EXPECT_MSG_EQ(esa.program->GetOccupied(1), 1, "job 1 has it");
    esa.Send(0, 1, 0, 7, low);
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(0).back().header.collision, true, "and keeps it");
    esa.Send(1, 0, 7, 300, high);
    esa.Send(1, 2, 7, 20, high);
    NS_TEST_EXPECT_MSG_EQ(esa.AtServer(1).back().value, 5320, "with its own values alone");
}

/** Times of all passes, resources, and named refusals. */
struct AtpResourcesTest
{
    /** @return the switch's refusal of a program, or empty */
    std::string Add(uint32_t elements, uint32_t slots, uint32_t ports, bool extended = false)
    {
        const std::string isExtended = extended ? "true" : "false";
        const auto program =
            CreateWith<AtpProgram>({{"ElementsPerPacket", std::to_string(elements)},
                                    {"Slots", std::to_string(slots)},
                                    {"LoopbackPorts", std::to_string(ports)},
                                    {"StickyCollisions", isExtended},
                                    {"Preemption", isExtended}});
        resources = program->GetResources();
        return RefuseProgram(
            program,
            {{"Stages", std::to_string(stages)}, {"RegisterMemory", std::to_string(memory)}});
    }

    void Run()
    {
        for (const int64_t latency : {0, 400000})
        {
            Bench bench(2,
                        CreateWith<AtpProgram>({{"PassLatency", std::to_string(latency) + "ps"},
                                                {"LoopbackPorts", "1"}}));
            bench.Send(0, 0, 0, 1);
            const int64_t start = PicosecondsNow();
            bench.Send(0, 1, 0, 1);
            // Two links and the loopback, each with the frame's transmission time, and two passes.
            const int64_t line = LineTime(GetAtpFrameBytes(ELEMENTS, false) + 8, 100 * GIGA);
            const int64_t loop = LineTime(GetAtpFrameBytes(ELEMENTS, false) + 20, 100 * GIGA);
            NS_TEST_EXPECT_MSG_EQ(bench.AtServer(0).back().time - start,
                                  2 * (line + 500000) + loop + 2 * latency,
                                  "a sum");
            const int64_t then = PicosecondsNow();
            bench.SendResult(0, 0);
            NS_TEST_EXPECT_MSG_EQ(bench.received[0].back().time - then,
                                  2 * (line + 500000) + 2 * latency,
                                  "a result");
            NS_TEST_EXPECT_MSG_EQ(bench.device->GetRecirculatedBytes(),
                                  GetAtpFrameBytes(ELEMENTS, false),
                                  "what was looped back");
        }
        NS_TEST_EXPECT_MSG_EQ(Add(62, 20000, 16), "", "the released program fits");
        NS_TEST_EXPECT_MSG_EQ(resources.registerBytes,
                              20000U * (62 * 4 + 2 * (4 + 4 + 1 + 1)),
                              "4.96 MB of integers; bitmap, owner, counter, congestion twice");
        NS_TEST_EXPECT_MSG_EQ(resources.stages, 12, "a pipe");
        NS_TEST_EXPECT_MSG_EQ(resources.recirculationPorts, 16, "loopback");
        Add(62, 20000, 16, true);
        NS_TEST_EXPECT_MSG_EQ(resources.registerBytes,
                              20000U * (62 * 4 + 2 * (4 + 4 + 1 + 1 + 1 + 1)),
                              "and collision bit and priority");
        ExpectPart(Add(62, 20000, 57), "57 recirculation ports");
        memory = 5000000;
        ExpectPart(Add(62, 20000, 16), "register memory");
        stages = 11;
        ExpectPart(Add(62, 100, 16), "12 stages");

        Bench bench(2);
        AtpHeader header;
        header.isRackSum = true;
        header.children = 1;
        header.fanIn[1] = 2;
        header.slot = 8;
        bench.Send(0, bench.GetServer(0), header, 0, Ecn::ECT);
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().refused, 1, "a slot that is not there");
        header.slot = 7;
        bench.Send(0, bench.GetServer(0), header, 0, Ecn::ECT, 32);
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().refused, 2, "another size");
        header.job = 2;
        bench.Send(0, bench.GetServer(0), header, 0, Ecn::ECT);
        NS_TEST_EXPECT_MSG_EQ(bench.program->GetCounters().received, 2, "another job's pass");

        const auto refuse = [](Ptr<AtpProgram> program, uint8_t number) {
            AtpJob job;
            job.number = number;
            return GetRefusal([&]() { program->AddJob(job); });
        };
        ExpectPart(refuse(bench.program, 1), "atp job 1 is there already");
        const auto odd = CreateWith<AtpProgram>({{"ElementsPerPacket", "31"}});
        ExpectPart(refuse(odd, 0), "atp job 0: 31 elements per packet (allowed: even numbers");
    }

    uint64_t stages{12};
    uint64_t memory{15 << 20};
    SwitchProgram::Resources resources;
};

Frame*
MakeSum(uint32_t elements, bool isExtended)
{
    Frame* frame = MakeFrame(GetAtpFrameBytes(elements, isExtended), LOSSY, 1, 4);
    frame->ecn = Ecn::ECT;
    frame->flowHash = HashFlow(1, 4, 9);
    AtpHeader header;
    header.job = 9;
    header.packet = 0x01020304;
    header.slot = 0x1ff;
    header.newSlot = 0x2ff;
    header.workers = 0x80000001;
    header.children = 0x40000002;
    header.fanIn[0] = 32;
    header.fanIn[1] = 31;
    header.isRackSum = true;
    header.resend = true;
    header.collision = true;
    header.congested = true;
    header.overflow = true;
    header.contested = isExtended;
    header.priority = isExtended ? 100 : 0;
    frame->Set(header);
    frame->payloadBytes = 4 * elements;
    frame->payload = Create<ByteBuffer>();
    for (uint32_t i = 0; i < 4 * elements; i++)
    {
        frame->payload->bytes.push_back(static_cast<uint8_t>(i + 1));
    }
    return frame;
}

/** Serialization of frames, in both directions. */
void
TestAtpWire()
{
    NS_TEST_EXPECT_MSG_EQ(GetAtpFrameBytes(62, false), 308 + 4, "released packets");
    NS_TEST_EXPECT_MSG_EQ(GetAtpFrameBytes(62, true), 309 + 4, "A2TP's");
    Frame* frame = MakeSum(2, true);
    const Ptr<Packet> packet = ToPacket(*frame);
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    const std::vector<uint8_t> expected{
        0x02, 0,    0, 0,  0,  4,    0x02, 0, 0,  0,   0,    1,    0x07, 0x00, // Ethernet
        0x45, 0x02, 0, 55, 0,  0,    0x40, 0, 64, 253, 0x25, 0xe1,             // IPv4
        10,   0,    0, 2,  10, 0,    0,    5,                                  //
        0x80, 0,    0, 1,  32, 0x9e, 0,    9, 3,  4,   0x01, 0xff, 0x50, 0x1f, // header
        1,    2,    3, 4,  5,  6,    7,    8,                                  // values
        0x40, 0,    0, 2,  31, 0,    1,    2, 0,  0,   0x02, 0xff, 0xe4};
    NS_TEST_ASSERT_MSG_EQ(bytes.size(), expected.size(), "size");
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        if (i != 24 && i != 25) // IPv4's checksum, which the parser verifies
        {
            NS_TEST_EXPECT_MSG_EQ(+bytes[i], +expected[i], "byte " << i);
        }
    }
    Frame::Free(frame);
    for (const auto& [elements, isExtended] :
         {std::pair(2, false), std::pair(62, false), std::pair(62, true), std::pair(64, true)})
    {
        for (const bool isResult : {false, true})
        {
            Frame* sum = MakeSum(static_cast<uint32_t>(elements), isExtended);
            sum->As<AtpHeader>().isResult = isResult;
            const ParsedFrame parsed = FromPacket(*ToPacket(*sum));
            NS_TEST_ASSERT_MSG_EQ(parsed.error, "", elements << " elements");
            const auto& a = sum->As<AtpHeader>();
            const auto& b = parsed.frame->As<AtpHeader>();
            NS_TEST_EXPECT_MSG_EQ((parsed.frame->Is<AtpHeader>()), true, "kind");
            NS_TEST_EXPECT_MSG_EQ(a.isResult, b.isResult, "result");
            NS_TEST_EXPECT_MSG_EQ(+a.job, +b.job, "job");
            NS_TEST_EXPECT_MSG_EQ(a.packet, b.packet, "packet");
            NS_TEST_EXPECT_MSG_EQ(a.slot, b.slot, "slot");
            NS_TEST_EXPECT_MSG_EQ(a.newSlot, b.newSlot, "new slot");
            NS_TEST_EXPECT_MSG_EQ(a.workers, b.workers, "workers");
            NS_TEST_EXPECT_MSG_EQ(a.children, b.children, "children");
            NS_TEST_EXPECT_MSG_EQ(+a.fanIn[0], +b.fanIn[0], "fan-in");
            NS_TEST_EXPECT_MSG_EQ(+a.fanIn[1], +b.fanIn[1], "fan-in");
            NS_TEST_EXPECT_MSG_EQ(
                (b.isRackSum && b.resend && b.collision && b.congested && b.overflow),
                true,
                "flags");
            NS_TEST_EXPECT_MSG_EQ(a.contested, b.contested, "contested");
            NS_TEST_EXPECT_MSG_EQ(+a.priority, +b.priority, "priority");
            NS_TEST_EXPECT_MSG_EQ(parsed.frame->payload->bytes, sum->payload->bytes, "values");
            NS_TEST_EXPECT_MSG_EQ(parsed.frame->flowHash, sum->flowHash, "flow");
            NS_TEST_EXPECT_MSG_EQ(parsed.frame->ecn, Ecn::ECT, "ECN");
            NS_TEST_EXPECT_MSG_EQ(parsed.frame->bytes, sum->bytes, "size");
            Frame::Free(parsed.frame);
            Frame::Free(sum);
        }
    }
    // Malformed packets.
    const auto read = [&](std::size_t at, uint8_t value) {
        std::vector<uint8_t> wrong = bytes;
        wrong[at] = value;
        SetIpv4Checksum(wrong.data() + HEADER_BYTES, (wrong[HEADER_BYTES] & 0xf) * 4);
        const Packet changed(wrong.data(), static_cast<uint32_t>(wrong.size()));
        const ParsedFrame parsed = FromPacket(changed);
        NS_TEST_EXPECT_MSG_EQ(parsed.frame, nullptr, "refused");
        return parsed.error;
    };
    NS_TEST_EXPECT_MSG_EQ(read(17, 53), "an ATP packet of another size", "two bytes less");
    NS_TEST_EXPECT_MSG_EQ(read(17, 44), "an ATP packet of another size", "no header");
    NS_TEST_EXPECT_MSG_EQ(read(40, 1), "ATP job 265 (allowed: up to 255)", "a large job");
    NS_TEST_EXPECT_MSG_EQ(read(14, 0x46), "wrong lengths in the IPv4 header", "with options");
}

const Suite g_suite("atp-program",
                    Duration::QUICK,
                    {{"any order of arrival makes the same sum", TestAtpSum},
                     {"collisions, duplicates, packets sent again, results", TestAtpSlot},
                     {"sums of racks, and sums of these", TestAtpLevels},
                     {"congestion, saturation, floats, sticky collisions, preemption",
                      TestAtpExtensions},
                     {"passes, resources, refusals", RunTest<AtpResourcesTest>},
                     {"bytes of packets", TestAtpWire}});

} // namespace ns3::training::tests::atp_program_test
