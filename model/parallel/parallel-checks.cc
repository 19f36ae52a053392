/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/parallel-checks.h"

#include "parallel/recomputation.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <numeric>
#include <utility>

namespace ns3::training
{

namespace
{

/**
 * @param what name of the number
 * @param number must divide `whole`
 * @param of name of `whole`
 */
void
CheckDivides(const std::string& what, uint64_t number, const std::string& of, uint64_t whole)
{
    if (number == 0 || whole % number != 0)
    {
        throw ConfigurationError(what,
                                 std::to_string(number),
                                 " (allowed: divisors of " + std::to_string(whole) + ", the " + of +
                                     ")");
    }
}

/** @throw ConfigurationError if a number is out of range */
void
CheckRange(const std::string& field, uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least || value > most)
    {
        throw ConfigurationError(field,
                                 std::to_string(value),
                                 " (allowed: " +
                                     (most < least
                                          ? "not given"
                                          : std::to_string(least) + " to " + std::to_string(most)) +
                                     ")");
    }
}

/** @throw ConfigurationError if a word is none of those allowed */
void
CheckWord(const std::string& field, const std::string& word, const std::vector<std::string>& all)
{
    if (std::find(all.begin(), all.end(), word) == all.end())
    {
        throw ConfigurationError(field, word, " (allowed: " + boost::join(all, ", ") + ")");
    }
}

} // namespace

ParallelChecks::ParallelChecks(const TransformerModel& model, const ParallelOptions& options)
    : m_model(model),
      m_options(options)
{
}

void
ParallelChecks::CheckAll() const
{
    Check();
    CheckSamples();
    CheckZero();
    CheckExperts();
}

void
ParallelChecks::Check() const
{
    constexpr uint64_t MAX_RANKS = 1U << 17;
    constexpr uint64_t MAX_MICRO_BATCHES = 1U << 16;
    uint64_t ranks = 1;
    for (const auto& [name, size] : {std::make_pair("tensor", m_options.tensor),
                                     std::make_pair("context", m_options.context),
                                     std::make_pair("pipeline", m_options.pipeline),
                                     std::make_pair("data", m_options.data)})
    {
        CheckRange(name, size, 1, MAX_RANKS);
        ranks = std::min(MAX_RANKS + 1, ranks * size);
    }
    CheckRange("expert", m_options.expert, 1, MAX_RANKS);
    CheckRange("expert tensor", m_options.expertTensor, 0, MAX_RANKS);
    CheckRange("mtp layers", m_options.mtpLayers, 0, 16);
    CheckRange("micro batch", m_options.microBatch, 1, MAX_RANKS);
    CheckRange("tp comm overlap", m_options.tpCommOverlap, 1, 64);
    if (ranks > MAX_RANKS)
    {
        throw ConfigurationError("data",
                                 std::to_string(m_options.data),
                                 " (allowed: at most " + std::to_string(MAX_RANKS) +
                                     " ranks altogether)");
    }
    if (m_options.pipeline > m_model.layers)
    {
        throw ConfigurationError("pipeline",
                                 std::to_string(m_options.pipeline),
                                 " (allowed: at most " + std::to_string(m_model.layers) +
                                     ", the layers of the model)");
    }
    CheckDivides("context", m_options.context, "tokens of a sequence", m_model.sequence);
    CheckWord("cp comm type", m_options.cpCommType, {"p2p", "a2a", "all_gather"});
    CheckWord("attention", m_options.attention, {"flash", "unfused"});
    Recomputation(m_options.recompute).Check(m_model, m_options);
    for (uint32_t layer = 0; layer < m_model.layers; layer++)
    {
        CheckLayer(layer);
    }
    if (m_options.sequenceParallel)
    {
        CheckDivides("tensor",
                     m_options.tensor,
                     "tokens of a rank, with sequence parallelism",
                     m_model.sequence / m_options.context);
    }
    if (m_options.tpCommOverlap > 1 && !m_options.sequenceParallel)
    {
        throw ConfigurationError("tp comm overlap",
                                 std::to_string(m_options.tpCommOverlap),
                                 " without sequence parallelism (allowed: 1)");
    }
    const uint64_t replicas = m_options.microBatch * m_options.data;
    const bool isHybrid = m_options.hybridContext > 0; // replicas have unlike numbers of samples
    if (!isHybrid && (m_options.globalBatch == 0 || m_options.globalBatch % replicas != 0 ||
                      m_options.globalBatch / replicas > MAX_MICRO_BATCHES))
    {
        if (m_options.globalBatch == m_options.sampleLengths.size())
        {
            throw ConfigurationError("sample lengths of " + std::to_string(m_options.globalBatch) +
                                     " samples (allowed: multiples of " + std::to_string(replicas) +
                                     ", the replicas, up to " + std::to_string(MAX_MICRO_BATCHES) +
                                     " times)");
        }
        throw ConfigurationError("global batch",
                                 std::to_string(m_options.globalBatch),
                                 " (allowed: multiples of " + std::to_string(replicas) +
                                     ", micro-batch times data, up to " +
                                     std::to_string(MAX_MICRO_BATCHES) + " times)");
    }
}

/** Samples with lengths of their own. */
void
ParallelChecks::CheckSamples() const
{
    const std::string name = m_options.hybridContext > 0 ? "hybrid context" : "sample lengths";
    if (m_options.sampleLengths.empty())
    {
        if (m_options.hybridContext > 0)
        {
            throw ConfigurationError("hybrid context",
                                     std::to_string(m_options.hybridContext),
                                     " (allowed: with sample lengths)");
        }
        return;
    }
    const auto refuse = [&name](const std::string& reason, const std::string& allowed) {
        throw ConfigurationError(name + " " + reason + " (allowed: " + allowed + ")");
    };
    for (const auto& [option, value] : {std::make_pair("pipeline", m_options.pipeline),
                                        std::make_pair("expert", m_options.expert),
                                        std::make_pair("micro batch", m_options.microBatch)})
    {
        if (value > 1)
        {
            refuse("with " + std::string(option) + " " + std::to_string(value), "1");
        }
    }
    if (m_options.zero > 1)
    {
        refuse("with zero " + std::to_string(m_options.zero), "0, 1");
    }
    if (m_options.order.rfind("tp-cp-dp", 0) != 0)
    {
        refuse("with order " + m_options.order, "tp-cp-dp-pp");
    }
    if (m_options.globalBatch != m_options.sampleLengths.size())
    {
        refuse("with global batch " + std::to_string(m_options.globalBatch),
               std::to_string(m_options.sampleLengths.size()) + ", the number of samples");
    }
    const auto [least, longest] =
        std::minmax_element(m_options.sampleLengths.begin(), m_options.sampleLengths.end());
    if (*least == 0 || *longest != m_model.sequence)
    {
        refuse("from " + std::to_string(*least) + " to " + std::to_string(*longest) + " tokens",
               "from 1 to " + std::to_string(m_model.sequence) + ", those of --sequence");
    }
    if (m_options.hybridContext == 0)
    {
        return;
    }
    const uint64_t places = m_options.data * m_options.context;
    if ((places & (places - 1)) != 0)
    {
        refuse("with data x context " + std::to_string(places), "powers of two");
    }
    if (m_options.cpCommType != "p2p")
    {
        refuse("with cp comm type " + m_options.cpCommType, "p2p");
    }
    if (m_options.hybridContext * places < *longest)
    {
        refuse(std::to_string(m_options.hybridContext),
               "at least " + std::to_string((*longest + places - 1) / places) +
                   ", as all ranks have to share a sample of " + std::to_string(*longest) +
                   " tokens");
    }
}

void
ParallelChecks::CheckLayer(uint32_t layer) const
{
    const TransformerLayer sizes = m_model.GetLayer(layer);
    const std::string where = m_model.listed.empty() ? "" : " of layer " + std::to_string(layer);
    CheckDivides("tensor", m_options.tensor, "heads of attention" + where, sizes.heads);
    CheckDivides("tensor", m_options.tensor, "inner size" + where, sizes.feedForward);
    if (m_options.tensor % sizes.keyValueHeads != 0)
    {
        CheckDivides("tensor",
                     m_options.tensor,
                     "heads of keys and values" + where,
                     sizes.keyValueHeads);
    }
    if (sizes.mixer > 0 && m_options.context > 1)
    {
        throw ConfigurationError("context",
                                 std::to_string(m_options.context),
                                 " (allowed: 1, as layer " + std::to_string(layer) +
                                     " has no attention)");
    }
    if (m_options.cpCommType == "a2a")
    {
        CheckDivides("context",
                     m_options.context,
                     "heads of keys and values of a rank" + where,
                     std::max<uint64_t>(1, sizes.keyValueHeads / m_options.tensor));
    }
}

void
ParallelChecks::CheckZero() const
{
    const uint64_t replicas = m_options.data * m_options.context;
    CheckRange("zero", m_options.zero, 0, 3);
    if (m_options.gradientBytes != 0 && m_options.gradientBytes != 2)
    {
        CheckRange("gradient bytes", m_options.gradientBytes, 4, 4);
    }
    const auto needs = [this](const char* field, const std::string& value, uint64_t zero) {
        if (m_options.zero < zero)
        {
            throw ConfigurationError(field,
                                     value,
                                     " with zero " + std::to_string(m_options.zero) +
                                         " (allowed: with zero " + std::to_string(zero) +
                                         (zero < 3 ? " to 3)" : ")"));
        }
    };
    if (m_options.shard > 0)
    {
        needs("shard", std::to_string(m_options.shard), 1);
        CheckDivides("shard", m_options.shard, "ranks of data and context parallelism", replicas);
    }
    if (m_options.hpzPartition > 0)
    {
        needs("zero hpz partition size", std::to_string(m_options.hpzPartition), 3);
        CheckDivides("zero hpz partition size",
                     m_options.hpzPartition,
                     "ranks of data and context parallelism",
                     replicas);
    }
    if (m_options.quantizedWeights)
    {
        needs("zero quantized weights", "true", 3);
    }
    CheckWord("param gather", m_options.paramGather, {"bf16", "fp8", "fp4"});
    if (m_options.paramGather != "bf16")
    {
        needs("param gather", m_options.paramGather, 1);
        if (m_options.quantizedWeights)
        {
            throw ConfigurationError("param gather",
                                     m_options.paramGather,
                                     " with zero quantized weights (allowed: one of both)");
        }
    }
    if (m_options.quantizedGradients)
    {
        needs("zero quantized gradients", "true", 3);
    }
    if (m_options.byLayer && m_options.zero > 0)
    {
        throw ConfigurationError("gradient priority",
                                 "layer",
                                 " with zero " + std::to_string(m_options.zero) +
                                     " (allowed: with zero 0, as each replica updates all of its "
                                     "parameters)");
    }
    if (m_options.shard > 0 && (m_options.hpzPartition > 0 || m_options.quantizedGradients))
    {
        throw ConfigurationError("shard",
                                 std::to_string(m_options.shard),
                                 " together with ZeRO++ (allowed: one of both)");
    }
}

void
ParallelChecks::CheckExpertRanks() const
{
    const uint64_t slices = m_options.expertTensor;
    if (m_model.experts == 0 && std::max(m_options.expert, slices) > 1)
    {
        throw ConfigurationError(m_options.expert > 1 ? "expert" : "expert tensor",
                                 std::to_string(std::max(m_options.expert, slices)),
                                 " (allowed: 1, as the model has no experts)");
    }
    const uint64_t parts = m_options.GetExpertTensor();
    if (parts != m_options.tensor && m_options.tensor > 1 && !m_options.sequenceParallel)
    {
        throw ConfigurationError("expert tensor",
                                 std::to_string(slices),
                                 " without sequence parallelism (allowed: " +
                                     std::to_string(m_options.tensor) + ", as tensor)");
    }
    const uint64_t ranks = m_options.tensor * m_options.data * m_options.context;
    if (m_model.experts > 0)
    {
        CheckDivides("expert", m_options.expert, "experts of a layer", m_model.experts);
        CheckDivides("expert tensor", parts, "inner size of an expert", m_model.expertFeedForward);
        CheckDivides("expert tensor", parts, "ranks of a stage", ranks);
        CheckDivides("expert", m_options.expert, "ranks that have the same part", ranks / parts);
    }
    const uint64_t together = m_options.expert * parts;
    const uint64_t multiple = together / std::gcd(together, m_options.tensor);
    if (m_options.shard % multiple != 0)
    {
        throw ConfigurationError("shard",
                                 std::to_string(m_options.shard),
                                 " (allowed: multiples of " + std::to_string(multiple) +
                                     ", replicas that have all experts)");
    }
}

void
ParallelChecks::CheckExperts() const
{
    CheckExpertRanks();
    if (m_options.expertNode > 0)
    {
        CheckDivides("expert node", m_options.expertNode, "ranks of experts", m_options.expert);
    }
    if (m_options.nodesPerToken > 0)
    {
        CheckRange("moe router group topk",
                   m_options.nodesPerToken,
                   1,
                   m_options.expertNode > 0 ? m_options.expert / m_options.expertNode : 0);
    }
    if (!(m_options.expertSkew >= 0 && m_options.expertSkew <= 10))
    {
        throw ConfigurationError("expert skew",
                                 std::to_string(m_options.expertSkew),
                                 " (allowed: 0 to 10)");
    }
    if (m_options.expertSkew > 0 && m_options.expertNode > 0)
    {
        throw ConfigurationError("expert skew",
                                 std::to_string(m_options.expertSkew),
                                 " together with expert node (allowed: one of both)");
    }
}

/** The rules of Megatron-LM (megatron/training/arguments.py). */
bool
ParallelChecks::ChooseOverlap(PipelineOverlap overlap) const
{
    const std::string& choice = m_options.overlapP2p;
    CheckWord("overlap p2p communication", choice, {"auto", "true", "false"});
    const std::string refused = " with schedule " + m_options.schedule;
    if (choice == "true" && overlap == PipelineOverlap::NEVER)
    {
        throw ConfigurationError("overlap p2p communication",
                                 choice,
                                 refused + " (allowed: auto, false)");
    }
    if (choice == "false" && overlap == PipelineOverlap::ALWAYS)
    {
        throw ConfigurationError("overlap p2p communication",
                                 choice,
                                 refused + " (allowed: auto, true)");
    }
    constexpr uint64_t LEAST_RANKS = 3; // with two, a batch has several messages of the same ranks
    if (choice == "false" && overlap == PipelineOverlap::CHOSEN && m_options.pipeline < LEAST_RANKS)
    {
        throw ConfigurationError("overlap p2p communication",
                                 choice,
                                 refused + " of " + std::to_string(m_options.pipeline) +
                                     " ranks (allowed: with pipeline " +
                                     std::to_string(LEAST_RANKS) + " or more)");
    }
    return overlap == PipelineOverlap::NEVER ||
           (overlap == PipelineOverlap::CHOSEN && choice == "false");
}

} // namespace ns3::training
