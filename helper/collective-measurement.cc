/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-measurement.h"

#include "ns3/byte-archive.h"
#include "ns3/gradient-values.h"
#include "ns3/log.h"
#include "ns3/processes.h"
#include "ns3/schedule-interpreter.h"
#include "ns3/simulator.h"

#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveMeasurement");

namespace
{

/** Starts a collective at every rank of this process and notes when the last one is complete. */
class Measurement
{
  public:
    Measurement(const Cluster& cluster,
                GuardedRun& run,
                CollectiveOperation operation,
                std::vector<Ptr<Tensor>> tensors)
        : m_run(run),
          m_operation(operation),
          m_tensors(std::move(tensors)),
          m_start(Simulator::Now())
    {
        for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
        {
            if (!cluster.IsLocal(rank))
            {
                continue;
            }
            m_left++;
            // In the context of the rank's host: nodes talk through frames alone.
            Simulator::ScheduleWithContext(cluster.GetFabric().hosts.Get(rank)->GetId(),
                                           TimeStep(0),
                                           &Measurement::Start,
                                           this,
                                           cluster.GetCommunicator(rank));
        }
    }

    Time GetTime() const
    {
        return m_end - m_start;
    }

  private:
    void Start(Ptr<ScheduledCommunicator> communicator)
    {
        communicator->Start(m_operation,
                            m_tensors[communicator->GetRank()],
                            0,
                            MakeCallback(&Measurement::OnDone, this));
    }

    void OnDone()
    {
        if (--m_left == 0)
        {
            m_end = Simulator::Now();
            m_run.End();
        }
    }

    GuardedRun& m_run;
    CollectiveOperation m_operation;
    std::vector<Ptr<Tensor>> m_tensors;
    uint32_t m_left{0};
    Time m_start;
    Time m_end;
};

/** @return where the results of this process's ranks differ from the reference, or empty */
std::string
Compare(const Cluster& cluster,
        const CollectiveSchedule& schedule,
        const std::vector<Ptr<Tensor>>& results,
        const std::vector<std::vector<float>>& reference)
{
    for (uint32_t rank = 0; rank < results.size(); rank++)
    {
        if (!cluster.IsLocal(rank))
        {
            continue;
        }
        const auto& values = results[rank]->values;
        for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
        {
            if (schedule.operation == CollectiveOperation::REDUCE_SCATTER &&
                schedule.GetOwner(chunk) != rank)
            {
                continue; // undefined there
            }
            const auto [begin, end] = schedule.GetRange(chunk, values.size() * sizeof(float));
            for (uint64_t i = begin / sizeof(float); i < end / sizeof(float); i++)
            {
                if (std::memcmp(&values[i], &reference[rank][i], sizeof(float)) != 0)
                {
                    return "rank " + std::to_string(rank) + ", element " + std::to_string(i) +
                           ": " + std::to_string(values[i]) + " instead of " +
                           std::to_string(reference[rank][i]);
                }
            }
        }
    }
    return "";
}

} // namespace

CollectiveMeasurement
MeasureCollective(const Cluster& cluster,
                  GuardedRun& run,
                  CollectiveOperation operation,
                  uint64_t bytes,
                  bool real,
                  uint64_t seed)
{
    std::vector<Ptr<Tensor>> tensors;
    std::vector<std::vector<float>> inputs;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = bytes;
        if (real)
        {
            tensor->values = MakeGradients(seed, rank, 0, 0, bytes / sizeof(float));
            inputs.push_back(tensor->values);
        }
        tensors.push_back(tensor);
    }
    const auto schedule = cluster.GetPlanner().Get(operation, bytes, 0);

    Measurement measurement(cluster, run, operation, tensors);
    run.Run();

    CollectiveMeasurement result;
    result.operation = operation;
    result.bytes = bytes;
    if (real)
    {
        const auto reference = InterpretSchedule(*schedule, inputs);
        result.mismatch = Compare(cluster, *schedule, tensors, reference);
    }
    // What took longest and went wrong first, of all processes.
    ByteWriter mine;
    mine(measurement.GetTime(), result.mismatch);
    Time longest;
    for (const std::string& bytes : Processes::Gather(mine.GetText()))
    {
        ByteReader reader(bytes.data(), bytes.size());
        longest = std::max(longest, reader.Next<Time>());
        const auto mismatch = reader.Next<std::string>();
        result.mismatch = result.mismatch.empty() ? mismatch : result.mismatch;
    }
    result.seconds = longest.GetSeconds();
    if (result.seconds > 0)
    {
        result.algorithmBandwidth = static_cast<double>(bytes) / result.seconds * 1e-9;
    }
    result.busBandwidth = result.algorithmBandwidth * GetBusFactor(operation, cluster.GetRanks());
    result.lowerBound = cluster.GetLowerBound().GetSeconds(operation, bytes);
    result.efficiency = result.seconds > 0 ? result.lowerBound / result.seconds : 1;
    result.verified =
        real ? result.mismatch.empty() : cluster.GetRanks() <= CollectivePlanner::VERIFIED_RANKS;
    return result;
}

} // namespace ns3::training
