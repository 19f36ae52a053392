/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * An algorithm for each dimension of the network, as in the system layer of ASTRA-sim 2 (Won et
 * al., "ASTRA-sim2.0", ISPASS 2023; Sys::generate_collective). A reduce-scatter goes through the
 * dimensions from the innermost to the outermost, an all-gather from the outermost to the
 * innermost. An all-reduce is a reduce-scatter in all dimensions but the last, an all-reduce in the
 * last, and an all-gather back (optimization=local), or an all-reduce of the whole vector in each
 * dimension (optimization=baseline).
 *
 * The vector is divided into `splits`, which follow each other through the dimensions; in a phase a
 * rank works at `active` of them at a time.
 *
 * A single algorithm takes all ranks for one dimension (ASTRA-sim's oneRing and the like). Groups
 * that are not the whole of the dimensions run a ring, as there.
 */

#include "collective/algorithm-dimensions.h"
#include "core/memory.h"
#include "schedule/chunk-numbers.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;
using Numbers = std::vector<uint32_t>;

/// Memory for an action, with a run of chunks and the actions that it waits for.
constexpr double BYTES_PER_ACTION = 150;

/// Memory for a chunk in a phase.
constexpr double BYTES_PER_CHUNK = 8;

/// Name of this algorithm, which may not contain itself.
constexpr const char* NAME = "per-dimension";

/** @return whether a text lists algorithms with valid keys */
bool
AreAlgorithms(const std::string& text)
{
    const auto names = SplitAlgorithms(text);
    return std::all_of(names.begin(), names.end(), [](const std::string& name) {
        try
        {
            return Choose<CollectiveAlgorithm>(name).values.GetName() != NAME;
        }
        catch (const ConfigurationError&)
        {
            return false;
        }
    });
}

/** @return whether a text is a list of sizes */
bool
AreSizes(const std::string& text)
{
    return ParseDimensions(text).has_value();
}

/** Builds a schedule from those of its phases. */
class PhaseBuilder
{
  public:
    PhaseBuilder(const CollectiveRequest& request, CollectiveSchedule& schedule)
        : m_dimensions(request),
          m_phases(m_dimensions.GetPhases()),
          m_splits(static_cast<uint32_t>(request.keys.GetCount("splits"))),
          m_active(static_cast<uint32_t>(request.keys.GetCount("active"))),
          m_schedule(schedule)
    {
        m_isWhole = request.operation == Operation::ALL_REDUCE &&
                    request.keys.GetText("optimization") == "baseline";
        m_exchanges = IsAllToAll(request.operation);
        for (const DimensionPhase& phase : m_phases)
        {
            const auto part = BuildSchedule(m_dimensions.GetAlgorithms()[phase.dimension],
                                            m_dimensions.GetPart(phase));
            const uint32_t n = m_dimensions.GetSizes()[phase.dimension];
            const uint32_t pieces = m_exchanges ? part.GetPartsOfPair()
                                    : m_isWhole ? part.chunks
                                    : phase.operation == Operation::ALL_REDUCE
                                        ? part.chunks / std::gcd(part.chunks, n)
                                        : part.chunks / n;
            m_pieces = std::lcm(m_pieces, pieces);
            m_parts.push_back(part);
        }
        const uint32_t n = request.ranks;
        const std::string what =
            request.keys.GetSpelling() + " with " + std::to_string(n) + " ranks";
        double bytes = 0;
        const double chunks = 1.0 * (m_exchanges ? n : 1) * n * m_pieces * m_splits;
        for (const CollectiveSchedule& part : m_parts)
        {
            bytes += BYTES_PER_ACTION * m_splits * part.GetStoredActions(0) * n;
            bytes += BYTES_PER_CHUNK * chunks;
        }
        CheckMemory(bytes, what);
        if (chunks > std::numeric_limits<int32_t>::max())
        {
            throw ConfigurationError(what + ": " + FormatDouble(chunks) +
                                     " parts of the vector (allowed: below 2^31)");
        }
        m_schedule.chunks = (m_exchanges ? n * n : m_isWhole ? 1 : n) * m_pieces * m_splits;
    }

    void Build()
    {
        // By split, phase and rank: the actions that nothing else of the phase waits for.
        std::vector<std::vector<std::vector<Numbers>>> ends(m_splits);
        for (uint32_t split = 0; split < m_splits; split++)
        {
            uint32_t step = 0;
            for (std::size_t i = 0; i < m_phases.size(); i++)
            {
                const std::vector<Numbers>* before =
                    split < m_active ? nullptr : &ends[split - m_active][i];
                ends[split].push_back(AddPhase(i, split, step, before));
                step += m_parts[i].GetSteps();
            }
        }
    }

  private:
    /** Adds a phase of a split. @return by rank, its last actions */
    std::vector<Numbers> AddPhase(std::size_t index,
                                  uint32_t split,
                                  uint32_t step,
                                  const std::vector<Numbers>* before)
    {
        const DimensionPhase& phase = m_phases[index];
        const uint32_t stride = m_dimensions.GetStride(phase.dimension);
        const uint32_t n = m_dimensions.GetSizes()[phase.dimension];
        std::vector<Numbers> ends(m_schedule.GetSize());
        for (uint32_t place = 0; place < m_schedule.GetSize(); place++)
        {
            if (place / stride % n != 0)
            {
                continue;
            }
            Numbers line;
            for (uint32_t i = 0; i < n; i++)
            {
                line.push_back(m_dimensions.GetRank(place + i * stride));
            }
            const auto chunks = GetChunks(index, split, place);
            for (uint32_t i = 0; i < n; i++)
            {
                ends[line[i]] = AddRank(index,
                                        split,
                                        step,
                                        i,
                                        line,
                                        chunks,
                                        before ? &(*before)[line[i]] : nullptr);
            }
        }
        return ends;
    }

    /** Adds the actions of a position of a line. @return the last ones */
    Numbers AddRank(std::size_t index,
                    uint32_t split,
                    uint32_t step,
                    uint32_t position,
                    const Numbers& line,
                    const std::vector<Numbers>& chunks,
                    const Numbers* before)
    {
        const CollectiveSchedule& part = m_parts[index];
        Numbers numbers; // of the actions added
        Numbers ends;
        for (uint32_t i = 0; i < part.GetStoredActions(position); i++)
        {
            const ScheduleAction action = part.Get(position, i);
            Numbers after;
            for (uint32_t earlier : part.GetDependencies(position, i))
            {
                after.push_back(numbers[earlier]);
            }
            if (after.empty() && before)
            {
                after = *before;
            }
            Numbers moved;
            action.ForEachChunk([&](uint32_t chunk) {
                const uint32_t copy = chunk / part.chunks * m_schedule.chunks;
                for (uint32_t number : chunks[chunk % part.chunks])
                {
                    moved.push_back(copy + number);
                }
            });
            const bool isLocal = action.kind == Kind::COPY || action.kind == Kind::REDUCE;
            numbers.push_back(m_schedule.Add(line[position],
                                             action.kind,
                                             isLocal ? action.peer : line[action.peer],
                                             MakeChunkList(moved, m_schedule.chunks),
                                             step + action.step,
                                             after,
                                             action.message * m_splits + split));
            const auto next = part.GetNext(position, i);
            if (next.begin() == next.end())
            {
                ends.push_back(numbers.back());
            }
        }
        return ends;
    }

    /** @return for each chunk of a phase's schedule, those of the whole that it stands for */
    std::vector<Numbers> GetChunks(std::size_t index, uint32_t split, uint32_t place) const
    {
        const CollectiveSchedule& part = m_parts[index];
        const DimensionPhase& phase = m_phases[index];
        if (m_exchanges)
        {
            return GetExchanged(index, split, place);
        }
        Numbers all; // of the line, position after position
        if (m_isWhole)
        {
            all.resize(m_pieces);
            std::iota(all.begin(), all.end(), split * m_pieces);
        }
        else
        {
            // The line has the parts of the places that agree with it in the inner dimensions.
            const uint32_t stride = m_dimensions.GetStride(phase.dimension);
            const uint32_t n = m_dimensions.GetSizes()[phase.dimension];
            const uint32_t count = m_schedule.GetSize() / (stride * n);
            for (uint32_t position = 0; position < n; position++)
            {
                for (uint32_t outer = 0; outer < count; outer++)
                {
                    const uint32_t owner = place % stride + position * stride + outer * stride * n;
                    for (uint32_t piece = 0; piece < m_pieces; piece++)
                    {
                        all.push_back((GetNumber(owner) * m_splits + split) * m_pieces + piece);
                    }
                }
            }
        }
        std::vector<Numbers> chunks;
        const std::size_t each = all.size() / part.chunks;
        for (std::size_t i = 0; i < all.size(); i += each)
        {
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(i);
            chunks.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
        }
        return chunks;
    }

    /**
     * @return the same for an exchange. A rank holds chunks whose source differs from it only in
     *         completed dimensions, and whose destination differs only in dimensions still to come.
     */
    std::vector<Numbers> GetExchanged(std::size_t index, uint32_t split, uint32_t place) const
    {
        const std::size_t dimension = m_phases[index].dimension;
        const uint32_t stride = m_dimensions.GetStride(dimension);
        const uint32_t n = m_dimensions.GetSizes()[dimension];
        const uint32_t ranks = m_schedule.GetSize();
        const uint32_t parts = m_parts[index].GetPartsOfPair();
        const uint32_t each = m_pieces / parts; // pieces of a part
        std::vector<Numbers> chunks(m_parts[index].chunks);
        for (uint32_t from = 0; from < n; from++)
        {
            for (uint32_t distance = 0; distance < n; distance++)
            {
                for (uint32_t inner = 0; inner < stride; inner++)
                {
                    const uint32_t source =
                        m_dimensions.GetRank(place / stride * stride + inner + from * stride);
                    for (uint32_t outer = 0; outer < ranks / (stride * n); outer++)
                    {
                        const uint32_t target = m_dimensions.GetRank(
                            place % stride + (from + distance) % n * stride + outer * stride * n);
                        const uint32_t pair = source * ranks + (target + ranks - source) % ranks;
                        for (uint32_t piece = 0; piece < m_pieces; piece++)
                        {
                            chunks[(from * n + distance) * parts + piece / each].push_back(
                                (pair * m_splits + split) * m_pieces + piece);
                        }
                    }
                }
            }
        }
        return chunks;
    }

    /** @return number of the part of the vector that the rank at a place owns */
    uint32_t GetNumber(uint32_t place) const
    {
        if (m_schedule.operation != Operation::ALL_REDUCE)
        {
            return m_dimensions.GetRank(place);
        }
        // Any rank may own any part: what a phase sends together gets consecutive numbers.
        uint32_t number = 0;
        for (uint32_t size : m_dimensions.GetSizes())
        {
            number = number * size + place % size;
            place /= size;
        }
        return number;
    }

    AlgorithmDimensions m_dimensions;
    std::vector<DimensionPhase> m_phases;
    std::vector<CollectiveSchedule> m_parts; // of each phase, in a group
    uint32_t m_splits;
    uint32_t m_active;
    bool m_isWhole;       // each phase sums the whole vector
    bool m_exchanges;     // an all-to-all
    uint32_t m_pieces{1}; // of a split of the part of a rank, of a pair of ranks or of the vector
    CollectiveSchedule& m_schedule;
};

/** @return whether the key of the operation counts; others run a ring of all ranks */
bool
HasKey(Operation operation)
{
    return operation == Operation::ALL_REDUCE || operation == Operation::REDUCE_SCATTER ||
           operation == Operation::ALL_GATHER || IsAllToAll(operation);
}

bool
IsChosen(const CollectiveRequest& request)
{
    return request.keys.IsGiven("all-reduce") || request.keys.IsGiven("reduce-scatter") ||
           request.keys.IsGiven("all-gather") || request.keys.IsGiven("all-to-all");
}

bool
CanBePlanned(const CollectiveRequest& request)
{
    return request.ranks == 1 || AlgorithmDimensions(request).FindFault().empty();
}

std::string
DescribeFault(const CollectiveRequest& request)
{
    return AlgorithmDimensions(request).FindFault();
}

void
BuildPerDimension(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const AlgorithmDimensions dimensions(request);
    const bool isDivided = HasKey(request.operation) && request.keys.GetCount("splits") > 1;
    if (dimensions.GetSizes().size() > 1 || isDivided)
    {
        PhaseBuilder(request, schedule).Build();
        return;
    }
    CollectiveRequest whole = request;
    CheckRequest(dimensions.GetAlgorithms().front(), whole).build(whole, schedule);
}

/** @return key with the algorithms of an operation */
Key
MakeKey(const std::string& name)
{
    Key key =
        Key::Of(name,
                Key::Type::TEXT,
                "ring",
                "algorithm for each dimension, innermost first, such as ring+direct:window=2; "
                "or one for all ranks");
    key.range = "collective algorithms with +, one for each dimension or one for all";
    key.accepts = &AreAlgorithms;
    return key;
}

/** @return key with the sizes of dimensions */
Key
MakeSizesKey()
{
    Key key = Key::Of("sizes",
                      Key::Type::TEXT,
                      "auto",
                      "ranks of each dimension, innermost first, such as 4x8; auto: as the "
                      "topology has them");
    key.range = "sizes such as 4x8";
    key.words = {"auto"};
    key.accepts = &AreSizes;
    return key;
}

const Registry<CollectiveAlgorithm>::Entry g_perDimension(
    NAME,
    {"an algorithm for each dimension of the network, in parts that follow each other (ASTRA-sim "
     "2)",
     GetCollectiveOperations(),
     &BuildPerDimension,
     {MakeKey("all-reduce"),
      MakeKey("reduce-scatter"),
      MakeKey("all-gather"),
      MakeKey("all-to-all"),
      MakeSizesKey(),
      Key::Word("optimization",
                "local",
                {"local", "baseline"},
                "all-reduce: local scatters in the inner dimensions; baseline sums the whole "
                "vector in each"),
      Key::Count("splits", 1, 1, 256, "parts of the vector that follow each other"),
      Key::Count("active", 1, 1, 256, "parts in a phase of a rank at a time")},
     {{"with an algorithm, such as all-reduce=ring+direct", &IsChosen},
      {"one algorithm for each dimension that has its operation, or one for all ranks",
       &CanBePlanned,
       &DescribeFault}}});

} // namespace

} // namespace ns3::training
