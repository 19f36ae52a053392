/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H

#include "job-validation-times.h"
#include "parallel/transformer-graph.h"

#include "ns3/parallel-command-line.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Part zero of job-validation.
 */

namespace ns3::training
{

/** A graph up to the end of its first forward pass. */
class ForwardGraph : public TaskGraph
{
  public:
    /** @param whole the graph of a transformer without pipeline, which outlives this one */
    explicit ForwardGraph(const TaskGraph& whole)
        : m_whole(whole)
    {
    }

    uint32_t GetRanks() const override
    {
        return m_whole.GetRanks();
    }

    const std::vector<TaskGroups>& GetGroups() const override
    {
        return m_whole.GetGroups();
    }

    const std::vector<std::string>& GetNames() const override
    {
        return m_whole.GetNames();
    }

    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override
    {
        return std::make_unique<Source>(m_whole.MakeSource(rank, iterations));
    }

  private:
    /** Ends with the output layer. */
    class Source : public TaskSource
    {
      public:
        /** @param whole all tasks */
        explicit Source(std::unique_ptr<TaskSource> whole)
            : m_whole(std::move(whole))
        {
        }

        bool Next(GraphTask& task) override
        {
            if (m_hasEnded || !m_whole->Next(task))
            {
                return false;
            }
            m_hasEnded = task.kind == TaskKind::COMPUTE &&
                         task.name == static_cast<uint32_t>(LayerTask::OUTPUT);
            return true;
        }

      private:
        std::unique_ptr<TaskSource> m_whole;
        bool m_hasEnded{false};
    };

    const TaskGraph& m_whole;
};

/** @return time of the computations of a name at rank 0, s */
inline double
GetLength(const TaskGraph& graph, LayerTask name)
{
    Time length;
    const auto source = graph.MakeSource(0, 1);
    for (GraphTask task; source->Next(task);)
    {
        const bool counts =
            task.kind == TaskKind::COMPUTE && task.name == static_cast<uint32_t>(name);
        length += counts ? task.length : Time();
    }
    return length.GetSeconds();
}

/**
 * Adds the times of a case.
 * @param graph of it
 * @param places of its collectives
 * @param expected times of the forward and of the backward pass, s
 * @param optimizer published time of ZeRO-3, which ZeRO++ leaves as it is, ms
 * @return time of an iteration, ms
 */
inline double
AddPasses(Reproduction& paper,
          JobTimes& times,
          const PublishedCase& each,
          const TaskGraph& graph,
          const std::map<PlanGroups, Place>& places,
          const std::array<double, 2>& expected,
          double optimizer)
{
    const double forward = 1e3 * times.GetSeconds(ForwardGraph(graph), places);
    const double update = 1e3 * GetLength(graph, LayerTask::UPDATE);
    const double passes = 1e3 * times.GetSeconds(graph, places) - update;
    paper.Add("forward", 1e3 * expected[0], forward, each);
    paper.Add("backward", 1e3 * expected[1], passes - forward, each);
    paper.Add("optimizer", update, optimizer, each);
    paper.Add("iteration", NONE, passes + optimizer, each);
    return passes + optimizer;
}

/** DeepSpeed: ZeRO-3 and ZeRO++ on 4 nodes with a NIC each. */
inline void
AddZero(Reproduction& paper, JobTimes& times)
{
    // V100s of DGX-2: NVSwitch with 150 GB/s a direction, 39 TFLOP/s as Megatron-LM reached.
    constexpr uint64_t NODES = 4;
    constexpr uint64_t GPUS = 16;
    constexpr double LOCAL = 1200e9;
    constexpr double LINE = 100e9;
    TransformerModel model = FindTransformer("megatron-18.4b");
    model.sequence = 512;
    ParallelOptions base;
    base.data = NODES * GPUS;
    base.globalBatch = base.data;
    base.recompute = "full";
    base.zero = 3;
    ParallelOptions plus = base;
    plus.quantizedWeights = true;
    plus.quantizedGradients = true;
    plus.hpzPartition = GPUS;
    TransformerRates rates = ParallelJobOptions().GetRates("v100", 1);
    rates.operations = 38.75e12;
    rates.operators = nullptr;
    const auto getPlaces = [&](double rate) {
        const std::string nodes = "leaf-spine:leaves=4,spines=1,hosts-per-leaf=16,uplink=" +
                                  std::to_string(static_cast<uint64_t>(rate)) + "bps";
        std::map<PlanGroups, Place> places{
            {PlanGroups::DATA, {MakeCluster(base.data, nodes, LOCAL, "ring")}},
            {PlanGroups::SHARD, {MakeCluster(GPUS, "single-switch", LOCAL, "ring")}},
            // 16 groups share the NICs.
            {PlanGroups::REPLICA, {MakeCluster(NODES, "single-switch", rate, "direct"), GPUS}}};
        for (auto& [groups, place] : places)
        {
            place.cluster.congestionControl = "none"; // InfiniBand slows no flow down
        }
        return places;
    };
    const TransformerGraph baseline(std::make_shared<const ParallelPlan>(model, base), rates);
    const TransformerGraph quantized(std::make_shared<const ParallelPlan>(model, plus), rates);
    const auto cases = paper.GetCases();
    const double optimizer = cases[0].Get("optimizer");
    const auto getForward = [&](double rate) {
        return 1e3 * times.GetSeconds(ForwardGraph(baseline), getPlaces(rate));
    };
    paper.Add("line", NONE, getForward(LINE), cases[0]);
    double rate = LINE;
    for (uint32_t round = 0; round < ROUNDS; round++)
    {
        rate *= getForward(rate) / cases[0].Get("forward");
    }
    paper.Add("rate", NONE, rate * 1e-9);
    const auto places = getPlaces(rate);
    const double bytes = 2.0 * static_cast<double>(model.GetParameters());
    const double whole = 8 * bytes * (base.data - 1) / base.data / rate;
    const double before =
        AddPasses(paper, times, cases[0], baseline, places, {whole, 2 * whole}, optimizer);
    const double after =
        AddPasses(paper, times, cases[1], quantized, places, {whole / 2, NONE}, optimizer);
    paper.Add("speed-up", NONE, before / after);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H
