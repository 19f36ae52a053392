/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/layer-workload.h"

#include "ns3/graph-summary.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

/// Maximum number of ranks that share a model.
constexpr uint32_t MAX_GROUP = 1 << 16;
/// Maximum size of an all-to-all of embeddings, bytes.
constexpr uint64_t MAX_EXCHANGE_BYTES = uint64_t{1} << 40;

/** @return whether groups of ranks share a model */
bool
HasGroups(const LayerWorkload& workload)
{
    return std::any_of(workload.scopes.begin(), workload.scopes.end(), [](LayerScope scope) {
        return scope == LayerScope::INNER || scope == LayerScope::OUTER;
    });
}

/** @return number of ranks that share a model: the given number, or the ranks of a server */
uint32_t
GetGroupRanks(const WorkloadRequest& request)
{
    const bool isGiven = request.values.Has("group");
    const uint64_t size = isGiven                   ? request.values.GetCount("group")
                          : request.serverRanks > 1 ? request.serverRanks
                                                    : request.ranks;
    if (request.ranks % size != 0)
    {
        throw ConfigurationError("workload",
                                 request.values.GetSpelling(),
                                 " with " + std::to_string(request.ranks) + " ranks in groups of " +
                                     std::to_string(size) +
                                     " (allowed: groups that divide the ranks, by the key group)");
    }
    return static_cast<uint32_t>(size);
}

/** Refuses options that only data-parallel training supports. */
void
RefuseDataParallel(const WorkloadRequest& request)
{
    const WorkloadRequest usual;
    if (request.batch != usual.batch || request.buckets.bucket != usual.buckets.bucket ||
        request.buckets.overlap != usual.buckets.overlap || request.gpu != usual.gpu)
    {
        throw ConfigurationError(
            "workload",
            request.values.GetSpelling(),
            " with batch, bucket, overlap or gpu (allowed: with models that are "
            "trained data parallel)");
    }
}

/** Multiplies all times. */
void
Scale(LayerRows& rows, double scale)
{
    if (scale != 1)
    {
        for (LayerRow& row : rows.rows)
        {
            row.update = RoundToPicoseconds(row.update.GetSeconds() * scale);
            for (RowWork& work : row.works)
            {
                work.compute = RoundToPicoseconds(work.compute.GetSeconds() * scale);
            }
        }
    }
}

/** @return the job */
Workload
MakeJob(LayerWorkload workload, const WorkloadRequest& request, uint32_t groupRanks)
{
    const auto getCompute = [&] {
        const LayerRowsGraph graph(DivideLayers(workload, request.ranks, groupRanks));
        return SummarizeGraph(graph, 0, 1);
    };
    CheckComputeTime(request.values.GetName(),
                     getCompute().compute.GetSeconds(),
                     request.computeScale);
    Scale(workload.rows, request.computeScale);
    const GraphSummary summary = getCompute();
    uint64_t collectives = 0;
    for (const auto& [collective, count] : summary.collectives)
    {
        collectives += count;
    }
    Workload job;
    job.name = request.values.GetName();
    job.times = "ASTRA-sim 1.0's layer file";
    std::array<char, 80> text{};
    std::snprintf(text.data(),
                  text.size(),
                  " (%zu layers, %llu collectives, %.1f us of compute)",
                  workload.rows.rows.size(),
                  static_cast<unsigned long long>(collectives),
                  summary.compute.GetSeconds() * 1e6);
    job.description = job.name + text.data();
    job.graph =
        std::make_shared<const LayerRowsGraph>(DivideLayers(workload, request.ranks, groupRanks));
    return job;
}

} // namespace

LayerRows
DivideLayers(const LayerWorkload& workload, uint32_t ranks, uint32_t groupRanks)
{
    LayerRows rows = workload.rows;
    rows.ranks = ranks;
    rows.awaitsFirst = true;
    rows.groups.resize(1);
    const bool hasEmbedding = rows.order == LayerRows::Order::EMBEDDING;
    std::map<std::pair<LayerScope, bool>, int32_t> known{{{LayerScope::ALL, false}, 0}};
    for (uint32_t pass = 0; pass < ROW_PASSES; pass++)
    {
        const LayerScope scope = workload.scopes[pass];
        const bool isWeights = static_cast<RowPass>(pass) == RowPass::WEIGHT_GRADIENT;
        const bool isExchange = hasEmbedding && !isWeights;
        const uint32_t size = scope == LayerScope::ALL     ? ranks
                              : scope == LayerScope::INNER ? groupRanks
                                                           : ranks / groupRanks;
        const auto [place, isNew] =
            known.try_emplace({scope, isExchange}, static_cast<int32_t>(rows.groups.size()));
        if (isNew)
        {
            rows.groups.push_back(
                MakeStridedGroups(ranks, size, scope == LayerScope::OUTER ? groupRanks : 1));
            rows.groups.back().exchanges = isExchange;
        }
        for (LayerRow& row : rows.rows)
        {
            RowWork& work = row.works[pass];
            if (!work.communicates)
            {
                continue;
            }
            work.groups = place->second;
            work.bytes *= work.operation == CollectiveOperation::ALL_GATHER ? size : 1;
            rows.groups[place->second].parallelism = isWeights    ? Parallelism::DATA
                                                     : isExchange ? Parallelism::NONE
                                                                  : Parallelism::TENSOR;
        }
    }
    return rows;
}

WorkloadEntry
MakeLayerWorkload(const std::string& help, const std::function<LayerWorkload()>& make)
{
    const LayerWorkload usual = make();
    const bool hasGroups = HasGroups(usual);
    const bool hasEmbedding = usual.rows.order == LayerRows::Order::EMBEDDING;
    WorkloadEntry entry;
    entry.help = help;
    if (hasEmbedding)
    {
        entry.keys = {Key::Count("exchange",
                                 usual.rows.rows[0].works[0].bytes,
                                 1,
                                 MAX_EXCHANGE_BYTES,
                                 "size of each all-to-all of embeddings at a rank, bytes")};
    }
    if (hasGroups)
    {
        entry.keys = {Key::OptionalCount(
            "group",
            1,
            MAX_GROUP,
            "consecutive ranks that share a model; default: those of a server or package of the "
            "topology, or all if it has none")};
    }
    entry.job = [make, hasGroups, hasEmbedding](const WorkloadRequest& request) {
        RefuseDataParallel(request);
        LayerWorkload workload = make();
        if (hasEmbedding)
        {
            for (RowWork& work : workload.rows.rows[0].works)
            {
                work.bytes = work.communicates ? request.values.GetCount("exchange") : 0;
            }
        }
        return MakeJob(std::move(workload), request, hasGroups ? GetGroupRanks(request) : 1);
    };
    return entry;
}

LayerRow
MakeLayerRow(const std::string& name,
             const std::array<int64_t, ROW_PASSES>& nanoseconds,
             const std::array<CollectiveOperation, ROW_PASSES>& operations,
             uint64_t bytes,
             int64_t update)
{
    LayerRow row;
    row.name = name;
    row.update = NanoSeconds(update);
    for (uint32_t i = 0; i < ROW_PASSES; i++)
    {
        const bool communicates = operations[i] != CollectiveOperation::BARRIER && bytes > 0;
        row.works[i] = {NanoSeconds(nanoseconds[i]),
                        communicates,
                        operations[i],
                        communicates ? bytes : 0};
    }
    return row;
}

} // namespace ns3::training
