/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/operator-times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3::training
{

namespace
{

/// Part of the bandwidth of memory that kernels reach: 3.0 of 3.35 TB/s of a copy on H100.
constexpr double MEMORY_PART = 0.9;
/// Time from the end of a kernel to the next one's begin, s: kernels of 2.9 us take 3.8 us when
/// their launches overlap (A. Gray, Getting Started with CUDA Graphs, NVIDIA, 2019).
constexpr double LAUNCH = 0.9e-6;
/// Tiles of cuBLAS (Matrix Multiplication Background User's Guide, section 2.3).
constexpr uint64_t TILES[][2] =
    {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64}};
/// Numbers of a row that a tile reads for each of its own, in the largest tile. Operands flow as
/// fast as that one needs them, so that smaller tiles wait.
constexpr double LARGEST_TILE = 256.0 * 128 / (256 + 128);
/// Inner size that fills and drains a tile's pipeline: three stages of 64 (CUTLASS,
/// default_gemm_configuration.h, SM80).
constexpr double PIPELINE_DEPTH = 192;
/// Most parts of the inner size (split K).
constexpr uint64_t MOST_SPLITS = 16;
/// Bytes of a partial sum, written and read.
constexpr double PARTIAL_SUM = 8;
/// Queries of a tile of FlashAttention, and its keys.
constexpr double ATTENTION_TILE = 128;
/// Size of a head for which attention's rate holds.
constexpr double HEAD = 128;
/// An exponential takes as long as products with so many numbers of a head: H100 has 989 TFLOP/s
/// and 3.9 T exponentials/s, 4 operations a number (FlashAttention-3, section 3.1).
constexpr double EXPONENTIAL = 64;

/** @return quotient, rounded up */
double
Divide(double number, double divisor)
{
    return std::ceil(number / divisor);
}

} // namespace

OperatorTimes::OperatorTimes(const OperatorRates& rates, std::shared_ptr<const KernelTable> table)
    : m_rates(rates),
      m_table(std::move(table))
{
}

std::string
OperatorTimes::GetFormat(const LayerOperator& each) const
{
    return each.isNarrow ? m_rates.precision : "bf16";
}

double
OperatorTimes::GetBytes(const LayerOperator& each) const
{
    return each.bytes + each.operands * (each.isNarrow ? m_rates.narrow : m_rates.wide).bytes;
}

double
OperatorTimes::GetProductSeconds(const LayerOperator& each, double& bytes) const
{
    const ProductFormat& format = each.isNarrow ? m_rates.narrow : m_rates.wide;
    const double rate = format.peak * format.reached;
    const std::size_t first = each.sizes.size() - 3;
    const double products = first > 0 ? static_cast<double>(each.sizes.front()) : 1;
    const auto rows = static_cast<double>(each.sizes[first]);
    const auto columns = static_cast<double>(each.sizes[first + 1]);
    if (m_rates.multiprocessors == 0)
    {
        return each.executed * (1 + PIPELINE_DEPTH / each.depth) / rate;
    }
    const double units = m_rates.multiprocessors;
    double least = std::numeric_limits<double>::infinity();
    uint64_t splits = 1;
    for (const auto& [height, width] : TILES)
    {
        const auto size = static_cast<double>(height * width);
        const double feed = LARGEST_TILE * static_cast<double>(height + width) / size;
        const double tiles = products * Divide(rows, static_cast<double>(height)) *
                             Divide(columns, static_cast<double>(width));
        for (uint64_t parts = 1; parts <= MOST_SPLITS; parts *= 2)
        {
            const auto split = static_cast<double>(parts);
            const double seconds = Divide(tiles * split, units) * 2 * size * feed *
                                   (each.depth / split + PIPELINE_DEPTH) * units / rate;
            if (seconds < least)
            {
                least = seconds;
                splits = parts;
            }
            if (tiles * split >= units)
            {
                break; // the GPU is full
            }
        }
    }
    bytes += splits > 1 ? PARTIAL_SUM * static_cast<double>(splits) * products * rows * columns : 0;
    return least;
}

double
OperatorTimes::GetAttentionSeconds(const LayerOperator& each) const
{
    const bool isForward = each.kernel == "attention";
    const auto head = static_cast<double>(each.sizes[4]);
    const double tiles = static_cast<double>(each.sizes[0] * each.sizes[1]) *
                         Divide(static_cast<double>(each.sizes[2]), ATTENTION_TILE);
    const double units = m_rates.multiprocessors;
    const double waves = units > 0 ? Divide(tiles, units) * units / tiles : 1;
    // A tile of keys fills the pipeline, backward two. The mask halves the tile on the diagonal.
    const bool isCausal = each.depth < static_cast<double>(each.sizes[3]);
    const double keys = each.depth + ATTENTION_TILE * ((isForward ? 1 : 2) + (isCausal ? 0.5 : 0));
    const double exponentials = (head + EXPONENTIAL) / head / ((HEAD + EXPONENTIAL) / HEAD);
    const double part = isForward ? m_rates.attention : m_rates.attentionBackward;
    return each.executed * waves * keys / each.depth * exponentials / (m_rates.wide.peak * part);
}

OperatorTime
OperatorTimes::Get(const LayerOperator& each) const
{
    double bytes = GetBytes(each);
    if (each.executed == 0 && bytes == 0)
    {
        return {0, true, false}; // is part of another kernel
    }
    if (m_table)
    {
        const auto measured = m_table->Find(each.kernel, each.GetShape(), GetFormat(each));
        if (measured)
        {
            return {*measured * m_rates.scale, false, true};
        }
    }
    const double operations = each.executed == 0  ? 0
                              : each.operands > 0 ? GetProductSeconds(each, bytes)
                                                  : GetAttentionSeconds(each);
    const double memory = bytes / (m_rates.memory * MEMORY_PART);
    return {(std::max(operations, memory) + LAUNCH) / m_rates.part * m_rates.scale,
            memory > operations,
            false};
}

LayerTimes::LayerTimes(std::shared_ptr<const ParallelPlan> plan, const TransformerRates& rates)
    : m_plan(std::move(plan)),
      m_rates(rates)
{
    const auto getSizes = [this](uint32_t layer) {
        const TransformerLayer sizes = m_plan->GetModel().GetLayer(layer);
        return std::make_tuple(sizes.heads,
                               sizes.keyValueHeads,
                               sizes.feedForward,
                               sizes.hasExperts,
                               sizes.window,
                               sizes.mixer);
    };
    std::map<decltype(getSizes(0)), uint32_t> first;
    for (uint32_t layer = 0; layer < m_plan->GetModel().layers; layer++)
    {
        m_first.push_back(first.emplace(getSizes(layer), layer).first->second);
    }
}

Time
LayerTimes::Get(LayerPart part, LayerPass pass, uint32_t layer, double load, uint64_t pieces) const
{
    const uint32_t first = m_first[layer];
    const auto [known, isNew] = m_known.try_emplace({part, pass, first, load, pieces});
    if (!isNew)
    {
        return known->second;
    }
    double seconds = 0;
    double operations = 0;
    double bytes = 0;
    for (const LayerOperator& each : MakeOperators(*m_plan, part, pass, first, load, pieces))
    {
        seconds += m_rates.operators ? m_rates.operators->Get(each).seconds : 0;
        operations += each.operations;
        bytes += each.bytes + PARAMETER_BYTES * each.operands;
    }
    if (!m_rates.operators)
    {
        seconds = std::max(operations / m_rates.operations, bytes / m_rates.memory);
    }
    known->second = PicoSeconds(std::llround(seconds * 1e12));
    return known->second;
}

} // namespace ns3::training
