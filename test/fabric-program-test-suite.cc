/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/nic-program.h"
#include "ns3/switch-program.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3::training::tests::fabric_program_test
{

/** Consumes frames to its endpoint; every n-th one is multicast to all hosts. */
class CountingProgram : public SwitchProgram
{
  public:
    std::string GetName() const override
    {
        return "counting";
    }

    Resources GetResources() const override
    {
        return resources;
    }

    bool Receive(Frame* frame) override
    {
        if (frame->destination != endpoint)
        {
            return false;
        }
        if (passes[frame->psn]++ < recirculations)
        {
            Recirculate(frame);
            return true;
        }
        if (++count == hosts)
        {
            for (uint32_t host = 0; host < hosts; host++)
            {
                Frame* copy = frame->Clone();
                copy->destination = host;
                Send(copy);
            }
            count = 0;
        }
        Frame::Free(frame);
        return true;
    }

    void Reset() override
    {
        count = 0;
        resets++;
    }

    Resources resources{3, 1000, NanoSeconds(400)}; ///< required resources
    uint32_t endpoint{0};                           ///< endpoint of the program
    uint32_t hosts{0};                              ///< frames per multicast
    uint32_t recirculations{0};                     ///< passes of each frame before it is counted
    uint32_t count{0};                              ///< frames since the last multicast
    uint32_t resets{0};                             ///< restarts of the switch
    std::map<uint32_t, uint32_t> passes;            ///< by frame number
};

/** Halves the size of sent frames, doubles that of received ones, and consumes lossy frames. */
class HalvingProgram : public NicProgram
{
  public:
    Time GetSendLatency() const override
    {
        return NanoSeconds(100);
    }

    Time GetReceiveLatency() const override
    {
        return NanoSeconds(300);
    }

    bool OnSend(Frame& frame) override
    {
        frame.bytes /= 2;
        return Keep(frame);
    }

    bool OnReceive(Frame& frame) override
    {
        frame.bytes *= 2;
        return true;
    }

    uint32_t taken{0}; ///< consumed frames

  private:
    bool Keep(Frame& frame)
    {
        if (frame.priority != LOSSY)
        {
            return true;
        }
        taken++;
        Frame::Free(&frame);
        return false;
    }
};

/** @return arrival time of the multicast at the last host, ps */
int64_t
Run(Time latency, uint32_t recirculations)
{
    constexpr uint32_t HOSTS = 5;
    Fabric fabric = FabricHelper().Install(
        BuildTopology("single-switch", HOSTS, DataRate("100Gbps"), MicroSeconds(1)));
    auto program = CreateObject<CountingProgram>();
    program->endpoint = fabric.AddressSwitch(0);
    program->hosts = HOSTS;
    program->recirculations = recirculations;
    program->resources.latency = latency;
    fabric.devicesOfSwitches[0]->AddProgram(program);
    NS_TEST_EXPECT_MSG_EQ(program->endpoint, HOSTS, "the first endpoint behind the hosts");
    NS_TEST_EXPECT_MSG_EQ(fabric.AddressSwitch(0), HOSTS, "once only");
    std::vector<Arrivals> arrivals(HOSTS);
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        NoteArrivals(fabric.devices[host], arrivals[host]);
        for (uint32_t round = 0; round < 3; round++)
        {
            Frame* frame = MakeFrame(1000, LOSSLESS, host, program->endpoint);
            frame->psn = round * HOSTS + host;
            fabric.devices[host]->GetPort().Send(frame);
        }
        fabric.devices[host]->GetPort().Send(MakeFrame(500, LOSSY, host, (host + 1) % HOSTS));
    }
    Simulator::Run();
    for (const Arrivals& ofHost : arrivals)
    {
        NS_TEST_EXPECT_MSG_EQ(ofHost.size(), 3 + 1, "three multicasts and a neighbor's frame");
    }
    NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetRecirculatedBytes(),
                          15000 * recirculations,
                          "recirculated bytes");
    fabric.devicesOfSwitches[0]->Restart();
    NS_TEST_EXPECT_MSG_EQ(program->resets, 1, "a restart reaches it");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    const int64_t first = arrivals[0][0].bytes == 1000 ? arrivals[0][0].time : arrivals[0][1].time;
    Simulator::Destroy();
    return first;
}

/**
 * A switch program receives the frames addressed to it, holds them, and multicasts; its latency and
 * its recirculations take time.
 */
void
TestSwitchProgram()
{
    // Two links of 1 us, and the transmission time on each.
    const int64_t plain = 2 * (1000000 + LineTime(1008, 100 * GIGA));
    NS_TEST_EXPECT_MSG_EQ(Run(Time(0), 0), plain, "without latency");
    NS_TEST_EXPECT_MSG_EQ(Run(NanoSeconds(400), 0), plain + 400000, "with the latency of a pass");
    // The five frames that arrive together pass the recirculation port one after the other.
    NS_TEST_EXPECT_MSG_EQ(Run(Time(0), 1),
                          plain + 5 * LineTime(1020, 100 * GIGA),
                          "with a recirculation");
}

/** A program that exceeds the switch's resources is refused, with the name of the resource. */
void
TestSwitchResources()
{
    auto device = CreateObject<SwitchDevice>();
    device->SetAttribute("Stages", UintegerValue(5));
    device->SetAttribute("RegisterMemory", UintegerValue(2500));
    const auto add = [&](uint32_t stages, uint64_t bytes) {
        auto program = CreateObject<CountingProgram>();
        program->resources.stages = stages;
        program->resources.registerBytes = bytes;
        return GetRefusal([&] { device->AddProgram(program); });
    };
    NS_TEST_EXPECT_MSG_EQ(add(3, 1000), "", "the first fits");
    ExpectPart(add(3, 1000), "6 stages", "stages");
    ExpectPart(add(2, 2000), "register memory", "memory");
    NS_TEST_EXPECT_MSG_EQ(add(2, 1500), "", "another one fits exactly");
    device->Dispose();
}

/** A NIC program changes sizes, consumes frames, and adds its latency. */
void
TestNicProgram()
{
    Fabric fabric =
        FabricHelper().Install(MakeChain({Hop{100 * GIGA, 1000000}, Hop{100 * GIGA, 1000000}}));
    auto sender = CreateObject<HalvingProgram>();
    auto receiver = CreateObject<HalvingProgram>();
    fabric.devices[0]->SetProgram(sender);
    fabric.devices[1]->SetProgram(receiver);
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    for (uint32_t i = 0; i < 10; i++)
    {
        fabric.devices[0]->GetPort().Send(MakeFrame(2000, i % 2 ? LOSSY : LOSSLESS));
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 5, "the others were taken");
    NS_TEST_EXPECT_MSG_EQ(sender->taken, 5, "all lossy ones");
    const int64_t line = LineTime(1008, 100 * GIGA);
    for (uint32_t i = 0; i < 5; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].bytes, 2000, "as large as before");
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].time,
                              2 * (1000000 + line) + 400000 + i * LineTime(1020, 100 * GIGA),
                              "half as long on the line, and both latencies");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

const Suite g_suite("fabric-program",
                    Duration::QUICK,
                    {{"a program counts frames and multicasts", TestSwitchProgram},
                     {"resources of a switch are finite", TestSwitchResources},
                     {"a program in a NIC halves what is sent", TestNicProgram}});

} // namespace ns3::training::tests::fabric_program_test
