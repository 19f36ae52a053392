/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_SOURCE_H
#define DISTRIBUTED_TRAINING_GRADIENT_SOURCE_H

#include "ns3/training-key-values.h"
#include "ns3/training-key.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

class GradientTraining;
struct TrainingPlan;

/**
 * @ingroup distributed-training-job
 * The place of a bucket of gradients in a job.
 */
struct GradientPlace
{
    uint64_t seed{1};      ///< of the job
    uint32_t rank{0};      ///< that computes the gradients
    uint32_t iteration{0}; ///< from 0
    uint32_t bucket{0};    ///< from 0, in the order in which the buckets are complete
    uint64_t first{0};     ///< gradients of the iteration in earlier buckets
};

/**
 * @ingroup distributed-training-job
 *
 * Where the numbers of a real payload come from. A function of the place, so that those of any rank
 * can be made again for the reference of a sum.
 */
class GradientSource
{
  public:
    virtual ~GradientSource() = default;

    /**
     * @param place of the bucket
     * @param count of its gradients
     * @return the gradients
     * @throw ConfigurationError if the source has fewer
     */
    virtual std::vector<float> Make(const GradientPlace& place, std::size_t count) const = 0;

    /**
     * Checks before a simulation that there are gradients for all of it.
     * @param ranks number of ranks
     * @param iterations number of iterations
     * @param buckets gradients of each bucket
     * @throw ConfigurationError if some are missing
     */
    virtual void Check([[maybe_unused]] uint32_t ranks,
                       [[maybe_unused]] uint32_t iterations,
                       [[maybe_unused]] const std::vector<uint64_t>& buckets) const
    {
    }
};

/**
 * @ingroup distributed-training-job
 * A named source of gradients, in Registry<GradientSourceEntry>.
 */
struct GradientSourceEntry
{
    static constexpr const char* KIND = "source of gradients"; ///< for messages
    std::string help;                                          ///< one line
    /// Creates the source from its keys, which are validated; null: it learns.
    std::shared_ptr<const GradientSource> (*make)(const KeyValues& values);
    std::vector<Key> keys{};           ///< its keys
    std::optional<FirstValue> first{}; ///< its leading value
    /// Creates the training of a source that learns.
    std::shared_ptr<const GradientTraining> (*learn)(const KeyValues& values,
                                                     const TrainingPlan& plan){nullptr};
};

/** @return its leading value */
inline std::optional<FirstValue>
GetFirstValue(const GradientSourceEntry& entry)
{
    return entry.first;
}

/**
 * @ingroup distributed-training-job
 * @param text NAME or NAME:key=value,... of a GradientSourceEntry
 * @return the source
 * @throw ConfigurationError if the text is invalid, or the source learns (GradientTraining)
 */
std::shared_ptr<const GradientSource> MakeGradientSource(const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_SOURCE_H
