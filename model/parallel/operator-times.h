/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OPERATOR_TIMES_H
#define DISTRIBUTED_TRAINING_OPERATOR_TIMES_H

#include "parallel/kernel-table.h"
#include "parallel/layer-operators.h"
#include "rank-tasks.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 * Matrix products of a GPU in a number format.
 */
struct ProductFormat
{
    double peak{0};    ///< dense products, floating-point operations/s
    double reached{1}; ///< part of it that the best shapes of products reach
    double bytes{2};   ///< of a number
};

/**
 * @ingroup distributed-training-parallel
 * What times of operators follow from.
 */
struct OperatorRates
{
    ProductFormat wide;            ///< bf16
    ProductFormat narrow;          ///< that of --precision
    std::string precision{"bf16"}; ///< its name
    double memory{0};              ///< bandwidth of memory, byte/s
    uint32_t multiprocessors{0};   ///< that compute tiles of a product; 0: no waves
    double attention{1};           ///< part of the bf16 peak that FlashAttention reaches
    double attentionBackward{1};   ///< likewise backward
    double part{1};                ///< of these rates that a training reaches
    double scale{1};               ///< factor of all times
};

/**
 * @ingroup distributed-training-parallel
 * How long an operator takes.
 */
struct OperatorTime
{
    double seconds;     ///< its time
    bool isMemoryBound; ///< whether memory takes longer than its operations
    bool isMeasured;    ///< whether a table has it
};

/**
 * @ingroup distributed-training-parallel
 *
 * Time of an operator: measured, or a roofline, that is its operations or the bytes that it moves,
 * whichever takes longer, and its launch. A matrix product is cut into tiles, each of which a
 * multiprocessor computes; the last wave of tiles and the tiles at the edges count as full ones
 * (NVIDIA, Matrix Multiplication Background User's Guide, sections 2.3 and 3).
 */
class OperatorTimes
{
  public:
    /**
     * @param rates of a GPU
     * @param table of measured times, or null
     */
    explicit OperatorTimes(const OperatorRates& rates,
                           std::shared_ptr<const KernelTable> table = nullptr);

    /** @param each an operator @return its time */
    OperatorTime Get(const LayerOperator& each) const;

    /** @param each an operator @return the name of its number format */
    std::string GetFormat(const LayerOperator& each) const;

    /** @param each an operator @return bytes that it moves */
    double GetBytes(const LayerOperator& each) const;

    /** @return the table, or null */
    const std::shared_ptr<const KernelTable>& GetTable() const
    {
        return m_table;
    }

  private:
    double GetProductSeconds(const LayerOperator& each, double& bytes) const;
    double GetAttentionSeconds(const LayerOperator& each) const;

    OperatorRates m_rates;
    std::shared_ptr<const KernelTable> m_table;
};

/**
 * @ingroup distributed-training-parallel
 * Times of the parts of a transformer's layers at a rank, each of which is derived once.
 */
class LayerTimes
{
  public:
    /**
     * @param plan who has which part of the model
     * @param rates of computations
     */
    LayerTimes(std::shared_ptr<const ParallelPlan> plan, const TransformerRates& rates);

    /**
     * See MakeOperators().
     * @return the time of all operators, whole picoseconds
     */
    Time Get(LayerPart part,
             LayerPass pass,
             uint32_t layer,
             double load = 1,
             uint64_t pieces = 1) const;

  private:
    using Key = std::tuple<LayerPart, LayerPass, uint32_t, double, uint64_t>;

    std::shared_ptr<const ParallelPlan> m_plan;
    TransformerRates m_rates;
    std::vector<uint32_t> m_first; // by layer, the first one with the same sizes
    mutable std::map<Key, Time> m_known;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OPERATOR_TIMES_H
