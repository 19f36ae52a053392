/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-measurement.h"

#include "core/memory.h"
#include "schedule/schedule-interpreter.h"

#include "ns3/gradient-source.h"
#include "ns3/reference-sums.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/training-byte-archive.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::training
{

namespace
{

/** Starts a collective at every local rank and notes when the last one completes. */
class Measurement
{
  public:
    Measurement(const Cluster& cluster,
                GuardedRun& run,
                CollectiveOperation operation,
                std::vector<Ptr<Tensor>> tensors,
                ByteMatrix matrix)
        : m_run(run),
          m_operation(operation),
          m_tensors(std::move(tensors)),
          m_matrix(std::move(matrix)),
          m_start(Simulator::Now())
    {
        for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
        {
            if (!cluster.IsLocal(rank))
            {
                continue;
            }
            m_left++;
            // In the context of the rank's host, because nodes interact only by frames.
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
    void Start(Ptr<Communicator> communicator)
    {
        communicator->Start(m_operation,
                            m_tensors[communicator->GetRank()],
                            0,
                            MakeCallback(&Measurement::OnDone, this),
                            m_matrix);
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
    ByteMatrix m_matrix;
    uint32_t m_left{0};
    Time m_start;
    Time m_end;
};

/** @return description of the first difference of numbers [begin, end) of a result, or empty */
std::string
CompareRange(uint32_t rank,
             const std::vector<float>& values,
             const std::vector<float>& reference,
             uint64_t begin,
             uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
    {
        if (std::memcmp(&values[i], &reference[i], sizeof(float)) != 0)
        {
            return "rank " + std::to_string(rank) + ", element " + std::to_string(i) + ": " +
                   std::to_string(values[i]) + " instead of " + std::to_string(reference[i]);
        }
    }
    return "";
}

/** @return description of the first difference of the local ranks' results, or empty */
std::string
Compare(const Cluster& cluster,
        const CollectiveSchedule& schedule,
        const std::vector<Ptr<Tensor>>& results,
        const std::vector<std::vector<float>>& reference)
{
    std::string mismatch;
    for (uint32_t rank = 0; rank < results.size() && mismatch.empty(); rank++)
    {
        if (!cluster.IsLocal(rank))
        {
            continue;
        }
        const auto& values = results[rank]->values;
        if (values.size() != reference[rank].size())
        {
            return "rank " + std::to_string(rank) + ": " + std::to_string(values.size()) +
                   " elements instead of " + std::to_string(reference[rank].size());
        }
        if (IsExchange(schedule.operation))
        {
            mismatch = CompareRange(rank, values, reference[rank], 0, values.size());
            continue;
        }
        for (uint32_t chunk = 0; chunk < schedule.chunks && mismatch.empty(); chunk++)
        {
            if (schedule.GetPromise(rank, chunk) != CollectiveSchedule::Promise::NOTHING)
            {
                const auto [begin, end] =
                    GetPartRange(values.size() * sizeof(float), schedule.chunks, chunk);
                mismatch = CompareRange(rank,
                                        values,
                                        reference[rank],
                                        begin / sizeof(float),
                                        end / sizeof(float));
            }
        }
    }
    return mismatch;
}

/** @return maximum difference between a vector and the sum of the inputs */
double
GetLargestError(const std::vector<float>& values, const std::vector<std::vector<float>>& inputs)
{
    double largest = 0;
    for (uint64_t i = 0; i < values.size(); i++)
    {
        double exact = 0;
        for (const auto& input : inputs)
        {
            exact += input[i];
        }
        largest = std::max(largest, std::abs(values[i] - exact));
    }
    return largest;
}

/** @return result of the first local rank; empty if there is none */
std::vector<float>
FindResult(const Cluster& cluster, const std::vector<Ptr<Tensor>>& tensors)
{
    for (uint32_t rank = 0; rank < tensors.size(); rank++)
    {
        if (cluster.IsLocal(rank))
        {
            return tensors[rank]->values;
        }
    }
    return {};
}

/** @return the sum of vectors, added one after the other */
std::vector<float>
AddInOrder(const std::vector<std::vector<float>>& inputs)
{
    std::vector<float> sum = inputs[0];
    for (std::size_t rank = 1; rank < inputs.size(); rank++)
    {
        for (std::size_t i = 0; i < sum.size(); i++)
        {
            sum[i] += inputs[rank][i];
        }
    }
    return sum;
}

} // namespace

ByteMatrix
MakeUnevenMatrix(uint32_t ranks, uint64_t bytes)
{
    const uint64_t parts = uint64_t{ranks} * (ranks + 1) / 2;
    auto matrix = std::make_shared<std::vector<uint64_t>>();
    for (uint64_t from = 0; from < ranks; from++)
    {
        for (uint64_t to = 0; to < ranks; to++)
        {
            const uint64_t share = 1 + (from + to) % ranks;
            const uint64_t first = share * (share - 1) / 2;
            matrix->push_back(GetPartRange(bytes, parts, first + share - 1).second -
                              GetPartRange(bytes, parts, first).first);
        }
    }
    return matrix;
}

double
GetLowerBound(const Cluster& cluster, CollectiveOperation operation, uint64_t bytes)
{
    const ByteMatrix matrix = operation == CollectiveOperation::ALL_TO_ALL_V
                                  ? MakeUnevenMatrix(cluster.GetRanks(), bytes)
                                  : nullptr;
    return cluster.GetBounds().Get(operation, bytes, matrix);
}

void
CheckSize(const Cluster& cluster,
          CollectiveOperation operation,
          uint64_t bytes,
          uint64_t times,
          bool real)
{
    cluster.GetNicEngines().Check(real);
    cluster.GetCodecs().Check(real, {operation});
    if (operation == CollectiveOperation::BARRIER)
    {
        return; // without bytes
    }
    const std::string option = "--bytes=" + std::to_string(bytes);
    GuardedRun::CheckDuration(static_cast<double>(times) * GetLowerBound(cluster, operation, bytes),
                              option);
    CheckMemory(cluster.GetRanks() *
                    GuardedRun::EstimateMemory(bytes, real ? GuardedRun::REAL_COPIES : 0),
                option);
}

CollectiveMeasurement
MeasureCollective(const Cluster& cluster,
                  GuardedRun& run,
                  CollectiveOperation operation,
                  uint64_t bytes,
                  bool real,
                  uint64_t seed,
                  const std::string& gradients)
{
    const uint64_t requested = bytes;
    const bool barrier = operation == CollectiveOperation::BARRIER;
    cluster.GetNicEngines().Check(real);
    cluster.GetCodecs().Check(real, {operation});
    if (barrier)
    {
        bytes = 0;
    }
    const ByteMatrix matrix = operation == CollectiveOperation::ALL_TO_ALL_V
                                  ? MakeUnevenMatrix(cluster.GetRanks(), bytes)
                                  : nullptr;
    const auto source = MakeGradientSource(gradients);
    std::vector<Ptr<Tensor>> tensors;
    std::vector<std::vector<float>> inputs;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = bytes;
        if (real)
        {
            tensor->values = source->Make({seed, rank}, bytes / sizeof(float));
            inputs.push_back(tensor->values);
        }
        tensors.push_back(tensor);
    }
    const auto schedule = cluster.GetPlanner().Get(operation, bytes, 0);

    Measurement measurement(cluster, run, operation, tensors, matrix);
    run.Run();

    CollectiveMeasurement result;
    result.operation = operation;
    result.algorithm = schedule->algorithm;
    result.requested = requested;
    result.bytes = bytes;
    if (real)
    {
        ReferenceSums sums(cluster);
        const auto& workers = cluster.GetInNetworkCommunicators();
        // A broadcast copies the root's values, in the network or on hosts.
        const bool inNetwork = !workers.empty() && workers[0]->IsOffloaded(operation) &&
                               workers[0]->IsChosen(bytes) &&
                               operation != CollectiveOperation::BROADCAST;
        const bool isSum = operation == CollectiveOperation::ALL_REDUCE;
        if (inNetwork && cluster.IsLocal(0) &&
            workers[0]->ReturnsSum()) // 0 is the root of a reduce
        {
            result.largestError = GetLargestError(tensors[0]->values, inputs);
        }
        if (isSum && cluster.GetCodecs().IsInstalled())
        {
            auto reference = sums.Get(0, 0, inputs);
            sums.AddErrors(inputs, reference, result.codingErrors);
            reference.resize(inputs.size(), reference[0]);
            result.mismatch = Compare(cluster, *schedule, tensors, reference);
        }
        else if (inNetwork)
        {
            // After a failure of the network either sum is correct, if it is the same at all ranks.
            const auto compare = [&](const ReferenceSums::Vectors& expected) {
                const ReferenceSums::Vectors reference(inputs.size(), expected[0]);
                return Compare(cluster, *schedule, tensors, reference);
            };
            result.mismatch = compare(sums.Get(0, 0, inputs, FindResult(cluster, tensors)));
            const bool hasFallenBack = !result.mismatch.empty() && sums.HasFallenBack();
            if (hasFallenBack && isSum)
            {
                result.mismatch = compare(sums.GetAfterFallback(inputs));
            }
            else if (hasFallenBack)
            {
                const auto reference = InterpretSchedule(*schedule, inputs);
                result.mismatch = Compare(cluster, *schedule, tensors, reference);
            }
            if (hasFallenBack && !result.mismatch.empty())
            {
                result.mismatch = compare({AddInOrder(inputs)}); // gathered by the root
            }
        }
        else
        {
            const auto reference = InterpretSchedule(
                *cluster.GetCommunicators().GetReferenceSchedule(operation, bytes),
                inputs,
                matrix,
                cluster.GetCommunicators().GetCoding(operation));
            result.mismatch = Compare(cluster, *schedule, tensors, reference);
            if (isSum)
            {
                sums.AddErrors(inputs, reference, result.codingErrors);
            }
        }
    }
    // The longest time and the first mismatch of all processes.
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
    result.lowerBound = cluster.GetBounds().Get(operation, bytes, matrix);
    result.efficiency = result.seconds > 0 ? result.lowerBound / result.seconds : 1;
    result.verified =
        real && !barrier ? result.mismatch.empty() : cluster.GetPlanner().IsVerifying();
    return result;
}

} // namespace ns3::training
