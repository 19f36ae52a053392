/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The fabric in a program of one's own. Nodes that the program makes become hosts and switches. An
 * all-reduce over RDMA runs beside applications of ns-3, over the fabric and through a gateway:
 *
 *   host 0 ... host N-1   gateway ---- client (point-to-point or CSMA)
 *      |          |          |
 *   switch 0 ---------- switch 1
 *
 *   ./ns3w run "mixed-traffic --ranks=4 --bytes=1M"
 */

#include "../hidden-global-values.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/communicator-list.h"
#include "ns3/config.h"
#include "ns3/csma-helper.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv4-flow-classifier.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/json-output.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/program-options.h"
#include "ns3/published-table.h"
#include "ns3/rdma-helper.h"
#include "ns3/rdma-transport.h"
#include "ns3/run-cost.h"
#include "ns3/run-files.h"
#include "ns3/string.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Port numbers of the three applications.
constexpr uint16_t LOG_PORT = 9;
constexpr uint16_t INPUT_PORT = 10;
constexpr uint16_t COPY_PORT = 11;

/** Parameters of the program. */
struct Setting
{
    uint64_t ranks{4};
    uint64_t bytes{1 << 20};
    uint64_t rounds{5};
    DataRate rate{10000000000};
    Time duration{MilliSeconds(20)};
    bool traffic{true};
    std::string clientLink{"point-to-point"};
    std::string pcap;
    std::string json;
    RunFilesOptions files;
};

/** What trace sources report. */
struct Counts
{
    std::vector<CollectiveRecord> collectives; ///< complete at a rank
    std::map<std::string, uint64_t> drops;     ///< frames by reason
    /// Start of each message on its way, by source, destination and tag.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Time> messages;
    RunFiles* files{nullptr}; ///< record the run; null: none
};

void
OnCollective(Counts* counts, std::string, const CollectiveRecord& collective)
{
    counts->collectives.push_back(collective);
    if (counts->files)
    {
        CollectiveRow row;
        row.rank = collective.rank;
        row.iteration = static_cast<uint32_t>(collective.collective);
        row.operation = ns3::training::GetName(collective.operation);
        row.algorithm = collective.algorithm;
        row.bytes = collective.bytes;
        row.communicator = collective.communicator;
        counts->files->AddCollective(row, collective.issued, collective.finished);
    }
}

void
OnSend(Counts* counts, std::string, const MessageRecord& message)
{
    counts->messages[{message.source, message.destination, message.tag}] = message.time;
}

void
OnReceive(Counts* counts, std::string, const MessageRecord& message)
{
    const auto sent = counts->messages.extract({message.source, message.destination, message.tag});
    MessageRow row;
    row.source = message.source;
    row.destination = message.destination;
    row.tag = message.tag;
    row.bytes = message.bytes;
    counts->files->AddMessage(row, sent.mapped(), message.time);
}

void
OnDrop(Counts* counts, std::string, const Frame&, uint16_t, DropReason reason)
{
    counts->drops[ns3::training::GetName(reason)]++;
}

/** @return two switches, with half of the ranks each, and the gateway as last host */
TopologyGraph
MakeTopology(const Setting& setting)
{
    const auto ranks = static_cast<uint32_t>(setting.ranks);
    TopologyGraph graph;
    graph.name = "two switches";
    graph.hosts = ranks + 1;
    graph.switches = 2;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        const uint32_t leaf = graph.hosts + (2 * host < ranks ? 0 : 1);
        graph.links.push_back({host, leaf, setting.rate, NanoSeconds(500)});
    }
    graph.links.push_back({graph.hosts, graph.hosts + 1, setting.rate, NanoSeconds(500)});
    return graph;
}

/** The all-reduces of one rank: one after the other. */
class Worker
{
  public:
    Worker(Ptr<Communicator> communicator, uint64_t bytes, uint64_t rounds)
        : m_communicator(communicator),
          m_bytes(bytes),
          m_left(rounds)
    {
    }

    void Start()
    {
        if (m_left-- > 0)
        {
            auto tensor = Create<Tensor>();
            tensor->bytes = m_bytes;
            m_communicator->AllReduce(tensor, MakeCallback(&Worker::OnDone, this));
        }
    }

  private:
    void OnDone()
    {
        Start();
    }

    Ptr<Communicator> m_communicator;
    uint64_t m_bytes;
    uint64_t m_left;
};

/** @return communicators of the first hosts, over RDMA */
std::vector<Ptr<Communicator>>
MakeCommunicators(const Fabric& fabric, const RdmaHelper& rdma, uint32_t ranks)
{
    const auto nics = rdma.Install(fabric, ranks);
    const auto portPairs = std::make_shared<FabricPortPairs>(fabric, ranks);
    CollectiveRequest request;
    request.ranks = ranks;
    const auto planner = std::make_shared<CollectivePlanner>("ring", request);
    std::vector<Ptr<Communicator>> communicators;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        auto transport = CreateObject<RdmaTransport>();
        transport->SetPortPairs(rank, portPairs);
        transport->SetNics(nics[rank]);
        auto communicator = CreateObject<ScheduledCommunicator>();
        communicator->Setup(
            rank,
            ranks,
            transport,
            [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                return planner->Get(operation, bytes, root);
            });
        CommunicatorList::Add(fabric.hosts.Get(rank), communicator);
        communicators.push_back(communicator);
    }
    return communicators;
}

/** Sets the default route of a node. */
void
SetGateway(Ptr<NetDevice> device, Ipv4Address gateway)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->SetDefaultRoute(
        gateway,
        ipv4->GetInterfaceForDevice(device));
}

/**
 * Installs an application that sends as fast as TCP allows, and its receiver.
 * @param from sender
 * @param to receiver
 * @param address of the receiver
 */
void
SendBulk(Ptr<Node> from, Ptr<Node> to, const InetSocketAddress& address)
{
    BulkSendHelper("ns3::TcpSocketFactory", address).Install(from);
    PacketSinkHelper("ns3::TcpSocketFactory", address).Install(to);
}

/**
 * Installs the applications of ns-3.
 * @param workers hosts with a rank
 * @param addresses of the workers
 * @param client node behind the gateway
 * @param clientAddress of the client
 */
void
InstallTraffic(const NodeContainer& workers,
               const Ipv4InterfaceContainer& addresses,
               Ptr<Node> client,
               Ipv4Address clientAddress)
{
    const uint32_t last = workers.GetN() - 1;
    const InetSocketAddress log(clientAddress, LOG_PORT);
    OnOffHelper onOff("ns3::UdpSocketFactory", log);
    onOff.SetConstantRate(DataRate("100Mbps"), 1000);
    onOff.Install(workers.Get(0));
    PacketSinkHelper("ns3::UdpSocketFactory", log).Install(client);
    SendBulk(client, workers.Get(last), InetSocketAddress(addresses.GetAddress(last), INPUT_PORT));
    SendBulk(workers.Get(0),
             workers.Get(last),
             InetSocketAddress(addresses.GetAddress(last), COPY_PORT));
}

/** The flows of the applications, as FlowMonitor saw them at the IP layers of the hosts. */
void
AddFlows(PublishedTable& table, FlowMonitorHelper& helper, FlowMonitor& monitor, Time duration)
{
    const std::map<uint16_t, std::string> names{{LOG_PORT, "host 0 to client, UDP"},
                                                {INPUT_PORT, "client to last host, TCP"},
                                                {COPY_PORT, "host 0 to last host, TCP"}};
    const auto classifier = DynamicCast<Ipv4FlowClassifier>(helper.GetClassifier());
    for (const auto& [id, flow] : monitor.GetFlowStats())
    {
        const auto name = names.find(classifier->FindFlow(id).destinationPort);
        if (name == names.end())
        {
            continue; // acknowledgements of TCP
        }
        const double microseconds = flow.delaySum.GetSeconds() * 1e6;
        table.AddRow(
            {name->second,
             static_cast<double>(flow.txPackets),
             static_cast<double>(flow.rxPackets),
             static_cast<double>(flow.rxBytes) * 8e-9 / duration.GetSeconds(),
             flow.rxPackets > 0 ? microseconds / flow.rxPackets : PublishedTable::UNKNOWN});
    }
}

/** The all-reduces that are complete at all ranks. */
struct AllReduces
{
    uint64_t complete{0};
    double seconds{0}; ///< mean time from the first issue to the last completion
};

AllReduces
Summarize(const std::vector<CollectiveRecord>& records, uint64_t ranks)
{
    std::map<uint64_t, std::vector<CollectiveRecord>> byNumber;
    for (const CollectiveRecord& record : records)
    {
        byNumber[record.collective].push_back(record);
    }
    AllReduces all;
    for (const auto& [number, ofRanks] : byNumber)
    {
        if (ofRanks.size() < ranks)
        {
            continue;
        }
        Time issued = Time::Max();
        Time finished;
        for (const CollectiveRecord& record : ofRanks)
        {
            issued = std::min(issued, record.issued);
            finished = std::max(finished, record.finished);
        }
        all.complete++;
        all.seconds += (finished - issued).GetSeconds();
    }
    all.seconds /= static_cast<double>(std::max<uint64_t>(1, all.complete));
    return all;
}

void
AddOptions(ProgramOptions& options, Setting& setting)
{
    options.Group("Simulation");
    options.AddUnsigned("ranks", "hosts with a rank, beside the gateway", setting.ranks, 2, 128);
    options.AddBytes("bytes", "size of an all-reduce", setting.bytes);
    options.AddUnsigned("rounds", "all-reduces, one after the other", setting.rounds, 1, 1 << 20);
    options.AddRate("rate", "rate of the links of the fabric", setting.rate);
    options.AddTime("duration", "simulated time", setting.duration);
    options.AddBool("traffic", "whether applications send, too", setting.traffic);
    options.AddChoice("client-link",
                      "link between gateway and client: csma needs ARP, and is half-duplex",
                      setting.clientLink,
                      {"point-to-point", "csma"});
    options.Group("Output");
    options.AddString("pcap",
                      "prefix of capture files, one a port: PREFIX-host3-0.pcap",
                      setting.pcap);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
}

int
Simulate(int argc, char* argv[])
{
    // Defaults of attributes, as in any program of ns-3; options such as
    // --ns3::TcpSocket::SegmentSize=1000 override them.
    Config::SetDefault("ns3::training::SwitchDevice::BufferSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::training::HostDevice::IpPriority", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));

    Setting setting;
    ProgramOptions options("mixed-traffic",
                           "All-reduces over RDMA beside applications of ns-3, on own nodes.");
    AddOptions(options, setting);
    options.Parse(argc, argv);
    if (!setting.duration.IsStrictlyPositive())
    {
        throw ConfigurationError("--duration=" + FormatTime(setting.duration) +
                                 " (allowed: more than 0)");
    }
    const JsonOutput json(setting.json);
    const auto ranks = static_cast<uint32_t>(setting.ranks);
    setting.files.Check(ranks);

    // The fabric: nodes of this program become its hosts and switches.
    NodeContainer workers(ranks);
    NodeContainer gateway(1);
    NodeContainer switches(2);
    FabricHelper fabricHelper;
    RdmaHelper rdma;
    rdma.SetMarking(fabricHelper);
    const Fabric fabric =
        fabricHelper.Install(NodeContainer(workers, gateway), switches, MakeTopology(setting));

    // A client beside the fabric, behind the gateway.
    NodeContainer client(1);
    const NodeContainer ends(gateway, client);
    PointToPointHelper pointToPoint;
    pointToPoint.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    pointToPoint.SetChannelAttribute("Delay", StringValue("50us"));
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("1Gbps"));
    csma.SetChannelAttribute("Delay", StringValue("1us"));
    const bool isCsma = setting.clientLink == "csma";
    const NetDeviceContainer outside = isCsma ? csma.Install(ends) : pointToPoint.Install(ends);

    // IP: one subnet on the fabric, one outside.
    InternetStackHelper stack;
    stack.Install(NodeContainer(fabric.hosts, client));
    NetDeviceContainer inside;
    for (const auto& device : fabric.devices)
    {
        inside.Add(device);
    }
    Ipv4AddressHelper subnet("10.1.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer addresses = subnet.Assign(inside);
    subnet.SetBase("192.168.1.0", "255.255.255.0");
    const Ipv4InterfaceContainer outsideAddresses = subnet.Assign(outside);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        SetGateway(inside.Get(rank), addresses.GetAddress(ranks));
    }
    SetGateway(outside.Get(1), outsideAddresses.GetAddress(0));

    // Applications of ns-3, and all-reduces over RDMA.
    if (setting.traffic)
    {
        InstallTraffic(workers, addresses, client.Get(0), outsideAddresses.GetAddress(1));
    }
    std::vector<Worker> all;
    for (const auto& communicator : MakeCommunicators(fabric, rdma, ranks))
    {
        all.emplace_back(communicator, setting.bytes, setting.rounds);
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        Simulator::ScheduleWithContext(workers.Get(rank)->GetId(),
                                       Time(0),
                                       &Worker::Start,
                                       &all[rank]);
    }

    // What is observed.
    Counts counts;
    const std::string communicators =
        "/NodeList/*/$ns3::training::CommunicatorList/Communicators/*/"
        "$ns3::training::ScheduledCommunicator/";
    Config::Connect(communicators + "Collective", MakeBoundCallback(&OnCollective, &counts));
    Config::Connect("/NodeList/*/DeviceList/*/$ns3::training::HostDevice/Drop",
                    MakeBoundCallback(&OnDrop, &counts));
    Config::Connect("/NodeList/*/$ns3::training::SwitchDevice/Drop",
                    MakeBoundCallback(&OnDrop, &counts));
    FlowMonitorHelper flows;
    const Ptr<FlowMonitor> monitor = flows.InstallAll();
    std::unique_ptr<FabricPcap> capture;
    if (!setting.pcap.empty())
    {
        capture = std::make_unique<FabricPcap>(fabric, setting.pcap);
    }
    std::unique_ptr<RunFiles> files;
    if (setting.files.IsGiven())
    {
        files = std::make_unique<RunFiles>(setting.files,
                                           fabric,
                                           options.GetName(),
                                           options.ToJson().Write());
        counts.files = files.get();
        Config::Connect(communicators + "Send", MakeBoundCallback(&OnSend, &counts));
        Config::Connect(communicators + "Receive", MakeBoundCallback(&OnReceive, &counts));
    }

    Simulator::Stop(setting.duration);
    Simulator::Run();
    if (files)
    {
        files->Finish();
        files->Close("");
    }

    const bool prints = setting.json != "-";
    PublishedTable table({{"flow", "", -26},
                          {"sent_packets", "sent", 8, "%.0f"},
                          {"received_packets", "received", 9, "%.0f"},
                          {"goodput_gbps", "Gbit/s", 8, "%.3f"},
                          {"delay_us", "delay (us)", 11, "%.2f"}},
                         prints ? PublishedTable::Printing::AT_ONCE
                                : PublishedTable::Printing::NEVER);
    if (setting.traffic)
    {
        table.PrintHeadings("");
        AddFlows(table, flows, *monitor, setting.duration);
    }
    const AllReduces reduced = Summarize(counts.collectives, ranks);
    const double factor = 2.0 * (ranks - 1) / ranks; // of bus bandwidth, as in nccl-tests
    const double busbw = reduced.complete > 0 && reduced.seconds > 0
                             ? factor * static_cast<double>(setting.bytes) * 1e-9 / reduced.seconds
                             : 0;
    auto drops = JsonValue::Object();
    for (const auto& [reason, frames] : counts.drops)
    {
        drops.Set(reason, frames);
    }
    if (prints)
    {
        std::printf("%llu of %llu all-reduces of %s among %u ranks: %.3f us each, bus bandwidth "
                    "%.3f GB/s\n",
                    static_cast<unsigned long long>(reduced.complete),
                    static_cast<unsigned long long>(setting.rounds),
                    FormatBytes(setting.bytes).c_str(),
                    ranks,
                    reduced.seconds * 1e6,
                    busbw);
        for (const auto& [reason, frames] : counts.drops)
        {
            std::printf("dropped: %llu frames (%s)\n",
                        static_cast<unsigned long long>(frames),
                        reason.c_str());
        }
    }
    auto document = JsonValue::Object();
    document.Set("flows", table.GetRows())
        .Set("all_reduces", reduced.complete)
        .Set("all_reduce_s", reduced.seconds)
        .Set("busbw_GBps", busbw)
        .Set("dropped_frames", drops);
    AddRunCost(document, GetRunCost(fabric));
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("mixed-traffic", [&] { return Simulate(argc, argv); });
}
