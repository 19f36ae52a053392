/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-run.h"

#include "guard/run-warnings.h"
#include "run/algorithm-advice.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <exception>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRun");

TrainingRun::SimulationScope::SimulationScope()
{
    Session::Begin(JobExecution::PROGRAM);
}

TrainingRun::SimulationScope::~SimulationScope()
{
    Simulator::Destroy();
}

TrainingRun::TrainingRun(const TrainingRunOptions& options)
    : m_json(options.json),
      m_job(options)
{
    NS_LOG_FUNCTION(this << options.workload);
    SetConfiguration(options.ToJson());
}

TrainingRun::~TrainingRun()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingRun::SetConfiguration(const JsonValue& options)
{
    const bool isAutomatic = m_job.options.workload == TrainingRunOptions::AUTOMATIC;
    m_configuration = training::GetConfiguration(
        options,
        *m_job.cluster,
        {{"workload", isAutomatic ? m_job.plan.name : m_job.options.workload},
         {"payload", m_job.options.IsReal() ? "real" : "virtual"}});
}

double
TrainingRun::GetProgress() const
{
    const uint64_t complete = m_execution ? m_execution->GetComplete() : m_complete;
    return static_cast<double>(complete) / m_job.GetIterations();
}

uint64_t
TrainingRun::GetDerivedPackets() const
{
    return m_execution ? m_execution->GetDerivedPackets() : 0;
}

TrainingRunResult
TrainingRun::Run()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_hasRun, "a TrainingRun can be run once");
    m_hasRun = true;
    m_execution = std::make_unique<JobExecution>(m_job, m_configuration, m_onIteration);
    TrainingRunResult result;
    std::exception_ptr stuck;
    try
    {
        m_execution->Simulate();
    }
    catch (const SimulationStuck& error)
    {
        result.failure = error.what();
        stuck = std::current_exception();
    }
    m_execution->AddTo(result);
    m_complete = m_execution->GetComplete();
    m_execution.reset();
    result.choices = m_job.choices;
    result.planned = GetCluster().GetPlan().GetChoices();
    result.inputs = DescribeInputs();
    result.fallback = FormatFallback(GetCluster());
    result.warnings = GetWarnings(GetCluster());
    MergeWarnings(result.warnings, m_job.Advise());
    const std::string advice = AdviseAlgorithm(GetCluster(), m_job.plan, result.mean);
    if (!advice.empty())
    {
        result.warnings.push_back(advice);
    }
    result.configuration = m_configuration;
    if (result.mismatch.empty())
    {
        m_json.Write(result.ToJson());
    }
    if (stuck)
    {
        std::rethrow_exception(stuck);
    }
    return result;
}

} // namespace ns3::training
