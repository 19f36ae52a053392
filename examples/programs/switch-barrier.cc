/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * A complete switch program: a barrier. Each host sends a frame when it reaches the barrier. When
 * the frames of all hosts have arrived, the switch releases them (see doc/switch-programs.rst):
 *
 *   ./ns3w run "switch-barrier --ranks=32 --loss=0.01"
 */

#include "../hidden-global-values.h"

#include "ns3/fabric-wire-format.h"
#include "ns3/json-output.h"
#include "ns3/program-options.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"
#include "ns3/topology-builder.h"
#include "ns3/training-program.h"
#include "ns3/training-version.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Number of the group; groups with separate barriers would have other numbers.
constexpr uint8_t GROUP = 9;

/** The header of this system's frames. */
struct BarrierHeader
{
    static constexpr uint16_t PROTOCOL = 256; ///< protocol number; up to 255 are reserved

    uint8_t group{GROUP}; ///< hosts that share the barrier
    uint32_t round{0};    ///< number of the barrier, from 1
};

constexpr uint16_t BARRIER_UDP_PORT = 0xbf00;
constexpr uint32_t BARRIER_HEADER_BYTES = 8;

/** Serializes the header. */
void
PutBarrier(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<BarrierHeader>();
    PutUdp(out, frame, BARRIER_UDP_PORT, UDP_BYTES + BARRIER_HEADER_BYTES);
    PutNumber(out, header.group, 4);
    PutNumber(out, header.round, 4);
}

/** Parses the bytes of PutBarrier(). */
std::string
ReadBarrier(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    if (bytes != UDP_BYTES + BARRIER_HEADER_BYTES)
    {
        return "a barrier's frame of another size";
    }
    BarrierHeader header;
    header.group = static_cast<uint8_t>(GetWord(udp + UDP_BYTES));
    header.round = GetWord(udp + UDP_BYTES + 4);
    frame.Set(header);
    return CheckUdp(udp, bytes);
}

/** @return receiver key of a frame at hosts */
uint32_t
GetGroup(const Frame& frame)
{
    return frame.As<BarrierHeader>().group;
}

const WireFormat::Entry g_barrier({"barrier",
                                   BarrierHeader::PROTOCOL,
                                   &GetGroup,
                                   &PutBarrier,
                                   {WireFormat::Udp(BARRIER_UDP_PORT, &ReadBarrier)}});

/** @return a new frame of a host or the switch */
Frame*
MakeBarrierFrame(uint32_t source, uint32_t destination, uint32_t round)
{
    BarrierHeader header;
    header.round = round;
    Frame* frame = Frame::Make(header);
    frame->bytes = Frame::MIN_BYTES;
    frame->source = source;
    frame->destination = destination;
    frame->flowHash = HashFlow(source, destination, GROUP);
    return frame;
}

/** Counts frames, one per host and round, and multicasts when all have arrived. */
class BarrierProgram : public SwitchProgram
{
  public:
    static constexpr uint32_t MAX_HOSTS = 64; ///< bits of the register

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("BarrierProgram")
                                .SetParent<SwitchProgram>()
                                .AddConstructor<BarrierProgram>()
                                .AddAttribute("PassLatency",
                                              "Latency of a pass through the pipeline",
                                              TimeValue(NanoSeconds(400)),
                                              MakeTimeAccessor(&BarrierProgram::m_latency),
                                              MakeTimeChecker(Time(0)));
        return tid;
    }

    /**
     * @param hosts number of participating endpoints, 0 to hosts - 1
     * @throw ConfigurationError if the register has too few bits
     */
    void SetHosts(uint32_t hosts)
    {
        if (hosts == 0 || hosts > MAX_HOSTS)
        {
            throw ConfigurationError("barrier of " + std::to_string(hosts) +
                                     " hosts (allowed: 1 to " + std::to_string(MAX_HOSTS) + ")");
        }
        m_hosts = hosts;
    }

    std::string GetName() const override
    {
        return "barrier";
    }

    Resources GetResources() const override
    {
        Resources resources;
        resources.stages = 2;                                       // the round, then the bitmap
        resources.registerBytes = sizeof(m_round) + sizeof(m_seen); // exactly its state
        resources.latency = m_latency;
        return resources;
    }

    bool Receive(Frame* frame) override
    {
        if (frame->destination != GetEndpoint() || !frame->Is<BarrierHeader>())
        {
            return false; // not addressed to this program: the switch forwards it
        }
        const uint32_t round = frame->As<BarrierHeader>().round;
        const uint32_t host = frame->source;
        if (host >= m_hosts)
        {
            Frame::Free(frame);
            return true;
        }
        if (round > m_round)
        {
            // The first frame of a round, or after a restart of the hosts' current round.
            m_round = round;
            m_seen = 0;
        }
        const uint64_t all = ~uint64_t{0} >> (MAX_HOSTS - m_hosts);
        const bool isOver = round < m_round || m_seen == all;
        m_seen |= uint64_t{round == m_round} << host; // a duplicate changes nothing
        if (isOver)
        {
            Release(*frame, host, round); // the host has lost its release
            repeated++;
        }
        else if (m_seen == all)
        {
            for (uint32_t other = 0; other < m_hosts; other++)
            {
                Release(*frame, other, round);
            }
            multicasts++;
        }
        Frame::Free(frame);
        return true;
    }

    uint64_t multicasts{0}; ///< completed rounds
    uint64_t repeated{0};   ///< releases resent to single hosts

  private:
    void Reset() override
    {
        m_round = 0;
        m_seen = 0;
    }

    void Release(const Frame& cause, uint32_t host, uint32_t round)
    {
        Frame* frame = MakeBarrierFrame(GetEndpoint(), host, round);
        frame->ingress = cause.ingress; // the buffer account it is charged to
        Send(frame);
    }

    uint32_t m_hosts{0};
    Time m_latency;
    uint32_t m_round{0}; // registers
    uint64_t m_seen{0};
};

NS_OBJECT_ENSURE_REGISTERED(BarrierProgram);

/** A host that goes from barrier to barrier, and retransmits if a release takes too long. */
class BarrierHost
{
  public:
    /**
     * @param device its NIC
     * @param switchEndpoint endpoint of the program
     * @param rounds number of barriers
     * @param timeout retransmission timeout, longer than a round
     */
    BarrierHost(Ptr<HostDevice> device, uint32_t switchEndpoint, uint32_t rounds, Time timeout)
        : files(nullptr),
          m_device(device),
          m_switch(switchEndpoint),
          m_rounds(rounds),
          m_timeout(timeout)
    {
        device->SetProgramReceiver(BarrierHeader::PROTOCOL, GROUP, [this](Frame* frame) {
            OnFrame(frame);
        });
    }

    void Start()
    {
        m_round = 1;
        Ask();
    }

    RunFiles* files;    ///< record each round; null: none
    Time finished;      ///< completion of the last round
    uint64_t resent{0}; ///< frames retransmitted

  private:
    void Record()
    {
        if (files)
        {
            CollectiveRow row;
            row.rank = m_device->GetEndpoint();
            row.iteration = m_round - 1;
            row.operation = "barrier";
            row.algorithm = "switch";
            files->AddCollective(row, m_begin, Simulator::Now());
        }
        m_begin = Simulator::Now();
    }

    void Ask()
    {
        m_device->GetPort().Send(MakeBarrierFrame(m_device->GetEndpoint(), m_switch, m_round));
        m_timer = Simulator::Schedule(m_timeout, &BarrierHost::OnTimer, this);
    }

    void OnTimer()
    {
        resent++;
        Ask();
    }

    void OnFrame(Frame* frame)
    {
        const bool isAnswer = frame->As<BarrierHeader>().round == m_round && finished.IsZero();
        Frame::Free(frame);
        if (!isAnswer)
        {
            return; // a duplicate
        }
        Simulator::Cancel(m_timer);
        Record();
        if (m_round == m_rounds)
        {
            finished = Simulator::Now();
            return;
        }
        m_round++;
        Ask();
    }

    Ptr<HostDevice> m_device;
    uint32_t m_switch;
    uint32_t m_rounds;
    Time m_timeout;
    uint32_t m_round{0};
    Time m_begin; // of the round
    EventId m_timer;
};

/** What a controller does before the simulation: sets up program, address and hosts. */
class BarrierHelper
{
  public:
    /**
     * @param fabric its first switch gets the program
     * @param rounds number of barriers of each host
     * @param timeout of each host
     * @throw ConfigurationError if the switch lacks the resources of the program
     */
    BarrierHelper(Fabric& fabric, uint32_t rounds, Time timeout)
        : program(CreateObject<BarrierProgram>())
    {
        const uint32_t endpoint = fabric.AddressSwitch(0);
        const auto count = static_cast<uint32_t>(fabric.devices.size());
        program->SetEndpoint(endpoint);
        program->SetHosts(count);
        fabric.devicesOfSwitches[0]->AddProgram(program);
        for (uint32_t host = 0; host < count; host++)
        {
            hosts.push_back(
                std::make_unique<BarrierHost>(fabric.devices[host], endpoint, rounds, timeout));
            // In the context of its node, because nodes interact only by frames.
            Simulator::ScheduleWithContext(fabric.hosts.Get(host)->GetId(),
                                           Time(0),
                                           &BarrierHost::Start,
                                           hosts.back().get());
        }
    }

    Ptr<BarrierProgram> program;
    std::vector<std::unique_ptr<BarrierHost>> hosts;
};

/** Runs barriers with the given options, and prints their duration. */
int
Barriers(int argc, char* argv[])
{
    uint64_t ranks = 16;
    uint64_t rounds = 1000;
    DataRate rate(100000000000);
    Time delay = NanoSeconds(500);
    double loss = 0;
    std::string jsonFile;
    RunFilesOptions fileOptions;
    ProgramOptions options("switch-barrier", "Barriers by a program in a switch.");
    options.Group("Barrier");
    options.AddUnsigned("ranks", "hosts on the switch", ranks, 1, BarrierProgram::MAX_HOSTS);
    options.AddUnsigned("rounds", "barriers in a row", rounds, 1, 1 << 20);
    options.AddRate("rate", "line rate of every link", rate);
    options.AddTime("delay", "propagation delay of every link", delay);
    options.AddDouble("loss", "probability that a link loses a frame", loss, 0, 0.5);
    options.AddJson(jsonFile);
    fileOptions.AddTo(options);
    options.Parse(argc, argv);

    const JsonOutput json(jsonFile);
    const auto topology = BuildTopology("single-switch", static_cast<uint32_t>(ranks), rate, delay);
    Fabric fabric = FabricHelper().Install(topology);
    FaultPlan faults;
    faults.AddLoss("*", loss);
    faults.Apply(fabric, Time(0));
    // A host finishes a round when the last bit of the release arrives, including the preamble.
    const Time line = rate.CalculateBytesTxTime(Frame::MIN_BYTES + Frame::PREAMBLE_BYTES);
    TimeValue latency;
    CreateObject<BarrierProgram>()->GetAttribute("PassLatency", latency);
    const Time least = 2 * (line + delay) + latency.Get();
    BarrierHelper barrier(fabric, static_cast<uint32_t>(rounds), least + MicroSeconds(100));
    fileOptions.Check(ranks);
    std::optional<RunFiles> files;
    if (fileOptions.IsGiven())
    {
        files.emplace(fileOptions, fabric, options.GetName(), options.ToJson().Write());
        for (const auto& host : barrier.hosts)
        {
            host->files = &*files;
        }
    }
    Simulator::Run();
    if (files)
    {
        files->Finish();
        files->Close(barrier.program->multicasts == rounds ? "" : "not all barriers are complete");
    }

    Time end;
    uint64_t resent = 0;
    for (const auto& host : barrier.hosts)
    {
        end = std::max(end, host->finished);
        resent += host->resent;
    }
    const double mean = end.GetSeconds() * 1e6 / static_cast<double>(rounds);
    if (jsonFile != "-")
    {
        std::printf("%llu barriers of %llu hosts: %.3f us each (without losses %.3f us), "
                    "%llu multicasts, %llu frames sent again, %llu answered alone\n",
                    static_cast<unsigned long long>(rounds),
                    static_cast<unsigned long long>(ranks),
                    mean,
                    least.GetSeconds() * 1e6,
                    static_cast<unsigned long long>(barrier.program->multicasts),
                    static_cast<unsigned long long>(resent),
                    static_cast<unsigned long long>(barrier.program->repeated));
    }
    auto document = JsonValue::Object();
    document.Set("barrier_us", mean)
        .Set("lower_bound_us", least.GetSeconds() * 1e6)
        .Set("multicasts", barrier.program->multicasts)
        .Set("frames_sent_again", resent)
        .Set("answered_alone", barrier.program->repeated);
    AddRunCost(document, GetRunCost(fabric));
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    return barrier.program->multicasts == rounds ? 0 : 4;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("switch-barrier", [&] { return Barriers(argc, argv); });
}
