/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_TENSORS_H
#define DISTRIBUTED_TRAINING_TASK_TENSORS_H

#include "gradient-source.h"
#include "gradient-training.h"

#include "ns3/ptr.h"
#include "ns3/task-graph.h"
#include "ns3/training-communicator.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

class QuantizedTensor;

/**
 * @ingroup distributed-training-job
 *
 * Makes the tensors of the collectives and messages of a rank, and takes in the sums. Their numbers
 * come from a GradientSource or a GradientLearner, if they are real.
 */
class TaskTensors
{
  public:
    /** A collective or a message. */
    struct Item
    {
        const GraphTask& task; ///< its task
        uint64_t number;       ///< see TrainingApplication::ArrivalTracedCallback
        uint32_t iteration;    ///< in which it started
    };

    /** @param source of real numbers, if there is no learner */
    void SetSource(std::shared_ptr<const GradientSource> source)
    {
        m_source = std::move(source);
    }

    /** @param learner this rank's replica of a model */
    void SetLearner(std::unique_ptr<GradientLearner> learner)
    {
        m_learner = std::move(learner);
    }

    /** @return this rank's replica, or null */
    const GradientLearner* GetLearner() const
    {
        return m_learner.get();
    }

    /**
     * Begins a job from its first task on, or once more.
     * @param graph the job
     * @param rank this rank
     * @param isReal whether numbers are real
     * @param seed of the numbers
     */
    void Begin(std::shared_ptr<const TaskGraph> graph, uint32_t rank, bool isReal, uint64_t seed);

    /** @param task a collective, or a message @return how many like it came before */
    uint64_t Count(const GraphTask& task);

    /**
     * @param item what starts
     * @param group communicator of a collective
     * @return its tensor
     */
    Ptr<Tensor> Make(const Item& item, const Ptr<Communicator>& group);

    /**
     * @param item a message
     * @param isReal whether its numbers are real, if any are
     * @return its tensor
     */
    Ptr<Tensor> MakeMessage(const Item& item, bool isReal);

    /**
     * Decodes the words that have arrived, which adds up those of an all-to-all.
     * @param task a collective that has ended; nothing is done if it is not in code
     * @param group its communicator
     * @param tensor its result
     */
    void Decode(const GraphTask& task, const Ptr<Communicator>& group, Tensor& tensor);

    /**
     * Passes a sum to the learner, if there is one.
     * @param item a collective that has ended
     * @param sum its result
     */
    void Learn(const Item& item, const std::vector<float>& sum);

  private:
    static Ptr<Tensor> MakeEmpty(const Item& item);
    std::vector<float> MakeNumbers(const Item& item, std::size_t count) const;
    std::vector<float> MakeCode(const Item& item, const QuantizedTensor& layout);

    std::shared_ptr<const GradientSource> m_source;
    std::unique_ptr<GradientLearner> m_learner; // or null
    std::shared_ptr<const TaskGraph> m_graph;
    uint32_t m_rank{0};
    bool m_isReal{false};
    uint64_t m_seed{1};
    std::vector<uint64_t> m_collectives; // so far, by groups
    /// Real numbers: messages so far, by whether they are sent, peer and tag.
    std::map<std::pair<bool, std::pair<uint32_t, uint64_t>>, uint64_t> m_messages;
    /// Real numbers: sums of collectives in code that a later one carries, by task.
    std::map<uint64_t, std::vector<float>> m_sums;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_TENSORS_H
