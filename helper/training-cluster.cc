/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-cluster.h"

#include "core/input-manifest.h"
#include "ecn-marking.h"
#include "engine/fabric-border.h"
#include "engine/fabric-partition.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/collective-algorithm.h"
#include "ns3/path-choice.h"
#include "ns3/roce-wire-format.h"
#include "ns3/shortest-paths.h"
#include "ns3/string.h"
#include "ns3/training-quantity.h"
#include "ns3/transport-entry.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

namespace
{

/// Size of Ethernet headers, with preamble and gap.
constexpr uint32_t ETHERNET_LINE_BYTES =
    Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
/// Maximum round trip: its multiples, such as doubled timeouts, must not overflow; s.
constexpr double MAX_ROUND_TRIP = 4000;

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
    if (options.congestionControl != m_options.congestionControl &&
        options.congestionControl != "auto")
    {
        m_notes.push_back("congestion control: " + m_options.congestionControl + " in place of " +
                          options.congestionControl);
    }
    m_backgroundHelper = BackgroundHelper(m_options);
    m_nicHelper = NicHelper(m_options, m_attributes);
    m_codecHelper = CodecHelper(m_options);
    m_topology = m_options.GetTopology();
    FabricHelper::CheckSize(*m_topology);
    m_faults = m_options.MakeFaults(*m_topology);
    const PacketSize packet = m_transports.GetTransport().GetPacketSize();
    m_plan = std::make_unique<ClusterPlan>(m_options, *m_topology, packet, m_nicHelper);
    MeasurePaths();
    InstallFabric();
    const double gain = m_nicHelper.GetGain(packet, m_longest.rate);
    m_transports.Install(m_longest, m_roundTrip, gain);
    m_nicHelper.CheckSegments(m_transports.GetTransport().GetSegmentBytes());
    if (m_nicHelper.IsInstalled())
    {
        m_notes.push_back(m_nicHelper.Describe(m_transports.GetTransport().GetPacketSize(),
                                               m_options.rate.GetBitRate()));
    }
    m_communicators =
        std::make_unique<ClusterCommunicators>(ClusterCommunicators::Parts{m_options,
                                                                           m_attributes,
                                                                           *m_topology,
                                                                           m_fabric,
                                                                           m_transports,
                                                                           *m_plan,
                                                                           m_nicHelper,
                                                                           m_codecHelper,
                                                                           m_longest.rate},
                                               largestJob,
                                               m_notes);
    m_bounds = std::make_unique<ClusterBounds>(*m_topology,
                                               packet,
                                               m_nicHelper,
                                               m_codecHelper,
                                               *m_communicators);
    InstallBackground();
    CheckAttributes();
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
        8.0 * (m_options.GetMtu() + ROCE_BYTES + AETH_BYTES + ROCE_BYTES + 2 * ETHERNET_LINE_BYTES);
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
    m_transports.GetTransport().SetUp(helper, m_roundTrip);
    const EcnMarking marking(m_options, m_transports.GetTransport());
    marking.SetUp(m_attributes, helper);
    RaiseRecirculation(m_options.rate, m_attributes, helper);
    helper.SetAttributes(m_attributes);
    const uint32_t processes = Processes::GetCount();
    if (processes > 1)
    {
        helper.SetPartition(PartitionBySwitch(*m_topology, GetRanks(), processes));
        Processes::Start();
    }
    else if (m_options.images.GetCount() > 1)
    {
        std::vector<uint32_t> imageOf(m_topology->GetNodes(), 0);
        for (uint32_t rank = 0; rank < GetRanks(); rank++)
        {
            imageOf[rank] = m_options.images.GetImage(rank);
        }
        helper.SetPartition(std::move(imageOf)); // only image 0 is in this process
    }
    helper.SetRoutedHosts(GetHosts());
    m_fabric = helper.Install(*m_topology);
    EcnMarking::Limit(m_attributes, m_fabric);
    for (const std::string& line : InputManifest::GetLines())
    {
        m_notes.push_back(line);
    }
    const std::string note = marking.Describe(m_fabric, m_options.rate);
    if (!note.empty())
    {
        m_notes.push_back(note);
    }
    m_nicHelper.Install(m_fabric, *m_topology);
    m_faults.Apply(m_fabric, m_options.GetRerouteDelay());
    if (m_topology->GetCircuits() > 1)
    {
        if (IsInNetwork(m_options.algorithm) && m_options.algorithm.compare(0, 4, "nvls") != 0)
        {
            throw ConfigurationError("collective",
                                     m_options.algorithm,
                                     " on optical circuits (allowed: collectives on hosts, as "
                                     "circuits cut trees)");
        }
        SetCircuit(0);
        m_notes.push_back("optical circuits: configuration 0 of " +
                          std::to_string(m_topology->GetCircuits()) + ", at first");
    }
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
Cluster::SetCircuit(uint32_t circuit)
{
    if (m_dark)
    {
        m_dark->End();
    }
    m_dark = std::make_unique<LinkOutage>(m_fabric, m_topology->GetDarkLinks(circuit), Time());
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
        std::make_unique<IdlePaths>(*m_topology,
                                    m_transports.GetTransport().GetPacketSize(),
                                    pipeline),
        [this](uint32_t host) { return m_transports.Make(host, MessageUse::BACKGROUND); });
    m_background->Start();
    m_notes.push_back(m_backgroundHelper.Describe(*m_background));
}

uint32_t
Cluster::GetHosts() const
{
    return m_backgroundHelper.UsesAllHosts() ? m_topology->hosts : GetRanks() + GetStorageHosts();
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
                                 " with the algorithm " + m_plan->GetAlgorithm() +
                                     " (allowed: " + able + ", where hosts have one port)");
    }
    for (const RankPath& path : paths)
    {
        const PortPair portPair =
            m_transports.GetPortPairs().GetPortPairs(path.from, path.to).front();
        m_fabric.PinPath(portPair.localEndpoint, portPair.remoteEndpoint, path.nodes);
    }
}

} // namespace ns3::training
