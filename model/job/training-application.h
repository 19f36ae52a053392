/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
#define DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H

#include "gradient-training.h"
#include "iteration-meter.h"
#include "task-tensors.h"

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/iteration-record.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/task-graph.h"
#include "ns3/task-meetings.h"
#include "ns3/task-runner.h"
#include "ns3/task-trace.h"
#include "ns3/traced-callback.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

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

    /**
     * Takes the GPU away from the layers: a computation under way ends that much later, and one
     * that starts waits. It does not count as computation.
     * @param time of other work of the GPU, behind all earlier such work
     */
    void Occupy(Time time);

    /**
     * Adds what decides what the rank does next, relative to now and to its iteration: two equal
     * states are followed by the same.
     * @param state receives numbers
     */
    void AddState(std::vector<uint64_t>& state) const;

    /** @return whether a collective, or a message that it sends, is under way */
    bool IsCommunicating() const;

    /** @return iterations from number 0 on of which it has started a task */
    uint32_t GetReach() const;

    /**
     * Makes the job shorter while it runs.
     * @param iterations from number 0 on, in place of the attribute; at least GetReach(), and more
     *        than are complete
     */
    void Shorten(uint32_t iterations);

    /** @return number of this rank in the job */
    uint32_t GetRank() const;

    /** @return the end of its last complete iteration; null: there is none */
    TaskTrace::Pointer GetLastMark() const;

    /**
     * With meetings that are divided among processes it is known later why a rank was idle, and
     * since when messages were on their way.
     * @return the times of the iteration that ends; once
     */
    UnexplainedTimes TakeUnexplained();

    /**
     * With divided meetings: drops the history of the rank.
     * @param before marks of iterations that ended until then remain without what led to them,
     *        other than the last one
     */
    void ForgetHistory(Time before);

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
    /** A task that has started and has not ended. */
    struct Running
    {
        const GraphTask* task{nullptr};
        std::shared_ptr<TaskTrace> trace;
        Ptr<Tensor> tensor;    // of communication
        uint64_t number{0};    // see ArrivalTracedCallback
        uint32_t iteration{0}; // in which it started
        EventId end{};         // of a task that takes a known time, beside the stream
    };

    void StartApplication() override;
    void StopApplication() override;
    void Begin();
    bool IsStorage(const GraphTask& task) const;
    void SetComputeJitter(std::string jitter);
    std::string GetComputeJitter() const;
    void SetGradients(std::string gradients);
    std::string GetGradients() const;
    Time GetLength(Time planned) const;
    void StartTask(const GraphTask& task, const TaskTrace::Pointer& cause);
    void StartCompute(const GraphTask& task);
    void EndCompute(uint64_t id);
    void StartCollective(const GraphTask& task);
    void StartMessage(const GraphTask& task);
    static void CommunicationDone(TrainingApplication* self, uint32_t life, uint64_t id);
    void EndCollective(const Running& running);
    static void TaskEnded(TrainingApplication* self, uint64_t id);
    void EndTask(uint64_t id);
    void StartIteration();
    void EndIteration();
    void Finish();

    uint32_t m_iterations; // attributes
    bool m_realPayload;
    uint64_t m_seed;
    double m_slowdown;
    std::string m_computeJitter;
    std::string m_gradients;

    TaskTensors m_tensors;
    Ptr<RandomVariableStream> m_jitter; // null: none
    std::shared_ptr<const TaskGraph> m_graph;
    std::shared_ptr<TaskMeetings> m_meetings; // or null
    uint32_t m_rank{0};
    Ptr<Communicator> m_messages;                   // or null
    Ptr<Communicator> m_storage;                    // or null
    uint32_t m_storageRank{0};                      // first rank that is a storage host
    std::vector<Ptr<Communicator>> m_communicators; // by groups
    std::unique_ptr<TaskRunner> m_runner;
    std::unordered_map<uint64_t, Running> m_tasks;  // that run, by their numbers
    std::deque<std::shared_ptr<TaskTrace>> m_marks; // ends of iterations, with their history
    IterationMeter m_meter;
    double m_pace{1}; // factor of compute times in the current iteration

    bool m_running{false};     // between start and Finish(), or stop
    bool m_finished{false};    // all tasks of all iterations have ended
    bool m_computing{false};   // a computation of the stream is under way
    uint64_t m_computation{0}; // this one
    Time m_computationLength;  // of this one, without waits
    uint32_t m_inParallel{0};  // computations beside the stream, and tasks in memory
    uint32_t m_life{0};        // number of calls of Abort()
    EventId m_event;           // end of the computation of the stream
    Time m_occupied;           // the GPU does other work until then
    uint32_t m_iteration{0};
    bool m_phaseIsOpen{false}; // a phase has started
    Time m_phaseStart;         // start of the phase

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
