/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster.h"

#include "fabric-border.h"
#include "partition.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/processes.h"
#include "ns3/quantity.h"
#include "ns3/rail-routing.h"
#include "ns3/rdma-transport.h"
#include "ns3/roce-wire-format.h"
#include "ns3/schedule-file.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/shortest-paths.h"
#include "ns3/string.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-transport.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCluster");

namespace
{

constexpr uint64_t SMALLEST_MTU = 256;
constexpr uint64_t LARGEST_MTU = 9000;
/// IPv4 and TCP headers with the timestamp option.
constexpr uint32_t TCP_IP_BYTES = 20 + 20 + 12;
/// Ethernet, with preamble and gap.
constexpr uint32_t ETHERNET_LINE_BYTES =
    Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
/// The window scale option ends here.
constexpr double LARGEST_TCP_BUFFER = 1 << 30;

/** @return whether there is such an attribute, and the user has not set its default */
bool
IsUnchanged(TypeId tid, const std::string& name)
{
    for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
    {
        const auto attribute = tid.GetAttribute(i);
        if (attribute.name == name)
        {
            return attribute.initialValue->SerializeToString(attribute.checker) ==
                   attribute.originalInitialValue->SerializeToString(attribute.checker);
        }
    }
    return false;
}

/** Sets the default of an attribute, unless the user has. */
void
SetUnlessChanged(const std::string& type, const std::string& name, const AttributeValue& value)
{
    if (IsUnchanged(TypeId::LookupByName(type), name))
    {
        Config::SetDefault(type + "::" + name, value);
    }
}

/** @return whether objects of a type are TCP congestion controls, whatever parent it names */
bool
IsTcpCongestionControl(TypeId tid)
{
    if (!tid.HasConstructor() || !tid.IsChildOf(Object::GetTypeId()))
    {
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return DynamicCast<TcpCongestionOps>(factory.Create<Object>()) != nullptr;
}

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
    options.AddUnsigned("elements-per-packet",
                        "sums in the network: values in a packet; 0: 64, but atp 62",
                        inNetwork.elementsPerPacket,
                        0,
                        SWITCH_PS_MOST_ELEMENTS);
    options.AddUnsigned("slots",
                        "sums in the network: packets that a switch holds at a time; 0: 512, but "
                        "atp 20000",
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

Cluster::Cluster(const ClusterOptions& options)
    : m_options(options)
{
    const bool rdma = IsRdma();
    if (!rdma && m_options.transport != "tcp")
    {
        throw ConfigurationError("--transport='" + m_options.transport + "' (allowed: rdma, tcp)");
    }
    if (!rdma && m_options.recovery != ClusterOptions().recovery)
    {
        throw ConfigurationError("--recovery=" + m_options.recovery +
                                 " (allowed with --transport=rdma only)");
    }
    if (m_options.congestionControl == "auto")
    {
        m_options.congestionControl = rdma ? "dcqcn" : "ns3::TcpCubic";
    }
    const auto mtu = m_options.mtu == "auto" ? std::optional<uint64_t>(rdma ? 4096 : 9000)
                                             : ParseUnsigned(m_options.mtu);
    if (!mtu || *mtu < SMALLEST_MTU || *mtu > LARGEST_MTU)
    {
        throw ConfigurationError("--mtu=" + m_options.mtu + " (allowed: auto, or " +
                                 std::to_string(SMALLEST_MTU) + " to " +
                                 std::to_string(LARGEST_MTU) + " bytes)");
    }
    m_mtu = static_cast<uint32_t>(*mtu);
    if (m_options.loss < 0 || m_options.loss > 1 || std::isnan(m_options.loss))
    {
        throw ConfigurationError("--loss=" + FormatDouble(m_options.loss) + " (allowed: 0 to 1)");
    }
    if (m_options.rate.GetBitRate() < 1000000)
    {
        throw ConfigurationError("--rate=" + FormatRate(m_options.rate) +
                                 " (allowed: 1Mbps and more)");
    }
    const auto buffer =
        m_options.buffer == "auto" ? std::optional<uint64_t>(0) : ParseBytes(m_options.buffer);
    if (!buffer || (*buffer < 4 * LARGEST_MTU && m_options.buffer != "auto"))
    {
        throw ConfigurationError("--buffer=" + m_options.buffer + " (allowed: auto, or " +
                                 FormatBytes(4 * LARGEST_MTU) + " and more)");
    }
    for (const std::string& fault : m_options.faults)
    {
        m_faults.Add(fault, "--fault=");
    }
    if (m_options.loss > 0)
    {
        m_faults.Add("*:loss=" + FormatDouble(m_options.loss), "--loss: ");
    }
    const auto ranks = static_cast<uint32_t>(m_options.ranks);
    m_topology = BuildTopology(m_options.topology, ranks, m_options.rate, m_options.delay);
    std::set<std::string> lossy; // parallel links have one name
    for (const auto& link : m_topology.links)
    {
        const std::string name = m_topology.GetName(link.a) + "-" + m_topology.GetName(link.b);
        if (link.loss > 0 && lossy.insert(name).second)
        {
            m_faults.Add(name + ":loss=" + FormatDouble(link.loss), m_options.topology + ": ");
        }
    }
    const TopologyGraph& topology = m_topology;
    MakePlanner();

    FabricHelper helper;
    if (*buffer > 0)
    {
        helper.SetSwitchAttribute("BufferSize", UintegerValue(*buffer));
    }
    helper.SetSwitchAttribute("Path", StringValue(m_options.path));
    if (rdma)
    {
        SetMarking(helper);
    }
    else
    {
        helper.SetHostAttribute("Mtu", UintegerValue(m_mtu));
    }
    if (Processes::GetCount() > 1)
    {
        helper.SetPartition(PartitionBySwitch(topology, ranks, Processes::GetCount()));
        Processes::Start();
    }
    m_fabric = helper.Install(topology);
    m_faults.Apply(m_fabric, m_options.rerouteDelay);
    if (!m_options.pcap.empty())
    {
        m_pcap = std::make_unique<FabricPcap>(m_fabric, m_options.pcap);
    }
    m_lowerBound = std::make_unique<LowerBound>(topology, ranks, GetGoodput());
    m_longest = ShortestPaths(topology).GetLongestPath(ranks);
    if (m_longest.links == 0) // of one rank, which sends nothing
    {
        const uint64_t rate = m_options.rate.GetBitRate();
        m_longest = {1, rate, Time(0), 1 / static_cast<double>(rate)};
    }
    const double bits =
        8.0 * (m_mtu + ROCE_BYTES + AETH_BYTES + ROCE_BYTES + 2 * ETHERNET_LINE_BYTES);
    m_roundTrip = 2 * m_longest.delay + Seconds(bits * m_longest.secondsPerBit);
    m_lanes = std::make_shared<FabricLanes>(m_fabric, ranks);
    if (m_options.path == "schedule")
    {
        PinPaths();
    }
    rdma ? InstallRdma() : InstallTcp();
    if (Processes::GetCount() > 1)
    {
        m_border = MakeBorder(m_fabric, m_roundTrip);
    }

    const auto planner = m_planner;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        m_transports.push_back(MakeTransport(rank));
        auto communicator = CreateObject<ScheduledCommunicator>();
        communicator->Setup(
            rank,
            ranks,
            m_transports.back(),
            [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                return planner->Get(operation, bytes, root);
            });
        SetHostModel(*communicator, rank, {});
        m_communicators.push_back(communicator);
    }
    InstallInNetwork();
}

void
Cluster::InstallInNetwork()
{
    const auto& systems = Registry<InNetworkSystem>::All();
    const auto found = systems.find(m_options.algorithm);
    const InNetworkOptions& asked = m_options.inNetwork;
    const InNetworkOptions usual;
    if (asked.framing != "rdma" && asked.messagePackets != usual.messagePackets)
    {
        throw ConfigurationError("--message-packets=" + std::to_string(asked.messagePackets) +
                                 " (allowed with --framing=rdma only)");
    }
    if (found == systems.end())
    {
        if (asked.elementsPerPacket != usual.elementsPerPacket || asked.slots != usual.slots ||
            asked.window != usual.window || asked.framing != usual.framing)
        {
            throw ConfigurationError("--elements-per-packet, --slots, --window or --framing with "
                                     "algorithm " +
                                     m_options.algorithm + " (allowed with " +
                                     Registry<InNetworkSystem>::Names() + ")");
        }
        return;
    }
    InNetworkRequest request{m_fabric, {}, m_communicators, m_options.inNetwork};
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        request.endpoints.push_back(m_fabric.devices[rank]->GetEndpoint());
    }
    m_inNetworkCommunicators = found->second.install(request);
}

std::string
Cluster::GetHostAlgorithm() const
{
    // What the network does not do, the hosts do by a ring.
    const bool inNetwork = Registry<InNetworkSystem>::All().count(m_options.algorithm) > 0;
    return inNetwork ? "ring" : m_options.algorithm;
}

void
Cluster::MakePlanner()
{
    if (!m_options.schedule.empty())
    {
        auto schedule = std::make_shared<CollectiveSchedule>(LoadSchedule(m_options.schedule));
        if (schedule->GetSize() != GetRanks())
        {
            throw ConfigurationError("--schedule=" + m_options.schedule +
                                     " with --ranks=" + std::to_string(GetRanks()) +
                                     " (allowed: " + std::to_string(schedule->GetSize()) + ")");
        }
        if (m_options.segments > 0)
        {
            schedule->segments = static_cast<uint32_t>(m_options.segments);
            schedule->Close(false);
        }
        m_options.algorithm = schedule->algorithm;
        m_planner = std::make_shared<CollectivePlanner>("--schedule=" + m_options.schedule,
                                                        std::move(schedule));
        return;
    }
    const std::string algorithm = GetHostAlgorithm();
    m_planner = MakePlanner({}, algorithm);
    if (algorithm != AlgorithmChooser::NAME)
    {
        const std::string name = algorithm.substr(0, algorithm.find(':'));
        m_planner->Check(Registry<CollectiveAlgorithm>::Find(name).operations.front());
    }
}

std::shared_ptr<CollectivePlanner>
Cluster::MakePlanner(const std::vector<uint32_t>& hosts, const std::string& algorithm) const
{
    CollectiveRequest request;
    request.segments = static_cast<uint32_t>(m_options.segments);
    request.ranks = hosts.empty() ? GetRanks() : static_cast<uint32_t>(hosts.size());
    request.servers = static_cast<uint32_t>(
        hosts.empty() ? m_options.servers : std::min<uint64_t>(m_options.servers, hosts.size()));
    request.topology = &m_topology;
    request.hosts = hosts;
    if (algorithm == AlgorithmChooser::NAME)
    {
        NetworkCost network;
        network.goodput = GetGoodput();
        network.packetBytes = IsRdma() ? m_mtu : m_mtu - TCP_IP_BYTES;
        network.headerBytes = GetHeaderBytes();
        network.sprays = m_options.path == "spray";
        return std::make_shared<CollectivePlanner>(network, request, m_options.verify);
    }
    return std::make_shared<CollectivePlanner>(algorithm, request, m_options.verify);
}

std::vector<Ptr<ScheduledCommunicator>>
Cluster::Split(const std::vector<std::vector<uint32_t>>& groups,
               uint32_t number,
               const std::string& algorithm) const
{
    if (!m_options.schedule.empty())
    {
        throw ConfigurationError("--schedule=" + m_options.schedule +
                                 " with several groups of ranks (allowed: an algorithm)");
    }
    std::vector<Ptr<ScheduledCommunicator>> communicators(m_options.ranks);
    for (const std::vector<uint32_t>& group : groups)
    {
        const auto planner = MakePlanner(group, algorithm.empty() ? GetHostAlgorithm() : algorithm);
        for (uint32_t rank : group)
        {
            communicators.at(rank) = m_communicators.at(rank)->Split(
                group,
                [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return planner->Get(operation, bytes, root);
                },
                number);
            SetHostModel(*communicators[rank], rank, group);
        }
    }
    return communicators;
}

void
Cluster::SetHostModel(ScheduledCommunicator& communicator,
                      uint32_t rank,
                      const std::vector<uint32_t>& hosts) const
{
    if (m_options.hostModel != "nccl")
    {
        return;
    }
    const NcclHostModel model(m_topology, hosts, communicator.GetSize());
    communicator.SetHostModel(model, [this, rank](uint32_t peer) {
        return NcclHostModel::IsLocal(m_topology, rank, peer);
    });
}

void
Cluster::SetMarking(FabricHelper& helper) const
{
    const auto& entry = Registry<CongestionControlEntry>::Find(m_options.congestionControl);
    const TypeId type = SwitchDevice::GetTypeId();
    if (entry.ecnStepPerGbps > 0 && IsUnchanged(type, "EcnKminPerGbps") &&
        IsUnchanged(type, "EcnKmaxPerGbps"))
    {
        helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(entry.ecnStepPerGbps));
        helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(entry.ecnStepPerGbps));
    }
}

void
Cluster::InstallRdma()
{
    const auto& entry = Registry<CongestionControlEntry>::Find(m_options.congestionControl);
    for (uint32_t rank = 0; rank < m_options.ranks; rank++)
    {
        m_nics.emplace_back();
        for (const auto& device : m_fabric.rails[rank])
        {
            auto nic = CreateObject<RdmaNic>();
            nic->SetAttribute("Mtu", UintegerValue(m_mtu));
            nic->SetAttribute("CongestionControl", TypeIdValue(entry.getTypeId()));
            nic->SetAttribute("LossRecovery", StringValue(m_options.recovery));
            nic->SetAttribute("BaseRoundTrip", TimeValue(std::max(GetRoundTrip(), TimeStep(1))));
            nic->SetAttribute("PathHops", UintegerValue(m_longest.links));
            // A timeout below the round trip would send everything twice.
            if (nic->GetTimeout() < 4 * GetRoundTrip())
            {
                nic->SetAttribute("RetransmissionTimeout", TimeValue(4 * GetRoundTrip()));
            }
            if (nic->GetTimeoutLow() < 4 * GetRoundTrip())
            {
                nic->SetAttribute("TimeoutHigh",
                                  TimeValue(std::max(nic->GetTimeoutHigh(), 12 * GetRoundTrip())));
                nic->SetAttribute("TimeoutLow", TimeValue(4 * GetRoundTrip()));
            }
            nic->Attach(device);
            m_nics.back().push_back(nic);
            device->AggregateObject(nic);
        }
    }
}

void
Cluster::InstallTcp()
{
    TypeId congestionControl;
    if (!TypeId::LookupByNameFailSafe(m_options.congestionControl, &congestionControl) ||
        !IsTcpCongestionControl(congestionControl))
    {
        throw ConfigurationError("--congestion-control='" + m_options.congestionControl +
                                 "' (allowed with tcp: the TypeId of a TcpCongestionOps, such as "
                                 "ns3::TcpCubic, ns3::TcpDctcp, ns3::TcpBbr)");
    }
    const Time roundTrip = GetRoundTrip();
    const double product = roundTrip.GetSeconds() * static_cast<double>(m_longest.rate) / 8;
    const auto buffer =
        static_cast<uint32_t>(std::clamp(4 * product, 1024.0 * 1024.0, LARGEST_TCP_BUFFER));
    SetUnlessChanged("ns3::TcpL4Protocol", "SocketType", TypeIdValue(congestionControl));
    SetUnlessChanged("ns3::TcpSocket", "SegmentSize", UintegerValue(m_mtu - TCP_IP_BYTES));
    SetUnlessChanged("ns3::TcpSocket", "SndBufSize", UintegerValue(buffer));
    SetUnlessChanged("ns3::TcpSocket", "RcvBufSize", UintegerValue(buffer));
    SetUnlessChanged("ns3::TcpSocket", "DelAckTimeout", TimeValue(MilliSeconds(1)));
    SetUnlessChanged("ns3::TcpSocket", "DataRetries", UintegerValue(15));
    SetUnlessChanged("ns3::TcpSocket",
                     "ConnTimeout",
                     TimeValue(std::max(MilliSeconds(10), 4 * roundTrip)));
    SetUnlessChanged("ns3::TcpSocketBase",
                     "MinRto",
                     TimeValue(std::max(MilliSeconds(5), 2 * roundTrip)));
    SetUnlessChanged("ns3::TcpSocketState",
                     "MaxPacingRate",
                     DataRateValue(DataRate(m_longest.rate)));
    SetUnlessChanged("ns3::TcpSocketBase", "ClockGranularity", TimeValue(MicroSeconds(1)));
    SetUnlessChanged("ns3::RttEstimator",
                     "InitialEstimation",
                     TimeValue(std::max(MilliSeconds(1), roundTrip)));

    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    for (uint32_t rank = 0; rank < m_options.ranks; rank++)
    {
        Ptr<Node> host = m_fabric.hosts.Get(rank);
        stack.Install(host);
        auto ipv4 = host->GetObject<Ipv4>();
        if (m_fabric.rails[rank].size() > 1)
        {
            auto routing = CreateObject<RailRouting>();
            routing->SetLanes(rank, m_lanes);
            ipv4->SetRoutingProtocol(routing);
        }
        for (const auto& device : m_fabric.rails[rank])
        {
            const uint32_t interface = ipv4->AddInterface(device);
            const Ipv4Address address = HostDevice::GetIpv4Address(device->GetEndpoint());
            ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, "255.0.0.0"));
            ipv4->SetUp(interface);
        }
    }
}

Ptr<MessageTransport>
Cluster::MakeTransport(uint32_t rank) const
{
    Ptr<LanedTransport> transport;
    if (IsRdma())
    {
        auto rdma = CreateObject<RdmaTransport>();
        rdma->SetLanes(rank, m_lanes);
        rdma->SetNics(m_nics[rank]);
        transport = rdma;
    }
    else
    {
        auto tcp = CreateObject<TcpTransport>();
        tcp->SetLanes(rank, m_lanes);
        tcp->SetNode(m_fabric.hosts.Get(rank));
        transport = tcp;
    }
    if (m_options.lanes == "stripe")
    {
        transport->SetAttribute("Stripe", BooleanValue(true));
    }
    return transport;
}

uint32_t
Cluster::GetRanks() const
{
    return static_cast<uint32_t>(m_options.ranks);
}

bool
Cluster::IsRdma() const
{
    return m_options.transport == "rdma";
}

const Fabric&
Cluster::GetFabric() const
{
    return m_fabric;
}

Ptr<Communicator>
Cluster::GetCommunicator(uint32_t rank) const
{
    if (!m_inNetworkCommunicators.empty())
    {
        return m_inNetworkCommunicators.at(rank);
    }
    return m_communicators.at(rank);
}

const std::vector<Ptr<RdmaNic>>&
Cluster::GetNics(uint32_t rank) const
{
    return m_nics.at(rank);
}

LaneTable&
Cluster::GetLanes() const
{
    return *m_lanes;
}

Ptr<MessageTransport>
Cluster::GetTransport(uint32_t rank) const
{
    return m_transports.at(rank);
}

void
Cluster::PinPaths()
{
    const auto paths = m_planner->GetPaths();
    if (paths.empty() && m_options.ranks > 1)
    {
        std::string able;
        for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
        {
            able += !entry.paths ? "" : (able.empty() ? "" : ", ") + name;
        }
        throw ConfigurationError("--path=schedule with the algorithm " + m_options.algorithm +
                                 " (allowed: " + able + ", where hosts have one port)");
    }
    for (const RankPath& path : paths)
    {
        const Lane lane = m_lanes->GetLanes(path.from, path.to).front();
        m_fabric.PinPath(lane.localEndpoint, lane.remoteEndpoint, path.nodes);
    }
}

Ptr<ScheduledCommunicator>
Cluster::GetHostCommunicator(uint32_t rank) const
{
    return m_communicators.at(rank);
}

const std::vector<Ptr<InNetworkCommunicator>>&
Cluster::GetInNetworkCommunicators() const
{
    return m_inNetworkCommunicators;
}

std::vector<std::vector<float>>
Cluster::GetSums(const std::vector<std::vector<float>>& inputs) const
{
    return m_inNetworkCommunicators.empty()
               ? GetSumsOfHosts(inputs)
               : std::vector<std::vector<float>>{m_inNetworkCommunicators[0]->GetSum(inputs)};
}

std::vector<std::vector<float>>
Cluster::GetSumsOfHosts(const std::vector<std::vector<float>>& inputs) const
{
    const uint64_t bytes = inputs[0].size() * sizeof(float);
    const auto plan = m_planner->Get(CollectiveOperation::ALL_REDUCE, bytes, 0);
    auto sums = InterpretSchedule(*plan, inputs);
    const auto same = [&](const std::vector<float>& sum) { return sum == sums[0]; };
    if (std::all_of(sums.begin(), sums.end(), same))
    {
        sums.resize(1);
    }
    return sums;
}

bool
Cluster::HasFallenBack() const
{
    const auto& workers = m_inNetworkCommunicators;
    return std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
        return worker->HasFallenBack();
    });
}

CollectivePlanner&
Cluster::GetPlanner() const
{
    return *m_planner;
}

const LowerBound&
Cluster::GetLowerBound() const
{
    return *m_lowerBound;
}

const std::string&
Cluster::GetAlgorithm() const
{
    return m_options.algorithm;
}

const std::string&
Cluster::GetCongestionControl() const
{
    return m_options.congestionControl;
}

uint32_t
Cluster::GetMtu() const
{
    return m_mtu;
}

uint32_t
Cluster::GetHeaderBytes() const
{
    return IsRdma() ? GetDataFrameBytes(WRITE_MIDDLE, m_mtu) - m_mtu + Frame::PREAMBLE_BYTES +
                          Frame::GAP_BYTES
                    : TCP_IP_BYTES + ETHERNET_LINE_BYTES;
}

double
Cluster::GetGoodput() const
{
    const uint32_t payload = IsRdma() ? m_mtu : m_mtu - TCP_IP_BYTES;
    return static_cast<double>(payload) / (payload + GetHeaderBytes());
}

Time
Cluster::GetRoundTrip() const
{
    return m_roundTrip;
}

bool
Cluster::IsLocal(uint32_t rank) const
{
    return m_fabric.hosts.Get(rank)->GetSystemId() == Processes::GetId();
}

ProcessBorder*
Cluster::GetBorder() const
{
    return m_border.get();
}

} // namespace ns3::training
