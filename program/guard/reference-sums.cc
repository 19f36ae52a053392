/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reference-sums.h"

#include "schedule/schedule-interpreter.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/** Leaves one of several equal sums. */
void
JoinEqual(ReferenceSums::Vectors& sums)
{
    const auto same = [&](const std::vector<float>& sum) { return sum == sums[0]; };
    if (std::all_of(sums.begin(), sums.end(), same))
    {
        sums.resize(1);
    }
}

} // namespace

ReferenceSums::ReferenceSums(const Cluster& cluster)
    : m_cluster(cluster)
{
}

ReferenceSums::Vectors
ReferenceSums::Get(uint32_t iteration,
                   uint32_t bucket,
                   const Vectors& inputs,
                   const std::vector<float>& result)
{
    const CodecHelper& codecs = m_cluster.GetCodecs();
    if (codecs.CodesBuckets() && !inputs[0].empty())
    {
        return Exchange(iteration, bucket, inputs);
    }
    return codecs.IsInstalled() ? AddAtHosts(inputs, codecs.GetCoding(iteration, bucket))
                                : Add(inputs, result);
}

ReferenceSums::Vectors
ReferenceSums::GetAfterFallback(const Vectors& inputs) const
{
    return HasFallenBack() && !m_cluster.GetCodecs().IsInstalled() ? AddAtHosts(inputs, {})
                                                                   : Vectors();
}

void
ReferenceSums::AddErrors(const Vectors& inputs,
                         const Vectors& sums,
                         std::optional<CodingErrors>& errors) const
{
    const NicHelper& engines = m_cluster.GetNicEngines();
    const CodecHelper& codecs = m_cluster.GetCodecs();
    if (engines.Codes(CollectiveOperation::ALL_REDUCE) || codecs.IsInstalled())
    {
        errors = errors.value_or(CodingErrors());
        errors->Add(inputs,
                    sums,
                    engines.IsInstalled() ? &engines.GetCodec() : codecs.GetBoundedCodec());
    }
}

bool
ReferenceSums::HasFallenBack() const
{
    const auto& workers = m_cluster.GetInNetworkCommunicators();
    return std::any_of(workers.begin(), workers.end(), [](const auto& worker) {
        return worker->HasFallenBack();
    });
}

ReferenceSums::Vectors
ReferenceSums::Add(const Vectors& inputs, const std::vector<float>& result) const
{
    const auto& workers = m_cluster.GetInNetworkCommunicators();
    const bool isInNetwork =
        !workers.empty() && workers.front()->IsChosen(inputs[0].size() * sizeof(float));
    return !isInNetwork
               ? AddAtHosts(inputs,
                            m_cluster.GetCommunicators().GetCoding(CollectiveOperation::ALL_REDUCE))
               : Vectors{workers.front()->GetExpectedSum(inputs, result)};
}

ReferenceSums::Vectors
ReferenceSums::AddAtHosts(const Vectors& inputs, const MessageCoding& coding) const
{
    const uint64_t bytes = inputs[0].size() * sizeof(float);
    const auto schedule =
        m_cluster.GetCommunicators().GetReferenceSchedule(CollectiveOperation::ALL_REDUCE, bytes);
    auto sums = InterpretSchedule(*schedule, inputs, nullptr, coding);
    JoinEqual(sums);
    return sums;
}

ReferenceSums::Vectors
ReferenceSums::Exchange(uint32_t iteration, uint32_t bucket, const Vectors& inputs)
{
    const auto settings = m_cluster.GetCodecs().GetSettings();
    const auto ranks = static_cast<uint32_t>(inputs.size());
    auto& codecs = m_codecs[bucket];
    if (iteration == 0)
    {
        codecs.clear();
    }
    Vectors gradients = inputs;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        if (iteration == 0)
        {
            codecs.push_back(MakeBucketCodec(settings.codec, {ranks, rank, inputs[0].size()}));
            m_feedback.Forget(rank, bucket);
        }
        if (settings.keepsErrors)
        {
            m_feedback.Add(rank, bucket, gradients[rank]);
        }
    }
    CodecKey key;
    key.seed = settings.seed;
    key.iteration = iteration;
    key.tensor = bucket;
    ExchangeBuckets(codecs, gradients, key, [this](const Vectors& parts, bool isWhole) {
        if (parts[0].empty())
        {
            return Vectors{{}};
        }
        // Sums of whole numbers are exact, whoever adds.
        auto sums = HasFallenBack() ? AddAtHosts(parts, {}) : Add(parts, {});
        for (auto& sum : sums)
        {
            for (std::size_t i = 0; i < sum.size() && isWhole; i++)
            {
                sum[i] = std::nearbyint(sum[i]);
            }
        }
        return sums;
    });
    Vectors sums;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        sums.push_back(codecs[rank]->GetSum());
        if (settings.keepsErrors)
        {
            m_feedback.Keep(rank, bucket, gradients[rank], codecs[rank]->GetOwn());
        }
    }
    JoinEqual(sums);
    return sums;
}

} // namespace ns3::training
