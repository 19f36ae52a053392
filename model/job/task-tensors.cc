/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/task-tensors.h"

#include "graph-checker.h"
#include "job/quantized-tensor.h"

#include "ns3/abort.h"

namespace ns3::training
{

void
TaskTensors::Begin(std::shared_ptr<const TaskGraph> graph,
                   uint32_t rank,
                   bool isReal,
                   uint64_t seed)
{
    m_graph = std::move(graph);
    m_rank = rank;
    m_isReal = isReal;
    m_seed = seed;
    m_collectives.assign(m_graph->GetGroups().size(), 0);
    m_messages.clear();
    m_sums.clear();
}

uint64_t
TaskTensors::Count(const GraphTask& task)
{
    if (task.kind == TaskKind::COLLECTIVE)
    {
        return m_collectives[task.groups]++;
    }
    return m_isReal ? m_messages[{task.kind == TaskKind::SEND, {task.peer, task.tag}}]++ : 0;
}

/** @return numbers of the rank */
std::vector<float>
TaskTensors::MakeNumbers(const Item& item, std::size_t count) const
{
    const GradientPlace place =
        GetGraphPlace(*m_graph, m_seed, m_rank, item.task, item.iteration, item.number);
    return m_learner ? m_learner->Make(place, count) : m_source->Make(place, count);
}

/** @return the words of a collective in code */
std::vector<float>
TaskTensors::MakeCode(const Item& item, const QuantizedTensor& layout)
{
    if (item.task.code->input == 0)
    {
        return layout.Encode(MakeNumbers(item, layout.GetCount()));
    }
    const auto sums = m_sums.extract(item.task.code->input);
    NS_ABORT_MSG_IF(sums.empty(), "task " << item.task.id << " starts before its input ends");
    return layout.Encode(sums.mapped());
}

/** @return a tensor without numbers */
Ptr<Tensor>
TaskTensors::MakeEmpty(const Item& item)
{
    auto tensor = Create<Tensor>();
    tensor->bytes = item.task.bytes;
    tensor->priority = item.task.priority;
    tensor->bucket = static_cast<uint32_t>(item.task.tag);
    tensor->iteration = item.iteration;
    return tensor;
}

Ptr<Tensor>
TaskTensors::Make(const Item& item, const Ptr<Communicator>& group)
{
    const Ptr<Tensor> tensor = MakeEmpty(item);
    const std::size_t count = m_isReal ? item.task.bytes / sizeof(float) : 0;
    if (count > 0)
    {
        tensor->values = item.task.code
                             ? MakeCode(item, {item.task, group->GetSize(), group->GetRank()})
                             : MakeNumbers(item, count);
    }
    return tensor;
}

Ptr<Tensor>
TaskTensors::MakeMessage(const Item& item, bool isReal)
{
    const Ptr<Tensor> tensor = MakeEmpty(item);
    tensor->channel = static_cast<uint32_t>(item.task.tag);
    tensor->untilSent = item.task.untilSent;
    const std::size_t count = m_isReal && isReal ? item.task.bytes / sizeof(float) : 0;
    if (item.task.kind == TaskKind::RECEIVE)
    {
        tensor->values.resize(count);
    }
    else if (count > 0)
    {
        tensor->values = MakeNumbers(item, count);
    }
    return tensor;
}

void
TaskTensors::Decode(const GraphTask& task, const Ptr<Communicator>& group, Tensor& tensor)
{
    if (!task.code || !tensor.IsReal())
    {
        return;
    }
    tensor.values = QuantizedTensor(task, group->GetSize(), group->GetRank()).Decode(tensor.values);
    if (task.code->isPassedOn)
    {
        m_sums[task.id] = tensor.values;
    }
}

void
TaskTensors::Learn(const Item& item, const std::vector<float>& sum)
{
    if (m_learner)
    {
        m_learner->Apply(
            GetGraphPlace(*m_graph, m_seed, m_rank, item.task, item.iteration, item.number),
            sum);
    }
}

} // namespace ns3::training
