/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/algorithm-sweep.h"

#include "engine/fabric-border.h"
#include "guard/progress-line.h"
#include "guard/run-warnings.h"
#include "run/work-estimate.h"

#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

namespace ns3::training
{

namespace
{

/** A scope that destroys its simulation on exit, even after an exception. */
class Simulation
{
  public:
    explicit Simulation(const ClusterOptions& options)
        : m_cluster(Make(options))
    {
    }

    ~Simulation()
    {
        m_cluster.reset();
        Simulator::Destroy();
    }

    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    const Cluster& Get() const
    {
        return *m_cluster;
    }

  private:
    static std::unique_ptr<Cluster> Make(const ClusterOptions& options)
    {
        try
        {
            return std::make_unique<Cluster>(options);
        }
        catch (...)
        {
            Simulator::Destroy();
            throw;
        }
    }

    std::unique_ptr<Cluster> m_cluster;
};

/** @return work of a size: bytes, and a packet, as nothing takes one, too */
double
GetWork(const Cluster& cluster, const SweepRequest& request, uint64_t bytes)
{
    return static_cast<double>(bytes + cluster.GetOptions().GetMtu()) *
           static_cast<double>(request.warmup + 1);
}

/** @return what a number of algorithms will take */
WorkEstimate
Estimate(const Cluster& cluster,
         const SweepRequest& request,
         std::size_t algorithms,
         const std::string& what)
{
    double work = 0;
    for (uint64_t bytes : request.sizes)
    {
        work += GetWork(cluster, request, bytes);
    }
    WorkVolume volume;
    if (WorkEstimate::IsWanted())
    {
        volume = EstimateCollectives(cluster, request.operation, request.sizes);
    }
    return WorkEstimate(work * static_cast<double>(algorithms),
                        volume.Divide(work / static_cast<double>(request.warmup + 1)),
                        cluster.GetOptions(),
                        what);
}

void
Measure(const ClusterOptions& options,
        const SweepRequest& request,
        const SweepRowHandler& onRow,
        const std::string& label,
        AlgorithmSweep& sweep)
{
    const Simulation simulation(options);
    const Cluster& cluster = simulation.Get();
    for (uint64_t bytes : request.sizes)
    {
        cluster.GetPlanner().Get(request.operation, bytes, 0); // throws if unsupported
    }
    GuardedRun run(cluster);
    double done = 0; // bytes, and a packet for each size
    double current = 0;
    WorkEstimate estimate = Estimate(cluster, request, 1, label);
    ProgressLine progress(
        cluster.GetFabric(),
        [&] { return estimate.GetFraction(done, current, GetRankProgress(cluster).bytes); },
        label);
    for (uint64_t bytes : request.sizes)
    {
        CollectiveMeasurement row;
        current = GetWork(cluster, request, bytes);
        try
        {
            for (uint64_t i = 0; i <= request.warmup && row.mismatch.empty(); i++)
            {
                row = MeasureCollective(cluster,
                                        run,
                                        request.operation,
                                        bytes,
                                        request.real,
                                        request.seed,
                                        request.gradients);
            }
        }
        catch (const SimulationInterrupted&)
        {
            sweep.interruption = std::current_exception();
            return;
        }
        catch (const SimulationStuck& stuck)
        {
            row = CollectiveMeasurement();
            row.operation = request.operation;
            row.algorithm = options.algorithm;
            row.requested = bytes;
            row.bytes = bytes;
            row.failure = stuck.what();
        }
        done += current;
        current = 0;
        progress.Clear();
        sweep.rows.push_back(row);
        if (onRow)
        {
            onRow(cluster, row);
        }
        if (!row.failure.empty())
        {
            break; // this network makes no more progress
        }
    }
    GatherCounters(cluster.GetFabric());
    for (const std::string& warning : GetWarnings(cluster))
    {
        sweep.warnings.push_back(options.algorithm + ": " + warning);
    }
    RunCost cost = GetRunCost(cluster.GetFabric()); // time and memory of the whole program
    cost.events += sweep.cost.events;
    cost.packetHops += sweep.cost.packetHops;
    sweep.cost = cost;
}

} // namespace

const CollectiveMeasurement*
AlgorithmSweep::FindFastest(uint64_t bytes) const
{
    const CollectiveMeasurement* fastest = nullptr;
    for (const CollectiveMeasurement& row : rows)
    {
        if (row.requested == bytes && row.failure.empty() &&
            (!fastest || row.seconds < fastest->seconds))
        {
            fastest = &row;
        }
    }
    return fastest;
}

const CollectiveMeasurement*
AlgorithmSweep::Find(uint64_t bytes, const std::string& algorithm) const
{
    for (const CollectiveMeasurement& row : rows)
    {
        if (row.requested == bytes && row.algorithm == algorithm && row.failure.empty())
        {
            return &row;
        }
    }
    return nullptr;
}

AlgorithmSweep
SweepAlgorithms(ClusterOptions options, const SweepRequest& request, const SweepRowHandler& onRow)
{
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--sweep with several processes (allowed: one)");
    }
    if (!options.schedule.empty())
    {
        throw ConfigurationError("--sweep with --schedule=" + options.schedule +
                                 " (allowed: without)");
    }
    AlgorithmSweep sweep;
    const auto& algorithms = Registry<CollectiveAlgorithm>::All();
    const std::string count = std::to_string(algorithms.size());
    {
        // Refuses wrong options before any algorithm runs.
        options.algorithm = AlgorithmChooser::NAME;
        const Simulation simulation(options);
        for (uint64_t bytes : request.sizes)
        {
            auto& planner = simulation.Get().GetPlanner();
            sweep.choices[bytes] = planner.Get(request.operation, bytes, 0)->algorithm;
            CheckSize(simulation.Get(), request.operation, bytes, request.warmup + 1, request.real);
        }
        Estimate(simulation.Get(), request, algorithms.size(), "up to " + count + " algorithms")
            .Show();
    }
    std::size_t number = 0;
    for (const auto& [name, algorithm] : algorithms)
    {
        number++;
        if (algorithm.searches && options.ranks > AlgorithmChooser::MAX_SEARCHED_RANKS)
        {
            sweep.unfit[name] = name + ": searches for its plan for too long (allowed: up to " +
                                std::to_string(AlgorithmChooser::MAX_SEARCHED_RANKS) + " ranks)";
            continue;
        }
        options.algorithm = name;
        try
        {
            Measure(options,
                    request,
                    onRow,
                    name + ", algorithm " + std::to_string(number) + " of " + count,
                    sweep);
        }
        catch (const ConfigurationError& error)
        {
            sweep.unfit[name] = error.what();
        }
        if (sweep.interruption)
        {
            break;
        }
    }
    return sweep;
}

} // namespace ns3::training
