/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_FILE_H
#define DISTRIBUTED_TRAINING_LAYER_FILE_H

#include "formats/word-reader.h"
#include "formats/workload-format.h"
#include "graph/layer-rows.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * What a policy says about a file.
 */
struct LayerPolicy
{
    LayerRows::Order order;     ///< of the work
    LayerScope activations;     ///< of forward passes and of gradients of inputs
    LayerScope weights;         ///< of gradients of weights
    bool awaitsEmbedding{true}; ///< see LayerRows
};

/**
 * @ingroup distributed-training-formats
 * @return the policies by their words
 */
const std::map<std::string, LayerPolicy>& GetLayerPolicies();

/**
 * @ingroup distributed-training-formats
 * Reads a layer file of ASTRA-sim 1.0, or of AICB for SimAI.
 */
class LayerFile
{
  public:
    /// Longest time in a file, ns; sums stay below 2^63.
    static constexpr int64_t MAX_NANOSECONDS = int64_t{1} << 45;
    /// Largest size in a file, bytes.
    static constexpr uint64_t MAX_BYTES = uint64_t{1} << 45;
    /// Maximum number of ranks that a header may name.
    static constexpr uint64_t MAX_RANKS = 1U << 20;

    /**
     * @param request the file
     * @param values keys of the format
     * @param text content of the file
     * @param isAicb whether AICB wrote it
     */
    LayerFile(const FormatRequest& request,
              const KeyValues& values,
              const std::string& text,
              bool isAicb);

    /**
     * @return the job
     * @throw ConfigurationError with file:line, if it is wrong
     */
    FormatResult Read();

  private:
    void ReadHeader();
    void ReadSetting(const std::string& word);
    void ReadRow();
    bool GathersParts() const;
    bool HasSuffixes() const;
    void ReadCollective(LayerRow& row, RowPass pass, LayerScope scope);
    int32_t AddGroups(LayerScope scope, const std::string& suffix, Parallelism parallelism);
    void CheckSizes();
    void CheckTimes();

    const FormatRequest& m_request;
    const KeyValues& m_values;
    WordReader m_words;
    LayerRows m_rows;
    LayerPolicy m_policy{LayerRows::Order::DATA, LayerScope::NONE, LayerScope::ALL};
    bool m_isCustomized{false};
    bool m_hasRanks{false}; // the header names the ranks
    bool m_isAicb{false};   // sizes of all-gathers count the result
    uint32_t m_count{0};    // rows
    uint32_t m_inner{1};    // ranks of an inner group
    uint32_t m_experts{1};  // AICB: ranks among which experts are divided
    uint32_t m_stages{1};   // AICB: stages of the pipeline
    std::map<std::tuple<LayerScope, std::string>, int32_t> m_groups;
    FormatProblems m_problems;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_FILE_H
