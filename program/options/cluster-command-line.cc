/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-command-line.h"

#include "core/input-manifest.h"
#include "options/machine-file.h"
#include "options/warning-names.h"
#include "schedule/schedule-file.h"
#include "topology/topology-report.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/background-helper.h"
#include "ns3/collective-algorithm.h"
#include "ns3/fault-plan.h"
#include "ns3/gradient-codec.h"
#include "ns3/host-model.h"
#include "ns3/library-selector.h"
#include "ns3/machine-entry.h"
#include "ns3/multi-port-transport.h"
#include "ns3/nic-algorithm.h"
#include "ns3/nic-helper.h"
#include "ns3/path-choice.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-loss-recovery.h"
#include "ns3/topology-builder.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-output-file.h"
#include "ns3/training-processes.h"
#include "ns3/training-registry.h"
#include "ns3/training-time-resolution.h"
#include "ns3/transport-entry.h"
#include "ns3/uec-congestion-control.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

namespace ns3::training
{

namespace
{

/** @return option name of a field of ClusterOptions, without leading dashes */
std::string
GetOptionName(std::string field)
{
    std::replace(field.begin(), field.end(), ' ', '-');
    return field;
}

/** @return all collective algorithms and in-network systems by name */
std::vector<AlternativeDescription>
DescribeCollectives()
{
    auto all = DescribeAlternatives<CollectiveAlgorithm>();
    for (const auto& systems :
         {DescribeAlternatives<InNetworkSystem>(), DescribeAlternatives<NicAlgorithm>()})
    {
        all.insert(all.end(), systems.begin(), systems.end());
    }
    all.insert(all.begin(),
               {AlgorithmChooser::NAME,
                "the algorithm that is expected to be fastest, by a model of the network",
                {},
                {},
                {}});
    all.insert(all.begin() + 1,
               {LibrarySelector::NAME,
                "what NCCL's tuning takes for the operation, size and ranks; with a host model of "
                "NCCL",
                {},
                {},
                {}});
    return all;
}

/** @return no traffic, and all flow sizes with the keys of traffic */
std::vector<AlternativeDescription>
DescribeBackground()
{
    auto all = DescribeAlternatives<FlowSizesEntry>();
    const auto keys = BackgroundHelper::GetKeys();
    for (auto& sizes : all)
    {
        sizes.keys.insert(sizes.keys.end(), keys.begin(), keys.end());
    }
    all.insert(all.begin(), {BackgroundHelper::NONE, "the ranks are alone", {}, {}, {}});
    return all;
}

/** @return no codec, and all codecs with the keys of a place */
std::vector<AlternativeDescription>
DescribeCodecs(const std::string& none, const std::vector<Key>& keys)
{
    auto all = DescribeAlternatives<CodecEntry>();
    for (auto& codec : all)
    {
        codec.keys.insert(codec.keys.end(), keys.begin(), keys.end());
    }
    all.insert(all.begin(), {CodecChoice::NONE, none, {}, {}, {}});
    return all;
}

} // namespace

ClusterCommandLine::ClusterCommandLine(ClusterOptions& cluster)
    : m_cluster(cluster)
{
}

void
ClusterCommandLine::AddNetworkTo(ProgramOptions& options)
{
    options.Group("Cluster");
    options.AddUnsigned("ranks",
                        "number of workers, one per host; if not given, all hosts of a topology of "
                        "a fixed size, such as torus:8x8",
                        m_cluster.ranks,
                        1,
                        1 << 20);
    options.AddKind("topology",
                    "topology",
                    "hosts, switches and links",
                    m_cluster.topology,
                    &DescribeAlternatives<TopologyBuilder>);
    options.AddBool("strict",
                    "refuses input files of which something is ignored or assumed",
                    InputManifest::strict);
    options.AddString("silence",
                      "names of warnings to leave out, separated by commas; each line has its name",
                      WarningNames::silenced);
    options.AddBool("print-topology",
                    "describe the topology (counts, diameter, bisection) and end",
                    m_printTopology);
    options.AddEnding("print-topology", {"export-topology"});
    options.AddOutput("export-topology",
                      "file for the topology as JSON",
                      m_exportTopology,
                      OutputKind::TOPOLOGY);
    options.AddRate("rate", "line rate of every link", m_cluster.rate);
    options.AddTime("delay", "propagation delay of every link", m_cluster.delay);
    options.AddAutomatic(
        Key::Count("mtu",
                   0,
                   ClusterOptions::MIN_MTU,
                   ClusterOptions::MAX_MTU,
                   "largest payload of rdma and uec, or IP packet of tcp, 256 to 9000 bytes; auto: "
                   "4096 or 9000"),
        m_cluster.mtu);
    Key buffer = Key::Of("buffer",
                         Key::Type::BYTES,
                         "",
                         "packet memory of every switch; auto: 32 MiB, or more if PFC needs it");
    buffer.min = ClusterOptions::MIN_BUFFER;
    options.AddAutomatic(buffer, m_cluster.buffer);
    options.AddKind("path",
                    "path-choice",
                    "how switches choose among equal-cost ports",
                    m_cluster.path,
                    &DescribeAlternatives<PathChoiceEntry>);
    options.AddDouble("loss", "probability that a link loses a frame", m_cluster.loss, 0, 1);
    options.AddList(
        "fault",
        "TARGET:key=value,... such as host3-switch0:loss=0.01, *:ber=1e-9, "
        "switch1:restart,from=1ms,until=2ms; or @FILE; may be repeated",
        m_cluster.faults,
        AlternativeDescription{"TARGET",
                               "all links *, a node such as host3 or switch1, or a link such as "
                               "host3-switch1",
                               {},
                               FaultPlan::GetKeys(),
                               std::nullopt});
    options.AddTime("reroute-delay",
                    "from the death or return of a link to new routes",
                    m_cluster.rerouteDelay);
    options.AddChoice(
        "steady-state",
        "periods in which nothing but the same repeats: skipped, with equal results, "
        "or simulated; verify: one more is simulated and compared before any is skipped",
        m_cluster.steadyState,
        {"skip", "simulate", "verify"});
    options.AddString("pcap",
                      "prefix of capture files, one a port: PREFIX-host3-0.pcap",
                      m_cluster.pcap);
    options.AddKind("recovery", "loss-recovery", "RDMA: loss recovery", m_cluster.recovery, [] {
        auto all = DescribeAlternatives<LossRecoveryEntry>();
        all.insert(all.begin(), {"auto", "go-back-n; out-of-order if --path sprays", {}, {}, {}});
        return all;
    });
    options.AddChoice(
        "port-pairs",
        "how messages use several port pairs of two hosts: in turns, each striped over "
        "the pairs, or its packets sprayed over them; auto: spray with mrc, otherwise "
        "turns",
        m_cluster.portPairs,
        {"auto", "turns", "stripe", "spray"});
    options.AddRenamed("lanes", "--port-pairs=VALUE", "port-pairs");
    options.Reserve("ns3::training::MultiPortTransport::Stripe", "port-pairs");
    options.Reserve("ns3::training::MultiPortTransport::Spray", "port-pairs");
    options.Reserve("ns3::training::SwitchDevice::BufferSize", "buffer");
    ReserveAttributes(options);
}

void
ClusterCommandLine::ReserveAttributes(ProgramOptions& options)
{
    for (const auto& [attribute, field] : ClusterOptions::GetOwnAttributes())
    {
        options.Reserve(attribute, GetOptionName(field));
    }
}

void
ClusterCommandLine::AddCongestionControlTo(ProgramOptions& options, const std::string& otherwise)
{
    const bool isRdma = otherwise.empty();
    const std::string automatic =
        isRdma ? "dcqcn" : "dcqcn, or ns3::training::TcpCubic with tcp, or nscc with uec";
    options.AddKind(
        "congestion-control",
        "congestion-control",
        "congestion control: sending rate of each flow",
        m_cluster.congestionControl,
        [automatic, isRdma] {
            auto all = DescribeAlternatives<CongestionControlEntry>();
            all.insert(all.begin(), {"auto", automatic, {}, {}, {}});
            if (!isRdma)
            {
                const auto uec = DescribeAlternatives<UecCongestionControlEntry>();
                all.insert(all.end(), uec.begin(), uec.end());
            }
            return all;
        },
        otherwise);
}

void
ClusterCommandLine::AddTransportTo(ProgramOptions& options)
{
    options.AddKind("transport",
                    "transport",
                    "how messages travel",
                    m_cluster.transport,
                    &DescribeAlternatives<TransportEntry>);
    AddCongestionControlTo(options, "the TypeId of a TcpCongestionOps, such as ns3::TcpDctcp");
    options.AddUnsigned("queue-pairs",
                        "RDMA: queue pairs between two ports, each with its own path by ecmp",
                        m_cluster.queuePairs,
                        1,
                        MultiPortTransport::MAX_QUEUE_PAIRS);
    options.AddBool("split",
                    "whether each message is split among the queue pairs; otherwise messages use "
                    "them in turns",
                    m_cluster.split);
    options.Reserve("ns3::training::MultiPortTransport::QueuePairs", "queue-pairs");
    options.Reserve("ns3::training::MultiPortTransport::Split", "split");
}

void
ClusterCommandLine::AddBackgroundTo(ProgramOptions& options)
{
    options.AddKind("background",
                    "flow-sizes",
                    "traffic beside that of the ranks: sizes of its flows, with their keys and "
                    "those of the traffic",
                    m_cluster.background,
                    &DescribeBackground);
}

void
ClusterCommandLine::AddHostsTo(ProgramOptions& options)
{
    options.AddKind("host-model",
                    "host-model",
                    "time that hosts take for collectives, beside the network",
                    m_cluster.hostModel,
                    &DescribeAlternatives<HostModelEntry>);
    options.AddTime("host-latency",
                    "time from a rank's decision to send a message until its host has posted it",
                    m_cluster.hostLatency);
    options.AddKind("host-jitter",
                    "jitter",
                    "distribution of a factor of --host-latency, drawn for each message",
                    m_cluster.hostJitter,
                    &DescribeAlternatives<JitterEntry>);
    options.Reserve("ns3::training::MultiPortTransport::PostLatency", "host-latency");
    options.Reserve("ns3::training::MultiPortTransport::PostJitter", "host-jitter");
}

void
ClusterCommandLine::AddTo(ProgramOptions& options)
{
    options.AddKind(
        "machine",
        "machine",
        "machine whose parts are the defaults of other options",
        m_machine,
        [] {
            auto all = DescribeAlternatives<MachineEntry>();
            all.insert(all.begin(), {"none", "each option has its own default", {}, {}, {}});
            return all;
        },
        "the path of a TOML file that changes one, as `calibrate` writes it");
    options.AddToDescription("machines", DescribeMachines());
    options.AddPreset(
        "machine",
        [this](const std::string& text) {
            std::vector<ProgramOptions::Value> values;
            if (text == "none")
            {
                return values;
            }
            values = ReadMachine(text);
            m_cluster.machine = text + ": ";
            return values;
        },
        &m_cluster.machine);
    AddNetworkTo(options);
    AddTransportTo(options);
    options.AddKind(
        "nic",
        "codec",
        "engine in every NIC that codes gradients packet by packet: a codec, with its "
        "keys and those of the engine",
        m_cluster.nic,
        [] { return DescribeCodecs("NICs send what hosts give them", NicHelper::GetKeys()); });
    options.AddKind(
        "codec",
        "codec",
        "gradients are coded on GPUs or CPUs, for messages or for whole buckets: a "
        "codec, with its keys and those of the place",
        m_cluster.codec,
        [] { return DescribeCodecs("gradients are not coded", CodecHelper::GetKeys()); });
    AddBackgroundTo(options);
    options.AddKind("collective",
                    "collective",
                    "collective algorithm, or system that sums in the network",
                    m_cluster.algorithm,
                    &DescribeCollectives);
    for (const std::string name :
         {"elements-per-packet", "slots", "window", "framing", "message-packets"})
    {
        options.AddRenamed(name, "--collective=SYSTEM:" + name + "=VALUE", "collective");
    }
    options.AddRenamed("collective=tree",
                       "--collective=sharp, or double-binary-tree for NCCL's tree",
                       "collective");
    options.AddRenamed("algorithm", "--collective=VALUE", "collective");
    options.AddRenamed("servers", "--collective=parameter-server:servers=VALUE", "collective");
    AddHostsTo(options);
    options.AddPreset("host-model", [](const std::string& text) {
        std::vector<ProgramOptions::Value> values;
        if (Choose<HostModelEntry>(text).entry->chooses)
        {
            values.push_back({"collective", LibrarySelector::NAME});
        }
        return values;
    });
    options.AddUnsigned("segments",
                        "pipeline segments per chunk; 0: chosen by the algorithm",
                        m_cluster.segments,
                        0,
                        CollectiveSchedule::MAX_MESSAGES);
    options.AddString("schedule",
                      "file with a schedule, JSON or MSCCL XML, in place of --collective; "
                      "with --model also a pipeline schedule",
                      m_cluster.schedule);
    options.AddOutput("export-schedule",
                      "file for the schedule (of the largest size): MSCCL XML if it ends in .xml, "
                      "otherwise JSON",
                      m_exportSchedule,
                      OutputKind::SCHEDULE);
    options.AddBool("print-schedule",
                    "list the schedule (of the largest size) and end",
                    m_printSchedule);
    options.AddEnding("print-schedule", {"export-topology", "export-schedule"});
    options.AddBool("verify",
                    "prove schedules right whatever the number of ranks; otherwise up to " +
                        std::to_string(CollectivePlanner::VERIFIED_RANKS),
                    m_cluster.verify);
}

TopologyGraph
ClusterCommandLine::GetTopology() const
{
    UsePicoseconds();
    return *m_cluster.GetTopology(static_cast<uint32_t>(m_cluster.ranks + m_cluster.storageHosts));
}

void
ClusterCommandLine::FollowTopology(const ProgramOptions& options)
{
    WarningNames::Check();
    const bool leavesHosts = m_cluster.background.find("hosts=others") != std::string::npos;
    if (options.IsGiven("ranks") || !options.IsGiven("topology") || leavesHosts)
    {
        return;
    }
    UsePicoseconds();
    const auto hosts = m_cluster.FindHosts();
    if (hosts && *hosts > m_cluster.storageHosts)
    {
        m_cluster.ranks = *hosts - m_cluster.storageHosts;
    }
}

bool
ClusterCommandLine::ShowTopology() const
{
    if (m_printTopology && Processes::GetId() == 0)
    {
        std::cout << DescribeTopology(GetTopology(), static_cast<uint32_t>(m_cluster.ranks));
        for (const std::string& line : InputManifest::GetLines())
        {
            std::cout << "input       " << line << "\n";
        }
        std::cout << std::flush;
        ExportTopology();
    }
    return m_printTopology;
}

void
ClusterCommandLine::ExportTopology() const
{
    if (!m_exportTopology.empty() && Processes::GetId() == 0)
    {
        WriteOutputFile(m_exportTopology, WriteTopology(GetTopology()));
    }
}

bool
ClusterCommandLine::ShowSchedule(const Cluster& cluster,
                                 CollectiveOperation operation,
                                 uint64_t bytes) const
{
    ExportTopology();
    if (Processes::GetId() == 0 && IsScheduleRequested())
    {
        const auto schedule = cluster.GetPlanner().Get(operation, bytes, 0);
        if (!m_exportSchedule.empty())
        {
            SaveSchedule(*schedule, m_exportSchedule);
        }
        if (m_printSchedule)
        {
            std::cout << DescribeSchedule(*schedule) << std::flush;
        }
    }
    return m_printSchedule;
}

bool
ClusterCommandLine::IsScheduleRequested() const
{
    return m_printSchedule || !m_exportSchedule.empty();
}

std::string
NameOption(const ConfigurationError& error)
{
    const std::string& field = error.GetField();
    const std::string text = error.what();
    return field.empty() ? text : "--" + GetOptionName(field) + "=" + text.substr(field.size() + 1);
}

} // namespace ns3::training
