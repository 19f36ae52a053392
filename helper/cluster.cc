/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster.h"

#include "host-transport.h"

#include "ns3/boolean.h"
#include "ns3/fabric-border.h"
#include "ns3/log.h"
#include "ns3/partition.h"
#include "ns3/processes.h"
#include "ns3/quantity.h"
#include "ns3/rdma-transport.h"
#include "ns3/roce-wire-format.h"
#include "ns3/schedule-file.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/shortest-paths.h"
#include "ns3/string.h"
#include "ns3/tcp-transport.h"
#include "ns3/topology-builder.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCluster");

namespace
{

/// Ethernet, with preamble and gap.
constexpr uint32_t ETHERNET_LINE_BYTES =
    Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
/// Multiples of it, such as doubled timeouts, must not run over; s.
constexpr double LONGEST_ROUND_TRIP = 4000;

} // namespace

Cluster::Cluster(const ClusterOptions& options)
    : m_options(options)
{
    m_options.Check();
    m_options.congestionControl = m_options.GetCongestionControl();
    m_mtu = m_options.GetMtu();
    m_topology = BuildTopology(m_options.topology, GetRanks(), m_options.rate, m_options.delay);
    AddFaults();
    MakePlanner();
    MeasurePaths();
    InstallFabric();
    InstallTransport();
    MakeCommunicators();
    InstallInNetwork();
}

void
Cluster::AddFaults()
{
    for (const std::string& fault : m_options.faults)
    {
        m_faults.Add(fault, "--fault=");
    }
    if (m_options.loss > 0)
    {
        m_faults.Add("*:loss=" + FormatDouble(m_options.loss), "--loss: ");
    }
    std::set<std::string> lossy; // parallel links have one name
    for (const auto& link : m_topology.links)
    {
        const std::string name = m_topology.GetName(link.a) + "-" + m_topology.GetName(link.b);
        if (link.loss > 0 && lossy.insert(name).second)
        {
            m_faults.Add(name + ":loss=" + FormatDouble(link.loss), m_options.topology + ": ");
        }
    }
}

void
Cluster::MeasurePaths()
{
    m_lowerBound = std::make_unique<LowerBound>(m_topology, GetRanks(), GetGoodput());
    m_longest = ShortestPaths(m_topology).GetLongestPath(GetRanks());
    if (m_longest.links == 0) // of one rank, which sends nothing
    {
        const uint64_t rate = m_options.rate.GetBitRate();
        m_longest = {1, rate, Time(0), 1 / static_cast<double>(rate)};
    }
    const double bits =
        8.0 * (m_mtu + ROCE_BYTES + AETH_BYTES + ROCE_BYTES + 2 * ETHERNET_LINE_BYTES);
    m_roundTrip = 2 * m_longest.delay + Seconds(bits * m_longest.secondsPerBit);
}

void
Cluster::InstallFabric()
{
    FabricHelper helper;
    if (const uint64_t buffer = m_options.GetBufferSize())
    {
        helper.SetSwitchAttribute("BufferSize", UintegerValue(buffer));
    }
    helper.SetSwitchAttribute("Path", StringValue(m_options.path));
    if (IsRdma())
    {
        SetMarking(helper, m_options.congestionControl);
    }
    else
    {
        helper.SetHostAttribute("Mtu", UintegerValue(m_mtu));
    }
    const uint32_t processes = Processes::GetCount();
    if (processes > 1)
    {
        helper.SetPartition(PartitionBySwitch(m_topology, GetRanks(), processes));
        Processes::Start();
    }
    m_fabric = helper.Install(m_topology);
    AddPipelines();
    m_faults.Apply(m_fabric, m_options.rerouteDelay);
    if (!m_options.pcap.empty())
    {
        m_pcap = std::make_unique<FabricPcap>(m_fabric, m_options.pcap);
    }
    m_lanes = std::make_shared<FabricLanes>(m_fabric, GetRanks());
    if (m_options.path == "schedule")
    {
        PinPaths();
    }
    if (processes > 1)
    {
        m_border = MakeBorder(m_fabric, m_roundTrip);
    }
}

void
Cluster::AddPipelines()
{
    const auto& switches = m_fabric.devicesOfSwitches;
    const Time pipeline = switches.empty() ? Time(0) : switches[0]->GetPipelineDelay();
    const uint32_t passes = 2 * (m_longest.links - 1);
    const double seconds = m_roundTrip.GetSeconds() + passes * pipeline.GetSeconds();
    if (seconds > LONGEST_ROUND_TRIP)
    {
        throw ConfigurationError("a round trip of " + FormatDouble(seconds) +
                                 " s between the farthest ranks (allowed: up to " +
                                 FormatDouble(LONGEST_ROUND_TRIP) +
                                 " s; it follows from --topology, --delay and "
                                 "ns3::training::SwitchDevice::PipelineDelay)");
    }
    m_roundTrip += passes * pipeline;
}

void
Cluster::MakeCommunicators()
{
    const auto planner = m_planner;
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        m_transports.push_back(MakeTransport(rank));
        auto communicator = CreateObject<ScheduledCommunicator>();
        communicator->Setup(
            rank,
            GetRanks(),
            m_transports.back(),
            [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                return planner->Get(operation, bytes, root);
            });
        SetHostModel(*communicator, rank, {});
        m_communicators.push_back(communicator);
    }
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
        network.packetBytes = IsRdma() ? m_mtu : m_mtu - HostTransport::TCP_IP_BYTES;
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
Cluster::InstallTransport()
{
    const HostTransport transport{m_fabric,
                                  GetRanks(),
                                  m_options.congestionControl,
                                  m_mtu,
                                  m_roundTrip,
                                  m_longest};
    if (IsRdma())
    {
        m_nics = InstallRdma(transport, m_options.recovery);
    }
    else
    {
        InstallTcp(transport, m_lanes);
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
    return m_options.IsRdma();
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
Cluster::GetSums(const std::vector<std::vector<float>>& inputs,
                 const std::vector<float>& result) const
{
    return m_inNetworkCommunicators.empty()
               ? GetSumsOfHosts(inputs)
               : std::vector<std::vector<float>>{
                     m_inNetworkCommunicators[0]->GetSumFor(inputs, result)};
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
                    : HostTransport::TCP_IP_BYTES + ETHERNET_LINE_BYTES;
}

double
Cluster::GetGoodput() const
{
    const uint32_t payload = IsRdma() ? m_mtu : m_mtu - HostTransport::TCP_IP_BYTES;
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
