/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
#define DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H

#include "gradient-source.h"
#include "gradient-training.h"
#include "training-task.h"

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/iteration-record.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * One rank of a training job: runs the steps of a TrainingTask, iteration after iteration. It has
 * finished when the results of all collectives of the last iteration are applied. The next
 * iteration of this rank starts immediately: only collectives synchronize the ranks.
 *
 * The communication time of a rank is the length of the union of the intervals from the start of a
 * collective to its completion at this rank. A collective that goes on into the next iteration
 * counts in each of both with its part. After the last iteration such collectives run to their end,
 * in no iteration.
 *
 * All compute times of the task are multiplied by the attribute Slowdown, and in each iteration by
 * a factor that is drawn from the distribution ComputeJitter.
 *
 * Applications of different ranks share only the constant task.
 */
class TrainingApplication : public Application
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    TrainingApplication();
    ~TrainingApplication() override;

    /**
     * Sets the task and the groups. Call before the application starts.
     * @param task steps of this rank
     * @param communicators this rank's handle on its group, by communicator of the task
     */
    void SetTask(std::shared_ptr<const TrainingTask> task,
                 const std::vector<Ptr<Communicator>>& communicators);

    /**
     * Makes it take part in a training: its gradients come from a replica of the model, which takes
     * the sums. Requires RealPayload and a task that waits for its collectives in every iteration.
     * @param learner this rank's replica, instead of the source Gradients
     */
    void SetLearner(std::unique_ptr<GradientLearner> learner);

    /** @return this rank's replica, or null */
    const GradientLearner* GetLearner() const;

    /**
     * @param stream first random stream to use
     * @return number of streams used: 1
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Takes the GPU away from the layers: a computation under way ends that much later, and one
     * that starts waits. It does not count as computation.
     * @param time of other work of the GPU, behind all earlier such work
     */
    void Occupy(Time time);

    /** @return number of this rank; valid once the task is set */
    uint32_t GetRank() const;

    /** @return handles of this rank, by communicator of the task */
    const std::vector<Ptr<Communicator>>& GetCommunicators() const;

    /** @return whether all iterations are over and the results of all collectives in place */
    bool IsFinished() const;

    /** @return whether it is computing */
    bool IsComputing() const;

    /**
     * @param rank the rank
     * @param iteration number of the iteration, from 0
     */
    typedef void (*IterationStartTracedCallback)(uint32_t rank, uint32_t iteration);
    /**
     * @param rank the rank
     * @param iteration number of the iteration, from 0
     * @param phase name of the phase, such as "forward", "backward" or "update"
     * @param start its start
     * @param end its end, the current time
     */
    typedef void (*ComputePhaseTracedCallback)(uint32_t rank,
                                               uint32_t iteration,
                                               const std::string& phase,
                                               Time start,
                                               Time end);
    /**
     * @param rank the rank
     * @param iteration number of the iteration, from 0
     * @param collective index of the collective in the task
     */
    typedef void (*CollectiveStartTracedCallback)(uint32_t rank,
                                                  uint32_t iteration,
                                                  uint32_t collective);
    /**
     * @param rank the rank
     * @param iteration number of the iteration in which it started, from 0
     * @param collective index of the collective in the task
     * @param result its result at this rank
     */
    typedef void (*CollectiveDoneTracedCallback)(uint32_t rank,
                                                 uint32_t iteration,
                                                 uint32_t collective,
                                                 Ptr<const Tensor> result);
    /**
     * @param rank the rank
     * @param iteration number of the iteration, from 0
     * @param measured measurements of this rank
     */
    typedef void (*IterationEndTracedCallback)(uint32_t rank,
                                               uint32_t iteration,
                                               const RankIteration& measured);
    /** @param rank the rank */
    typedef void (*FinishedTracedCallback)(uint32_t rank);

  protected:
    void DoDispose() override;

  private:
    /** State of a collective of the task. */
    struct Collective
    {
        Ptr<Tensor> tensor;    // while in progress
        uint32_t iteration{0}; // iteration in which it started
        bool isPending{false}; // its result is not applied yet
    };

    void StartApplication() override;
    void StopApplication() override;
    void Advance();
    bool TakeStep();
    void SetComputeJitter(std::string jitter);
    std::string GetComputeJitter() const;
    void SetGradients(std::string gradients);
    std::string GetGradients() const;
    GradientPlace GetPlace(uint32_t collective) const;
    Time GetLength(Time planned) const;
    void StartCompute(Time length);
    void EndCompute();
    void StartCollective(uint32_t index);
    static void CollectiveDone(TrainingApplication* self, uint32_t index);
    void EndCollective(uint32_t index);
    void StartIteration();
    void EndIteration();
    void Finish();

    uint32_t m_iterations; // attributes
    bool m_realPayload;
    uint64_t m_seed;
    double m_slowdown;
    std::string m_computeJitter;
    std::string m_gradients;

    std::shared_ptr<const GradientSource> m_source;
    std::unique_ptr<GradientLearner> m_learner; // or null: gradients come from the source
    Ptr<RandomVariableStream> m_jitter;         // null: none
    std::shared_ptr<const TrainingTask> m_task;
    std::vector<Ptr<Communicator>> m_communicators;
    Time m_computeTime; // of the current iteration, so far
    double m_pace{1};   // factor of compute times in the current iteration

    bool m_running{false};   // between start and Finish(), or stop
    bool m_finished{false};  // all iterations are over, all results in place
    bool m_advancing{false}; // steps are being taken right now
    bool m_computing{false}; // the end of a compute step is to come
    EventId m_event;         // this end
    Time m_occupied;         // the GPU does other work until then
    uint32_t m_iteration{0};
    Time m_iterationStart;
    std::size_t m_next{0};                 // index of the next step
    bool m_phaseIsOpen{false};             // a phase has started
    Time m_phaseStart;                     // start of the phase
    std::vector<Collective> m_collectives; // by index in the task
    uint32_t m_pending{0};                 // collectives whose results are not applied yet
    uint32_t m_underWay{0};                // collectives in progress
    Time m_busyStart; // start of the current communication interval in this iteration
    Time m_busyTime;  // communication time of the earlier intervals of this iteration

    TracedCallback<uint32_t, uint32_t> m_iterationStartTrace;
    TracedCallback<uint32_t, uint32_t, const std::string&, Time, Time> m_computePhaseTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_collectiveStartTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t, Ptr<const Tensor>> m_collectiveDoneTrace;
    TracedCallback<uint32_t, uint32_t, const RankIteration&> m_iterationEndTrace;
    TracedCallback<uint32_t> m_finishedTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
