/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "coded-communicator.h"

#include "codec/integer-codec.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingCodedCommunicator");
NS_OBJECT_ENSURE_REGISTERED(CodedCommunicator);

namespace
{

/** @return bytes as numbers, filled up with zeros */
std::vector<float>
ToNumbers(const std::vector<uint8_t>& bytes, uint64_t count)
{
    std::vector<float> numbers(count);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(numbers.data()));
    return numbers;
}

/** @return how many of a sum's numbers share a float32: bits of their sums do not overlap */
uint32_t
GetLanes(const BucketPhase& phase, uint32_t exactBits)
{
    return phase.bits < 32 && !phase.isSigned ? std::max(exactBits / phase.resultBits, 1U) : 1;
}

/** @return numbers without a sign, so many in each float32 */
std::vector<float>
JoinNumbers(const std::vector<float>& numbers, const BucketPhase& phase, uint32_t lanes)
{
    std::vector<float> joined((numbers.size() + lanes - 1) / lanes);
    for (std::size_t i = 0; i < numbers.size(); i++)
    {
        const auto shift = static_cast<int>(i % lanes * phase.resultBits);
        joined[i / lanes] += std::ldexp(numbers[i], shift);
    }
    return joined;
}

/** @return the numbers that JoinNumbers() has joined, or their sums */
std::vector<float>
SplitNumbers(const std::vector<float>& joined, const BucketPhase& phase, uint32_t lanes)
{
    std::vector<float> numbers(phase.count);
    for (std::size_t i = 0; i < numbers.size(); i++)
    {
        const auto word = static_cast<uint32_t>(joined[i / lanes]);
        const uint32_t mask = (1U << phase.resultBits) - 1;
        numbers[i] = static_cast<float>(word >> (i % lanes * phase.resultBits) & mask);
    }
    return numbers;
}

} // namespace

TypeId
CodedCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::CodedCommunicator")
            .SetParent<Communicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<CodedCommunicator>()
            .AddTraceSource("Collective",
                            "A collective is complete at this rank",
                            MakeTraceSourceAccessor(&CodedCommunicator::m_collectiveTrace),
                            "ns3::training::ScheduledCommunicator::CollectiveTracedCallback");
    return tid;
}

void
CodedCommunicator::DoDispose()
{
    m_inner = nullptr;
    m_settings.unit = nullptr;
    m_codecs.clear();
    m_queue.clear();
    Communicator::DoDispose();
}

void
CodedCommunicator::Setup(Ptr<Communicator> inner, const Settings& settings)
{
    m_inner = inner;
    m_settings = settings;
}

uint64_t
CodedCommunicator::GetSumBytes(const BucketPhase& phase, const Settings& settings)
{
    if (phase.bits < 32 && settings.sendsIntegers)
    {
        return (phase.count * phase.resultBits + 7) / 8;
    }
    const uint32_t lanes = GetLanes(phase, settings.exactBits);
    return (phase.count + lanes - 1) / lanes * FLOAT_BYTES;
}

void
CodedCommunicator::SetErrorHandler(ErrorHandler handler)
{
    m_inner->SetErrorHandler(std::move(handler));
}

std::string
CodedCommunicator::GetWaitingFor() const
{
    const std::string exchange = m_inner->GetWaitingFor();
    return exchange.empty() && m_coding > 0
               ? "rank " + std::to_string(GetRank()) + " waits for its own coding of a bucket"
               : exchange;
}

uint32_t
CodedCommunicator::GetRank() const
{
    return m_inner->GetRank();
}

uint32_t
CodedCommunicator::GetSize() const
{
    return m_inner->GetSize();
}

void
CodedCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_inner->Send(tensor, peer, done);
}

void
CodedCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_inner->Receive(tensor, peer, done);
}

void
CodedCommunicator::Start(CollectiveOperation operation,
                         Ptr<Tensor> tensor,
                         uint32_t root,
                         Done done,
                         ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << GetName(operation) << tensor->bytes << root);
    auto added = std::make_shared<Operation>();
    const bool isCoded = operation == CollectiveOperation::ALL_REDUCE && tensor->bytes > 0;
    added->record.rank = GetRank();
    added->record.collective = m_issued++;
    added->record.operation = operation;
    added->record.algorithm = isCoded ? KeyValues::Split(m_settings.codec).GetName() : "uncoded";
    added->record.bytes = tensor->bytes;
    added->record.iteration = tensor->iteration;
    added->record.bucket = tensor->bucket;
    added->record.issued = Simulator::Now();
    added->tensor = tensor;
    added->root = root;
    added->done = done;
    added->matrix = std::move(matrix);
    m_queue.push_back(added);
    Time delay;
    if (isCoded)
    {
        Encode(*added);
        delay = m_settings.unit->Encode(tensor->bytes / FLOAT_BYTES);
    }
    m_coding++;
    // From an event, because completion must not precede the return of this call.
    Simulator::Schedule(delay, &CodedCommunicator::OnEncoded, this, added);
}

void
CodedCommunicator::Encode(Operation& operation)
{
    const Tensor& tensor = *operation.tensor;
    const BucketRequest request{GetSize(), GetRank(), tensor.bytes / FLOAT_BYTES};
    if (!tensor.IsReal())
    {
        operation.codec = MakeBucketCodec(m_settings.codec, request);
        operation.phases = operation.codec->GetPhases();
        return;
    }
    Ptr<BucketCodec>& codec = m_codecs[tensor.bucket];
    if (tensor.iteration == 0)
    {
        codec = MakeBucketCodec(m_settings.codec, request);
        m_feedback.Forget(GetRank(), tensor.bucket);
    }
    operation.codec = codec;
    operation.phases = codec->GetPhases();
    operation.hasSizes = m_settings.hasFixedSizes;
    operation.gradient = tensor.values;
    if (m_settings.keepsErrors)
    {
        m_feedback.Add(GetRank(), tensor.bucket, operation.gradient);
    }
    CodecKey key;
    key.seed = m_settings.seed;
    key.rank = GetRank();
    key.iteration = tensor.iteration;
    key.tensor = tensor.bucket;
    codec->Start(operation.gradient.data(), key);
    if (m_settings.hasFixedSizes)
    {
        operation.sizes.assign(GetSize(), codec->GetPart().code.size());
    }
}

void
CodedCommunicator::OnEncoded(OperationPtr operation)
{
    m_coding--;
    operation->isEncoded = true;
    StartNext();
}

void
CodedCommunicator::StartNext()
{
    if (!m_inner || m_isExchanging || m_queue.empty() || !m_queue.front()->isEncoded)
    {
        return;
    }
    m_isExchanging = true;
    m_queue.front()->record.started = Simulator::Now();
    StartPhase();
}

void
CodedCommunicator::StartPhase()
{
    Operation& operation = *m_queue.front();
    const auto done = MakeCallback(&CodedCommunicator::OnExchanged, this);
    if (!operation.codec)
    {
        m_inner->Start(operation.record.operation,
                       operation.tensor,
                       operation.root,
                       done,
                       operation.matrix);
        return;
    }
    const BucketPhase& phase = operation.phases[operation.phase];
    const BucketPart& part = operation.codec->GetPart();
    switch (phase.exchange)
    {
    case BucketExchange::SUM: {
        const uint32_t lanes = GetLanes(phase, m_settings.exactBits);
        auto sum = Create<Tensor>();
        sum->bytes = (phase.count + lanes - 1) / lanes * FLOAT_BYTES;
        sum->values = lanes > 1 ? JoinNumbers(part.numbers, phase, lanes) : part.numbers;
        sum->priority = operation.tensor->priority;
        if (phase.bits < 32 && m_settings.sendsIntegers)
        {
            sum->lineCode = Create<const IntegerCodec>(phase.resultBits, phase.isSigned);
        }
        m_settings.unit->Count(0, GetSumBytes(phase, m_settings));
        operation.part = sum;
        m_inner->AllReduce(sum, done);
        return;
    }
    case BucketExchange::MAX:
        Gather(part.numbers, phase.count);
        return;
    case BucketExchange::GATHER:
        if (!operation.tensor->IsReal())
        {
            Gather({}, (phase.count + FLOAT_BYTES - 1) / FLOAT_BYTES);
        }
        else if (!operation.hasSizes)
        {
            const auto size = static_cast<uint32_t>(part.code.size());
            std::vector<float> number(1);
            std::memcpy(number.data(), &size, sizeof(size));
            Gather(number, 1);
        }
        else
        {
            const uint64_t largest =
                *std::max_element(operation.sizes.begin(), operation.sizes.end());
            const uint64_t count = (largest + FLOAT_BYTES - 1) / FLOAT_BYTES;
            Gather(ToNumbers(part.code, count), count);
        }
        return;
    }
}

void
CodedCommunicator::Gather(const std::vector<float>& mine, uint64_t count)
{
    Operation& operation = *m_queue.front();
    auto all = Create<Tensor>();
    all->bytes = GetSize() * count * FLOAT_BYTES;
    all->priority = operation.tensor->priority;
    if (operation.tensor->IsReal())
    {
        all->values.resize(GetSize() * count);
        std::copy(mine.begin(),
                  mine.end(),
                  all->values.begin() + static_cast<int64_t>(GetRank() * count));
    }
    m_settings.unit->Count(0, count * FLOAT_BYTES);
    operation.part = all;
    m_inner->AllGather(all, MakeCallback(&CodedCommunicator::OnExchanged, this));
}

bool
CodedCommunicator::TakeSizes(Operation& operation)
{
    if (operation.hasSizes || operation.phases[operation.phase].exchange != BucketExchange::GATHER)
    {
        return false;
    }
    for (const float number : operation.part->values)
    {
        uint32_t size;
        std::memcpy(&size, &number, sizeof(size));
        operation.sizes.push_back(size);
    }
    operation.hasSizes = true;
    return true;
}

void
CodedCommunicator::OnExchanged()
{
    if (!m_inner)
    {
        return; // disposed of
    }
    const OperationPtr operation = m_queue.front();
    if (operation->codec)
    {
        if (operation->tensor->IsReal())
        {
            if (TakeSizes(*operation))
            {
                StartPhase();
                return;
            }
            EndPhase(*operation);
        }
        if (++operation->phase < operation->phases.size())
        {
            StartPhase();
            return;
        }
    }
    m_queue.pop_front();
    m_isExchanging = false;
    if (!operation->codec)
    {
        Finish(*operation);
        StartNext();
        return;
    }
    // The exchanges of the next bucket need not wait for the decoder.
    StartNext();
    const uint64_t numbers = operation->tensor->bytes / FLOAT_BYTES;
    const bool gathers = operation->phases.back().exchange == BucketExchange::GATHER;
    m_settings.unit->Count(operation->tensor->bytes, 0);
    m_coding++;
    Time delay;
    for (uint32_t code = 0; code < (gathers ? GetSize() : 1); code++)
    {
        delay = m_settings.unit->Decode(numbers);
    }
    Simulator::Schedule(delay, &CodedCommunicator::OnDecoded, this, operation);
}

void
CodedCommunicator::EndPhase(Operation& operation)
{
    const BucketPhase& phase = operation.phases[operation.phase];
    const std::vector<float>& values = operation.part->values;
    BucketResult result;
    switch (phase.exchange)
    {
    case BucketExchange::SUM:
        result.numbers = values;
        for (std::size_t i = 0; i < values.size() && phase.bits < 32; i++)
        {
            result.numbers[i] = std::nearbyint(values[i]); // a switch may add scaled numbers
        }
        if (const uint32_t lanes = GetLanes(phase, m_settings.exactBits); lanes > 1)
        {
            result.numbers = SplitNumbers(result.numbers, phase, lanes);
        }
        break;
    case BucketExchange::MAX:
        result.numbers.assign(phase.count, -std::numeric_limits<float>::infinity());
        for (std::size_t i = 0; i < values.size(); i++)
        {
            float& largest = result.numbers[i % phase.count];
            largest = std::max(largest, values[i]);
        }
        break;
    case BucketExchange::GATHER: {
        const uint64_t count = values.size() / GetSize();
        for (uint32_t rank = 0; rank < GetSize(); rank++)
        {
            const auto* const first =
                reinterpret_cast<const uint8_t*>(values.data() + rank * count);
            result.codes.emplace_back(first, first + operation.sizes[rank]);
        }
        break;
    }
    }
    operation.part = nullptr;
    operation.codec->Continue(result);
}

void
CodedCommunicator::OnDecoded(OperationPtr operation)
{
    m_coding--;
    Tensor& tensor = *operation->tensor;
    if (tensor.IsReal())
    {
        tensor.values = operation->codec->GetSum();
        if (m_settings.keepsErrors)
        {
            m_feedback.Keep(GetRank(),
                            tensor.bucket,
                            operation->gradient,
                            operation->codec->GetOwn());
        }
    }
    Finish(*operation);
}

void
CodedCommunicator::Finish(const Operation& operation)
{
    CollectiveRecord record = operation.record;
    record.finished = Simulator::Now();
    m_collectiveTrace(record);
    if (!operation.done.IsNull())
    {
        operation.done();
    }
}

} // namespace ns3::training
