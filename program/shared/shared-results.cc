/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared/shared-results.h"

#include "ns3/json-output.h"
#include "ns3/rng-seed-manager.h"

#include <utility>

namespace ns3::training
{

SharedResults::SharedResults(const RunFilesOptions& files, const ProgramOptions& options)
    : m_outputs(files, options.GetName()),
      m_options(options)
{
}

SharedResults::~SharedResults() = default;

void
SharedResults::Begin(const Cluster& cluster, std::size_t jobs)
{
    m_store = m_outputs.OpenStore(GetConfiguration(m_options.ToJson(), cluster).Write());
    m_sampler = m_outputs.Sample(cluster, m_store.get());
    m_jobs.resize(jobs);
}

void
SharedResults::Start(std::size_t index,
                     const SharedJob& job,
                     const Cluster& cluster,
                     const std::vector<Ptr<TrainingApplication>>& applications,
                     const std::vector<uint32_t>& hosts)
{
    auto configuration = GetConfiguration(m_options.ToJson(), cluster);
    configuration.Set("keys", job.configuration);
    Job& mine = m_jobs.at(index);
    mine.store = m_outputs.OpenStore(configuration.Write());
    mine.runId = mine.store ? static_cast<uint64_t>(mine.store->GetRunId()) : 0;
    mine.recorder = std::make_unique<RunRecorder>(cluster,
                                                  mine.store.get(),
                                                  m_outputs.GetTimeline(),
                                                  false,
                                                  m_outputs.GetTraceRanks(cluster));
    mine.recorder->SetHosts(hosts);
    for (const auto& application : applications)
    {
        mine.recorder->Observe(application);
    }
}

void
SharedResults::AddIteration(std::size_t index, const IterationRecord& record)
{
    if (ResultStore* store = m_jobs.at(index).store.get())
    {
        store->AddIteration(record);
    }
    if (TimelineTrace* timeline = m_outputs.GetTimeline())
    {
        timeline->Flush();
    }
}

void
SharedResults::End(std::size_t index,
                   const std::vector<CriticalPathRow>& path,
                   const BindingRow& binding)
{
    Job& job = m_jobs.at(index);
    if (job.store)
    {
        for (const CriticalPathRow& row : path)
        {
            job.store->Add(row);
        }
        job.store->Add(binding);
        job.store->Finish();
    }
    job.recorder.reset();
    job.store.reset();
}

void
SharedResults::EndCluster(const Cluster& cluster)
{
    m_sampler.reset();
    RunRecorder(cluster, m_store.get(), nullptr).Finish();
    if (m_store)
    {
        SimulationRow row;
        row.packetHops = cluster.GetFabric().GetPacketHops();
        row.skippedHops = cluster.GetFabric().skippedHops;
        m_store->Add(row);
    }
    for (Job& job : m_jobs)
    {
        job.recorder.reset();
    }
}

void
SharedResults::AddRow(std::size_t index,
                      const SharedJob& job,
                      const SharedJobResult& result,
                      double aloneS)
{
    if (!m_store)
    {
        return;
    }
    JobRow row;
    row.number = static_cast<uint32_t>(index);
    row.name = job.name;
    row.runId = m_jobs.at(index).runId;
    row.workload = result.workload;
    row.ranks = static_cast<uint32_t>(result.hosts.size());
    row.placement = job.placement;
    row.hosts = FormatHosts(result.hosts);
    row.arrivalS = job.arrival.GetSeconds();
    row.waitS = result.GetWait(job);
    row.startS = result.startS;
    row.endS = result.endS;
    row.iterationS = result.GetIterationTime();
    row.aloneS = aloneS;
    row.slowdown = result.GetSlowdown(aloneS);
    if (result.inNetwork)
    {
        row.slots = result.inNetwork->switches.slots;
        row.sent = result.inNetwork->workers.sent;
        row.resent = result.inNetwork->workers.resent;
        row.packets = result.inNetwork->switches.packets;
        row.added = result.inNetwork->switches.added;
        row.repeated = result.inNetwork->switches.repeated;
        row.collided = result.inNetwork->switches.collisions;
        row.passed = result.inNetwork->switches.passed;
        row.evicted = result.inNetwork->switches.evicted;
    }
    m_store->Add(row);
}

void
SharedResults::Fail(const std::vector<SharedJob>& jobs,
                    const std::vector<SharedJobResult>& results,
                    const std::vector<double>& alone,
                    const std::string& failure)
{
    for (std::size_t i = 0; i < jobs.size(); i++)
    {
        if (results[i].HasStarted())
        {
            AddRow(i, jobs[i], results[i], i < alone.size() ? alone[i] : 0);
        }
        if (m_jobs[i].store)
        {
            m_jobs[i].store->Fail(failure);
        }
    }
    if (m_store)
    {
        m_store->Fail(failure);
    }
    m_outputs.Complete();
}

void
SharedResults::Finish(const std::vector<SharedJob>& jobs,
                      const std::vector<SharedJobResult>& results,
                      const std::vector<double>& alone)
{
    for (std::size_t i = 0; i < jobs.size(); i++)
    {
        AddRow(i, jobs[i], results[i], i < alone.size() ? alone[i] : 0);
    }
    if (m_store)
    {
        m_store->Finish();
    }
    m_outputs.Complete();
}

std::string
FormatHosts(const std::vector<uint32_t>& hosts)
{
    std::string text;
    for (std::size_t i = 0; i < hosts.size();)
    {
        std::size_t end = i + 1;
        while (end < hosts.size() && hosts[end] == hosts[end - 1] + 1)
        {
            end++;
        }
        text += (text.empty() ? "" : ",") + std::to_string(hosts[i]);
        text += end - i > 1 ? "-" + std::to_string(hosts[end - 1]) : "";
        i = end;
    }
    return text;
}

} // namespace ns3::training
