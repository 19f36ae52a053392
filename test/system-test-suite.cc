/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "run-test-common.h"

#include "ns3/cluster-command-line.h"
#include "ns3/collective-measurement.h"
#include "ns3/object-vector.h"
#include "ns3/program-options.h"
#include "ns3/rdma-transport.h"
#include "ns3/roce-wire-format.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-transport.h"
#include "ns3/training-attribute-list.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ns3::training::tests::system_test
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& transport, const std::string& topology)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.transport = transport;
    options.topology = topology;
    return options;
}

/** Measures one collective on a new cluster. */
CollectiveMeasurement
Measure(const ClusterOptions& options,
        CollectiveOperation operation,
        uint64_t bytes,
        bool real = false,
        uint32_t repetitions = 1)
{
    CollectiveMeasurement result;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        for (uint32_t i = 0; i < repetitions; i++)
        {
            result = MeasureCollective(cluster, run, operation, bytes, real, 7);
        }
    }
    Simulator::Destroy();
    return result;
}

/** @return transmission time of a frame's payload, s */
double
GetFrameSeconds(uint64_t payload)
{
    return static_cast<double>(payload) * 80e-12;
}

/** @return time of one message over two hops at 100 Gbit/s, 500 ns each */
double
GetStepSeconds(uint64_t bytes)
{
    constexpr uint64_t MTU = 4096;
    const uint64_t packets = std::max<uint64_t>(1, (bytes + MTU - 1) / MTU);
    double line = 0;
    for (uint64_t i = 0; i + 1 < packets; i++)
    {
        line += GetDataFrameBytes(i == 0 ? WRITE_FIRST : WRITE_MIDDLE, MTU) + 20;
    }
    const uint32_t last =
        GetDataFrameBytes(packets == 1 ? WRITE_ONLY_IMMEDIATE : WRITE_LAST_IMMEDIATE,
                          static_cast<uint32_t>(bytes - (packets - 1) * MTU)) +
        8;
    // At the switch, the last frame waits until the previous one has left.
    const uint32_t before =
        packets == 1 ? last
                     : GetDataFrameBytes(packets == 2 ? WRITE_FIRST : WRITE_MIDDLE, MTU) + 20;
    return 1e-6 + (line + before + last) * 80e-12;
}

/**
 * A ring all-reduce on one switch takes 2(N-1) steps. Each is the closed form of a message of S/N
 * bytes over two store-and-forward hops.
 */
void
TestRingTime()
{
    for (uint32_t ranks : {2, 3, 5, 8, 16})
    {
        for (uint64_t bytes :
             {1ULL, 100ULL, 4096ULL, 65536ULL, 1048576ULL, 16777216ULL, 268435456ULL})
        {
            if (bytes == 268435456ULL && ranks != 2 && ranks != 16)
            {
                continue; // two of the largest size suffice
            }
            const ClusterOptions options = MakeOptions(ranks, "rdma", "single-switch");
            const double time = Measure(options, CollectiveOperation::ALL_REDUCE, bytes).seconds;
            const double expected = 2 * (ranks - 1) * GetStepSeconds((bytes + ranks - 1) / ranks);
            NS_TEST_EXPECT_MSG_EQ_TOL(time / expected,
                                      1,
                                      0.01,
                                      ranks << " ranks, " << bytes << " bytes");
            // Equals the sum of bandwidth term and step latencies.
            const double goodput = 12.5e9 * 4096 / (4096 + 82);
            const double formula =
                2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) / goodput +
                2 * (ranks - 1) *
                    (GetStepSeconds(1) + GetFrameSeconds(std::min<uint64_t>(4096, bytes / ranks)));
            NS_TEST_EXPECT_MSG_EQ_TOL(time / formula,
                                      1,
                                      (bytes >= 16777216 ? 0.01 : 0.08),
                                      ranks << " ranks, " << bytes << " bytes, formula");
        }
    }
}

/**
 * The two trees send 2S bytes from each inner rank, also if leaves could run ahead, and the last
 * segment passes up and down all links on its way.
 */
void
TestTreeTime()
{
    constexpr uint64_t BYTES = 64 << 20;
    const double goodput = 12.5e9 * 4096 / (4096 + 82);
    for (const auto& [ranks, levels] :
         {std::pair(4, 2), {5, 3}, {6, 3}, {8, 3}, {16, 4}, {32, 5}, {64, 6}})
    {
        for (const Time& delay : {NanoSeconds(500), MicroSeconds(100)})
        {
            for (const std::string control : {"none", "dcqcn"})
            {
                ClusterOptions options = MakeOptions(ranks, "rdma", "single-switch");
                options.algorithm = "double-binary-tree";
                options.congestionControl = control;
                options.delay = delay;
                const double time =
                    Measure(options, CollectiveOperation::ALL_REDUCE, BYTES).seconds;
                const double expected = 2 * BYTES / goodput + 4 * levels * delay.GetSeconds();
                NS_TEST_EXPECT_MSG_EQ_TOL(time / expected,
                                          1,
                                          0.05,
                                          ranks << " ranks, " << control << ", "
                                                << delay.As(Time::US));
            }
        }
    }
}

/** One rank, empty vectors, more than 4 GiB: no special cases. */
void
TestExtremeSize()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{5} << 30})
        {
            const auto alone = Measure(MakeOptions(1, transport, "single-switch"),
                                       CollectiveOperation::ALL_REDUCE,
                                       bytes);
            NS_TEST_EXPECT_MSG_EQ(alone.seconds, 0, "one rank has nothing to do");
            NS_TEST_EXPECT_MSG_EQ(alone.busBandwidth, 0, "and no bandwidth");
        }
        const auto nothing =
            Measure(MakeOptions(5, transport, "single-switch"), CollectiveOperation::ALL_REDUCE, 0);
        NS_TEST_EXPECT_MSG_EQ(nothing.seconds, 0, "0 bytes take no time");
    }
    // Sizes do not wrap at 32 bits.
    ClusterOptions options = MakeOptions(2, "rdma", "single-switch");
    options.mtu = 9000;
    const uint64_t large = (uint64_t{5} << 30) + 4;
    const auto broadcast = Measure(options, CollectiveOperation::BROADCAST, large);
    NS_TEST_EXPECT_MSG_EQ(broadcast.bytes, large, "size");
    NS_TEST_EXPECT_MSG_EQ_TOL(broadcast.efficiency, 1, 0.01, "time of more than 4 GiB");
}

/**
 * Real payload arrives and is added exactly, with both transports, on an intact and a lossy
 * network.
 */
void
TestRealPayload()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        for (uint32_t ranks : {2, 3, 7})
        {
            for (double loss : {0.0, 0.01})
            {
                for (CollectiveOperation operation : GetCollectiveOperations())
                {
                    ClusterOptions options = MakeOptions(ranks, transport, "single-switch");
                    options.loss = loss;
                    const auto result = Measure(options, operation, 100004, true, 2);
                    NS_TEST_EXPECT_MSG_EQ(result.mismatch,
                                          "",
                                          transport << " " << training::GetName(operation));
                    NS_TEST_EXPECT_MSG_EQ(result.verified, true, "compared");
                }
                ClusterOptions options = MakeOptions(ranks, transport, "single-switch");
                options.algorithm = "parameter-server:servers=" + std::to_string(ranks - 1);
                options.loss = loss;
                NS_TEST_EXPECT_MSG_EQ(
                    Measure(options, CollectiveOperation::ALL_REDUCE, 100004, true).mismatch,
                    "",
                    transport << " parameter-server");
            }
        }
    }
}

/** @return keys without which an algorithm does not run */
std::string
GetKeys(const std::string& name)
{
    if (name == "per-dimension")
    {
        const std::string each = "ring+direct:window=1";
        return ":splits=2,all-reduce=" + each + ",reduce-scatter=" + each + ",all-gather=" + each +
               ",all-to-all=" + each;
    }
    if (name != "nccl-graph")
    {
        return "";
    }
    return ":file=" +
           WriteFile("graph.xml", R"(<graphs version="1"><graph id="0" pattern="4" nchannels="2">
<channel><gpu rank="0"/><gpu rank="1"/></channel><channel><gpu rank="1"/><gpu rank="0"/></channel>
</graph></graphs>)");
}

uint32_t
Check(const std::string& name, CollectiveOperation operation, ClusterOptions options)
{
    options.algorithm = name;
    const std::string what = name + " " + training::GetName(operation) + " " + options.topology;
    try
    {
        const auto result = Measure(options, operation, 4004, true);
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", what);
        NS_TEST_EXPECT_MSG_EQ(result.verified, true, what << " compared");
    }
    catch (const ConfigurationError& error)
    {
        Simulator::Destroy();
        const std::string text = error.what();
        ExpectPart(text, "(allowed: ");
        return 0;
    }
    return 1;
}

/**
 * Real payload arrives and is added exactly with every algorithm and operation and both transports.
 * Algorithms that do not support the ranks or the network are refused before the run.
 */
void
TestEveryAlgorithm()
{
    for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
    {
        const std::string spelled = name + GetKeys(name);
        uint32_t runs = 0;
        for (CollectiveOperation operation : algorithm.operations)
        {
            for (const std::string transport : {"rdma", "tcp", "uec"})
            {
                runs += Check(spelled, operation, MakeOptions(6, transport, "single-switch"));
                runs += Check(spelled, operation, MakeOptions(8, transport, "torus:2x4"));
                runs += Check(spelled, operation, MakeOptions(8, transport, "bigraph:m=2,n=4"));
            }
        }
        NS_TEST_EXPECT_MSG_GT(runs, 0, name << " runs nowhere");
    }
}

/** Every sent frame and byte is received, lost or dropped; none is left over. */
void
TestConservation()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        ClusterOptions options = MakeOptions(8, transport, "fat-tree:k=4");
        options.loss = 0.002;
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 1 << 20, false, 1);
            Simulator::Stop(Seconds(3)); // frames in flight arrive
            Simulator::Run();
            const auto& fabric = cluster.GetFabric();
            uint64_t lost = 0;
            for (uint32_t link = 0; link < fabric.channels.size(); link++)
            {
                for (uint32_t end = 0; end < 2; end++)
                {
                    const auto& from = fabric.channels[link]->GetPort(end).GetCounters();
                    const auto& to = fabric.channels[link]->GetPort(1 - end).GetCounters();
                    NS_TEST_EXPECT_MSG_EQ(from.transmittedFrames,
                                          to.receivedFrames + from.lostFrames,
                                          "frames on link " << link);
                    NS_TEST_EXPECT_MSG_EQ(from.transmittedBytes,
                                          to.receivedBytes + from.lostBytes,
                                          "bytes on link " << link);
                    lost += from.lostFrames;
                }
            }
            NS_TEST_EXPECT_MSG_GT(lost, 0, "the test needs losses");
            for (const auto& device : fabric.devicesOfSwitches)
            {
                uint64_t in = 0;
                uint64_t out = 0;
                for (uint16_t i = 0; i < device->GetNPorts(); i++)
                {
                    const auto& counters = device->GetPort(i).GetCounters();
                    in += counters.receivedFrames - counters.pausesReceived;
                    out +=
                        counters.transmittedFrames - counters.pausesSent + counters.droppedFrames;
                }
                NS_TEST_EXPECT_MSG_EQ(in, out, "frames through a switch");
                NS_TEST_EXPECT_MSG_EQ(device->GetBuffer().GetUsed(), 0, "buffer is empty");
            }
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "no frame is left over");
        }
        Simulator::Destroy();
    }
}

/** TCP fills an idle link, and recovers from incast. */
void
TestTcpSpeed()
{
    // Two ranks: a broadcast is one long flow; the path crosses five switches.
    ClusterOptions options = MakeOptions(2, "tcp", "leaf-spine:leaves=2,spines=1");
    const auto flow = Measure(options, CollectiveOperation::BROADCAST, 128 << 20, false, 2);
    NS_TEST_EXPECT_MSG_GT(flow.busBandwidth, 0.9 * 12.5, "payload of a long flow, GB/s");

    // 15 to 1 and back: the server's link receives 15 vectors, then sends 15.
    options = MakeOptions(16, "tcp", "single-switch");
    options.algorithm = "parameter-server";
    const auto incast = Measure(options, CollectiveOperation::ALL_REDUCE, 4 << 20, false, 2);
    const double ideal = 2 * 15 * (4 << 20) / 12.5e9;
    NS_TEST_EXPECT_MSG_LT(incast.seconds, 2 * ideal, "many to one");
    // With a buffer slightly larger than the headroom, senders are paused most of the time.
    options.buffer = 1200 << 10;
    const auto shallow = Measure(options, CollectiveOperation::ALL_REDUCE, 4 << 20, false, 2);
    NS_TEST_EXPECT_MSG_LT(shallow.seconds, 20 * ideal, "many to one, shallow buffer");
}

/** TCP and RDMA on the same links: both make progress, and neither starves. */
struct SharedLinkTest
{
    void Run()
    {
        const Cluster cluster(MakeOptions(2, "tcp", "single-switch"));
        const auto& fabric = cluster.GetFabric();
        std::vector<Ptr<RdmaTransport>> transports;
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            auto nic = CreateObject<RdmaNic>();
            nic->Attach(fabric.devices[rank]);
            auto transport = CreateObject<RdmaTransport>();
            transport->SetGroup(rank, {0, 1});
            transport->SetNics({nic});
            transport->SetMessageHandler([this](uint32_t, const Message& message) {
                rdmaBytes += message.bytes;
                rdmaDone = Simulator::Now().GetSeconds();
            });
            transports.push_back(transport);
        }
        constexpr uint64_t BYTES = 64 << 20;
        transports[0]->Send(1, {1, BYTES});
        GuardedRun run(cluster);
        const auto tcp =
            MeasureCollective(cluster, run, CollectiveOperation::BROADCAST, BYTES, false, 1);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        Simulator::Destroy();
        const double alone = BYTES / 12.5e9;
        NS_TEST_EXPECT_MSG_EQ(rdmaBytes, BYTES, "RDMA message");
        // Each has at least half of the link while both send, so neither takes 2.3 times its time.
        NS_TEST_EXPECT_MSG_LT(tcp.seconds, 2.3 * alone, "TCP beside RDMA");
        NS_TEST_EXPECT_MSG_LT(rdmaDone, 2.3 * alone, "RDMA beside TCP");
        NS_TEST_EXPECT_MSG_GT(std::max(tcp.seconds, rdmaDone), 1.9 * alone, "they do share");
    }

    uint64_t rdmaBytes{0};
    double rdmaDone{0};
};

/** Equal seeds give equal results to the last picosecond; another seed gives different ones. */
void
TestDeterminism()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        ClusterOptions options = MakeOptions(8, transport, "fat-tree:k=4");
        options.loss = 0.001;
        const double first = Measure(options, CollectiveOperation::ALL_REDUCE, 1 << 20).seconds;
        const double second = Measure(options, CollectiveOperation::ALL_REDUCE, 1 << 20).seconds;
        RngSeedManager::SetRun(2);
        const double third = Measure(options, CollectiveOperation::ALL_REDUCE, 1 << 20).seconds;
        RngSeedManager::SetRun(1);
        NS_TEST_EXPECT_MSG_EQ(first, second, transport << ": the same seed");
        NS_TEST_EXPECT_MSG_NE(first, third, transport << ": another run number");
    }
}

/** A link that drops everything ends the run with the waiting ranks and what they wait for. */
void
TestDeadLink()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        ClusterOptions options = MakeOptions(3, transport, "single-switch");
        options.loss = 1;
        const std::string text = GetStuck([&options] {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 3000, false, 1);
        });
        Simulator::Destroy();
        for (const std::string part : {"rank 1 waits in all-reduce 0 (ring) at step 0",
                                       "for chunk 2 (1000 bytes) from rank 0",
                                       "the path from rank 0 to rank 1 failed"})
        {
            ExpectPart(text, part, transport);
        }
    }
}

/** A whole job: the times are consistent and between the compute time and the lower bound. */
void
TestWholeJob()
{
    LayeredModel workload;
    workload.name = "three layers";
    workload.layers = {{"a", 500000, MicroSeconds(50), MicroSeconds(100)},
                       {"b", 250000, MicroSeconds(20), MicroSeconds(70)},
                       {"c", 300000, MicroSeconds(30), MicroSeconds(60)}};
    workload.update = MicroSeconds(10);
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        const ClusterOptions options = MakeOptions(5, transport, "fat-tree:k=4");
        const auto overlapped = RunParts(options, workload, 1 << 20, true);
        const auto naive = RunParts(options, workload, 1 << 20, false);
        NS_TEST_ASSERT_MSG_EQ(overlapped.size(), 3, "iterations");
        for (uint32_t i = 0; i < 3; i++)
        {
            const auto& a = overlapped[i];
            const auto& b = naive[i];
            NS_TEST_EXPECT_MSG_EQ_TOL(a.computeTimeS, 340e-6, 1e-12, "compute");
            NS_TEST_EXPECT_MSG_EQ_TOL(a.idleS + a.computeTimeS,
                                      a.iterationTimeS,
                                      1e-12,
                                      "the parts add up");
            NS_TEST_EXPECT_MSG_LT(a.iterationTimeS, b.iterationTimeS, "overlap helps");
            NS_TEST_EXPECT_MSG_GT(b.communicationTimeS, b.lowerBoundS, "above the bound");
            NS_TEST_EXPECT_MSG_EQ_TOL(b.idleS,
                                      b.communicationTimeS,
                                      (transport == "rdma" ? 2e-6 : 0.05 * b.communicationTimeS),
                                      "without overlap nothing is hidden");
            if (i > 0)
            {
                NS_TEST_EXPECT_MSG_EQ(a.startS, overlapped[i - 1].endS, "no gap");
            }
        }
    }
    const ClusterOptions alone = MakeOptions(1, "rdma", "single-switch");
    NS_TEST_EXPECT_MSG_EQ(RunParts(alone, workload, 1 << 20, true)[2].scalingEfficiency,
                          1,
                          "one rank");
}

/** @return the defaults of all attributes of all types, as strings */
std::map<std::string, std::string>
GetDefaults()
{
    std::map<std::string, std::string> defaults;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        for (std::size_t j = 0; j < type.GetAttributeN(); j++)
        {
            const auto attribute = type.GetAttribute(j);
            defaults[type.GetName() + "::" + attribute.name] =
                attribute.initialValue->SerializeToString(attribute.checker);
        }
    }
    return defaults;
}

/**
 * Attributes and keys of one cluster have the effect of a default and leave all defaults unchanged.
 */
struct ClusterAttributesTest
{
    /// An algorithm or a transport, what is set, and a value or a reason.
    using Rows = std::vector<std::tuple<std::string, std::string, std::string>>;

    static double GetSeconds(const ClusterOptions& options)
    {
        return Measure(options, CollectiveOperation::ALL_REDUCE, 200000).seconds;
    }

    // An attribute of the cluster has the effect of the same default, which is unchanged
    // afterwards.
    void Check(ClusterOptions options, const std::string& name, const std::string& value)
    {
        const auto before = GetDefaults();
        const double plain = GetSeconds(options);
        options.attributes[name] = value;
        const double changed = GetSeconds(options);
        options.attributes.clear();
        const double after = GetSeconds(options);
        NS_TEST_EXPECT_MSG_EQ(GetDefaults(), before, name << ": defaults are as before");
        double expected = 0;
        {
            AttributeList list;
            list.Set(name, value);
            const AttributeDefaults defaults(list);
            expected = GetSeconds(options);
        }
        NS_TEST_EXPECT_MSG_EQ(changed, expected, name << " as a default");
        NS_TEST_EXPECT_MSG_NE(changed, plain, name << " has an effect");
        NS_TEST_EXPECT_MSG_EQ(after, plain, name << " has none on the next cluster");
    }

    // A key has the effect of the attribute that it sets.
    void CheckKey(const ClusterOptions& plain,
                  const ClusterOptions& keyed,
                  const std::string& name,
                  const std::string& value)
    {
        const auto before = GetDefaults();
        ClusterOptions options = plain;
        options.attributes[name] = value;
        const double seconds = GetSeconds(keyed);
        NS_TEST_EXPECT_MSG_EQ(GetDefaults(), before, name << ": defaults are as before");
        NS_TEST_EXPECT_MSG_EQ(seconds, GetSeconds(options), name << " by a key");
        NS_TEST_EXPECT_MSG_NE(seconds, GetSeconds(plain), name << " has an effect");
        options = keyed;
        options.attributes[name] = AttributeList()
                                       .Get(TypeId::LookupByName(name.substr(0, name.rfind("::"))),
                                            name.substr(name.rfind("::") + 2))
                                       ->SerializeToString(nullptr);
        NS_TEST_EXPECT_MSG_EQ(GetSeconds(options), GetSeconds(plain), name << " goes first");
    }

    static ClusterOptions Make(const std::string& algorithm, const std::string& transport = "rdma")
    {
        ClusterOptions options = MakeOptions(4, transport, "single-switch:hosts=5");
        options.algorithm = algorithm;
        return options;
    }

    void CheckAlgorithms()
    {
        for (const auto& [algorithm, name, value] :
             Rows{{"switchml", "SwitchMlProgram::PassLatency", "2us"},
                  {"switchml", "SwitchMlCommunicator::PacketCost", "350ns"},
                  {"atp", "AtpProgram::Slots", "3"},
                  {"atp", "AtpServer::PacketCost", "1us"},
                  {"atp", "AtpCommunicator::ParameterServers", "1"},
                  {"sharp", "SharpProgram::Latency", "2us"},
                  {"sharp", "SharpEndpoint::HostLatency", "683ns"},
                  {"nvls", "SharpEndpoint::HostLatency", "683ns"},
                  {"nvls", "SharpProgram::Payload", "64"},
                  {"switch-ps", "SwitchPsProgram::PassLatency", "2us"},
                  {"switch-ps", "SwitchPsCommunicator::PacketCost", "350ns"},
                  {"ring", "SwitchDevice::PipelineDelay", "1us"},
                  {"ring", "HostDevice::ReceiveRate", "20Gbps"},
                  {"ring", "RdmaNic::CompletionLatency", "1us"},
                  {"ring", "ScheduledCommunicator::ReduceRate", "10Gbps"}})
        {
            Check(Make(algorithm), "ns3::training::" + name, value);
        }
        for (const auto& [algorithm, name, value] :
             Rows{{"switchml:pass-latency=2us", "SwitchMlProgram::PassLatency", "2us"},
                  {"atp:server-packet-cost=1us", "AtpServer::PacketCost", "1us"},
                  {"atp:servers=1/2", "AtpCommunicator::ParameterServers", "1,2"},
                  {"sharp:host-latency=683ns", "SharpEndpoint::HostLatency", "683ns"},
                  {"nvls:slots=16", "SharpProgram::Slots", "16"},
                  {"switch-ps:elements-per-packet=32", "SwitchPsProgram::ElementsPerPacket", "32"}})
        {
            const std::string plain = algorithm.substr(0, algorithm.find(':'));
            CheckKey(Make(plain), Make(algorithm), "ns3::training::" + name, value);
        }
    }

    void CheckTransports()
    {
        ClusterOptions window = Make("ring");
        window.congestionControl = "window";
        Check(window, "ns3::training::RdmaFixedWindow::Window", "4096");
        ClusterOptions keyed = window;
        keyed.congestionControl = "window:window=4096";
        CheckKey(window, keyed, "ns3::training::RdmaFixedWindow::Window", "4096");

        Check(Make("ring", "tcp"), "ns3::TcpSocket::InitialCwnd", "1");
        Check(Make("ring", "tcp"), "ns3::TcpSocketState::EnablePacing", "true");
        ClusterOptions bbr = Make("ring", "tcp");
        bbr.congestionControl = "ns3::TcpBbr";
        Check(bbr, "ns3::TcpBbr::HighGain", "1.1");
        ClusterOptions slow = bbr;
        slow.congestionControl = "ns3::TcpBbr:HighGain=1.1";
        CheckKey(bbr, slow, "ns3::TcpBbr::HighGain", "1.1");
    }

    // A user's default overrides a tuned value, and the cluster's attribute overrides both.
    void CheckTuning()
    {
        const auto getDelay = [](const std::map<std::string, std::string>& attributes) {
            ClusterOptions options = Make("ring", "tcp");
            options.attributes = attributes;
            TimeValue delay;
            {
                const Cluster cluster(options);
                ObjectVectorValue sockets;
                cluster.GetFabric().hosts.Get(0)->GetObject<TcpL4Protocol>()->GetAttribute(
                    "SocketList",
                    sockets);
                sockets.Get(0)->GetAttribute("DelAckTimeout", delay);
            }
            Simulator::Destroy();
            return delay.Get();
        };
        const std::string name = "ns3::TcpSocket::DelAckTimeout";
        NS_TEST_EXPECT_MSG_EQ(getDelay({}), MilliSeconds(1), "tuned");
        NS_TEST_EXPECT_MSG_EQ(getDelay({{name, "3ms"}}), MilliSeconds(3), "of the cluster");
        AttributeList list;
        list.Set(name, "5ms");
        const AttributeDefaults defaults(list);
        NS_TEST_EXPECT_MSG_EQ(getDelay({}), MilliSeconds(5), "of the user");
        NS_TEST_EXPECT_MSG_EQ(getDelay({{name, "3ms"}}), MilliSeconds(3), "of the cluster");
    }

    void CheckRefusals()
    {
        for (const auto& [name, value, reason] :
             Rows{{"ns3::training::SwitchDevice::EcnPmax", "2", "(allowed: 0 to 1)"},
                  {"ns3::training::SwitchDevice::EcnPmux", "1", "has no attribute 'EcnPmux'"},
                  {"ns3::training::SwitchDevise::EcnPmax", "1", "there is no type"},
                  {"ns3::training::RdmaNic::Mtu", "1000", "the cluster sets it (allowed: mtu)"},
                  {"ns3::training::RdmaNic::PathHops", "1", "the cluster sets it (allowed: what"},
                  {"ns3::training::SwitchMlProgram::Slots", "8", "has no such object (allowed: "},
                  {"ns3::training::RdmaDctcp::G", "0.1", "has no such object (allowed: "},
                  {"ns3::TcpSocket::InitialCwnd", "1", "has no such object (allowed: "}})
        {
            ClusterOptions options = Make("ring");
            options.attributes[name] = value;
            const std::string text = GetRefusal([&options] { const Cluster cluster(options); });
            Simulator::Destroy();
            NS_TEST_EXPECT_MSG_EQ(text.find("attribute " + name + "=" + value + ""), 0, text);
            ExpectPart(text, reason);
        }
        for (const auto& [transport, control, reason] :
             Rows{{"rdma", "dcqcn:g=2", "'g=2' (allowed: "},
                  {"rdma", "none:g=2", "'g=2' (allowed: no keys)"},
                  {"tcp", "ns3::TcpBbr:HighGain=high", "'HighGain=high' (allowed: "},
                  {"tcp", "ns3::TcpBbr:high-gain=2", "'high-gain=2' (allowed: "},
                  {"uec", "dcqcn", "dcqcn (allowed with uec: nscc, rccc)"},
                  {"uec", "nscc:g=2", "'g=2' (allowed: "}})
        {
            ClusterOptions options = Make("ring", transport);
            options.congestionControl = control;
            const std::string text = GetRefusal([&options] { const Cluster cluster(options); });
            Simulator::Destroy();
            ExpectPart(text, reason);
        }
    }

    void Run()
    {
        CheckAlgorithms();
        CheckTransports();
        CheckTuning();
        CheckRefusals();
    }
};

void
ExpectRefusal(const std::string& expected, const std::vector<std::string>& arguments)
{
    std::string text;
    try
    {
        ClusterOptions cluster;
        ProgramOptions options("test", "test");
        ClusterCommandLine commandLine(cluster); // the options refer to it
        commandLine.AddTo(options);
        options.Parse(arguments);
        Cluster made(cluster);
    }
    catch (const ConfigurationError& error)
    {
        text = NameOption(error);
    }
    Simulator::Destroy();
    ExpectPart(text, expected);
    ExpectPart(text, "allowed");
    NS_TEST_EXPECT_MSG_EQ(text.find('\n'), std::string::npos, "one line: '" << text << "'");
}

// An error of the library names the field of ClusterOptions.
void
ExpectField(const std::string& field,
            const std::string& text,
            const std::function<void(ClusterOptions&)>& change)
{
    ClusterOptions options;
    change(options);
    try
    {
        Cluster made(options);
        NS_TEST_EXPECT_MSG_EQ(field, "", "nothing is refused");
    }
    catch (const ConfigurationError& error)
    {
        NS_TEST_EXPECT_MSG_EQ(error.GetField(), field, "field");
        NS_TEST_EXPECT_MSG_EQ(std::string(error.what()).find(text), 0, error.what());
        NS_TEST_EXPECT_MSG_EQ(std::string(error.what()).find("--"), std::string::npos, "no option");
    }
    Simulator::Destroy();
}

/** Invalid clusters are refused by one line with the allowed values. */
void
TestRefusedCluster()
{
    ExpectRefusal("--rank", {"--rank=4"});
    ExpectRefusal("--ranks=0", {"--ranks=0"});
    ExpectRefusal("--ranks=-4", {"--ranks=-4"});
    ExpectRefusal("17 ranks", {"--ranks=17", "--topology=fat-tree:k=4"});
    ExpectRefusal("--loss=nan", {"--loss=nan"});
    ExpectRefusal("--loss=1.5", {"--loss=1.5"});
    ExpectRefusal("--rate=100", {"--rate=100"});
    ExpectRefusal("--rate=1kbps", {"--rate=1kbps"});
    ExpectRefusal("--delay=5", {"--delay=5"});
    ExpectRefusal("--mtu=255 (allowed: auto, or 256 to 9000", {"--mtu=255"});
    ExpectRefusal("--mtu=0", {"--mtu=0"});
    ExpectRefusal("--buffer=0", {"--buffer=0"});
    ExpectRefusal("--mtu=9001", {"--mtu=9001"});
    ExpectRefusal("--mtu=big", {"--mtu=big"});
    ExpectRefusal("--buffer=1KiB", {"--buffer=1KiB"});
    ExpectRefusal("--topology=tours:4x4; did you mean torus?", {"--topology=tours:4x4"});
    ExpectRefusal("'k=3'", {"--topology=leaf-spine:k=3"});
    ExpectRefusal("fat-tree:k=5", {"--topology=fat-tree:k=5", "--ranks=2"});
    ExpectRefusal("--transport=udp", {"--transport=udp"});
    ExpectRefusal("--congestion-control=cubic (allowed with rdma: ",
                  {"--congestion-control=cubic"});
    ExpectRefusal("--congestion-control=dcqcn (allowed with tcp",
                  {"--transport=tcp", "--congestion-control=dcqcn"});
    ExpectRefusal("--congestion-control=ns3::Node (",
                  {"--transport=tcp", "--congestion-control=ns3::Node"});
    ExpectRefusal("--recovery=selective-repeat with transport tcp (",
                  {"--transport=tcp", "--recovery=selective-repeat"});
    ExpectRefusal("--path=schedule with the algorithm ring (", {"--path=schedule"});
    ExpectRefusal("--fault=host99:down: 'host99' (", {"--fault=host99:down"});
    ExpectRefusal("--collective=rings; did you mean ring?", {"--collective=rings"});
    ExpectRefusal("17 parameter servers", {"--collective=parameter-server:servers=17"});
    ExpectRefusal("--servers=2: written as --collective=parameter-server:servers=2 (",
                  {"--servers=2"});
    ExpectRefusal("--slots=64: written as --collective=SYSTEM:slots=64 (", {"--slots=64"});
    ExpectRefusal("--framing=rdma: written as --collective=SYSTEM:framing=rdma (",
                  {"--framing=rdma"});
    ExpectRefusal("--collective=tree: written as --collective=sharp, or double-binary-tree",
                  {"--collective=tree"});
    ExpectRefusal("--collective=switchml:slots=0: 'slots=0' (", {"--collective=switchml:slots=0"});
    ExpectRefusal("'switchml:message-packets=2': message-packets (allowed with framing=rdma)",
                  {"--collective=switchml:message-packets=2"});
    using O = ClusterOptions&;
    ExpectField("mtu", "mtu 255 (allowed: ", [](O o) { o.mtu = 255; });
    ExpectField("buffer", "buffer 1KiB (allowed: ", [](O o) { o.buffer = 1024; });
    ExpectField("rate", "rate 1kbps (allowed: ", [](O o) { o.rate = DataRate(1000); });
    ExpectField("delay", "delay 101s (allowed: ", [](O o) { o.delay = Seconds(101); });
    ExpectField("loss", "loss 2 (allowed: ", [](O o) { o.loss = 2; });
    ExpectField("congestion control", "congestion control cubic (", [](O o) {
        o.transport = "tcp", o.congestionControl = "cubic";
    });
    ExpectField("recovery", "recovery none with transport tcp (", [](O o) {
        o.transport = "tcp", o.recovery = "none";
    });
    ExpectField("fault", "fault *:loss: 'loss' (allowed: ", [](O o) { o.faults = {"*:loss"}; });
}

const Suite g_suite(
    "system",
    Duration::EXTENSIVE,
    {{"ring all-reduce takes its closed form, within 1 %", TestRingTime},
     {"double binary tree takes 2S, within 5 %", TestTreeTime},
     {"one rank, 0 bytes, more than 4 GiB", TestExtremeSize},
     {"real payload is exact, with and without loss", TestRealPayload},
     {"real payload is exact with every algorithm", TestEveryAlgorithm},
     {"every frame and byte is accounted for", TestConservation},
     {"TCP reaches 90 % of 100 Gbps, and many-to-one does not collapse", TestTcpSpeed},
     {"TCP and RDMA share a link", RunTest<SharedLinkTest>},
     {"equal seeds give equal results", TestDeterminism},
     {"100 % loss stops the run and names who waits", TestDeadLink},
     {"iterations of a whole job", TestWholeJob},
     {"attributes of one cluster are for its objects alone", RunTest<ClusterAttributesTest>},
     {"refused clusters", TestRefusedCluster}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::system_test
