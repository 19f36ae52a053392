/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/recorded-collectives.h"

#include "engine/fabric-border.h"
#include "guard/progress-line.h"
#include "run/work-estimate.h"

#include "ns3/rank-progress.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

namespace ns3::training
{

IterationRecord
MakeIterationRecord(const CollectiveMeasurement& row, uint64_t number, bool warmup)
{
    IterationRecord record;
    record.iteration = static_cast<uint32_t>(number);
    record.warmup = warmup;
    record.endS = Simulator::Now().GetSeconds();
    record.startS = record.endS - row.seconds;
    record.iterationTimeS = row.seconds;
    record.communicationTimeS = row.seconds;
    record.collectiveTimeS = row.seconds;
    record.idleS = row.seconds;
    record.exposedCommunicationS = row.seconds;
    record.busbwGBps = row.busBandwidth;
    record.lowerBoundS = row.lowerBound;
    record.scalingEfficiency = 0;
    record.verified = row.verified;
    return record;
}

RecordedCollectives::RecordedCollectives(const Cluster& cluster)
    : m_cluster(cluster)
{
    if (RunOutputs* outputs = RunOutputs::GetCurrent())
    {
        m_files = std::make_unique<RunFiles>(*outputs, cluster);
    }
}

CollectiveMeasurement
RecordedCollectives::Measure(const std::function<CollectiveMeasurement()>& measure)
{
    if (!m_files)
    {
        return measure();
    }
    m_files->GetRecorder().BeginIteration(static_cast<uint32_t>(m_done));
    try
    {
        auto row = measure();
        m_files->AddIteration(MakeIterationRecord(row, m_done++, false));
        return row;
    }
    catch (const SimulationStuck& stuck)
    {
        Complete(stuck.what());
        throw;
    }
}

void
RecordedCollectives::Close()
{
    Complete("");
}

void
RecordedCollectives::Complete(const std::string& failure)
{
    if (m_files)
    {
        GatherCounters(m_cluster.GetFabric());
        m_files->Finish();
        m_files->Close(failure);
        m_files.reset();
    }
}

CollectiveRun
RunCollectives(const ClusterOptions& options,
               CollectiveOperation operation,
               const std::vector<uint64_t>& sizes,
               bool real,
               const std::function<void(const Cluster&)>& inspect)
{
    CollectiveRun result;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        RecordedCollectives recorded(cluster);
        const WorkVolume volume = WorkEstimate::IsWanted()
                                      ? EstimateCollectives(cluster, operation, sizes)
                                      : WorkVolume();
        // In bytes, if they are known, otherwise in collectives.
        const double work = volume.bytes > 0 ? volume.bytes : static_cast<double>(sizes.size());
        WorkEstimate estimate(work,
                              volume.Divide(work),
                              options,
                              GetName(operation) + " with " + options.algorithm);
        const ProgressLine progress(cluster.GetFabric(), [&] {
            const double bytes = GetRankProgress(cluster).bytes;
            return estimate.IsKnown()
                       ? estimate.GetFraction(0, work, bytes)
                       : estimate.GetFraction(static_cast<double>(result.measurements.size()),
                                              1,
                                              bytes);
        });
        for (uint64_t bytes : sizes)
        {
            result.measurements.push_back(recorded.Measure([&] {
                return MeasureCollective(cluster,
                                         run,
                                         operation,
                                         bytes,
                                         real,
                                         RngSeedManager::GetRun());
            }));
        }
        recorded.Close();
        result.cost = GetRunCost(cluster.GetFabric());
        if (inspect)
        {
            inspect(cluster);
        }
    }
    Simulator::Destroy();
    return result;
}

} // namespace ns3::training
