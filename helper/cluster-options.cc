/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-options.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/collective-algorithm.h"
#include "ns3/collective-planner.h"
#include "ns3/configuration-error.h"
#include "ns3/quantity.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-loss-recovery.h"
#include "ns3/registry.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/topology-builder.h"

#include <cmath>
#include <optional>

namespace ns3::training
{

namespace
{

constexpr uint64_t SMALLEST_MTU = 256;
constexpr uint64_t LARGEST_MTU = 9000;

} // namespace

void
ClusterOptions::AddNetworkTo(ProgramOptions& options)
{
    options.Group("Cluster");
    options.AddUnsigned("ranks", "number of workers, one per host", ranks, 1, 1 << 20);
    options.AddString(
        "topology",
        "how hosts and switches are linked: NAME or NAME:key=value,... of those below",
        topology);
    options.AddSection("Topologies", DescribeTopologies());
    options.AddBool("print-topology",
                    "describe the topology (counts, diameter, bisection) and end",
                    printTopology);
    options.AddString("export-topology", "file for the topology as JSON", exportTopology);
    options.AddRate("rate", "line rate of every link", rate);
    options.AddTime("delay", "propagation delay of every link", delay);
    options.AddString("mtu",
                      "largest RDMA payload or IP packet, 256 to 9000 bytes; auto: 4096 or 9000",
                      mtu);
    options.AddString("buffer",
                      "packet memory of every switch; auto: 32 MiB, or more if PFC needs it",
                      buffer);
    options.AddChoice(
        "path",
        "how switches choose among equally good ports: by flow, flowlet, frame, place "
        "of the source or destination, or as the collective's schedule says",
        path,
        {"ecmp", "flowlet", "spray", "source-mod", "destination-mod", "schedule"});
    options.AddDouble("loss", "probability that a link loses a frame", loss, 0, 1);
    options.AddList("fault",
                    "TARGET:ITEM,... such as host3-switch0:loss=0.01, *:ber=1e-9, "
                    "switch1:restart,from=1ms,until=2ms; or @FILE; may be repeated",
                    faults);
    options.AddTime("reroute-delay",
                    "from the death or return of a link to new routes",
                    rerouteDelay);
    options.AddString("pcap", "prefix of capture files, one a port: PREFIX-host3-0.pcap", pcap);
    std::vector<std::string> recoveries;
    for (const auto& [name, entry] : Registry<LossRecoveryEntry>::All())
    {
        recoveries.push_back(name);
    }
    options.AddChoice("recovery", "what RDMA sends again after a loss", recovery, recoveries);
    options.AddChoice("lanes",
                      "how messages use several equally good ways between two hosts: in turns, or "
                      "each in parts, one for each way",
                      lanes,
                      {"turns", "stripe"});
    options.Reserve("ns3::training::LanedTransport::Stripe", "lanes");
    options.Reserve("ns3::training::SwitchDevice::BufferSize", "buffer");
    ReserveAttributes(options);
}

void
ClusterOptions::ReserveAttributes(ProgramOptions& options)
{
    options.Reserve("ns3::training::HostDevice::Mtu", "mtu");
    options.Reserve("ns3::training::RdmaNic::BaseRoundTrip");
    options.Reserve("ns3::training::RdmaNic::CongestionControl", "congestion-control");
    options.Reserve("ns3::training::RdmaNic::LossRecovery", "recovery");
    options.Reserve("ns3::training::RdmaNic::Mtu", "mtu");
    options.Reserve("ns3::training::RdmaNic::PathHops");
    options.Reserve("ns3::training::SwitchDevice::Path", "path");
    options.Reserve("ns3::TcpL4Protocol::SocketType", "congestion-control");
}

void
ClusterOptions::AddTo(ProgramOptions& options, const std::string& algorithmOption)
{
    AddNetworkTo(options);
    options.AddChoice("transport", "how messages travel", transport, {"rdma", "tcp"});
    options.AddString("congestion-control",
                      "rdma: " + Registry<CongestionControlEntry>::Names() +
                          "; tcp: a TypeId such as ns3::TcpDctcp; auto: dcqcn, ns3::TcpCubic",
                      congestionControl);
    options.AddString(algorithmOption,
                      "who sends what to whom: NAME or NAME:key=value,... of those below, or auto: "
                      "the one of these that is fastest by a model of the network",
                      algorithm);
    auto algorithms = DescribeAlgorithms();
    for (const auto& [name, entry] : Registry<InNetworkSystem>::All())
    {
        algorithms.emplace_back(name, entry.help);
        algorithms.emplace_back("", "for " + entry.operations + "; all other operations by a ring");
    }
    options.AddSection("Algorithms", algorithms);
    options.AddUnsigned("servers",
                        "shards of the parameter server, kept by as many of the ranks",
                        servers,
                        1,
                        1 << 20);
    options.AddChoice("host-model",
                      "latencies of the hosts: none, or those of NCCL's protocols",
                      hostModel,
                      {"none", "nccl"});
    options.AddUnsigned("segments",
                        "parts that each chunk is cut into, to be pipelined; 0: as many as the "
                        "algorithm likes",
                        segments,
                        0,
                        CollectiveSchedule::MOST_MESSAGES);
    options.AddString("schedule",
                      "file with a schedule, JSON or MSCCL XML, in place of --" + algorithmOption,
                      schedule);
    options.AddString("export-schedule",
                      "file for the schedule (of the largest size): MSCCL XML if it ends in .xml, "
                      "otherwise JSON",
                      exportSchedule);
    options.AddBool("print-schedule",
                    "list the schedule (of the largest size) and end",
                    printSchedule);
    options.AddUnsigned(
        "elements-per-packet",
        "sums in the network: values in a packet; 0: as the switches' attributes have "
        "it, 64, of 32 bits, or 62 of atp",
        inNetwork.elementsPerPacket,
        0,
        SWITCH_PS_MOST_ELEMENTS);
    options.AddUnsigned("slots",
                        "sums in the network: packets that a switch holds at a time; 0: as the "
                        "switches' attributes have it, 512, or 20000 of atp",
                        inNetwork.slots,
                        0,
                        SWITCHML_MOST_SLOTS);
    options.AddUnsigned("window",
                        "sums in the network: packets in flight of a rank; 0: as many as slots, "
                        "atp 1200",
                        inNetwork.window,
                        0,
                        SWITCHML_MOST_SLOTS);
    options.AddChoice("framing",
                      "sums in the network: how packets are framed",
                      inNetwork.framing,
                      {"udp", "rdma"});
    options.AddUnsigned("message-packets",
                        "sums in the network, RDMA framing: packets in a message",
                        inNetwork.messagePackets,
                        1,
                        SWITCHML_MOST_SLOTS);
    options.AddBool("verify",
                    "prove schedules right whatever the number of ranks; otherwise up to " +
                        std::to_string(CollectivePlanner::VERIFIED_RANKS),
                    verify);
}

bool
ClusterOptions::IsRdma() const
{
    return transport == "rdma";
}

void
ClusterOptions::Check() const
{
    if (!IsRdma() && transport != "tcp")
    {
        throw ConfigurationError("--transport='" + transport + "' (allowed: rdma, tcp)");
    }
    if (!IsRdma() && recovery != ClusterOptions().recovery)
    {
        throw ConfigurationError("--recovery=" + recovery +
                                 " (allowed with --transport=rdma only)");
    }
    if (loss < 0 || loss > 1 || std::isnan(loss))
    {
        throw ConfigurationError("--loss=" + FormatDouble(loss) + " (allowed: 0 to 1)");
    }
    const bool mayHaveServers =
        schedule.empty() && (algorithm == SERVERS_OF || algorithm == AlgorithmChooser::NAME);
    if (servers > 1 && !mayHaveServers)
    {
        throw ConfigurationError("--servers=" + std::to_string(servers) +
                                 " (allowed with algorithm " + SERVERS_OF + " or " +
                                 AlgorithmChooser::NAME + ", without --schedule)");
    }
    GetMtu();
    GetBufferSize();
}

std::string
ClusterOptions::GetCongestionControl() const
{
    return congestionControl != "auto" ? congestionControl : IsRdma() ? "dcqcn" : "ns3::TcpCubic";
}

uint32_t
ClusterOptions::GetMtu() const
{
    const auto bytes =
        mtu == "auto" ? std::optional<uint64_t>(IsRdma() ? 4096 : 9000) : ParseUnsigned(mtu);
    if (!bytes || *bytes < SMALLEST_MTU || *bytes > LARGEST_MTU)
    {
        throw ConfigurationError("--mtu=" + mtu + " (allowed: auto, or " +
                                 std::to_string(SMALLEST_MTU) + " to " +
                                 std::to_string(LARGEST_MTU) + " bytes)");
    }
    return static_cast<uint32_t>(*bytes);
}

uint64_t
ClusterOptions::GetBufferSize() const
{
    const auto bytes = buffer == "auto" ? std::optional<uint64_t>(0) : ParseBytes(buffer);
    if (!bytes || (*bytes < 4 * LARGEST_MTU && buffer != "auto"))
    {
        throw ConfigurationError("--buffer=" + buffer + " (allowed: auto, or " +
                                 FormatBytes(4 * LARGEST_MTU) + " and more)");
    }
    return *bytes;
}

} // namespace ns3::training
