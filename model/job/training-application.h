/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
#define DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H

#include "gradient-training.h"

#include "ns3/application.h"
#include "ns3/iteration-record.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/task-graph.h"
#include "ns3/task-meetings.h"
#include "ns3/traced-callback.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

class RankExecution;

/**
 * @ingroup distributed-training-job
 *
 * One rank of a training job: performs its tasks of a TaskGraph. Computations take their time,
 * collectives and messages go through communicators. It has finished when all tasks of all
 * iterations have ended. The next iteration of this rank starts immediately: only communication
 * synchronizes the ranks.
 *
 * The communication time of a rank is the length of the union of the intervals from the start of a
 * collective or a send to its end at this rank, and from the send of a message to its receipt. A
 * collective that goes on into the next iteration counts in each of both with its part. After the
 * last iteration such collectives run to their end, in no iteration.
 *
 * The lengths of computations are multiplied by the attribute Slowdown, and in each iteration by a
 * factor that is drawn from the distribution ComputeJitter.
 *
 * Applications of different ranks share only the constant graph, and TaskMeetings, which observe.
 */
class TrainingApplication : public Application
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    TrainingApplication();
    ~TrainingApplication() override;

    /**
     * Sets the tasks. Call before the application starts.
     * @param graph the job
     * @param rank of this application in the job
     * @param messages handle on all ranks of the job, for messages; null: it has none
     * @param communicators this rank's handle on its group, by groups of the graph; null: it is in
     *        none
     */
    void SetGraph(std::shared_ptr<const TaskGraph> graph,
                  uint32_t rank,
                  Ptr<Communicator> messages,
                  const std::vector<Ptr<Communicator>>& communicators);

    /** @param meetings of the applications of this process; null: who is late is not known */
    void SetMeetings(std::shared_ptr<TaskMeetings> meetings);

    /** @return see SetMeetings() */
    const std::shared_ptr<TaskMeetings>& GetMeetings() const;

    /**
     * Lets messages from and to storage hosts, the last ranks of the graph, go their own way. Their
     * payload is virtual, and they are no arrivals.
     * @param storage handle on all ranks of the graph
     * @param ranks number of ranks that are no storage hosts
     */
    void SetStorage(Ptr<Communicator> storage, uint32_t ranks);

    /** @return handle for messages from and to storage hosts, or null */
    Ptr<Communicator> GetStorage() const;

    /**
     * Leaves all tasks as they are: nothing of it happens or is reported any more. Call also
     * ScheduledCommunicator::Abort() of its communicators, before Restart().
     */
    void Abort();

    /**
     * Starts again after Abort().
     * @param graph the job, with as many ranks, groups and names
     * @param first number of its first iteration; the attribute Iterations says how many there are
     *        from number 0 on
     */
    void Restart(std::shared_ptr<const TaskGraph> graph, uint32_t first);

    /**
     * Makes it take part in a training: its gradients come from a replica of the model, which takes
     * the sums. Requires RealPayload and a graph that waits for its collectives in every iteration.
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

    /** @return its tasks while they run */
    RankExecution& GetExecution()
    {
        return *m_execution;
    }

    /** @return number of this rank in the job */
    uint32_t GetRank() const;

    /** @return its handle on all ranks of the job, for messages; or null */
    Ptr<Communicator> GetMessages() const;

    /** @return handles of this rank, by groups of the graph; null: it is in none */
    const std::vector<Ptr<Communicator>>& GetCommunicators() const;

    /** @return whether all iterations are over and the results of all collectives in place */
    bool IsFinished() const;

    /** @return whether it is computing, or moves data between its memory and storage */
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
     * @param collective number of the collective in the iteration
     */
    typedef void (*CollectiveStartTracedCallback)(uint32_t rank,
                                                  uint32_t iteration,
                                                  uint32_t collective);
    /**
     * @param rank the rank
     * @param iteration number of the iteration in which it started, from 0
     * @param collective number of the collective in the iteration
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
    /**
     * @param rank the rank
     * @param task a collective, or the receipt of a message
     * @param number of the collective in its groups, or of the message among those of its tag from
     *        its sender, from 0
     * @param result the tensor at this rank
     */
    typedef void (*ArrivalTracedCallback)(uint32_t rank,
                                          const GraphTask& task,
                                          uint64_t number,
                                          Ptr<const Tensor> result);
    /**
     * @param rank the rank
     * @param task that has ended
     */
    typedef void (*TaskEndTracedCallback)(uint32_t rank, const GraphTask& task);
    /** @param rank the rank */
    typedef void (*FinishedTracedCallback)(uint32_t rank);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;
    void SetComputeJitter(std::string jitter);
    std::string GetComputeJitter() const;
    void SetGradients(std::string gradients);
    std::string GetGradients() const;

    uint32_t m_iterations; // attributes
    bool m_realPayload;
    uint64_t m_seed;
    double m_slowdown;
    double m_overlapCompute;
    double m_overlapCopies;
    std::string m_computeJitter;
    std::string m_gradients;

    Ptr<RandomVariableStream> m_jitter; // null: none
    std::unique_ptr<RankExecution> m_execution;

    TracedCallback<uint32_t, uint32_t> m_iterationStartTrace;
    TracedCallback<uint32_t, uint32_t, const std::string&, Time, Time> m_computePhaseTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t> m_collectiveStartTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t, Ptr<const Tensor>> m_collectiveDoneTrace;
    TracedCallback<uint32_t, const GraphTask&, uint64_t, Ptr<const Tensor>> m_arrivalTrace;
    TracedCallback<uint32_t, uint32_t, const RankIteration&> m_iterationEndTrace;
    TracedCallback<uint32_t, const GraphTask&> m_taskEndTrace;
    TracedCallback<uint32_t> m_finishedTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
