/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-results.h"

#include "training-program.h"

#include "ns3/rng-seed-manager.h"

#include <utility>

namespace ns3::training
{

SharedResults::SharedResults(std::string path, std::string program, const ProgramOptions& options)
    : m_path(std::move(path)),
      m_program(std::move(program)),
      m_options(options)
{
    ResultStore::Check(m_path);
}

SharedResults::~SharedResults() = default;

std::unique_ptr<ResultStore>
SharedResults::Open(const JsonValue& configuration) const
{
    return std::make_unique<ResultStore>(
        m_path,
        RunRow{m_program, GetVersion(), RngSeedManager::GetRun(), configuration.Write()});
}

void
SharedResults::Begin(const Cluster& cluster, std::size_t jobs)
{
    m_store = Open(GetConfiguration(m_options, cluster, {}));
    m_jobs.resize(jobs);
}

void
SharedResults::Start(std::size_t index,
                     const SharedJob& job,
                     const Cluster& cluster,
                     const std::vector<Ptr<TrainingApplication>>& applications)
{
    auto configuration = GetConfiguration(m_options, cluster, {});
    configuration.Set("keys", job.configuration);
    Job& mine = m_jobs.at(index);
    mine.store = Open(configuration);
    mine.runId = static_cast<uint64_t>(mine.store->GetRunId());
    mine.recorder = std::make_unique<RunRecorder>(cluster, mine.store.get(), nullptr);
    for (const auto& application : applications)
    {
        mine.recorder->Observe(application);
    }
}

void
SharedResults::AddIteration(std::size_t index, const IterationRecord& record)
{
    m_jobs.at(index).store->AddIteration(record);
}

void
SharedResults::End(std::size_t index)
{
    Job& job = m_jobs.at(index);
    job.store->Finish();
    job.recorder.reset();
    job.store.reset();
}

void
SharedResults::EndCluster(const Cluster& cluster, const std::string& failure)
{
    for (Job& job : m_jobs)
    {
        job.recorder.reset();
        if (job.store)
        {
            job.store->Fail(failure);
            job.store.reset();
        }
    }
    RunRecorder(cluster, m_store.get(), nullptr).Finish();
    if (!failure.empty())
    {
        m_store->Fail(failure);
        m_store.reset();
    }
}

void
SharedResults::Finish(std::vector<JobRow> rows)
{
    for (std::size_t i = 0; i < rows.size(); i++)
    {
        rows[i].runId = m_jobs.at(i).runId;
        m_store->AddJob(rows[i]);
    }
    m_store->Finish();
}

} // namespace ns3::training
