/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_GRAPH_H
#define DISTRIBUTED_TRAINING_TASK_GRAPH_H

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-graph Task graphs
 *
 * What the ranks of a job do: computations, collectives and messages, and what each waits for.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * What a task does.
 */
enum class TaskKind : uint8_t
{
    COMPUTE,    ///< computes for `length`
    COLLECTIVE, ///< takes part in a collective of its group
    SEND,       ///< sends a message; complete as GraphTask::untilSent says
    RECEIVE,    ///< receives a message; complete when it is there
    MEMORY,     ///< moves data between memory and storage of the rank for `length`
    MARK        ///< ends an iteration of the rank; takes no time
};

/// Number of kinds of tasks.
constexpr uint32_t TASK_KINDS = 6;

/**
 * @ingroup distributed-training-graph
 * Why ranks communicate.
 */
enum class Parallelism : uint8_t
{
    NONE,     ///< not known
    DATA,     ///< replicas, or shards of one, exchange gradients and parameters
    TENSOR,   ///< parts of a layer exchange activations
    PIPELINE, ///< stages exchange activations and their gradients
    CONTEXT,  ///< parts of a sequence exchange keys and values
    EXPERT    ///< tokens go to their experts and back
};

/// Number of kinds of parallelism.
constexpr uint32_t PARALLELISMS = 6;

/**
 * @ingroup distributed-training-graph
 * @param parallelism why the message is sent
 * @return its name in lower case: none, data, tensor, pipeline, context, expert
 */
const char* GetName(Parallelism parallelism);

/**
 * @ingroup distributed-training-graph
 * @param kind of a task
 * @return its name in lower case: compute, collective, send, receive, memory, mark
 */
const char* GetName(TaskKind kind);

/// Stream of tasks that wait for their dependencies only. @ingroup distributed-training-graph
constexpr uint16_t NO_STREAM = std::numeric_limits<uint16_t>::max();

/// Streams from this one on are those of the host, whose work is no computation of the rank's GPU.
/// @ingroup distributed-training-graph
constexpr uint16_t HOST_STREAMS = 0x8000;

/// Largest tag of a message. @ingroup distributed-training-graph
constexpr uint64_t MAX_MESSAGE_TAG = 65533;

/// Stream of the computations of a rank. @ingroup distributed-training-graph
constexpr uint16_t COMPUTE_STREAM = 0;

/**
 * @ingroup distributed-training-graph
 *
 * A collective whose ranks send numbers in code. Its vector has a part for each rank, all of the
 * same size. Of an all-gather, each rank codes its own part. Of an all-to-all, a rank codes the
 * part of each receiver, which adds up what it decodes, in the order of the senders.
 */
struct TaskCode
{
    uint32_t bits{8};       ///< of a number: 4 or 8
    uint64_t block{1};      ///< consecutive numbers of a part with one scale, a float32; not 0
    uint64_t count{0};      ///< numbers of a part
    bool isPassedOn{false}; ///< whether a later all-to-all of the rank carries the sums
    /// Id of the earlier all-to-all whose sums it carries; 0: numbers of its own.
    uint64_t input{0};

    /** @return size of a part, bytes: its numbers in whole words of 4 bytes, and its scales */
    uint64_t GetPartBytes() const;
};

/**
 * @ingroup distributed-training-graph
 *
 * A task of a rank. It starts when all tasks of `after` are complete, and the task before it in its
 * stream, as in a CUDA stream. Collectives of a group start in their order in the graph, whatever
 * their streams, so that they match between ranks.
 */
struct GraphTask
{
    uint64_t id{0};                   ///< its number in its rank; those of a rank increase
    TaskKind kind{TaskKind::COMPUTE}; ///< what it does
    Parallelism parallelism{Parallelism::NONE}; ///< why, of communication
    uint16_t stream{COMPUTE_STREAM};            ///< its stream, or NO_STREAM
    /// COLLECTIVE: what it does.
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE};
    /// SEND: complete when its last byte has been passed to the network; otherwise when the
    /// transport has accepted the message.
    bool untilSent{false};
    /// COLLECTIVE: an exchange of unequal parts that is taken as equal, so sizes of ranks differ.
    bool isUneven{false};
    /// COMPUTE: the next computation belongs to the same phase of the training step.
    bool isPart{false};
    uint32_t groups{0};     ///< COLLECTIVE: index in TaskGraph::GetGroups()
    uint32_t peer{0};       ///< SEND, RECEIVE: other rank; COLLECTIVE: root, by rank in the group
    int32_t priority{0};    ///< COLLECTIVE: see Tensor::priority
    uint32_t name{0};       ///< index in TaskGraph::GetNames()
    int32_t layer{-1};      ///< of the model, from 0; -1: none
    int32_t microBatch{-1}; ///< of the iteration, from 0; -1: none
    /// SEND, RECEIVE: of the message, at most MAX_MESSAGE_TAG; messages of a tag from a rank to
    /// another match in order. COLLECTIVE: its number in the iteration of the rank, from 0.
    uint64_t tag{0};
    uint64_t place{0}; ///< where its file has it, see ListedGraph::SetPlaces()
    uint64_t bytes{0}; ///< COLLECTIVE: size of the whole vector; SEND, RECEIVE: of the message
    ByteMatrix matrix; ///< COLLECTIVE, all-to-all-v: bytes from each rank to each
    /// COLLECTIVE, all-gather or all-to-all: its numbers in code; null: float32.
    std::shared_ptr<const TaskCode> code;
    Time length;                 ///< COMPUTE, MEMORY: its duration
    std::vector<uint64_t> after; ///< ids of earlier tasks that it waits for
};

/**
 * @ingroup distributed-training-graph
 * Makes room for other tasks between those of a job.
 * @param task whose number, and those that it names, are raised by one and multiplied
 * @param stride by which
 */
void SpreadIds(GraphTask& task, uint64_t stride);

/**
 * @ingroup distributed-training-graph
 * Disjoint groups of ranks whose collectives run in parallel.
 */
struct TaskGroups
{
    Parallelism parallelism{Parallelism::NONE}; ///< why the ranks of a group communicate
    std::vector<std::vector<uint32_t>> groups;  ///< by rank in the group; empty: all ranks in one
    bool exchanges{false}; ///< all-to-alls only, which may use another algorithm
    std::string algorithm; ///< of its collectives; empty: that of the job
    /// Ranks of each dimension of the network that a group goes through, innermost first, and 1 for
    /// those that it does not leave its place in; empty: groups know no dimensions.
    std::vector<uint32_t> dimensions;
    bool byPriority{false}; ///< of waiting collectives the one with the highest priority runs next

    /// Index of ranks that are in no group.
    static constexpr uint32_t NO_GROUP = std::numeric_limits<uint32_t>::max();

    /**
     * @param ranks number of all ranks
     * @return by rank the index of its group, or NO_GROUP
     */
    std::vector<uint32_t> GetIndices(uint32_t ranks) const;

    /**
     * @param ranks number of all ranks
     * @return whether there is one group, of all ranks in their order
     */
    bool AreAll(uint32_t ranks) const;
};

/**
 * @ingroup distributed-training-graph
 * Makes the tasks of a rank, one after the other.
 */
class TaskSource
{
  public:
    virtual ~TaskSource() = default;

    /**
     * @param task the next task; set only if there is one
     * @return whether there is one
     */
    virtual bool Next(GraphTask& task) = 0;
};

/**
 * @ingroup distributed-training-graph
 * A source that writes several tasks at a time.
 */
class QueuedSource : public TaskSource
{
  public:
    bool Next(GraphTask& task) final;

  private:
    /**
     * Adds tasks to the queue, or none.
     * @return whether there may be more
     */
    virtual bool Write() = 0;

    /** @return tasks that are written and not taken */
    virtual std::deque<GraphTask>& GetQueue() = 0;
};

/**
 * @ingroup distributed-training-graph
 *
 * The tasks of a job. They are made when a rank comes near them, so that a job need not fit into
 * memory as a whole.
 */
class TaskGraph
{
  public:
    virtual ~TaskGraph() = default;

    /** @return number of ranks */
    virtual uint32_t GetRanks() const = 0;

    /** @return the groups of its collectives */
    virtual const std::vector<TaskGroups>& GetGroups() const = 0;

    /** @return names of tasks */
    virtual const std::vector<std::string>& GetNames() const = 0;

    /**
     * @param rank the rank
     * @param iterations of the job, each of which ends with a MARK
     * @return its tasks, after those they depend on
     */
    virtual std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const = 0;

    /**
     * @return tasks of a rank that may be known ahead of those that have started. Enough to fill
     *         all streams; the order in the graph must not need more
     */
    virtual std::size_t GetWindow() const
    {
        return 256;
    }

    /**
     * @param task a collective
     * @return the place of its first number among the gradients of an iteration, if it sums
     *         gradients of all ranks in buckets; or none
     */
    virtual std::optional<uint64_t> GetFirstGradient([[maybe_unused]] const GraphTask& task) const
    {
        return {};
    }

    /**
     * @param rank a rank
     * @param task one of its tasks; the number 0: none
     * @return their place in the job or its files, for messages
     */
    virtual std::string Describe(uint32_t rank, const GraphTask& task) const;

    /**
     * @param groups index of groups
     * @param rank a rank
     * @return the ranks of its group; empty if it is in none
     */
    std::vector<uint32_t> GetGroup(uint32_t groups, uint32_t rank) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_GRAPH_H
