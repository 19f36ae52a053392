/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-measurement.h"

#include "core/random-streams.h"

#include "ns3/atp-helper.h"
#include "ns3/double.h"
#include "ns3/link-impairment.h"
#include "ns3/run-files.h"
#include "ns3/simulator.h"
#include "ns3/topology-builder.h"
#include "ns3/training-quantity.h"
#include "ns3/training-registry.h"
#include "ns3/training-time-resolution.h"
#include "ns3/uinteger.h"

#include <memory>
#include <optional>

namespace ns3::training
{

namespace
{

/// Size of background frames: datagrams of the maximum MTU.
constexpr uint32_t BACKGROUND_FRAME_BYTES = 1518;

/** A job that runs one all-reduce after the other. */
class Job
{
  public:
    Job(std::vector<Ptr<AtpCommunicator>> workers, Ptr<AtpServer> server, uint64_t bytes)
        : m_workers(std::move(workers)),
          m_server(server)
    {
        for (const auto& worker : m_workers)
        {
            auto tensor = Create<Tensor>();
            tensor->bytes = bytes;
            m_tensors.push_back(tensor);
            m_done.push_back(0);
            Begin(worker->GetRank());
        }
    }

    AtpJobResult GetResult() const
    {
        AtpJobResult result;
        result.tensors = m_done.front();
        for (std::size_t rank = 0; rank < m_workers.size(); rank++)
        {
            const InNetworkCounters& counters = m_workers[rank]->GetCounters();
            result.workers.sent += counters.sent;
            result.workers.resent += counters.resent;
            result.workers.received += counters.received;
            result.workers.duplicates += counters.duplicates;
            result.tensors = std::min(result.tensors, m_done[rank]);
        }
        result.server = m_server->GetCounters();
        return result;
    }

  private:
    void Begin(uint32_t rank)
    {
        m_workers[rank]->AllReduce(m_tensors[rank], MakeBoundCallback(&Job::OnDone, this, rank));
    }

    static void OnDone(Job* self, uint32_t rank)
    {
        self->m_done[rank]++;
        self->Begin(rank);
    }

    std::vector<Ptr<AtpCommunicator>> m_workers;
    Ptr<AtpServer> m_server;
    std::vector<Ptr<Tensor>> m_tensors; // by rank
    std::vector<uint64_t> m_done;       // by rank
};

/** Records what a job has summed, by host. */
void
OnCollective(RunFiles* files, uint32_t firstHost, const CollectiveRecord& record)
{
    CollectiveRow row;
    row.rank = firstHost + record.rank;
    row.iteration = static_cast<uint32_t>(record.collective);
    row.operation = GetName(record.operation);
    row.algorithm = record.algorithm;
    row.bytes = record.bytes;
    files->AddCollective(row, record.issued, record.finished);
}

/** Sends a frame, and schedules the next one at the given rate. */
void
SendBackground(Ptr<HostDevice> device, uint32_t destination, DataRate rate)
{
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->bytes = BACKGROUND_FRAME_BYTES;
    frame->source = device->GetEndpoint();
    frame->destination = destination;
    frame->flowHash = 0;
    frame->priority = 0;
    frame->psn = 0;
    device->GetPort().Send(frame);
    Simulator::Schedule(rate.CalculateBytesTxTime(BACKGROUND_FRAME_BYTES + Frame::PREAMBLE_BYTES +
                                                  Frame::GAP_BYTES),
                        &SendBackground,
                        device,
                        destination,
                        rate);
}

} // namespace

AtpResult
MeasureAtpJobs(const AtpScenario& scenario)
{
    UsePicoseconds();
    const uint32_t hostsOfJob = scenario.workers + 1;
    // The background traffic has its own destination host.
    const uint32_t hosts = scenario.jobs * hostsOfJob + 1;
    FabricHelper switches;
    const DoubleValue step(Registry<InNetworkSystem>::Find("atp").ecnStepPerGbps);
    switches.SetSwitchAttribute("EcnKminPerGbps", step);
    switches.SetSwitchAttribute("EcnKmaxPerGbps", step);
    switches.SetAttributes(scenario.attributes);
    Fabric fabric =
        switches.Install(BuildTopology("single-switch", hosts, scenario.rate, scenario.delay));
    if (scenario.loss > 0)
    {
        LinkImpairment::Configuration configuration;
        configuration.loss = scenario.loss;
        uint64_t index = 0;
        const auto make = [&] {
            return std::make_shared<LinkImpairment>(configuration,
                                                    GetRandomStream(RandomUse::LOSSES, index++));
        };
        for (const auto& channel : fabric.channels)
        {
            channel->AddImpairments({make(), make()}); // braces: from left to right
        }
    }
    std::optional<RunFiles> files;
    if (RunOutputs* outputs = RunOutputs::GetCurrent())
    {
        files.emplace(*outputs,
                      fabric,
                      JsonValue::Object()
                          .Set("jobs", scenario.jobs)
                          .Set("workers", scenario.workers)
                          .Set("slots", scenario.slots)
                          .Set("background", FormatRate(scenario.background)));
    }
    AtpHelper helper;
    helper.SetAttributes(scenario.attributes);
    if (scenario.slots > 0)
    {
        helper.SetProgramAttribute("Slots", UintegerValue(scenario.slots));
    }
    std::vector<std::unique_ptr<Job>> jobs;
    for (uint32_t job = 0; job < scenario.jobs; job++)
    {
        std::vector<uint32_t> endpoints;
        std::vector<Ptr<ScheduledCommunicator>> ring;
        for (uint32_t worker = 0; worker < scenario.workers; worker++)
        {
            endpoints.push_back(job * hostsOfJob + worker);
            ring.push_back(CreateObject<ScheduledCommunicator>());
        }
        const auto workers = helper.AddJob(fabric,
                                           endpoints,
                                           ring,
                                           scenario.window,
                                           {job * hostsOfJob + scenario.workers});
        for (const auto& worker : workers)
        {
            if (!scenario.priorities.empty())
            {
                worker->SetAttribute("JobPriority", UintegerValue(scenario.priorities.at(job)));
            }
            if (files)
            {
                worker->TraceConnectWithoutContext(
                    "Collective",
                    MakeBoundCallback(&OnCollective, &*files, job * hostsOfJob));
            }
        }
        jobs.push_back(
            std::make_unique<Job>(workers, helper.GetServers(job).front(), scenario.bytes));
    }
    if (scenario.background.GetBitRate() > 0)
    {
        Simulator::ScheduleNow(&SendBackground,
                               fabric.devices[(scenario.jobs - 1) * hostsOfJob],
                               hosts - 1,
                               scenario.background);
    }
    const auto note = [&] {
        AtpResult result;
        for (uint32_t job = 0; job < scenario.jobs; job++)
        {
            result.jobs.push_back(jobs[job]->GetResult());
            result.jobs.back().occupancy =
                helper.GetProgram(0)->GetSlotSeconds(static_cast<uint8_t>(job));
        }
        result.program = helper.GetProgram(0)->GetCounters();
        return result;
    };
    Simulator::Stop(scenario.warmup);
    Simulator::Run();
    const AtpResult before = note();
    const double seconds = (scenario.duration - scenario.warmup).GetSeconds();
    Simulator::Stop(scenario.duration - scenario.warmup);
    Simulator::Run();
    AtpResult result = note();
    const AtpProgram& program = *helper.GetProgram(0);
    for (uint32_t job = 0; job < scenario.jobs; job++)
    {
        AtpJobResult& mine = result.jobs[job];
        const AtpJobResult& then = before.jobs[job];
        const auto sums = static_cast<double>(mine.server.results - then.server.results);
        const auto received = static_cast<double>(mine.workers.received - then.workers.received);
        mine.goodput = received / scenario.workers * 32 * program.GetElements() / seconds * 1e-9;
        mine.occupancy = (mine.occupancy - then.occupancy) / (seconds * program.GetSlots());
        mine.serverFrames =
            sums > 0 ? static_cast<double>(mine.server.received - then.server.received) / sums : 0;
    }
    if (files)
    {
        files->Finish();
        files->Close("");
    }
    Simulator::Destroy();
    return result;
}

} // namespace ns3::training
