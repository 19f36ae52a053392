/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H

#include "job-validation-comparison.h"

#include "ns3/parallel-command-line.h"
#include "ns3/transformer-graph.h"

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

inline void
Comparison::CompareZero()
{
    // V100s of DGX-2: NVSwitch with 150 GB/s a direction, 39 TFLOP/s as Megatron-LM reached.
    constexpr uint64_t NODES = 4;
    constexpr uint64_t GPUS = 16;
    constexpr double LOCAL = 1200e9;
    constexpr const char* SOURCE = "DeepSpeed, ZeRO++ log";
    m_table.PrintHeadings(
        "GPT-2 18B, 4 nodes of 16 V100 with one NIC of 100 Gbit/s each; times of layers from "
        "collectives simulated alone;\nexpected: bytes at the calibrated rate alone; of the "
        "optimizer: bytes "
        "in memory\n");
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
    ParallelJobOptions job;
    const TransformerRates rates = job.GetRates("v100", 1);
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
    const auto makeGraph = [&](const ParallelOptions& options) {
        return TransformerGraph(std::make_shared<const ParallelPlan>(model, options), rates);
    };
    const TransformerGraph baseline = makeGraph(base);
    const TransformerGraph quantized = makeGraph(plus);
    constexpr double LINE = 100e9;
    constexpr double FORWARD = 3.3562;
    constexpr double OPTIMIZER = 0.1395; // of ZeRO-3; ZeRO++ leaves it as it is
    const double atLine = GetSeconds(ForwardGraph(baseline), getPlaces(LINE));
    Add("ZeRO-3, forward, NICs at line rate",
        "ms",
        Role::PREDICTED,
        SOURCE,
        1e3 * FORWARD,
        NONE,
        1e3 * atLine);
    double rate = LINE;
    for (uint32_t round = 0; round < ROUNDS; round++)
    {
        rate *= GetSeconds(ForwardGraph(baseline), getPlaces(rate)) / FORWARD;
    }
    const auto places = getPlaces(rate);
    Add("rate of a NIC that the forward pass of ZeRO-3 implies",
        "Gbit/s",
        Role::CALIBRATION,
        SOURCE,
        NONE,
        NONE,
        rate * 1e-9);
    const double bytes = 2.0 * static_cast<double>(model.GetParameters());
    const double whole = 8 * bytes * (base.data - 1) / base.data / rate;
    const auto add = [&](const std::string& name,
                         const TransformerGraph& graph,
                         const std::array<double, 4>& published,
                         const std::array<double, 2>& expected,
                         Role role) {
        const double forward = GetSeconds(ForwardGraph(graph), places);
        const double update = GetLength(graph, LayerTask::UPDATE);
        const double passes = GetSeconds(graph, places) - update;
        const double iteration = passes + OPTIMIZER;
        Add(name + ", forward", "ms", role, SOURCE, published[0], 1e3 * expected[0], 1e3 * forward);
        Add(name + ", backward",
            "ms",
            Role::PREDICTED,
            SOURCE,
            published[1],
            1e3 * expected[1],
            1e3 * (passes - forward));
        Add(name + ", optimizer", "ms", role, SOURCE, published[2], 1e3 * update, 1e3 * OPTIMIZER);
        Add(name + ", iteration",
            "ms",
            Role::PREDICTED,
            SOURCE,
            published[3],
            NONE,
            1e3 * iteration);
        return iteration;
    };
    const double before = add("ZeRO-3",
                              baseline,
                              {3356.2, 6458.6, 139.5, 9955.9},
                              {whole, 2 * whole},
                              Role::CALIBRATION);
    const double after = add("ZeRO++",
                             quantized,
                             {1794.6, 1742.0, 142.4, 3680.6},
                             {whole / 2, NONE},
                             Role::PREDICTED);
    Add("speed-up of ZeRO++", "", Role::PREDICTED, SOURCE, 9955.9 / 3680.6, NONE, before / after);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_ZERO_H
