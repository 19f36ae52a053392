/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/layer-rows.h"

#include "task-writer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3::training
{

namespace
{

/// Names of the passes.
constexpr const char* PASSES[] = {"forward", "input gradient", "weight gradient"};

/// Priority of exchanges of embeddings before all other collectives.
constexpr int32_t HIGHEST = std::numeric_limits<int32_t>::max();

/** Writes the tasks of an iteration at a time. */
class LayerRowsSource : public QueuedSource
{
  public:
    LayerRowsSource(const LayerRows& rows, uint32_t iterations)
        : m_rows(rows),
          m_iterations(iterations),
          m_weights(rows.rows.size())
    {
    }

  private:
    std::deque<GraphTask>& GetQueue() override
    {
        return m_writer.GetTasks();
    }

    bool Write() override
    {
        if (m_iteration == m_iterations)
        {
            return false;
        }
        m_iteration++;
        WriteIteration();
        return true;
    }

    using Order = LayerRows::Order;

    const RowWork& GetWork(uint32_t layer, RowPass pass) const
    {
        return m_rows.rows[layer].works[static_cast<uint32_t>(pass)];
    }

    uint32_t GetName(uint32_t layer, RowPass pass) const
    {
        return layer * ROW_PASSES + static_cast<uint32_t>(pass);
    }

    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_rows.rows.size());
    }

    void Compute(uint32_t layer, RowPass pass);
    uint64_t Communicate(uint32_t layer, RowPass pass, int32_t priority = 0);
    void WriteIteration();
    void Forward(uint32_t layer, bool isRepeated);
    void Backward(uint32_t layer);
    void BackwardData(uint32_t layer);
    void BackwardModel(uint32_t layer);

    const LayerRows& m_rows;
    uint32_t m_iterations;
    uint32_t m_iteration{0};
    TaskWriter m_writer;
    std::vector<uint64_t> m_weights; // by layer, the last collective of its weights, applied
    uint64_t m_embedding{0};         // exchange of the embedding under way
    uint64_t m_collectives{0};       // of the iteration so far
};

void
LayerRowsSource::Compute(uint32_t layer, RowPass pass)
{
    m_writer.SetLayer(static_cast<int32_t>(layer));
    m_writer.Compute(GetName(layer, pass), GetWork(layer, pass).compute);
}

/** @return the end of the update after the collective; 0 if there is none */
uint64_t
LayerRowsSource::Communicate(uint32_t layer, RowPass pass, int32_t priority)
{
    const RowWork& work = GetWork(layer, pass);
    if (!work.communicates || work.groups < 0)
    {
        return 0;
    }
    GraphTask task;
    task.kind = TaskKind::COLLECTIVE;
    task.name = GetName(layer, pass);
    task.stream = NO_STREAM;
    task.groups = static_cast<uint32_t>(work.groups);
    task.parallelism = m_rows.groups[task.groups].parallelism;
    task.operation = work.operation;
    task.bytes = work.bytes;
    task.tag = m_collectives++;
    task.priority = priority;
    m_writer.SetLayer(static_cast<int32_t>(layer));
    const uint64_t id = m_writer.Start(task);
    return m_writer.Delay(task.name, m_rows.rows[layer].update, id);
}

void
LayerRowsSource::Forward(uint32_t layer, bool isRepeated)
{
    if (!isRepeated)
    {
        m_writer.Await(m_weights[layer]);
    }
    Compute(layer, RowPass::FORWARD);
    if (m_rows.order == Order::EMBEDDING)
    {
        if (layer == 0)
        {
            m_embedding = Communicate(layer, RowPass::FORWARD, HIGHEST);
        }
        else
        {
            m_writer.Await(Communicate(layer, RowPass::FORWARD));
        }
        if (layer == m_rows.lastBottom)
        {
            m_writer.Await(std::exchange(m_embedding, 0));
        }
        return;
    }
    m_writer.Await(Communicate(layer, RowPass::FORWARD));
}

void
LayerRowsSource::BackwardData(uint32_t layer)
{
    Compute(layer, RowPass::WEIGHT_GRADIENT);
    m_weights[layer] = Communicate(layer, RowPass::WEIGHT_GRADIENT);
    const bool hasEmbedding = m_rows.order == Order::EMBEDDING;
    if (hasEmbedding && layer == 0 && m_rows.awaitsEmbedding)
    {
        m_writer.Await(std::exchange(m_embedding, 0));
    }
    if (layer > 0)
    {
        Compute(layer, RowPass::INPUT_GRADIENT);
    }
    if (hasEmbedding && layer == m_rows.lastBottom + 1)
    {
        m_embedding = Communicate(0, RowPass::INPUT_GRADIENT, HIGHEST);
    }
}

void
LayerRowsSource::BackwardModel(uint32_t layer)
{
    const bool isTransformer = m_rows.order == Order::TRANSFORMER;
    Compute(layer, RowPass::INPUT_GRADIENT);
    const uint64_t inputs =
        layer > 0 || isTransformer ? Communicate(layer, RowPass::INPUT_GRADIENT) : 0;
    if (isTransformer && m_rows.blocksInputs)
    {
        m_writer.Await(inputs);
    }
    Compute(layer, RowPass::WEIGHT_GRADIENT);
    m_weights[layer] = Communicate(layer, RowPass::WEIGHT_GRADIENT);
    m_writer.Await(inputs);
}

void
LayerRowsSource::Backward(uint32_t layer)
{
    const auto& initiates = m_rows.initiates;
    if (std::find(initiates.begin(), initiates.end(), layer) != initiates.end())
    {
        uint32_t first = layer;
        const auto& checkpoints = m_rows.checkpoints;
        while (first > 0 &&
               std::find(checkpoints.begin(), checkpoints.end(), first) == checkpoints.end())
        {
            first--;
        }
        for (uint32_t again = first; again <= layer; again++)
        {
            Forward(again, true);
        }
    }
    if (m_rows.order == Order::DATA || m_rows.order == Order::EMBEDDING)
    {
        BackwardData(layer);
    }
    else
    {
        BackwardModel(layer);
    }
}

void
LayerRowsSource::WriteIteration()
{
    if (m_rows.order == Order::MICRO)
    {
        m_writer.Await(Communicate(0, RowPass::WEIGHT_GRADIENT));
    }
    else
    {
        for (uint32_t layer = 0; layer < GetSize(); layer++)
        {
            Forward(layer, false);
        }
        for (uint32_t layer = GetSize(); layer-- > 0 && m_rows.order != Order::FORWARD;)
        {
            Backward(layer);
        }
    }
    if (m_rows.awaitsFirst)
    {
        m_writer.Await(std::exchange(m_weights.at(0), 0));
    }
    m_collectives = 0;
    m_writer.Mark(GetSize() * ROW_PASSES);
}

} // namespace

TaskGroups
MakeStridedGroups(uint32_t ranks, uint32_t size, uint32_t stride)
{
    TaskGroups groups;
    for (uint32_t first = 0; first < ranks; first += size * stride)
    {
        for (uint32_t offset = 0; offset < stride; offset++)
        {
            std::vector<uint32_t> group;
            for (uint32_t i = 0; i < size; i++)
            {
                group.push_back(first + offset + i * stride);
            }
            groups.groups.push_back(group);
        }
    }
    return groups;
}

LayerRowsGraph::LayerRowsGraph(LayerRows rows)
    : m_rows(std::move(rows))
{
    for (const LayerRow& row : m_rows.rows)
    {
        for (const char* pass : PASSES)
        {
            m_names.push_back(std::string(pass) + " " + row.name);
        }
    }
    m_names.emplace_back("end of iteration");
}

uint32_t
LayerRowsGraph::GetRanks() const
{
    return m_rows.ranks;
}

const std::vector<TaskGroups>&
LayerRowsGraph::GetGroups() const
{
    return m_rows.groups;
}

const std::vector<std::string>&
LayerRowsGraph::GetNames() const
{
    return m_names;
}

std::unique_ptr<TaskSource>
LayerRowsGraph::MakeSource(uint32_t /* rank */, uint32_t iterations) const
{
    return std::make_unique<LayerRowsSource>(m_rows, iterations);
}

} // namespace ns3::training
