/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_TRAINING_H
#define DISTRIBUTED_TRAINING_GRADIENT_TRAINING_H

#include "gradient-source.h"
#include "layered-model.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 * How well a model does on samples that it was not trained on.
 */
struct LearnerScore
{
    double loss{0};     ///< mean over the samples
    double accuracy{0}; ///< share of the samples whose class is found, 0 to 1
};

/**
 * @ingroup distributed-training-job
 *
 * One rank of a real training inside the simulated job: a replica of the model. Its gradients are
 * those of the rank's samples at the current weights, and the sums that come over the network
 * update the weights. All buckets of an iteration are made from the weights before the first of
 * them is applied.
 */
class GradientLearner
{
  public:
    virtual ~GradientLearner() = default;

    /**
     * @param place of the bucket; its iteration is the last one or the one after it
     * @param count of its gradients
     * @return the gradients; the same ones if the place is the same
     */
    virtual std::vector<float> Make(const GradientPlace& place, std::size_t count) = 0;

    /**
     * Updates the weights of a bucket.
     * @param place of the bucket
     * @param sum of the gradients of all ranks, as it arrived at this rank
     */
    virtual void Apply(const GradientPlace& place, const std::vector<float>& sum) = 0;

    /**
     * @param iteration whose gradients have been made
     * @return mean loss of the rank's samples of the iteration, before its update
     */
    virtual double GetLoss(uint32_t iteration) const = 0;

    /** @return the weights */
    virtual std::vector<float> GetWeights() const = 0;

    /**
     * @param iteration the last one, all of whose sums have been applied
     * @return score of the weights
     */
    virtual LearnerScore Evaluate(uint32_t iteration) const = 0;
};

/**
 * @ingroup distributed-training-job
 * The job of a GradientTraining.
 */
struct TrainingPlan
{
    uint32_t ranks{1};  ///< number of ranks
    uint64_t batch{32}; ///< samples per rank and iteration
    uint64_t seed{1};   ///< of the job
};

/**
 * @ingroup distributed-training-job
 *
 * A real training inside the simulated job.
 */
class GradientTraining
{
  public:
    virtual ~GradientTraining() = default;

    /** @return the layers of its model, in forward order; empty: the job's workload has them */
    virtual std::vector<LayerShape> GetLayers() const
    {
        return {};
    }

    /**
     * Checks before a simulation that there are gradients for all of it.
     * @param iterations number of iterations
     * @param gradients of all buckets
     * @throw ConfigurationError if there are not
     */
    virtual void Check(uint32_t iterations, uint64_t gradients) const = 0;

    /**
     * @param rank the rank
     * @return its replica of the model
     */
    virtual std::unique_ptr<GradientLearner> MakeLearner(uint32_t rank) const = 0;

    /** @return whether the training can be repeated in memory, without a network */
    virtual bool RepeatsInMemory() const = 0;

    /**
     * @param rank the rank
     * @return if it can be repeated, another replica for that; otherwise a view of the rank's
     *         replica, which makes the same gradients and ignores sums
     */
    virtual std::unique_ptr<GradientLearner> MakeReference(uint32_t rank) const = 0;
};

/**
 * @ingroup distributed-training-job
 * @param text NAME or NAME:key=value,... of a GradientSourceEntry
 * @param plan of the job
 * @return the training; null if the source does not learn
 * @throw ConfigurationError if the text is invalid, or the training is impossible
 */
std::shared_ptr<const GradientTraining> MakeGradientTraining(const std::string& text,
                                                             const TrainingPlan& plan);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_TRAINING_H
