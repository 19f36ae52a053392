/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REFERENCE_SUMS_H
#define DISTRIBUTED_TRAINING_REFERENCE_SUMS_H

#include "ns3/bucket-codec.h"
#include "ns3/coding-errors.h"
#include "ns3/error-feedback.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The sums that the all-reduces of a cluster must have, bit for bit: computed in memory, in the
 * order of additions of the cluster's collectives, and coded as they are. If buckets are coded, it
 * keeps what each rank keeps of each bucket, so sums of a bucket are asked for once in each
 * iteration, in order; iteration 0 begins anew.
 */
class ReferenceSums
{
  public:
    /** One float32 vector for each rank. */
    using Vectors = std::vector<std::vector<float>>;

    /** @param cluster of the sums; must outlive this object */
    explicit ReferenceSums(const Cluster& cluster);

    /**
     * @param iteration number of the iteration, see Tensor
     * @param bucket number of the tensor, see Tensor
     * @param inputs tensor of each rank
     * @param result of a rank, if the network's sum can depend on the order of arrival
     * @return the expected sums: one per rank, or a single one for all
     */
    Vectors Get(uint32_t iteration,
                uint32_t bucket,
                const Vectors& inputs,
                const std::vector<float>& result = {});

    /**
     * @param inputs tensor of each rank
     * @return the sums of the hosts, if they have taken over from the network; otherwise nothing
     */
    Vectors GetAfterFallback(const Vectors& inputs) const;

    /**
     * @param inputs tensor of each rank
     * @param sums that Get() returned
     * @param errors receives what coding did to the sums, if they are coded
     */
    void AddErrors(const Vectors& inputs,
                   const Vectors& sums,
                   std::optional<CodingErrors>& errors) const;

    /** @return whether the network has failed at a rank and hosts have taken over */
    bool HasFallenBack() const;

  private:
    Vectors Add(const Vectors& inputs, const std::vector<float>& result) const;
    Vectors AddAtHosts(const Vectors& inputs, const MessageCoding& coding) const;
    Vectors Exchange(uint32_t iteration, uint32_t bucket, const Vectors& inputs);

    const Cluster& m_cluster;
    std::map<uint32_t, std::vector<Ptr<BucketCodec>>> m_codecs; // by bucket, then by rank
    ErrorFeedback m_feedback;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REFERENCE_SUMS_H
