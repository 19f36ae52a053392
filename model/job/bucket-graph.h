/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUCKET_GRAPH_H
#define DISTRIBUTED_TRAINING_BUCKET_GRAPH_H

#include "gradient-buckets.h"
#include "layered-model.h"

#include "ns3/nstime.h"
#include "ns3/task-graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * How gradients are summed.
 */
struct BucketOptions
{
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< cap of a bucket, bytes; see MakeGradientBuckets()
    bool overlap{true};                    ///< reduces buckets during the backward pass
    /// The next forward pass waits at each layer for the bucket of its gradients only, updates its
    /// parameters, and goes on. Of waiting buckets the one that is needed first is reduced next;
    /// one in progress is not interrupted (ByteScheduler, Peng et al., SOSP 2019).
    bool byLayer{false};
    uint32_t gradientBytes{DEFAULT_GRADIENT_BYTES}; ///< of a gradient on the network
};

/**
 * @ingroup distributed-training-job
 *
 * Data-parallel training as in PyTorch, the same at all ranks. An iteration is the forward pass;
 * the backward pass, layer by layer in reverse order; the all-reduce of each gradient bucket over
 * all ranks; and the update when all buckets are reduced. With overlap, a bucket is reduced as soon
 * as its last gradient is ready (wait-free back-propagation with tensor fusion). Otherwise all
 * buckets are reduced after the backward pass, in the same order. The tag of an all-reduce is the
 * number of its bucket.
 */
class BucketGraph : public TaskGraph
{
  public:
    /** Gradients that one all-reduce sums. */
    struct Bucket
    {
        uint64_t bytes{0};            ///< size of its gradients on the network
        uint64_t first{0};            ///< float32 numbers in earlier buckets
        std::string layers;           ///< names of the first and last layer, in forward order
        Time ready;                   ///< its last gradient, from the start of the backward pass
        std::optional<Time> update{}; ///< by layer: of its parameters, before their forward pass
        Time forward{};               ///< by layer: forward pass of its layers
    };

    /**
     * @param model layers and compute times
     * @param options of the buckets
     * @param ranks number of ranks
     */
    BucketGraph(const LayeredModel& model, const BucketOptions& options, uint32_t ranks);

    /** @return the buckets, in the order in which they become ready */
    const std::vector<Bucket>& GetBuckets() const
    {
        return m_buckets;
    }

    /** @return size of each bucket in float32 numbers */
    std::vector<uint64_t> GetSizes() const;

    /** @return whether all sums of an iteration are in place before the next one begins */
    bool WaitsForAll() const
    {
        return !m_byLayer;
    }

    /** @return compute time of a rank per iteration */
    Time GetComputeTime() const;

    /** @return the same job without the update: whoever sums makes the optimizer's step */
    std::shared_ptr<const BucketGraph> WithoutUpdate() const;

    uint32_t GetRanks() const override;
    const std::vector<TaskGroups>& GetGroups() const override;
    const std::vector<std::string>& GetNames() const override;
    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;
    std::optional<uint64_t> GetFirstGradient(const GraphTask& task) const override;

  private:
    class Source;

    void DivideForward(const LayeredModel& model, const std::vector<GradientBucket>& buckets);

    uint32_t m_ranks;
    bool m_overlap;
    bool m_byLayer;
    std::vector<Bucket> m_buckets;
    Time m_forward;               // by layer: of the layers before those of any bucket
    Time m_backward;              // of all layers
    std::optional<Time> m_update; // of all parameters, at the end of an iteration; or none
    std::vector<TaskGroups> m_groups;
    std::vector<std::string> m_names;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUCKET_GRAPH_H
