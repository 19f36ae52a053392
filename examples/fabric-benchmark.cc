/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * How fast the fabric and RDMA are simulated: packet-hops per second of CPU time.
 *
 *   ./ns3w run "fabric-benchmark --workload=W1"
 */

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <utility>

using namespace ns3;
using namespace ns3::training;

namespace
{

/** What is sent. */
struct Traffic
{
    std::string workload{"custom"};
    std::string pattern{"neighbour"};
    uint64_t bytes{10000000};
    std::string json;
};

/** A message from host to host. */
using Flow = std::pair<uint32_t, uint32_t>;

/** @return who sends to whom */
std::vector<Flow>
MakeFlows(const std::string& pattern, uint32_t hosts)
{
    std::vector<Flow> flows;
    const auto unknown = [&] {
        return ConfigurationError("--pattern=" + pattern +
                                  " (allowed: neighbour, permutation, incast:SENDERS with 1 to "
                                  "ranks - 1 senders, all-to-all)");
    };
    if (pattern == "neighbour" || pattern == "permutation")
    {
        // A permutation in one cycle, so that nobody sends to itself; a neighbour's is in order.
        std::vector<uint32_t> order(hosts);
        std::iota(order.begin(), order.end(), 0);
        if (pattern == "permutation")
        {
            auto random = CreateObject<UniformRandomVariable>();
            random->SetStream(1);
            for (uint32_t i = hosts; i-- > 1;)
            {
                std::swap(order[i], order[random->GetInteger(0, i)]);
            }
        }
        for (uint32_t i = 0; i < hosts && hosts > 1; i++)
        {
            flows.emplace_back(order[i], order[(i + 1) % hosts]);
        }
    }
    else if (pattern.rfind("incast:", 0) == 0)
    {
        const auto senders = ParseUnsigned(pattern.substr(7));
        if (!senders || *senders == 0 || *senders >= hosts)
        {
            throw unknown();
        }
        for (uint32_t sender = 1; sender <= *senders; sender++)
        {
            flows.emplace_back(sender, 0);
        }
    }
    else if (pattern == "all-to-all")
    {
        for (uint32_t distance = 1; distance < hosts; distance++)
        {
            for (uint32_t host = 0; host < hosts; host++)
            {
                flows.emplace_back(host, (host + distance) % hosts);
            }
        }
    }
    else
    {
        throw unknown();
    }
    return flows;
}

/** Sends a message; an event of the sender's host, because nodes talk through frames alone. */
void
Send(Ptr<MessageTransport> transport, uint32_t to, uint64_t bytes)
{
    transport->Send(to, 0, bytes, nullptr);
}

/** @return the latest of what all processes name */
Time
GetLatest(Time mine)
{
    ByteWriter writer;
    writer(mine);
    Time latest;
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        latest = std::max(latest, ByteReader(bytes.data(), bytes.size()).Next<Time>());
    }
    return latest;
}

/** @return the sum of what all processes name */
uint64_t
GetSum(uint64_t mine)
{
    uint64_t sum = 0;
    ByteWriter writer;
    writer(mine);
    for (const std::string& bytes : Processes::Gather(writer.GetText()))
    {
        sum += ByteReader(bytes.data(), bytes.size()).Next<uint64_t>();
    }
    return sum;
}

/** Sets what a predefined workload says, unless it is "custom". */
void
UseWorkload(Traffic& traffic, ClusterOptions& cluster)
{
    if (traffic.workload == "custom")
    {
        return;
    }
    cluster.delay = MicroSeconds(1);
    cluster.mtu = "1000";
    if (traffic.workload == "W1")
    {
        cluster.ranks = 16;
        cluster.topology = "single-switch";
    }
    else if (traffic.workload == "W2")
    {
        cluster.ranks = 128;
        cluster.topology = "fat-tree:k=8";
    }
    else
    {
        cluster.ranks = 1024;
        cluster.topology = "fat-tree:k=16";
        traffic.pattern = "permutation";
        traffic.bytes = 2000000;
    }
}

int
Benchmark(int argc, char* argv[])
{
    Traffic traffic;
    ClusterOptions clusterOptions;
    ProgramOptions options("fabric-benchmark",
                           "Measures how fast the fabric and RDMA are simulated.");
    options.Group("Traffic");
    options.AddChoice(
        "workload",
        "W1: 16 hosts on one switch; W2: 128 hosts, k=8 fat-tree; W3: 1024 hosts, "
        "k=16, permutation of 2 MB; all with 1000-byte packets and 1 us links; custom: "
        "as the other options say",
        traffic.workload,
        {"custom", "W1", "W2", "W3"});
    options.AddString("pattern",
                      "who sends to whom: neighbour, permutation, incast:SENDERS, all-to-all",
                      traffic.pattern);
    options.AddBytes("bytes", "size of each message", traffic.bytes);
    options.AddString("json",
                      "file for the results as JSON, or - for standard output",
                      traffic.json);
    clusterOptions.AddNetworkTo(options);
    options.AddString("congestion-control",
                      Registry<CongestionControlEntry>::Names() + "; auto: dcqcn",
                      clusterOptions.congestionControl);
    // Twice: what the user gives goes before what the workload says.
    options.Parse(argc, argv);
    UseWorkload(traffic, clusterOptions);
    options.Parse(argc, argv);

    const JsonOutput json(traffic.json);
    const auto flows = MakeFlows(traffic.pattern, static_cast<uint32_t>(clusterOptions.ranks));
    const Cluster cluster(clusterOptions);
    const Fabric& fabric = cluster.GetFabric();
    GuardedRun run(cluster);
    uint64_t left = 0; // of the messages to hosts of this process
    Time end;          // when the last of these was in
    std::vector<Ptr<MessageTransport>> transports;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto transport = cluster.GetTransport(rank);
        transport->SetMessageHandler([&](uint32_t, uint64_t, uint64_t, Ptr<ByteBuffer>) {
            if (--left == 0)
            {
                end = Simulator::Now();
                run.End();
            }
        });
        transport->SetErrorHandler([&, rank](uint32_t peer, const std::string& reason) {
            run.Fail(peer,
                     "the message from host " + std::to_string(rank) + " to host " +
                         std::to_string(peer) + " failed: " + reason);
        });
        transports.push_back(transport);
    }
    const RunCost before = GetRunCost(fabric);
    const auto started = std::chrono::steady_clock::now();
    for (const auto& [from, to] : flows)
    {
        left += cluster.IsLocal(to);
        if (cluster.IsLocal(from))
        {
            Simulator::ScheduleWithContext(fabric.hosts.Get(from)->GetId(),
                                           TimeStep(0),
                                           &Send,
                                           transports[from],
                                           to,
                                           traffic.bytes);
        }
    }
    if (left == 0)
    {
        run.End();
    }
    try
    {
        run.Run();
    }
    catch (const SimulationStuck& stuck)
    {
        throw SimulationStuck(std::to_string(GetSum(left)) + " of " + std::to_string(flows.size()) +
                              " messages have not arrived; " + stuck.what());
    }
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    end = GetLatest(end);
    GatherCounters(fabric);
    const RunCost after = GetRunCost(fabric);
    const PortCounters total = fabric.GetTotal();
    auto nic = fabric.devices[0]->GetObject<RdmaNic>();
    const uint64_t data = total.byPriority[nic->GetDataPriority()].transmittedFrames;
    const uint64_t control = total.byPriority[nic->GetControlPriority()].transmittedFrames;
    const double cpu = after.cpuSeconds - before.cpuSeconds;
    const double rate = cpu > 0 ? static_cast<double>(data) / cpu : 0;
    const uint64_t events = after.events - before.events;
    if (traffic.json != "-")
    {
        std::printf("%s, %zu messages of %s, %s, packets of %u bytes\n",
                    clusterOptions.topology.c_str(),
                    flows.size(),
                    FormatBytes(traffic.bytes).c_str(),
                    traffic.pattern.c_str(),
                    cluster.GetMtu());
        std::printf("simulated time          %12.3f us\n", end.GetSeconds() * 1e6);
        std::printf("data packet-hops        %12llu\n", static_cast<unsigned long long>(data));
        std::printf("ACK packet-hops         %12llu\n", static_cast<unsigned long long>(control));
        std::printf("events                  %12llu  (%.3f per data packet-hop)\n",
                    static_cast<unsigned long long>(events),
                    data > 0 ? static_cast<double>(events) / static_cast<double>(data) : 0);
        std::printf("CPU time                %12.3f s, after %.3f s of set-up\n",
                    cpu,
                    before.cpuSeconds);
        std::printf("wall-clock time         %12.3f s\n", wall);
        std::printf("data packet-hops / CPU s %11.3f M\n", rate * 1e-6);
        std::printf("peak memory             %12.1f MiB\n", after.peakMemoryMebibytes);
    }
    auto document = JsonValue::Object();
    document.Set("data_packet_hops", data)
        .Set("ack_packet_hops", control)
        .Set("events", events)
        .Set("cpu_s", cpu)
        .Set("wall_s", wall)
        .Set("setup_cpu_s", before.cpuSeconds)
        .Set("data_packet_hops_per_cpu_s", rate)
        .Set("peak_memory_MiB", after.peakMemoryMebibytes)
        .Set("simulated_time_us", end.GetSeconds() * 1e6)
        .Set("dropped_frames", total.droppedFrames)
        .Set("marked_frames", total.markedFrames)
        .Set("pause_frames", total.pausesSent)
        .Set("configuration", GetConfiguration(options, cluster))
        .Set("version", GetVersion());
    json.Write(document);
    transports.clear();
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("fabric-benchmark", [&] { return Benchmark(argc, argv); });
}
