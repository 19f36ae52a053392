/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H

#include "job-validation-times.h"

#include <algorithm>
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

/** Kernels of DeepEP that forward tokens within a node. */
inline void
AddNormalExperts(Reproduction& paper, JobTimes& times)
{
    constexpr uint32_t GPUS = 8; // of a node
    constexpr double NVLINK = 160e9;
    constexpr double NIC = 50e9;
    double nvlink = NVLINK;
    double nic = NIC;
    paper.Begin("normal-experts");
    for (const PublishedCase& row : paper.GetCases())
    {
        const auto nodes = static_cast<uint32_t>(row.GetCount("ranks")) / GPUS;
        const bool isAlone = nodes == 1;
        if (isAlone) // the first row of a kernel
        {
            nvlink = NVLINK;
            nic = NIC;
        }
        const TokenCopies copies = CountTokenCopies(nodes, GPUS);
        const auto token = static_cast<uint64_t>(7168 * row.Get("bytes"));
        const uint64_t across = copies.nodes * token;
        const uint64_t inside = copies.ranks * token;
        const double counted = 1e-9 * static_cast<double>(isAlone ? inside : across);
        const auto getSeconds = [&](uint32_t ranks, double rate, uint64_t bytes) {
            return ranks == 1
                       ? 0
                       : times.GetSeconds(MakeCluster(ranks, "single-switch", 8 * rate, "direct"),
                                          CollectiveOperation::ALL_TO_ALL,
                                          bytes);
        };
        // Kernels forward a token when it arrives, so the slower exchange counts.
        const auto getRate = [&] {
            return counted /
                   std::max(getSeconds(nodes, nic, across), getSeconds(GPUS, nvlink, inside));
        };
        const bool isGiven = row.GetText("role") == "calibration";
        for (uint32_t round = 0; isGiven && round < ROUNDS; round++)
        {
            (isAlone ? nvlink : nic) *= row.Get("rate") / getRate();
        }
        const double left = static_cast<double>(across) * (nodes - 1) / nodes;
        const double near = static_cast<double>(inside) * (GPUS - 1) / GPUS;
        paper.Add("rate", counted / std::max(left / NIC, near / NVLINK), getRate(), row);
    }
}

/** DeepEP: exchanges of tokens. */
inline void
AddExperts(Reproduction& paper, JobTimes& times)
{
    constexpr double NUMBERS = 128 * 8 * 7168;
    constexpr double LEAVE = 7.0 / 8; // of the numbers of 8 ranks
    const auto cases = paper.GetCases();
    const double local = NUMBERS * (cases[1].Get("bytes") - cases[0].Get("bytes")) * LEAVE /
                         ((cases[1].Get("few") - cases[0].Get("few")) * 1e-6); // B/s
    const auto getLocal = [&](const PublishedCase& each) {
        return 1e6 * NUMBERS * each.Get("bytes") * LEAVE / local; // us
    };
    const double kernels = cases[0].Get("few") - getLocal(cases[0]);
    paper.Add("nvlink", NONE, local * 1e-9);
    paper.Add("kernels", NONE, kernels);
    for (const PublishedCase& each : cases)
    {
        const double bytes = NUMBERS * each.Get("bytes");
        const auto exchange = [&](uint64_t ranks) {
            const std::string rate = std::to_string(static_cast<uint64_t>(8 * local)) + "bps";
            return 1e6 *
                   times.Simulate(MakeCluster(ranks, MakeServers(ranks, 8, rate), 400e9, "direct"),
                                  CollectiveOperation::ALL_TO_ALL,
                                  static_cast<uint64_t>(bytes));
        };
        paper.Add("few", kernels + getLocal(each), kernels + exchange(8), each);
        paper.Add("many", kernels + 1e6 * bytes / 2 / 50e9, kernels + exchange(16), each);
    }
    AddNormalExperts(paper, times);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_EXPERTS_H
