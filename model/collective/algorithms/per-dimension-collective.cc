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

#include "ns3/collective-phases.h"
#include "ns3/rank-placement.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;
using Numbers = std::vector<uint32_t>;

/// Name of this algorithm, which may not contain itself.
constexpr const char* NAME = "per-dimension";

/// Most ranks of all dimensions.
constexpr uint64_t MAX_RANKS = 1 << 20;

/** @return the algorithms in the value of a key, innermost dimension first */
std::vector<std::string>
SplitAlgorithms(const std::string& text)
{
    std::vector<std::string> names;
    boost::split(names, text, boost::is_any_of("+"));
    return names;
}

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

/** @return the sizes in a text such as 4x8; none if it is wrong */
Numbers
ReadSizes(const std::string& text)
{
    std::vector<std::string> words;
    boost::split(words, text, boost::is_any_of("x"));
    Numbers sizes;
    uint64_t product = 1;
    for (const std::string& word : words)
    {
        const auto size = ParseUnsigned(word);
        if (!size || *size < 1 || *size > MAX_RANKS || product * *size > MAX_RANKS)
        {
            return {};
        }
        product *= *size;
        sizes.push_back(static_cast<uint32_t>(*size));
    }
    return sizes;
}

/** @return whether a text is a list of sizes */
bool
AreSizes(const std::string& text)
{
    return !ReadSizes(text).empty();
}

/** @return whether it is an all-to-all, of equal or unequal parts */
bool
IsAllToAll(Operation operation)
{
    return operation == Operation::ALL_TO_ALL || operation == Operation::ALL_TO_ALL_V;
}

/** A collective in all groups of ranks that differ in one dimension only. */
struct Phase
{
    Operation operation;
    std::size_t dimension;
};

/** What a request asks for: the algorithms, the dimensions, and the places of ranks in them. */
class Dimensions
{
  public:
    explicit Dimensions(const CollectiveRequest& request)
        : m_request(request)
    {
        const bool isNamed = request.keys.Has(GetName(GetBase(request.operation)));
        m_algorithms =
            isNamed ? SplitAlgorithms(request.keys.GetText(GetName(GetBase(request.operation))))
                    : std::vector<std::string>{"ring"};
        if (m_algorithms.size() == 1 || !FindPlaces())
        {
            m_algorithms = {m_algorithms.size() == 1 ? m_algorithms.front() : "ring"};
            m_sizes = {request.ranks};
            m_places.resize(request.ranks);
            std::iota(m_places.begin(), m_places.end(), 0);
        }
        m_ranks.resize(m_places.size());
        for (uint32_t rank = 0; rank < m_places.size(); rank++)
        {
            m_ranks[m_places[rank]] = rank;
        }
    }

    /** @return the operation whose key counts: exchanges of unequal parts have none of their own */
    static Operation GetBase(Operation operation)
    {
        return IsAllToAll(operation) ? Operation::ALL_TO_ALL : operation;
    }

    /** @return the phases of the collective, in order */
    std::vector<Phase> GetPhases() const
    {
        std::vector<Phase> phases;
        const std::size_t last = m_sizes.size() - 1;
        const Operation operation = m_request.operation;
        const bool isBaseline = m_request.keys.GetText("optimization") == "baseline";
        const bool turns = operation == Operation::ALL_REDUCE && !isBaseline;
        for (std::size_t i = 0; i < last + (turns ? 0 : 1); i++)
        {
            phases.push_back({turns ? Operation::REDUCE_SCATTER : operation,
                              operation == Operation::ALL_GATHER ? last - i : i});
        }
        if (turns)
        {
            phases.push_back({Operation::ALL_REDUCE, last});
        }
        for (std::size_t i = last; turns && i-- > 0;)
        {
            phases.push_back({Operation::ALL_GATHER, i});
        }
        return phases;
    }

    /** @return the collective of a phase in a group */
    CollectiveRequest GetPart(const Phase& phase) const
    {
        CollectiveRequest part;
        part.operation = phase.operation;
        part.ranks = m_sizes[phase.dimension];
        part.segments = 1;
        return part;
    }

    /** @return why the request cannot be planned; empty if it can */
    std::string FindFault() const
    {
        if (!m_fault.empty())
        {
            return m_fault;
        }
        if (m_algorithms.size() != m_sizes.size())
        {
            return GetName(m_request.operation) + " by " + std::to_string(m_algorithms.size()) +
                   " algorithms in " + std::to_string(m_sizes.size()) + " dimensions";
        }
        for (const Phase& phase : GetPhases())
        {
            try
            {
                CollectiveRequest part = GetPart(phase);
                CheckRequest(m_algorithms[phase.dimension], part);
            }
            catch (const ConfigurationError& error)
            {
                return "dimension " + std::to_string(phase.dimension) + ": " + error.what();
            }
        }
        return "";
    }

    const std::vector<std::string>& GetAlgorithms() const
    {
        return m_algorithms;
    }

    const Numbers& GetSizes() const
    {
        return m_sizes;
    }

    /** @return rank at a place; the first dimension of places runs fastest */
    uint32_t GetRank(uint32_t place) const
    {
        return m_ranks[place];
    }

    uint32_t GetPlace(uint32_t rank) const
    {
        return m_places[rank];
    }

    /** @return distance between the places of neighbours in a dimension */
    uint32_t GetStride(std::size_t dimension) const
    {
        return std::accumulate(m_sizes.begin(),
                               m_sizes.begin() + static_cast<std::ptrdiff_t>(dimension),
                               1U,
                               std::multiplies<>());
    }

  private:
    /**
     * Finds sizes and places. It is a fault if the ranks of all hosts do not fill the dimensions.
     * @return whether the ranks are the whole of the dimensions
     */
    bool FindPlaces()
    {
        const uint32_t ranks = m_request.ranks;
        const RankPlacement placement(m_request);
        const bool isAutomatic = m_request.keys.GetText("sizes") == "auto";
        if (isAutomatic && !placement.IsFull())
        {
            return false;
        }
        m_sizes =
            isAutomatic ? placement.GetDimensions() : ReadSizes(m_request.keys.GetText("sizes"));
        const auto levels = placement.GetPlaces();
        const auto numbers = RankPlacement::GetSizes(levels);
        std::set<uint32_t> taken;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            uint32_t place = isAutomatic ? 0 : m_request.GetHost(rank);
            for (std::size_t level = 0; isAutomatic && level < numbers.size(); level++)
            {
                place = place * numbers[level] + levels[rank][level];
            }
            m_places.push_back(place);
            taken.insert(place);
        }
        const uint64_t all =
            std::accumulate(m_sizes.begin(), m_sizes.end(), uint64_t{1}, std::multiplies<>());
        const bool isWhole = all == ranks && taken.size() == ranks && *taken.rbegin() < ranks;
        if (!isWhole && placement.IsFull())
        {
            m_fault = std::to_string(ranks) + " ranks in dimensions of " + std::to_string(all);
        }
        return isWhole;
    }

    const CollectiveRequest& m_request;
    std::vector<std::string> m_algorithms; // by dimension, innermost first
    Numbers m_sizes;                       // of dimensions
    Numbers m_places;                      // by rank
    Numbers m_ranks;                       // by place
    std::string m_fault;                   // why the ranks do not fill the dimensions, or empty
};

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
        for (const Phase& phase : m_phases)
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
        const Phase& phase = m_phases[index];
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
                                             Compress(moved),
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
        const Phase& phase = m_phases[index];
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

    ChunkList Compress(const Numbers& numbers) const
    {
        std::vector<ChunkRun> runs;
        for (uint32_t number : numbers)
        {
            if (!runs.empty() && runs.back().first + runs.back().count == number &&
                number % m_schedule.chunks != 0)
            {
                runs.back().count++;
            }
            else
            {
                runs.push_back({number, 1});
            }
        }
        return runs;
    }

    Dimensions m_dimensions;
    std::vector<Phase> m_phases;
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
    return request.ranks == 1 || Dimensions(request).FindFault().empty();
}

std::string
DescribeFault(const CollectiveRequest& request)
{
    return Dimensions(request).FindFault();
}

void
BuildPerDimension(const CollectiveRequest& request, CollectiveSchedule& schedule)
{
    const Dimensions dimensions(request);
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
