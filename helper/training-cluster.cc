/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-cluster.h"

#include "ecn-marking.h"
#include "nic-algorithm.h"

#include "ns3/boolean.h"
#include "ns3/communicator-list.h"
#include "ns3/double.h"
#include "ns3/fabric-border.h"
#include "ns3/fabric-partition.h"
#include "ns3/message-tag.h"
#include "ns3/roce-wire-format.h"
#include "ns3/shortest-paths.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

namespace
{

/// Size of Ethernet headers, with preamble and gap.
constexpr uint32_t ETHERNET_LINE_BYTES =
    Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
/// Number of the communicator of storage hosts, for tables.
constexpr uint32_t STORAGE_COMMUNICATOR = MessageTag::MAX_COMMUNICATOR;
/// Maximum round trip: its multiples, such as doubled timeouts, must not overflow; s.
constexpr double MAX_ROUND_TRIP = 4000;

/**
 * Lists communicators at the nodes of their ranks.
 * @param fabric whose host r has rank r
 * @param communicators by rank; null: none
 */
template <typename T>
void
AddToLists(const Fabric& fabric, const std::vector<Ptr<T>>& communicators)
{
    for (uint32_t rank = 0; rank < communicators.size(); rank++)
    {
        if (communicators[rank])
        {
            CommunicatorList::Add(fabric.hosts.Get(rank), communicators[rank]);
        }
    }
}

/** Lets recirculation ports of switches run at the rate of the links, if that is higher. */
void
RaiseRecirculation(DataRate rate, const AttributeList& attributes, FabricHelper& fabric)
{
    const TypeId type = SwitchDevice::GetTypeId();
    const std::string name = "RecirculationRate";
    const auto usual = DynamicCast<const DataRateValue>(attributes.Get(type, name))->Get();
    if (rate > usual && !attributes.Has(type, name) && IsDefaultUnchanged(type, name))
    {
        fabric.SetSwitchAttribute(name, DataRateValue(rate));
    }
}

} // namespace

Cluster::Cluster(const ClusterOptions& options, uint32_t largestJob)
    : m_options(options),
      m_transports(m_options, m_attributes)
{
    m_options.Check();
    for (const auto& [name, value] : m_options.attributes)
    {
        m_attributes.Set(name, value);
    }
    m_options.congestionControl = m_options.GetCongestionControl();
    m_mtu = m_options.GetMtu();
    m_backgroundHelper = BackgroundHelper(m_options);
    m_nicHelper = NicHelper(m_options, m_attributes);
    m_codecHelper = CodecHelper(m_options);
    m_topology = m_options.GetTopology();
    FabricHelper::CheckSize(*m_topology);
    m_faults = m_options.MakeFaults(*m_topology);
    const PacketSize packet = m_transports.GetHosts().GetPacketSize();
    m_plan = std::make_unique<ClusterPlan>(m_options, *m_topology, packet, m_nicHelper);
    m_lowerBound = std::make_unique<LowerBound>(*m_topology, GetRanks(), packet.GetGoodput());
    if (m_nicHelper.IsInstalled())
    {
        m_codedBound = std::make_unique<LowerBound>(m_nicHelper.LimitHosts(*m_topology, packet),
                                                    GetRanks(),
                                                    m_nicHelper.GetGoodput(packet));
    }
    MeasurePaths();
    InstallFabric();
    const double gain = m_nicHelper.GetGain(packet, m_longest.rate);
    m_transports.Install(m_longest, m_roundTrip, gain);
    m_nicHelper.CheckSegments(m_transports.GetHosts().GetSegmentBytes());
    MakeCommunicators();
    if (m_nicHelper.IsInstalled())
    {
        m_notes.push_back(m_nicHelper.Describe(m_transports.GetHosts().GetPacketSize(),
                                               m_options.rate.GetBitRate()));
    }
    InstallInNetwork(largestJob);
    InstallNicEngines();
    InstallCodecs();
    InstallStorage();
    InstallBackground();
    CheckAttributes();
}

LowerBound
Cluster::MakeLowerBound(const std::vector<uint32_t>& group,
                        CollectiveOperation operation,
                        bool isJob) const
{
    const PacketSize packet = m_transports.GetHosts().GetPacketSize();
    if (m_controller && isJob)
    {
        LowerBound bound(*m_topology, group, packet.GetGoodput());
        bound.SetSumsInNetwork({CollectiveOperation::ALL_REDUCE}, 1);
        return bound;
    }
    return m_nicHelper.Codes(operation) ? LowerBound(m_nicHelper.LimitHosts(*m_topology, packet),
                                                     group,
                                                     m_nicHelper.GetGoodput(packet))
                                        : LowerBound(*m_topology, group, packet.GetGoodput());
}

void
Cluster::CheckAttributes() const
{
    const auto unused = m_attributes.GetUnused();
    if (!unused.empty())
    {
        throw ConfigurationError("attribute " + unused.front() +
                                 ": the cluster has no such object (allowed: attributes of the "
                                 "objects that it makes)");
    }
}

Cluster::~Cluster() = default;

void
Cluster::MeasurePaths()
{
    m_longest = ShortestPaths(*m_topology).GetLongestPath(GetHosts());
    if (m_longest.links == 0) // a single rank, which sends nothing
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
    AddPipelines();
    FabricHelper helper;
    if (m_options.buffer != 0)
    {
        helper.SetSwitchAttribute("BufferSize", UintegerValue(m_options.buffer));
    }
    helper.SetSwitchAttribute("Path", StringValue(m_options.path));
    m_transports.GetHosts().SetUp(helper, m_roundTrip);
    const EcnMarking marking(m_options, m_transports.GetHosts());
    marking.SetUp(m_attributes, helper);
    RaiseRecirculation(m_options.rate, m_attributes, helper);
    helper.SetAttributes(m_attributes);
    const uint32_t processes = Processes::GetCount();
    if (processes > 1)
    {
        helper.SetPartition(PartitionBySwitch(*m_topology, GetRanks(), processes));
        Processes::Start();
    }
    helper.SetRoutedHosts(GetHosts());
    m_fabric = helper.Install(*m_topology);
    const std::string note = marking.Describe(m_fabric, m_options.rate);
    if (!note.empty())
    {
        m_notes.push_back(note);
    }
    m_nicHelper.Install(m_fabric, *m_topology);
    m_faults.Apply(m_fabric, m_options.rerouteDelay);
    m_faults.CheckDuplication(m_longest.links);
    if (!m_options.pcap.empty())
    {
        m_pcap = std::make_unique<FabricPcap>(m_fabric, m_options.pcap);
    }
    m_transports.PairPorts(m_fabric, m_backgroundHelper.IsInstalled(), GetHosts());
    if (GetPathChoice(m_options.path).isPinned)
    {
        PinPaths();
    }
    if (processes > 1)
    {
        m_border = MakeBorder(m_fabric, m_roundTrip);
    }
    else if (m_options.steadyState != "simulate" && m_options.GetTransport().repeats &&
             BucketScheduler::GetCurrent())
    {
        m_steadyState = std::make_unique<SteadyState>(m_fabric, m_options.steadyState == "verify");
    }
}

void
Cluster::AddPipelines()
{
    const auto delay = m_attributes.Get(SwitchDevice::GetTypeId(), "PipelineDelay");
    const Time pipeline =
        m_topology->switches == 0 ? Time(0) : dynamic_cast<const TimeValue&>(*delay).Get();
    const uint32_t passes = 2 * (m_longest.links - 1);
    const double seconds = m_roundTrip.GetSeconds() + passes * pipeline.GetSeconds();
    if (seconds > MAX_ROUND_TRIP)
    {
        throw ConfigurationError("a round trip of " + FormatDouble(seconds) +
                                 " s between the farthest ranks (allowed: up to " +
                                 FormatDouble(MAX_ROUND_TRIP) +
                                 " s; it follows from the topology, the delay of links and "
                                 "ns3::training::SwitchDevice::PipelineDelay)");
    }
    m_roundTrip += passes * pipeline + 2 * m_nicHelper.GetLatency();
}

ScheduledCommunicator::Planner
Cluster::MakePlanner() const
{
    const auto planner = m_plan->Get();
    const auto gathers = m_codecHelper.CodesBuckets() ? m_plan->MakeGathers() : planner;
    return [planner, gathers](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
        return (operation == CollectiveOperation::ALL_GATHER ? gathers : planner)
            ->Get(operation, bytes, root);
    };
}

void
Cluster::MakeCommunicators()
{
    m_planner = MakePlanner();
    const auto hostModel = MakeHostModel({});
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        const auto transport = m_transports.Make(rank, MessageUse::RANKS);
        auto communicator = m_attributes.Create<ScheduledCommunicator>();
        communicator->Setup(rank, GetRanks(), transport, m_planner);
        communicator->SetHostModel(hostModel);
        communicator->SetCoding(m_nicHelper.GetCoding());
        m_codecHelper.InstallIn(*communicator, rank);
        m_communicators.push_back(communicator);
    }
    AddToLists(m_fabric, m_communicators);
}

void
Cluster::InstallInNetwork(uint32_t largestJob)
{
    if (!IsInNetwork(m_options.algorithm))
    {
        return;
    }
    if (m_options.hostLatency.IsStrictlyPositive())
    {
        throw ConfigurationError("host latency",
                                 FormatTime(m_options.hostLatency),
                                 " with " + m_options.algorithm +
                                     " (allowed: with algorithms that run on hosts)");
    }
    const auto system = Choose<InNetworkSystem>(m_options.algorithm);
    InNetworkRequest request{m_fabric,
                             {},
                             m_communicators,
                             MakeHostModel({}),
                             system.values,
                             system.values.GetAttributes(GetKeys(*system.entry)),
                             m_notes,
                             largestJob};
    request.attributes.Add(m_attributes);
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        request.endpoints.push_back(m_fabric.devices[rank]->GetEndpoint());
    }
    if (largestJob > 0)
    {
        if (!system.entry->control)
        {
            throw ConfigurationError(
                "collective",
                m_options.algorithm,
                " with jobs that share switches (allowed: " + GetSharedSystems() + ")");
        }
        request.hosts.clear();
        m_controller = system.entry->control(request);
        return;
    }
    m_inNetworkCommunicators = system.entry->install(request);
    AddToLists(m_fabric, m_inNetworkCommunicators);
    std::set<CollectiveOperation> operations;
    for (const CollectiveOperation operation :
         {CollectiveOperation::ALL_REDUCE, CollectiveOperation::REDUCE})
    {
        if (m_inNetworkCommunicators.front()->IsOffloaded(operation))
        {
            operations.insert(operation);
        }
    }
    m_lowerBound->SetSumsInNetwork(std::move(operations),
                                   1 / m_inNetworkCommunicators.front()->GetLineShare());
}

void
Cluster::InstallNicEngines()
{
    if (!IsInNic(m_options.algorithm))
    {
        return;
    }
    m_nicCommunicators = InstallInNics(
        m_options,
        m_attributes,
        m_fabric,
        m_communicators,
        m_planner,
        m_transports.GetHosts().GetPacketSize(),
        [this](uint64_t rate) {
            return m_nicHelper.GetGain(m_transports.GetHosts().GetPacketSize(), rate);
        },
        m_longest.rate,
        m_notes);
    AddToLists(m_fabric, m_nicCommunicators.ranks);
    const NicCommunicator& first = *m_nicCommunicators.ranks.front();
    const PacketSize packet = m_transports.GetHosts().GetPacketSize();
    if (first.GetFormattedBytes(sizeof(float)) < sizeof(float))
    {
        const double share =
            static_cast<double>(first.GetFormattedBytes(sizeof(float))) / sizeof(float);
        m_lowerBound =
            std::make_unique<LowerBound>(*m_topology, GetRanks(), packet.GetGoodput() / share);
    }
}

void
Cluster::InstallCodecs()
{
    if (m_codecHelper.IsInstalled())
    {
        std::vector<Ptr<Communicator>> inner;
        for (uint32_t rank = 0; rank < GetRanks(); rank++)
        {
            inner.push_back(GetCommunicator(rank));
        }
        m_codedCommunicators = m_codecHelper.Wrap(inner);
        AddToLists(m_fabric, m_codedCommunicators);
        m_notes.push_back(m_codecHelper.Describe());
    }
}

std::vector<Ptr<ScheduledCommunicator>>
Cluster::Split(const std::vector<std::vector<uint32_t>>& groups,
               uint32_t number,
               const std::string& algorithm,
               const std::set<CollectiveOperation>& operations) const
{
    std::vector<Ptr<ScheduledCommunicator>> communicators(m_options.ranks);
    for (const std::vector<uint32_t>& group : groups)
    {
        const auto planner = m_plan->MakeForGroup(group, algorithm);
        const auto hostModel = MakeHostModel(group);
        for (CollectiveOperation operation : operations)
        {
            planner->Check(operation);
        }
        for (uint32_t rank : group)
        {
            communicators.at(rank) = m_communicators.at(rank)->Split(
                group,
                [planner](CollectiveOperation operation, uint64_t bytes, uint32_t root) {
                    return planner->Get(operation, bytes, root);
                },
                number);
            m_attributes.ApplyTo(*communicators[rank]);
            communicators[rank]->SetHostModel(hostModel);
        }
    }
    AddToLists(m_fabric, communicators);
    return communicators;
}

std::shared_ptr<const HostModel>
Cluster::MakeHostModel(const std::vector<uint32_t>& hosts) const
{
    const uint32_t ranks = hosts.empty() ? GetRanks() : static_cast<uint32_t>(hosts.size());
    const auto choice = Choose<HostModelEntry>(m_options.hostModel);
    return choice.entry->make({*m_topology, hosts, ranks, choice.values});
}

void
Cluster::InstallStorage()
{
    const uint32_t hosts = m_options.storageHosts > 0 ? GetRanks() + GetStorageHosts() : 0;
    for (uint32_t host = 0; host < hosts; host++)
    {
        auto communicator = m_attributes.Create<ScheduledCommunicator>();
        communicator->Setup(host,
                            hosts,
                            m_transports.Make(host, MessageUse::STORAGE),
                            nullptr, // messages only
                            STORAGE_COMMUNICATOR);
        m_storageCommunicators.push_back(communicator);
    }
}

uint32_t
Cluster::GetStorageHosts() const
{
    return static_cast<uint32_t>(m_options.storageHosts);
}

Ptr<ScheduledCommunicator>
Cluster::GetStorageCommunicator(uint32_t number) const
{
    return m_storageCommunicators.at(number);
}

void
Cluster::Restart()
{
    m_transports.Restart();
    uint64_t next = 0;
    for (const auto& communicator : m_communicators)
    {
        next = std::max(next, communicator->GetNextCollective());
    }
    for (const auto* communicators : {&m_communicators, &m_storageCommunicators})
    {
        for (const auto& communicator : *communicators)
        {
            communicator->Abort(next);
        }
    }
}

uint64_t
Cluster::GetMostRestarts() const
{
    return m_transports.GetMostRestarts();
}

std::unique_ptr<LinkOutage>
Cluster::TakeDown(const std::vector<uint32_t>& links)
{
    return std::make_unique<LinkOutage>(m_fabric, links, m_options.rerouteDelay);
}

void
Cluster::InstallBackground()
{
    if (!m_backgroundHelper.IsInstalled())
    {
        return;
    }
    const Time pipeline = m_fabric.devicesOfSwitches.empty()
                              ? Time(0)
                              : m_fabric.devicesOfSwitches[0]->GetPipelineDelay();
    m_background = m_backgroundHelper.Install(
        m_fabric,
        std::make_unique<IdlePaths>(*m_topology, m_transports.GetHosts().GetPacketSize(), pipeline),
        [this](uint32_t host) { return m_transports.Make(host, MessageUse::BACKGROUND); });
    m_background->Start();
    m_notes.push_back(m_backgroundHelper.Describe(*m_background));
}

uint32_t
Cluster::GetHosts() const
{
    return m_backgroundHelper.UsesAllHosts() ? m_topology->hosts : GetRanks() + GetStorageHosts();
}

const BackgroundTraffic*
Cluster::GetBackground() const
{
    return m_background.get();
}

uint32_t
Cluster::GetRanks() const
{
    return static_cast<uint32_t>(m_options.ranks);
}

bool
Cluster::HasFaults() const
{
    return !m_faults.IsEmpty();
}

const TopologyGraph&
Cluster::GetTopology() const
{
    return *m_topology;
}

const Fabric&
Cluster::GetFabric() const
{
    return m_fabric;
}

Ptr<Communicator>
Cluster::GetCommunicator(uint32_t rank) const
{
    if (!m_codedCommunicators.empty())
    {
        return m_codedCommunicators.at(rank);
    }
    if (!m_inNetworkCommunicators.empty())
    {
        return m_inNetworkCommunicators.at(rank);
    }
    if (!m_nicCommunicators.ranks.empty())
    {
        return m_nicCommunicators.ranks.at(rank);
    }
    return m_communicators.at(rank);
}

PortPairTable&
Cluster::GetPortPairs() const
{
    return m_transports.GetPortPairs();
}

Ptr<MessageTransport>
Cluster::GetTransport(uint32_t rank) const
{
    return m_transports.Get(rank);
}

void
Cluster::PinPaths()
{
    const auto paths = m_plan->Get()->GetPaths();
    if (paths.empty() && m_options.ranks > 1)
    {
        std::string able;
        for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
        {
            able += !entry.paths ? "" : (able.empty() ? "" : ", ") + name;
        }
        throw ConfigurationError("path",
                                 m_options.path,
                                 " with the algorithm " + GetAlgorithm() + " (allowed: " + able +
                                     ", where hosts have one port)");
    }
    for (const RankPath& path : paths)
    {
        const PortPair portPair =
            m_transports.GetPortPairs().GetPortPairs(path.from, path.to).front();
        m_fabric.PinPath(portPair.localEndpoint, portPair.remoteEndpoint, path.nodes);
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

InNetworkController*
Cluster::GetController() const
{
    return m_controller.get();
}

CollectivePlanner&
Cluster::GetPlanner() const
{
    return *m_plan->Get();
}

const NetworkCost&
Cluster::GetNetworkCost() const
{
    return m_plan->GetNetworkCost();
}

std::vector<PlannedChoice>
Cluster::GetChoices() const
{
    return m_plan->GetChoices();
}

std::shared_ptr<const CollectiveSchedule>
Cluster::GetReferenceSchedule(CollectiveOperation operation, uint64_t bytes) const
{
    const bool isByPackets = m_nicCommunicators.packets &&
                             NicCommunicator::IsOffloaded(operation) && m_nicHelper.CodesBlocks();
    return isByPackets ? m_nicCommunicators.packets->Get(operation, bytes, 0)
                       : m_plan->Get()->Get(operation, bytes, 0);
}

MessageCoding
Cluster::GetCoding(CollectiveOperation operation) const
{
    if (m_nicCommunicators.packets && NicCommunicator::IsOffloaded(operation))
    {
        return m_nicCommunicators.ranks.front()->GetCoding();
    }
    return m_codecHelper.IsInstalled() ? m_codecHelper.GetCoding() : m_nicHelper.GetCoding();
}

double
Cluster::GetLowerBound(CollectiveOperation operation,
                       uint64_t bytes,
                       const ByteMatrix& matrix) const
{
    const LowerBound& bound = m_nicHelper.Codes(operation) ? *m_codedBound : *m_lowerBound;
    return m_codecHelper.GetLowerBound(bound, operation, bytes, matrix);
}

const std::string&
Cluster::GetAlgorithm() const
{
    return m_plan->GetAlgorithm();
}

const NicHelper&
Cluster::GetNicEngines() const
{
    return m_nicHelper;
}

const CodecHelper&
Cluster::GetCodecs() const
{
    return m_codecHelper;
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

const std::vector<std::string>&
Cluster::GetNotes() const
{
    return m_notes;
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
