/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H

#include "job-validation-comparison.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Part experts of job-validation.
 */

namespace ns3::training
{

/** Copies of the tokens of a rank. */
struct TokenCopies
{
    uint64_t nodes{0}; ///< of all tokens, at different nodes
    uint64_t ranks{0}; ///< at different ranks
};

/**
 * Routes the tokens of DeepEP's benchmark: to the best 8 of 256 experts, all at the 4 nodes with
 * the best experts.
 * @return the copies of 4096 tokens
 */
inline TokenCopies
CountTokenCopies(uint32_t nodes, uint32_t gpus)
{
    constexpr uint32_t TOKENS = 4096;
    constexpr uint32_t EXPERTS = 256;
    constexpr uint32_t CHOSEN = 8;
    constexpr uint32_t MOST_NODES = 4;
    using Score = std::pair<uint64_t, uint32_t>; // and the expert
    std::mt19937_64 random;
    TokenCopies copies;
    for (uint32_t token = 0; token < TOKENS; token++)
    {
        std::vector<Score> scores;
        for (uint32_t expert = 0; expert < EXPERTS; expert++)
        {
            scores.emplace_back(random(), expert);
        }
        std::sort(scores.rbegin(), scores.rend());
        std::set<uint32_t> allowed;
        for (auto score = scores.begin(); allowed.size() < std::min(nodes, MOST_NODES); score++)
        {
            allowed.insert(score->second / (EXPERTS / nodes));
        }
        std::set<uint32_t> usedNodes;
        std::set<uint32_t> usedRanks;
        uint32_t chosen = 0;
        for (auto score = scores.begin(); chosen < CHOSEN; score++)
        {
            const uint32_t node = score->second / (EXPERTS / nodes);
            if (allowed.count(node) > 0)
            {
                chosen++;
                usedNodes.insert(node);
                usedRanks.insert(score->second / (EXPERTS / nodes / gpus));
            }
        }
        copies.nodes += usedNodes.size();
        copies.ranks += usedRanks.size();
    }
    return copies;
}

inline void
Comparison::CompareExperts()
{
    constexpr const char* SOURCE = "DeepEP, README";
    constexpr uint64_t SCALES = 32; // values of 8 bits that share a scale
    constexpr uint64_t NUMBERS = 128 * 8 * 7168;
    const std::array<const char*, 2> names{"dispatch", "combine"};
    const std::array<uint64_t, 2> bytes{NUMBERS + NUMBERS / SCALES, 2 * NUMBERS};
    const std::array<double, 2> few{77, 114};
    const std::array<double, 2> many{118, 195};
    m_table.PrintHeadings(
        "\nExchanges of tokens, H800, a NIC of 400 Gbit/s a GPU; low latency: 128 "
        "tokens, 8 of the experts each;\ntime of the kernels and rate of NVLink "
        "from both rows of 8 ranks; expected: bytes at line rate\n");
    constexpr double RANKS = 8;
    const double local = static_cast<double>(bytes[1] - bytes[0]) * (RANKS - 1) / RANKS /
                         ((few[1] - few[0]) * 1e-6); // B/s
    const double kernels =
        few[0] - 1e6 * static_cast<double>(bytes[0]) * (RANKS - 1) / RANKS / local; // us
    Add("rate of NVLink", "GB/s", Role::CALIBRATION, SOURCE, NONE, NONE, local * 1e-9);
    Add("time of kernels beside the exchange",
        "us",
        Role::CALIBRATION,
        SOURCE,
        NONE,
        NONE,
        kernels);
    const auto exchange = [&](uint64_t ranks, uint64_t size, double link) {
        ClusterOptions cluster =
            MakeCluster(ranks,
                        "rail-optimized:gpus=8,servers=" + std::to_string(ranks / 8) +
                            ",local-rate=" + std::to_string(static_cast<uint64_t>(link)) + "bps",
                        400e9,
                        "direct");
        return 1e6 * Simulate(cluster, CollectiveOperation::ALL_TO_ALL, size);
    };
    for (std::size_t i = 0; i < names.size(); i++)
    {
        Add(std::string("low latency, ") + names[i] + ", 8 ranks",
            "us",
            Role::CALIBRATION,
            SOURCE,
            few[i],
            kernels + 1e6 * static_cast<double>(bytes[i]) * (RANKS - 1) / RANKS / local,
            kernels + exchange(8, bytes[i], 8 * local));
        Add(std::string("low latency, ") + names[i] + ", 16 ranks",
            "us",
            Role::PREDICTED,
            SOURCE,
            many[i],
            kernels + 1e6 * static_cast<double>(bytes[i]) / 2 / 50e9,
            kernels + exchange(16, bytes[i], 8 * local));
    }
    CompareNormalExperts();
}

inline void
Comparison::CompareNormalExperts()
{
    constexpr const char* SOURCE = "DeepEP, README";
    constexpr uint32_t GPUS = 8; // of a node
    constexpr double NVLINK = 160e9;
    constexpr double NIC = 50e9;
    m_table.PrintHeadings(
        "\nNormal kernels of DeepEP: 4096 tokens, to each of their nodes once by a NIC, and there "
        "to "
        "each of their GPUs by NVLink;\nrates count what stays, too; rates of the lines from the "
        "rows of 8 and of 32 ranks; expected: 160 and 50 GB/s\n");

    struct Row
    {
        uint32_t nodes;
        std::array<double, 2> published; ///< dispatch and combine
    };

    const std::array<Row, 4> rows{{{1, {153, 158}}, {4, {58, 57}}, {2, {43, 43}}, {8, {51, 50}}}};
    const std::array<const char*, 2> names{"dispatch", "combine"};
    const std::array<uint64_t, 2> token{7168 + 7168 / 32, 2 * 7168}; // with scales, bytes
    for (std::size_t i = 0; i < names.size(); i++)
    {
        double nvlink = NVLINK;
        double nic = NIC;
        for (const Row& row : rows)
        {
            const TokenCopies copies = CountTokenCopies(row.nodes, GPUS);
            const uint64_t across = copies.nodes * token[i];
            const uint64_t inside = copies.ranks * token[i];
            const uint64_t counted = row.nodes == 1 ? inside : across;
            const auto getSeconds = [&](uint64_t ranks, double rate, uint64_t bytes) {
                return ranks == 1
                           ? 0
                           : GetSeconds(MakeCluster(ranks, "single-switch", 8 * rate, "direct"),
                                        CollectiveOperation::ALL_TO_ALL,
                                        bytes);
            };
            // Kernels forward a token when it arrives, so the slower exchange counts.
            const auto getRate = [&] {
                return static_cast<double>(counted) * 1e-9 /
                       std::max(getSeconds(row.nodes, nic, across),
                                getSeconds(GPUS, nvlink, inside));
            };
            const bool givesNvlink = row.nodes == 1;
            const bool givesNic = row.nodes == 4;
            for (uint32_t round = 0; (givesNvlink || givesNic) && round < ROUNDS; round++)
            {
                (givesNvlink ? nvlink : nic) *= row.published[i] / getRate();
            }
            const double left = static_cast<double>(across) * (row.nodes - 1) / row.nodes;
            const double near = static_cast<double>(inside) * (GPUS - 1) / GPUS;
            Add(std::string("normal, ") + names[i] + ", " + std::to_string(row.nodes * GPUS) +
                    " ranks: rate of " + (row.nodes == 1 ? "NVLink" : "a NIC"),
                "GB/s",
                givesNvlink || givesNic ? Role::CALIBRATION : Role::PREDICTED,
                SOURCE,
                row.published[i],
                1e-9 * static_cast<double>(counted) / std::max(left / NIC, near / NVLINK),
                getRate());
        }
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H
