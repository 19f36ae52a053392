/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "bucket-graph.h"

#include "ns3/task-writer.h"

#include <utility>

namespace ns3::training
{

namespace
{

/// Names of tasks; those of the all-reduces follow.
enum BucketGraphName : uint32_t
{
    NO_PHASE, // the end of an iteration
    FORWARD_PHASE,
    BACKWARD_PHASE,
    UPDATE_PHASE,
    ALL_REDUCES
};

/** @return the first and last layer with gradients in a bucket, in forward order */
std::string
NameLayers(const LayeredModel& model, const GradientBucket& bucket)
{
    std::vector<std::string> names; // in backward order
    for (uint32_t layer : bucket.layers)
    {
        if (model.layers[layer].parameters > 0)
        {
            names.push_back(model.layers[layer].name);
        }
    }
    return names.size() == 1 ? names[0] : names.back() + " to " + names[0];
}

} // namespace

/** Writes an iteration at a time. */
class BucketGraph::Source : public QueuedSource
{
  public:
    Source(const BucketGraph& graph, uint32_t iterations)
        : m_graph(graph),
          m_iterations(iterations),
          m_sums(graph.m_buckets.size())
    {
    }

  private:
    std::deque<GraphTask>& GetQueue() override
    {
        return m_writer.GetTasks();
    }

    bool Write() override
    {
        if (m_iterations == 0)
        {
            return false;
        }
        m_iterations--;
        Forward();
        Backward();
        for (std::size_t bucket = 0; bucket < m_sums.size() && !m_graph.m_byLayer; bucket++)
        {
            m_writer.Await(m_sums[bucket]);
        }
        if (m_graph.m_update)
        {
            m_writer.Compute(UPDATE_PHASE, *m_graph.m_update);
        }
        m_writer.Mark(NO_PHASE);
        return true;
    }

    /** The last bucket has the first layers. */
    void Forward()
    {
        Time length = m_graph.m_forward;
        for (std::size_t bucket = m_graph.m_byLayer ? m_sums.size() : 0; bucket-- > 0;)
        {
            if (length > Time())
            {
                m_writer.Compute(FORWARD_PHASE, length, true);
            }
            if (m_sums[bucket] > 0) // there was an iteration before
            {
                m_writer.Await(m_sums[bucket]);
                m_writer.Compute(UPDATE_PHASE, *m_graph.m_buckets[bucket].update, true);
            }
            length = m_graph.m_buckets[bucket].forward;
        }
        m_writer.Compute(FORWARD_PHASE, length);
    }

    void Backward()
    {
        const Time whole = m_graph.m_backward;
        Time passed;
        const auto advance = [&](Time to) {
            if (to > passed)
            {
                m_writer.Compute(BACKWARD_PHASE, to - passed, to < whole);
                passed = to;
            }
        };
        for (uint32_t bucket = 0; bucket < m_sums.size(); bucket++)
        {
            advance(m_graph.m_overlap ? m_graph.m_buckets[bucket].ready : whole);
            GraphTask sum;
            sum.kind = TaskKind::COLLECTIVE;
            sum.parallelism = Parallelism::DATA;
            sum.stream = NO_STREAM;
            sum.priority = static_cast<int32_t>(bucket); // the last one is needed first
            sum.name = ALL_REDUCES + bucket;
            sum.tag = bucket;
            sum.bytes = m_graph.m_buckets[bucket].bytes;
            m_sums[bucket] = m_writer.Start(std::move(sum));
        }
        advance(whole);
    }

    const BucketGraph& m_graph;
    uint32_t m_iterations; // still to write
    TaskWriter m_writer;
    std::vector<uint64_t> m_sums; // by bucket, its last all-reduce; 0: none so far
};

BucketGraph::BucketGraph(const LayeredModel& model, const BucketOptions& options, uint32_t ranks)
    : m_ranks(ranks),
      m_overlap(options.overlap),
      m_byLayer(options.byLayer),
      m_forward(model.GetForwardTime()),
      m_backward(model.GetBackwardTime()),
      m_groups(1),
      m_names{"", "forward", "backward", "update"}
{
    std::vector<Time> readyAt(model.layers.size()); // from the start of the backward pass
    Time passed;
    for (std::size_t layer = model.layers.size(); layer-- > 0;)
    {
        passed += model.layers[layer].backward;
        readyAt[layer] = passed;
    }
    const auto buckets = MakeGradientBuckets(model.layers, options.bucket, options.gradientBytes);
    uint64_t first = 0;
    for (const GradientBucket& bucket : buckets)
    {
        m_names.push_back(std::string(GetName(CollectiveOperation::ALL_REDUCE)) + " " +
                          std::to_string(m_buckets.size()));
        m_buckets.push_back(
            {bucket.bytes, first, NameLayers(model, bucket), readyAt.at(bucket.readyLayer)});
        first += bucket.bytes / sizeof(float);
        m_groups[0].parallelism = Parallelism::DATA;
    }
    m_groups[0].byPriority = m_byLayer;
    if (m_byLayer)
    {
        DivideForward(model, buckets);
    }
    else
    {
        m_update = model.update;
    }
}

/** Divides forward pass and update among the buckets. */
void
BucketGraph::DivideForward(const LayeredModel& model, const std::vector<GradientBucket>& buckets)
{
    uint64_t bytes = 0;
    for (const GradientBucket& bucket : buckets)
    {
        bytes += bucket.bytes;
    }
    const auto getUpdate = [&](uint64_t part) {
        return RoundToPicoseconds(model.update.GetSeconds() * static_cast<double>(part) /
                                  static_cast<double>(bytes));
    };
    // No layer of a bucket comes before readyLayer, unless it has no parameters.
    m_forward = Time();
    std::size_t next = buckets.size();
    uint64_t applied = 0;
    for (uint32_t layer = 0; layer < model.layers.size(); layer++)
    {
        if (next > 0 && buckets[next - 1].readyLayer == layer)
        {
            next--;
            const uint64_t sum = applied + buckets[next].bytes;
            m_buckets[next].update = getUpdate(sum) - getUpdate(applied);
            applied = sum;
        }
        Time& part = next == buckets.size() ? m_forward : m_buckets[next].forward;
        part += model.layers[layer].forward;
    }
}

std::vector<uint64_t>
BucketGraph::GetSizes() const
{
    std::vector<uint64_t> sizes;
    for (const Bucket& bucket : m_buckets)
    {
        sizes.push_back(bucket.bytes / sizeof(float));
    }
    return sizes;
}

Time
BucketGraph::GetComputeTime() const
{
    Time sum = m_forward + m_backward + m_update.value_or(Time());
    for (const Bucket& bucket : m_buckets)
    {
        sum += bucket.update.value_or(Time()) + bucket.forward;
    }
    return sum;
}

std::shared_ptr<const BucketGraph>
BucketGraph::WithoutUpdate() const
{
    auto without = std::make_shared<BucketGraph>(*this);
    without->m_update.reset();
    return without;
}

uint32_t
BucketGraph::GetRanks() const
{
    return m_ranks;
}

const std::vector<TaskGroups>&
BucketGraph::GetGroups() const
{
    return m_groups;
}

const std::vector<std::string>&
BucketGraph::GetNames() const
{
    return m_names;
}

std::unique_ptr<TaskSource>
BucketGraph::MakeSource(uint32_t, uint32_t iterations) const
{
    return std::make_unique<Source>(*this, iterations);
}

std::optional<uint64_t>
BucketGraph::GetFirstGradient(const GraphTask& task) const
{
    return m_buckets.at(task.tag).first;
}

} // namespace ns3::training
