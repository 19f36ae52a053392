/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Benchmark of TCP: the same transfers over ns-3's point-to-point devices and routers, and over the
 * fabric. Each flow has a path of its own:
 *
 *   sender ---- router or switch ---- ... ---- receiver
 *
 *   ./ns3w run "tcp-benchmark --hops=6 --flows=4 --bytes=20M"
 */

#include "../hidden-global-values.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/experiment.h"
#include "ns3/global-value.h"
#include "ns3/guarded-run.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/json-output.h"
#include "ns3/map-scheduler.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/published-table.h"
#include "ns3/string.h"
#include "ns3/tcp-helper.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-transport.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/training-processes.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// TCP port of the receivers.
constexpr uint16_t PORT = 5000;
/// Queues that never drop: the devices of hosts keep what the windows of their sockets allow.
constexpr uint64_t UNLIMITED_BYTES = uint64_t{1} << 40;
constexpr const char* UNLIMITED_PACKETS = "1000000000p";
/// Longest delay of a link, s.
constexpr double MAX_DELAY = 1;
/// Ethernet, IPv4 and TCP headers, preamble and gap of a packet, bytes.
constexpr double OVERHEAD_BYTES = 78;

/** Parameters of the program. */
struct Setting
{
    uint64_t hops{6};
    uint64_t flows{4};
    uint64_t bytes{20 << 20};
    DataRate rate{100000000000};
    Time delay{MicroSeconds(1)};
    uint64_t mtu{9000};
    std::string congestionControl{"ns3::TcpCubic"};
    uint64_t pairs{5};
    std::string json;
    RunFilesOptions files;
};

/** One simulation. */
struct Measurement
{
    double simulatedUs{0}; ///< until the last byte has arrived
    uint64_t bytes{0};     ///< received by applications
    uint64_t hops{0};      ///< packets sent over all links
    uint64_t drops{0};     ///< packets dropped by devices and switches
    uint64_t events{0};    ///< simulator events
    double cpuSeconds{0};  ///< of the simulation without its set-up

    double GetRate() const
    {
        return cpuSeconds > 0 ? static_cast<double>(hops) / cpuSeconds : 0;
    }
};

/** @return user and system CPU time of this process, s */
double
GetCpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/** Counts received bytes, and ends the simulation with the last one. */
class Arrivals
{
  public:
    explicit Arrivals(uint64_t expected)
        : m_left(expected)
    {
    }

    void Add(uint64_t bytes)
    {
        m_received += bytes;
        m_left -= std::min(m_left, bytes);
        if (m_left == 0)
        {
            Simulator::Stop();
        }
    }

    uint64_t Get() const
    {
        return m_received;
    }

    static void OnPacket(Arrivals* arrivals, Ptr<const Packet> packet, const Address&)
    {
        arrivals->Add(packet->GetSize());
    }

  private:
    uint64_t m_left;
    uint64_t m_received{0};
};

/** @return hosts 0 and 1 at the ends of a line of switches */
TopologyGraph
MakeGraph(const Setting& setting)
{
    TopologyGraph graph;
    graph.name = "path";
    graph.hosts = 2;
    graph.switches = static_cast<uint32_t>(setting.hops - 1);
    for (uint32_t node = 1; node < graph.switches; node++)
    {
        graph.links.push_back({node + 1, node + 2, setting.rate, setting.delay});
    }
    graph.links.push_back({0, 2, setting.rate, setting.delay});
    graph.links.push_back({1, graph.switches + 1, setting.rate, setting.delay});
    return graph;
}

/** @return the settings of sockets that the module's clusters have on such a path */
TcpHelper
MakeTcp(const Setting& setting)
{
    const auto line = static_cast<double>(setting.rate.GetBitRate());
    const double bits = 8 * (static_cast<double>(setting.mtu) + 2 * OVERHEAD_BYTES);
    const auto hops = static_cast<int64_t>(setting.hops);
    TcpHelper tcp;
    tcp.SetCongestionControl(setting.congestionControl);
    tcp.SetNetwork(static_cast<uint32_t>(setting.mtu),
                   2 * hops * setting.delay + Seconds(static_cast<double>(hops) * bits / line),
                   setting.rate.GetBitRate());
    return tcp;
}

/** What all sockets of the benchmark have in common. */
struct Sockets
{
    AttributeList attributes;
    TypeIdValue congestionControl;
    uint64_t segment{0}; ///< bytes
};

/** @return the common settings, checked */
Sockets
GetSockets(const Setting& setting)
{
    const Fabric fabric = FabricHelper().Install(MakeGraph(setting));
    Sockets sockets;
    sockets.attributes = MakeTcp(setting).Install(fabric, fabric.topology.hosts, nullptr);
    fabric.hosts.Get(0)->GetObject<TcpL4Protocol>()->GetAttribute("SocketType",
                                                                  sockets.congestionControl);
    sockets.segment = DynamicCast<const UintegerValue>(
                          sockets.attributes.Get(TcpSocketBase::GetTypeId(), "SegmentSize"))
                          ->Get();
    Simulator::Destroy();
    return sockets;
}

/** Installs ns-3's applications for one flow. */
void
InstallBulkSend(const Setting& setting,
                const Sockets& sockets,
                Ptr<Node> from,
                Ptr<Node> to,
                Ipv4Address destination,
                Arrivals& arrivals)
{
    const InetSocketAddress address(destination, PORT);
    BulkSendHelper sender("ns3::TcpSocketFactory", address);
    sender.SetAttribute("MaxBytes", UintegerValue(setting.bytes));
    sender.SetAttribute("SendSize", UintegerValue(sockets.segment));
    sender.Install(from);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(to).Get(0)->TraceConnectWithoutContext(
        "Rx",
        MakeBoundCallback(&Arrivals::OnPacket, &arrivals));
}

/** Runs what has been set up; then `count` adds packet-hops and drops. */
Measurement
Run(const Arrivals& arrivals, const std::function<void(Measurement&)>& count)
{
    const double before = GetCpuSeconds();
    Simulator::Run();
    Measurement measurement;
    measurement.cpuSeconds = GetCpuSeconds() - before;
    measurement.simulatedUs = Simulator::Now().GetSeconds() * 1e6;
    measurement.bytes = arrivals.Get();
    measurement.events = Simulator::GetEventCount();
    count(measurement);
    Simulator::Destroy();
    return measurement;
}

/** Sends the message of a flow. */
void
SendMessage(Ptr<TcpTransport> transport, uint64_t bytes)
{
    transport->Send(1, {0, bytes});
}

/**
 * Transfers over the fabric.
 * @param setting parameters
 * @param sockets their settings
 * @param bulkSend whether ns-3's applications send; otherwise TcpTransport
 * @param files null, or receives the first flow; the others are like it
 * @return the measurement
 */
Measurement
MeasureFabric(const Setting& setting,
              const Sockets& sockets,
              bool bulkSend,
              RunOutputs* files = nullptr)
{
    Arrivals arrivals(setting.bytes * setting.flows);
    FabricHelper helper;
    helper.SetHostAttribute("Mtu", UintegerValue(setting.mtu));
    helper.SetHostAttribute("IpQueueLimit", UintegerValue(UNLIMITED_BYTES));
    std::vector<Fabric> fabrics;
    fabrics.reserve(setting.flows);
    std::vector<Ptr<TcpTransport>> transports;
    for (uint64_t flow = 0; flow < setting.flows; flow++)
    {
        fabrics.push_back(helper.Install(MakeGraph(setting)));
        const NodeContainer& hosts = fabrics.back().hosts;
        MakeTcp(setting).Install(fabrics.back(), hosts.GetN(), nullptr);
        if (bulkSend)
        {
            InstallBulkSend(setting,
                            sockets,
                            hosts.Get(0),
                            hosts.Get(1),
                            HostDevice::GetIpv4Address(1),
                            arrivals);
            continue;
        }
        for (uint32_t rank = 0; rank < hosts.GetN(); rank++)
        {
            transports.push_back(CreateObject<TcpTransport>());
            transports.back()->SetGroup(rank, {0, 1});
            transports.back()->SetSocketAttributes(sockets.attributes);
            transports.back()->SetNode(hosts.Get(rank));
        }
        transports.back()->SetMessageHandler(
            [&arrivals](uint32_t, const Message& message) { arrivals.Add(message.bytes); });
        Simulator::ScheduleWithContext(hosts.Get(0)->GetId(),
                                       Time(0),
                                       &SendMessage,
                                       transports[2 * flow],
                                       setting.bytes);
    }
    const AttributeDefaults defaults(sockets.attributes); // for the sockets of applications
    std::optional<RunFiles> first;
    if (files)
    {
        const auto way = JsonValue::Object().Set("way", bulkSend ? "BulkSend" : "TcpTransport");
        first.emplace(*files, fabrics.front(), way);
    }
    const Measurement measurement = Run(arrivals, [&](Measurement& all) {
        for (const Fabric& fabric : fabrics)
        {
            const PortCounters total = fabric.GetTotal();
            all.hops += total.transmittedFrames;
            all.drops += total.droppedFrames;
        }
        if (first)
        {
            MessageRow row;
            row.destination = 1;
            row.bytes = setting.bytes;
            first->AddMessage(row, Time(0), Simulator::Now());
            first->Finish();
            first->Close("");
        }
    });
    for (const auto& transport : transports)
    {
        transport->Dispose();
    }
    return measurement;
}

/** Adds a route to one host. */
void
AddRoute(Ptr<Node> node, Ipv4Address host, Ipv4Address gateway, uint32_t interface)
{
    Ipv4StaticRoutingHelper()
        .GetStaticRouting(node->GetObject<Ipv4>())
        ->AddHostRouteTo(host, gateway, interface);
}

/**
 * Builds the path of a flow from nodes with ns-3's IP stack.
 * @param setting parameters
 * @param link devices and channels
 * @param subnet addresses of the next link
 * @param devices receives the devices
 * @return the nodes, from the sender to the receiver, and the receiver's address
 */
std::pair<NodeContainer, Ipv4Address>
MakePath(const Setting& setting,
         const PointToPointHelper& link,
         Ipv4AddressHelper& subnet,
         NetDeviceContainer& devices)
{
    const auto hops = static_cast<uint32_t>(setting.hops);
    NodeContainer nodes(hops + 1);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    std::vector<Ipv4InterfaceContainer> links; // end 0 is nearer to the sender
    for (uint32_t hop = 0; hop < hops; hop++)
    {
        const auto both = PointToPointHelper(link).Install(nodes.Get(hop), nodes.Get(hop + 1));
        devices.Add(both);
        links.push_back(subnet.Assign(both));
        TrafficControlHelper().Uninstall(both); // the fabric has no queue discs either
        subnet.NewNetwork();
    }
    const Ipv4Address sender = links.front().GetAddress(0);
    const Ipv4Address receiver = links.back().GetAddress(1);
    for (uint32_t hop = 0; hop < hops; hop++)
    {
        AddRoute(nodes.Get(hop), receiver, links[hop].GetAddress(1), links[hop].Get(0).second);
        AddRoute(nodes.Get(hop + 1), sender, links[hop].GetAddress(0), links[hop].Get(1).second);
    }
    return {nodes, receiver};
}

/**
 * Transfers over point-to-point devices, with ns-3's default event list.
 * @param setting parameters
 * @param sockets their settings
 * @return the measurement
 */
Measurement
MeasurePointToPoint(const Setting& setting, const Sockets& sockets)
{
    TypeIdValue scheduler;
    GlobalValue::GetValueByName("SchedulerType", scheduler);
    GlobalValue::Bind("SchedulerType", TypeIdValue(MapScheduler::GetTypeId()));
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(setting.rate));
    link.SetDeviceAttribute("Mtu", UintegerValue(setting.mtu));
    link.SetChannelAttribute("Delay", TimeValue(setting.delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(UNLIMITED_PACKETS));
    Arrivals arrivals(setting.bytes * setting.flows);
    NetDeviceContainer devices;
    Ipv4AddressHelper subnet("10.0.0.0", "255.255.255.252");
    for (uint64_t flow = 0; flow < setting.flows; flow++)
    {
        const auto [nodes, receiver] = MakePath(setting, link, subnet, devices);
        const Ptr<Node> from = nodes.Get(0);
        const Ptr<Node> to = nodes.Get(nodes.GetN() - 1);
        for (const auto& node : {from, to})
        {
            node->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", sockets.congestionControl);
        }
        InstallBulkSend(setting, sockets, from, to, receiver, arrivals);
    }
    const AttributeDefaults defaults(sockets.attributes);
    const Measurement measurement = Run(arrivals, [&](Measurement& all) {
        for (auto device = devices.Begin(); device != devices.End(); ++device)
        {
            const auto queue = DynamicCast<PointToPointNetDevice>(*device)->GetQueue();
            all.hops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
            all.drops += queue->GetTotalDroppedPackets();
        }
    });
    GlobalValue::Bind("SchedulerType", scheduler);
    return measurement;
}

/** A way to transfer. */
struct Way
{
    std::string name;
    std::function<Measurement()> measure;
    std::vector<Measurement> measurements{};
};

/** @return the median of values, at least one */
double
GetMedian(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/** @return the median over the measurements of a way */
double
GetMedian(const Way& way, const std::function<double(std::size_t)>& get)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < way.measurements.size(); i++)
    {
        values.push_back(get(i));
    }
    return GetMedian(std::move(values));
}

void
AddOptions(ProgramOptions& options, Setting& setting)
{
    options.Group("Transfers");
    options.AddUnsigned("hops", "links on the path of a flow", setting.hops, 2, 64);
    options.AddUnsigned("flows",
                        "flows at once, each on a path of its own",
                        setting.flows,
                        1,
                        1024);
    options.AddBytes("bytes", "bytes of a flow", setting.bytes, 1, uint64_t{1} << 40);
    options.AddRate("rate", "rate of the links", setting.rate);
    options.AddTime("delay", "propagation delay of a link", setting.delay);
    options.AddUnsigned("mtu", "largest IP packet, bytes", setting.mtu, 576, 65535);
    options.AddString("congestion-control",
                      "TypeId of a TcpCongestionOps",
                      setting.congestionControl);
    options.Group("Measurement");
    options.AddUnsigned("pairs",
                        "repetitions; each measures all ways in turn",
                        setting.pairs,
                        1,
                        1000);
    options.Group("Output");
    options.AddJson(setting.json);
    setting.files.AddTo(options);
}

int
Measure(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options("tcp-benchmark",
                           "Speed of TCP: packet-hops per second of processor time, on the fabric "
                           "and over ns-3's point-to-point devices.");
    AddOptions(options, setting);
    options.Parse(argc, argv);
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1, one process is measured)");
    }
    if (setting.delay.GetSeconds() > MAX_DELAY)
    {
        throw ConfigurationError("--delay=" + FormatTime(setting.delay) + " (allowed: up to 1s)");
    }
    GuardedRun::CheckDuration(8 * static_cast<double>(setting.bytes) /
                                  static_cast<double>(setting.rate.GetBitRate()),
                              "--bytes=" + std::to_string(setting.bytes));
    setting.files.Check(2);
    const JsonOutput json(setting.json);
    const Sockets sockets = GetSockets(setting);
    std::vector<Way> ways{
        {"BulkSend, point-to-point", [&] { return MeasurePointToPoint(setting, sockets); }},
        {"BulkSend, fabric", [&] { return MeasureFabric(setting, sockets, true); }},
        {"TcpTransport, fabric", [&] { return MeasureFabric(setting, sockets, false); }}};
    RecordAll(options, setting.files, [&] {
        for (uint64_t pair = 0; pair < setting.pairs; pair++)
        {
            for (Way& way : ways)
            {
                way.measurements.push_back(way.measure());
            }
        }
        // Records take time, so that these simulations are not measured.
        for (const bool bulkSend : {true, false})
        {
            if (RunOutputs* files = RunOutputs::GetCurrent())
            {
                MeasureFabric(setting, sockets, bulkSend, files);
            }
        }
    });
    const bool prints = setting.json != "-";
    PublishedTable table({{"way", "", -24},
                          {"simulated_time_us", "simulated (us)", 14, "%.3f"},
                          {"packet_hops", "packet-hops", 12, "%.0f"},
                          {"dropped_packets", "dropped", 8, "%.0f"},
                          {"events", "events", 10, "%.0f"},
                          {"cpu_s", "CPU (s)", 8, "%.3f"},
                          {"packet_hops_per_cpu_s", "hops / CPU s", 12, "%.0f"},
                          {"ratio", "ratio", 6, "%.2f"}},
                         prints ? PublishedTable::Printing::AT_ONCE
                                : PublishedTable::Printing::NEVER);
    table.PrintHeadings(std::to_string(setting.flows) + " x " + FormatBytes(setting.bytes) +
                        " over " + std::to_string(setting.hops) + " links each, segments of " +
                        std::to_string(sockets.segment) + " bytes, " + setting.congestionControl +
                        "; medians of " + std::to_string(setting.pairs) + " runs\n");
    for (const Way& way : ways)
    {
        const Measurement& last = way.measurements.back(); // simulated alike in all runs
        table.AddRow({way.name,
                      last.simulatedUs,
                      static_cast<double>(last.hops),
                      static_cast<double>(last.drops),
                      static_cast<double>(last.events),
                      GetMedian(way, [&](std::size_t i) { return way.measurements[i].cpuSeconds; }),
                      GetMedian(way, [&](std::size_t i) { return way.measurements[i].GetRate(); }),
                      GetMedian(way, [&](std::size_t i) {
                          const double reference = ways.front().measurements[i].GetRate();
                          return reference > 0 ? way.measurements[i].GetRate() / reference : 0;
                      })});
        if (last.bytes != setting.bytes * setting.flows)
        {
            throw SimulationStuck(way.name + ": " + std::to_string(last.bytes) + " of " +
                                  std::to_string(setting.bytes * setting.flows) +
                                  " bytes have arrived");
        }
    }
    auto document = JsonValue::Object();
    document.Set("rows", table.GetRows())
        .Set("configuration", options.ToJson())
        .Set("version", GetVersion());
    json.Write(document);
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("tcp-benchmark", [&] { return Measure(argc, argv); });
}
