/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_COMMUNICATION_H
#define DISTRIBUTED_TRAINING_TASK_COMMUNICATION_H

#include "iteration-meter.h"
#include "job/task-tensors.h"

#include "ns3/host-load.h"
#include "ns3/ptr.h"
#include "ns3/task-graph.h"
#include "ns3/task-meetings.h"
#include "ns3/task-trace.h"
#include "ns3/traced-callback.h"
#include "ns3/training-communicator.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * Collectives and messages of one rank: hands their tensors to its communicators, and takes in what
 * arrives.
 */
class TaskCommunication
{
  public:
    /** Trace sources of the TrainingApplication. */
    struct Traces
    {
        const TracedCallback<uint32_t, uint32_t, uint32_t>& start; ///< a collective starts
        const TracedCallback<uint32_t, uint32_t, uint32_t, Ptr<const Tensor>>&
            done; ///< a collective is complete
        const TracedCallback<uint32_t, const GraphTask&, uint64_t, Ptr<const Tensor>>&
            arrival; ///< data has arrived
    };

    /** Handles of the rank. */
    struct Handles
    {
        Ptr<Communicator> messages;            ///< on all ranks of the job; or null
        std::vector<Ptr<Communicator>> groups; ///< by groups of the graph; null: it is in none
        Ptr<Communicator> storage;             ///< for messages from and to storage; or null
        uint32_t storageRank{0};               ///< first rank that is a storage host
    };

    /**
     * @param meter of the rank
     * @param traces of the application
     * @param done called at the end of a task, with its number
     */
    TaskCommunication(IterationMeter& meter,
                      const Traces& traces,
                      std::function<void(uint64_t task)> done);

    /** @return handles of the rank */
    Handles& GetHandles()
    {
        return m_handles;
    }

    /** @return where its numbers come from */
    TaskTensors& GetTensors()
    {
        return m_tensors;
    }

    /** @param load of this rank's GPU, which slows the copies of its collectives */
    void SetHostLoad(const std::shared_ptr<const HostLoad>& load);

    /**
     * @param collective a collective
     * @return whether the host model has the GPU copy its data: not in switches and NICs
     */
    bool IsCopiedByGpu(const GraphTask& collective) const;

    /** @param meetings of the applications of this process; or null */
    void SetMeetings(std::shared_ptr<TaskMeetings> meetings);

    /** @return the meetings, or null */
    const std::shared_ptr<TaskMeetings>& GetMeetings() const
    {
        return m_meetings;
    }

    /**
     * Begins a job, see TaskTensors.
     * @param graph the job
     * @param rank this rank
     * @param isReal whether numbers are real
     * @param seed of the numbers
     */
    void Begin(std::shared_ptr<const TaskGraph> graph, uint32_t rank, bool isReal, uint64_t seed);

    /**
     * @param task that starts: a collective or a message
     * @param iteration in which it starts
     * @param trace of the task
     */
    void Start(const GraphTask& task, uint32_t iteration, const std::shared_ptr<TaskTrace>& trace);

    /** What is under way has no effect any more. */
    void Stop();

    /** Releases communicators and meetings. */
    void Dispose();

  private:
    /** A task under way. */
    struct UnderWay
    {
        TaskTensors::Item item;
        std::shared_ptr<TaskTrace> trace;
        Ptr<Tensor> tensor;
    };

    bool IsStorage(const GraphTask& task) const;
    static void Done(TaskCommunication* self, uint32_t life, uint64_t id);
    void EndCollective(const UnderWay& ended);

    IterationMeter& m_meter;
    const Traces m_traces;
    const std::function<void(uint64_t)> m_done;
    uint32_t m_rank{0};
    Handles m_handles;
    std::shared_ptr<TaskMeetings> m_meetings; // or null
    TaskTensors m_tensors;
    std::unordered_map<uint64_t, UnderWay> m_underWay; // by tasks
    uint32_t m_life{0};                                // number of calls of Stop()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_COMMUNICATION_H
