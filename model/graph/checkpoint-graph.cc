/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "checkpoint-graph.h"

#include "ns3/abort.h"

#include <deque>
#include <memory>
#include <numeric>
#include <utility>

namespace ns3::training
{

namespace
{

/// Names of the tasks of checkpoints, after those of the job.
enum CheckpointName : uint32_t
{
    REACHED,
    SNAPSHOT,
    CHECKPOINT,
    ANSWER,
    RENDEZVOUS,
    REQUEST,
    LOAD,
    END_OF_ITERATION
};

const std::vector<std::string> NAMES{"checkpoint begins",
                                     "snapshot",
                                     "checkpoint",
                                     "checkpoint written",
                                     "rendezvous",
                                     "restart",
                                     "load",
                                     "end of iteration"};

/// Tag of the messages; those between a rank and a storage host follow each other.
constexpr uint64_t TAG = 0;

/// Stream in which an asynchronous checkpoint drains, and a storage host writes. No job has one of
/// this number: they count from 0.
constexpr uint16_t DRAIN_STREAM = NO_STREAM - 1;

/// Numbers of tasks of the job are multiplied by this, to make room for those of a checkpoint.
constexpr uint64_t STRIDE = 8;

/** @return time of bytes at a rate; 0: infinite */
Time
GetLength(uint64_t bytes, double rate)
{
    return rate > 0 ? Seconds(static_cast<double>(bytes) / rate) : Time();
}

/** Tasks of a rank with checkpoints. */
class CheckpointSource : public QueuedSource
{
  protected:
    explicit CheckpointSource(uint32_t firstName)
        : m_firstName(firstName)
    {
    }

    std::deque<GraphTask>& GetQueue() override
    {
        return m_ready;
    }

    /** @return a task without number */
    GraphTask Make(TaskKind kind, CheckpointName name, uint16_t stream) const
    {
        GraphTask task;
        task.kind = kind;
        task.name = m_firstName + name;
        task.stream = stream;
        return task;
    }

    /** @return a message without number */
    GraphTask MakeMessage(TaskKind kind,
                          CheckpointName name,
                          uint16_t stream,
                          uint32_t peer,
                          uint64_t bytes) const
    {
        GraphTask task = Make(kind, name, stream);
        task.peer = peer;
        task.bytes = bytes;
        task.tag = TAG;
        return task;
    }

    /** @return number of the task, which is the next */
    uint64_t Add(GraphTask task)
    {
        task.id = m_next++;
        m_ready.push_back(std::move(task));
        return m_ready.back().id;
    }

    std::deque<GraphTask> m_ready;
    uint64_t m_next{1}; // number of the next task of a checkpoint

  private:
    uint32_t m_firstName;
};

/** Tasks of a rank of the job, and of its checkpoints. */
class SavingSource : public CheckpointSource
{
  public:
    /**
     * @param source tasks of the job
     * @param plan of the checkpoints
     * @param share of the rank, bytes
     * @param host rank of its storage host, if there are any
     * @param firstName index of the first name
     */
    SavingSource(std::unique_ptr<TaskSource> source,
                 const CheckpointPlan& plan,
                 uint64_t share,
                 uint32_t host,
                 uint32_t firstName)
        : CheckpointSource(firstName),
          m_source(std::move(source)),
          m_plan(plan),
          m_share(share),
          m_host(host)
    {
        if (m_plan.isRestart)
        {
            Restart();
        }
    }

  private:
    bool Write() override;
    void Restart();
    uint64_t Save(const GraphTask& mark);

    std::unique_ptr<TaskSource> m_source;
    const CheckpointPlan& m_plan;
    uint64_t m_share;
    uint32_t m_host;
    uint64_t m_restarted{0}; // last task of the restart; 0: none, or not in the first iteration
    uint64_t m_saved{0};     // last task of the asynchronous checkpoint before; 0: none
    uint32_t m_marks{0};
};

void
SavingSource::Restart()
{
    GraphTask rendezvous = Make(TaskKind::MEMORY, RENDEZVOUS, COMPUTE_STREAM);
    rendezvous.length = m_plan.rendezvous;
    m_restarted = Add(rendezvous);
    if (!m_plan.loads || m_share == 0)
    {
        return;
    }
    if (m_plan.storageHosts == 0)
    {
        GraphTask load = Make(TaskKind::MEMORY, LOAD, COMPUTE_STREAM);
        load.length = GetLength(m_share, m_plan.storageRate);
        m_restarted = Add(load);
        return;
    }
    Add(MakeMessage(TaskKind::SEND, REQUEST, COMPUTE_STREAM, m_host, CHECKPOINT_ANSWER_BYTES));
    m_restarted = Add(MakeMessage(TaskKind::RECEIVE, LOAD, COMPUTE_STREAM, m_host, m_share));
}

/** @return the task that holds the end of the iteration up; 0: none */
uint64_t
SavingSource::Save(const GraphTask& mark)
{
    m_next = mark.id - STRIDE + 1;
    uint16_t stream = COMPUTE_STREAM;
    uint64_t reachedId = 0;
    uint64_t snapshotId = 0;
    std::vector<uint64_t> after = mark.after;
    if (m_plan.reports)
    {
        GraphTask reached = Make(TaskKind::MEMORY, REACHED, COMPUTE_STREAM);
        reached.after.swap(after);
        reachedId = Add(reached);
        after.push_back(reachedId);
    }
    if (m_share == 0)
    {
        return reachedId;
    }
    if (m_saved > 0)
    {
        after.push_back(m_saved);
    }
    if (m_plan.isAsynchronous)
    {
        GraphTask snapshot = Make(TaskKind::MEMORY, SNAPSHOT, COMPUTE_STREAM);
        snapshot.length = GetLength(m_share, m_plan.snapshotRate);
        snapshot.after.swap(after);
        after.push_back(Add(snapshot));
        snapshotId = after.back();
        stream = DRAIN_STREAM;
    }
    if (m_plan.storageHosts == 0)
    {
        GraphTask save = Make(TaskKind::MEMORY, CHECKPOINT, stream);
        save.length = GetLength(m_share, m_plan.storageRate);
        save.after.swap(after);
        m_saved = Add(save);
    }
    else
    {
        GraphTask save = MakeMessage(TaskKind::SEND, CHECKPOINT, stream, m_host, m_share);
        save.after.swap(after);
        Add(save);
        m_saved =
            Add(MakeMessage(TaskKind::RECEIVE, ANSWER, stream, m_host, CHECKPOINT_ANSWER_BYTES));
    }
    return m_plan.isAsynchronous ? snapshotId : m_saved;
}

bool
SavingSource::Write()
{
    GraphTask task;
    if (!m_source->Next(task))
    {
        return false;
    }
    SpreadIds(task, STRIDE);
    if (m_restarted > 0)
    {
        task.after.push_back(m_restarted);
    }
    if (task.kind == TaskKind::MARK)
    {
        m_restarted = 0;
        if (++m_marks % m_plan.every == 0)
        {
            if (const uint64_t hold = Save(task))
            {
                task.after.push_back(hold);
            }
        }
    }
    m_ready.push_back(std::move(task));
    return true;
}

/** Tasks of a storage host. */
class StoringSource : public CheckpointSource
{
  public:
    /**
     * @param plan of the checkpoints
     * @param clients ranks that save here
     * @param iterations of the job
     * @param firstName index of the first name
     */
    StoringSource(const CheckpointPlan& plan,
                  std::vector<uint32_t> clients,
                  uint32_t iterations,
                  uint32_t firstName)
        : CheckpointSource(firstName),
          m_plan(plan),
          m_clients(std::move(clients)),
          m_iterations(iterations),
          m_written(m_clients.size())
    {
    }

  private:
    bool Write() override;
    void Restart();
    void Store();

    const CheckpointPlan& m_plan;
    std::vector<uint32_t> m_clients;
    uint32_t m_iterations;
    std::vector<uint64_t> m_written; // by client: end of its last checkpoint; 0: none
    uint32_t m_iteration{0};
};

void
StoringSource::Restart()
{
    for (uint32_t client : m_clients)
    {
        const uint64_t request = Add(
            MakeMessage(TaskKind::RECEIVE, REQUEST, NO_STREAM, client, CHECKPOINT_ANSWER_BYTES));
        GraphTask read = Make(TaskKind::MEMORY, LOAD, DRAIN_STREAM);
        read.length = GetLength(m_plan.shares[client], m_plan.storageRate);
        read.after.push_back(request);
        GraphTask send =
            MakeMessage(TaskKind::SEND, LOAD, NO_STREAM, client, m_plan.shares[client]);
        send.after.push_back(Add(read));
        Add(send);
    }
}

void
StoringSource::Store()
{
    for (std::size_t i = 0; i < m_clients.size(); i++)
    {
        const uint32_t client = m_clients[i];
        GraphTask receive =
            MakeMessage(TaskKind::RECEIVE, CHECKPOINT, NO_STREAM, client, m_plan.shares[client]);
        receive.after.push_back(m_written[i]); // so that few receives are posted at a time
        GraphTask write = Make(TaskKind::MEMORY, CHECKPOINT, DRAIN_STREAM);
        write.length = GetLength(m_plan.shares[client], m_plan.storageRate);
        write.after.push_back(Add(receive));
        m_written[i] = Add(write);
        GraphTask answer =
            MakeMessage(TaskKind::SEND, ANSWER, NO_STREAM, client, CHECKPOINT_ANSWER_BYTES);
        answer.after.push_back(m_written[i]);
        Add(answer);
    }
}

bool
StoringSource::Write()
{
    if (m_iteration == m_iterations)
    {
        return false;
    }
    if (m_iteration == 0 && m_plan.isRestart && m_plan.loads)
    {
        Restart();
    }
    m_iteration++;
    if (m_iteration % m_plan.every == 0)
    {
        Store();
    }
    Add(Make(TaskKind::MARK, END_OF_ITERATION, COMPUTE_STREAM));
    return true;
}

} // namespace

CheckpointGraph::CheckpointGraph(std::shared_ptr<const TaskGraph> job, CheckpointPlan plan)
    : m_job(std::move(job)),
      m_plan(std::move(plan)),
      m_groups(m_job->GetGroups()),
      m_names(m_job->GetNames())
{
    NS_ABORT_MSG_IF(m_plan.shares.size() != m_job->GetRanks(), "a share for each rank");
    NS_ABORT_MSG_IF(m_plan.every == 0, "checkpoints every 0 iterations");
    for (TaskGroups& groups : m_groups)
    {
        if (groups.groups.empty() && m_plan.storageHosts > 0)
        {
            groups.groups.emplace_back(m_job->GetRanks());
            std::iota(groups.groups[0].begin(), groups.groups[0].end(), 0);
        }
    }
    m_names.insert(m_names.end(), NAMES.begin(), NAMES.end());
}

bool
CheckpointGraph::IsAnswer(const GraphTask& task) const
{
    return task.kind == TaskKind::RECEIVE && task.name == m_job->GetNames().size() + ANSWER;
}

CheckpointStep
CheckpointGraph::GetStep(const GraphTask& task) const
{
    const auto first = static_cast<uint32_t>(m_job->GetNames().size());
    const bool hasHosts = m_plan.storageHosts > 0;
    if (task.name < first)
    {
        return CheckpointStep::NONE;
    }
    switch (task.name - first)
    {
    case REACHED:
        return CheckpointStep::REACHED;
    case CHECKPOINT:
        return hasHosts ? CheckpointStep::NONE : CheckpointStep::STORED;
    case ANSWER:
        return CheckpointStep::STORED;
    case RENDEZVOUS:
        return m_plan.loads ? CheckpointStep::NONE : CheckpointStep::RESTARTED;
    case LOAD:
        return CheckpointStep::RESTARTED;
    default:
        return CheckpointStep::NONE;
    }
}

std::size_t
CheckpointGraph::GetWindow() const
{
    return m_job->GetWindow() + STRIDE;
}

std::unique_ptr<TaskSource>
CheckpointGraph::MakeSource(uint32_t rank, uint32_t iterations) const
{
    const auto firstName = static_cast<uint32_t>(m_job->GetNames().size());
    const uint32_t ranks = m_job->GetRanks();
    if (rank < ranks)
    {
        const uint32_t host = m_plan.storageHosts > 0 ? ranks + rank % m_plan.storageHosts : 0;
        return std::make_unique<SavingSource>(m_job->MakeSource(rank, iterations),
                                              m_plan,
                                              m_plan.shares[rank],
                                              host,
                                              firstName);
    }
    std::vector<uint32_t> clients;
    for (uint32_t client = rank - ranks; client < ranks; client += m_plan.storageHosts)
    {
        if (m_plan.shares[client] > 0)
        {
            clients.push_back(client);
        }
    }
    return std::make_unique<StoringSource>(m_plan, std::move(clients), iterations, firstName);
}

} // namespace ns3::training
