/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/chunk-layout.h"
#include "ns3/collective-algorithm.h"
#include "ns3/log.h"
#include "ns3/schedule-verifier.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

namespace ns3::training::tests::collective_algorithm_test
{

NS_LOG_COMPONENT_DEFINE("TrainingCollectiveAlgorithmTest");

using Operation = CollectiveOperation;
using Kind = ScheduleAction::Kind;

uint32_t
FloorLog(uint32_t n)
{
    uint32_t log = 0;
    for (; n > 1; n /= 2)
    {
        log++;
    }
    return log;
}

uint32_t
CeilLog(uint32_t n)
{
    return n < 2 ? 0 : FloorLog(n - 1) + 1;
}

uint32_t
CountOnes(uint32_t n)
{
    return static_cast<uint32_t>(std::bitset<32>(n).count());
}

/** Published costs of an algorithm. */
struct Cost
{
    uint32_t steps{0};
    uint64_t most{0};            ///< bytes sent by the busiest rank
    std::optional<uint64_t> all; ///< bytes sent by all ranks, in vectors
    /// Exchanges: length of the chain of messages to a rank at a given distance.
    std::function<uint32_t(uint32_t)> hops;
};

/**
 * @param n number of ranks, at least 2
 * @param size of the vector, a multiple of all its divisors in the algorithm
 * @return steps and bytes as published; nothing if unsupported or unknown
 */
std::optional<Cost>
Expect(const std::string& name,
       const std::map<std::string, std::string>& keys,
       Operation operation,
       uint32_t n,
       uint64_t size)
{
    const uint32_t down = FloorLog(n);
    const uint32_t up = CeilLog(n);
    const uint32_t power = 1U << down;
    const uint32_t folded = n - power;
    const uint32_t fold = folded > 0 ? 2 : 0; // steps
    const uint64_t part = size / n;
    const bool reduces = operation == Operation::ALL_REDUCE;
    const bool barrier = operation == Operation::BARRIER;
    const auto get = [&](const char* key, const char* initial) {
        return keys.count(key) > 0 ? keys.at(key) : initial;
    };
    const auto number = [&](const char* key, const char* initial) {
        return static_cast<uint32_t>(std::stoul(get(key, initial)));
    };
    // A reduce-scatter, an all-gather, or both, in which every byte travels once.
    const auto optimal = [&](uint32_t steps) {
        const uint32_t phases = reduces ? 2 : 1;
        return Cost{phases * steps, phases * (n - 1) * part, phases * (n - 1), {}};
    };
    const auto exchange = [&](uint32_t steps, const std::function<uint32_t(uint32_t)>& hops) {
        Cost cost{steps, 0, {}, hops};
        for (uint32_t distance = 1; distance < n; distance++)
        {
            cost.most += hops(distance) * part;
        }
        return cost;
    };
    const auto once = [](uint32_t) { return 1U; };

    if (name == "ring" || name == "bidirectional-ring")
    {
        const bool both = name != "ring";
        if (barrier || operation == Operation::SEND_RECEIVE)
        {
            return Cost{barrier ? 2 * n - 2 : 1, barrier ? 0 : size, {}, {}};
        }
        if (IsExchange(operation))
        {
            return exchange(both ? n / 2 : n - 1, [both, n](uint32_t distance) {
                return both ? std::min(distance, n - distance) : distance;
            });
        }
        return HasRoot(operation) ? Cost{n - 1, size, n - 1, {}} : optimal(n - 1);
    }
    const uint32_t servers = number("servers", "1");
    if (name == "parameter-server" && servers <= n)
    {
        // A serving rank pushes the shards of other servers, and sends its own shard to all ranks.
        return Cost{2, barrier ? 0 : size / servers * (n - 1 + servers - 1), 2 * (n - 1), {}};
    }
    if (name == "recursive-doubling")
    {
        if (operation == Operation::ALL_GATHER)
        {
            return folded > 0 ? std::nullopt : std::optional(optimal(down));
        }
        return Cost{down + fold,
                    barrier ? 0 : size * (down + fold / 2),
                    uint64_t{power} * down + 2 * folded,
                    {}};
    }
    if (name == "rabenseifner")
    {
        if (reduces)
        {
            return Cost{2 * down + fold,
                        2 * (power - 1) * (size / power) + fold / 2 * size,
                        2 * (power - 1) + 2 * folded,
                        {}};
        }
        if (folded > 0)
        {
            return std::nullopt;
        }
        // A gather of all but the root's part; the last message is half of it.
        return operation == Operation::REDUCE ? Cost{2 * down, (n - 1) * part + size / 2, {}, {}}
                                              : optimal(down);
    }
    if (name == "circulant")
    {
        return optimal(up);
    }
    if (name == "double-binary-tree" && reduces && folded == 0)
    {
        return Cost{2 * down, n < 4 ? size : 2 * size, 2 * (n - 1), {}};
    }
    if (name == "direct")
    {
        const uint32_t window = number("window", "0");
        const uint32_t steps = window == 0 ? 1 : (n - 2) / window + 1;
        if (HasRoot(operation))
        {
            return Cost{1, operation == Operation::REDUCE ? size : (n - 1) * size, n - 1, {}};
        }
        if (barrier)
        {
            return Cost{steps, 0, {}, {}};
        }
        return IsExchange(operation) ? exchange(steps, once) : optimal(steps);
    }
    if (name == "pairwise" && (folded == 0 || get("form", "auto") != "xor"))
    {
        return IsExchange(operation) ? exchange(n - 1, once) : optimal(n - 1);
    }
    if (name == "bruck")
    {
        return IsExchange(operation) ? exchange(up, &CountOnes) : optimal(up);
    }
    if (name == "binomial")
    {
        const bool there = operation == Operation::REDUCE;
        const bool both = reduces || barrier;
        return Cost{(both ? 2 : 1) * up,
                    barrier ? 0
                    : there ? size
                            : up * size,
                    (both ? 2 : 1) * (n - 1),
                    {}};
    }
    if (name == "scatter-all-gather")
    {
        const uint32_t largest =
            std::max(n - (1U << (up - 1)), up < 2 ? 0 : 1U << (up - 2)); // subtree
        return Cost{up + n - 1,
                    operation == Operation::REDUCE ? (n - 1 + largest) * part : 2 * (n - 1) * part,
                    {},
                    {}};
    }
    if (name == "hou")
    {
        const uint32_t steps = down + CountOnes(n) - 1;
        return reduces ? Cost{steps, steps * size, uint64_t{n} * steps, {}} : optimal(up);
    }
    if (name == "swing" && folded == 0)
    {
        const bool whole = reduces && get("variant", "bandwidth") == "latency";
        return whole ? Cost{down, down * size, uint64_t{n} * down, {}} : optimal(down);
    }
    if (name == "dissemination")
    {
        return Cost{up, 0, {}, {}};
    }
    if (name == "dimension-wise") // on one switch, which is a single dimension
    {
        const bool isHou = get("local", "ring") == std::string("hou");
        return Expect(isHou ? "hou" : "ring", {}, operation, n, size);
    }
    const uint32_t group = name == "hierarchical-all-to-all" ? number("group", "0") : 0;
    if (group > 0 && n % group == 0)
    {
        const uint32_t groups = n / group;
        return Cost{group - 1 + groups - 1,
                    (group - 1) * (size / group) + (groups - 1) * (size / groups),
                    {},
                    {}};
    }
    return std::nullopt;
}

/** @return an algorithm with some values of each of its keys, and without keys */
std::vector<std::map<std::string, std::string>>
GetVariants(const CollectiveAlgorithm& algorithm)
{
    std::vector<std::map<std::string, std::string>> variants{{}};
    for (const Key& key : algorithm.keys)
    {
        for (const std::string& word : key.words)
        {
            variants.push_back({{key.name, word}});
        }
        for (uint64_t i = 0; key.words.empty() && i < 4; i++)
        {
            variants.push_back({{key.name, std::to_string(static_cast<uint64_t>(key.min) + i)}});
        }
    }
    return variants;
}

std::string
Spell(const std::string& name, const std::map<std::string, std::string>& keys)
{
    std::string text = name;
    for (const auto& [key, value] : keys)
    {
        text += (text == name ? ":" : ",") + key + "=" + value;
    }
    return text;
}

/** @return bytes sent by the busiest rank */
uint64_t
CountMost(const CollectiveSchedule& schedule, uint64_t bytes)
{
    const ChunkLayout layout(schedule, bytes);
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        uint64_t sent = 0;
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            sent += action.kind == Kind::SEND ? layout.GetBytes(action) : 0;
        }
        most = std::max(most, sent);
    }
    return most;
}

/** @return number of sends of each chunk */
std::vector<uint32_t>
CountSends(const CollectiveSchedule& schedule)
{
    std::vector<uint32_t> sends(schedule.chunks);
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetStoredActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind == Kind::SEND)
            {
                action.ForEachChunk([&](uint32_t chunk) { sends[chunk % schedule.chunks]++; });
            }
        }
    }
    return sends;
}

/**
 * Every algorithm and operation is proven correct for 1 to 33, 64, 100 and 128 ranks, with several
 * roots, keys, segments and sizes. Its steps and bytes equal the published ones.
 */
struct AlgorithmPropertiesTest
{
    void Run()
    {
        std::set<uint32_t> numbers{64, 100, 128};
        for (uint32_t n = 1; n <= 33; n++)
        {
            numbers.insert(n);
        }
        const std::set<uint32_t> few{1, 2, 3, 4, 5, 7, 8, 9, 12};
        for (const auto& [name, algorithm] : Registry<CollectiveAlgorithm>::All())
        {
            const bool isKnown = IsKnown(name, algorithm);
            for (const auto& keys : GetVariants(algorithm))
            {
                for (Operation operation : algorithm.operations)
                {
                    for (uint32_t n : isKnown ? numbers : few)
                    {
                        const bool rooted = HasRoot(operation);
                        std::set<uint32_t> roots{0, n / 2, n - 1};
                        for (uint32_t root = 0; n <= 9 && root < n; root++)
                        {
                            roots.insert(root);
                        }
                        for (uint32_t root : rooted ? roots : std::set<uint32_t>{0})
                        {
                            Check(name, keys, operation, n, root);
                        }
                        if (name == "parameter-server" && operation == Operation::ALL_REDUCE)
                        {
                            const std::string half = std::to_string((n + 1) / 2);
                            Check(name, {{"servers", half}}, operation, n, 0);
                            Check(name, {{"servers", std::to_string(n)}}, operation, n, 0);
                        }
                    }
                }
            }
        }
        NS_LOG_INFO(cases << " cases");
        NS_TEST_EXPECT_MSG_GT(cases, 20000, "the test has become empty");
    }

    /**
     * @return whether the table above has its costs. Algorithms that search for a schedule on a
     *         topology are slow and have a separate suite
     */
    static bool IsKnown(const std::string& name, const CollectiveAlgorithm& algorithm)
    {
        for (const auto& keys : GetVariants(algorithm))
        {
            for (Operation operation : algorithm.operations)
            {
                if (Expect(name, keys, operation, 16, 1 << 20))
                {
                    return true;
                }
            }
        }
        return false;
    }

    void Check(const std::string& name,
               const std::map<std::string, std::string>& keys,
               Operation operation,
               uint32_t n,
               uint32_t root)
    {
        CollectiveRequest request;
        request.operation = operation;
        request.ranks = n;
        request.root = root;
        const auto found = keys.find("servers");
        const uint64_t servers = found == keys.end() ? 1 : std::stoul(found->second);
        for (uint32_t segments : {1, 3})
        {
            request.segments = segments;
            const std::string what = Spell(name, keys) + " " + training::GetName(operation) + ", " +
                                     std::to_string(n) + " ranks, root " + std::to_string(root) +
                                     ", " + std::to_string(segments) + " segments";
            // A multiple of all divisors of the vector.
            const uint64_t even =
                uint64_t{4 * 3 * 12} * n * (1U << FloorLog(n)) * servers * segments;
            const auto cost = n < 2 ? Cost() : Expect(name, keys, operation, n, even);
            CollectiveSchedule schedule;
            try
            {
                schedule = BuildSchedule(Spell(name, keys), request);
            }
            catch (const ConfigurationError& error)
            {
                NS_TEST_EXPECT_MSG_EQ(cost.has_value() && n > 1, false, error.what());
                ExpectPart(std::string(error.what()), "(allowed: ", error.what());
                cases++;
                return;
            }
            NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", what);
            if (cost)
            {
                const uint32_t steps = cost->steps > 0 ? cost->steps + segments - 1 : 0;
                NS_TEST_EXPECT_MSG_EQ(schedule.GetSteps(), steps, "steps: " << what);
                if (operation != Operation::ALL_TO_ALL_V)
                {
                    NS_TEST_EXPECT_MSG_EQ(CountMost(schedule, even),
                                          cost->most,
                                          "bytes of the busiest rank: " << what);
                }
            }
            const auto sends = CountSends(schedule);
            for (uint64_t bytes : {uint64_t{0},
                                   uint64_t{1},
                                   uint64_t{n} - 1,
                                   uint64_t{100003},
                                   (uint64_t{5} << 30) + 4})
            {
                CheckBytes(schedule, sends, cost, bytes, what);
                cases++;
            }
        }
    }

    /** The number of sent bytes is exact for any size and any split. */
    void CheckBytes(const CollectiveSchedule& schedule,
                    const std::vector<uint32_t>& sends,
                    const std::optional<Cost>& cost,
                    uint64_t bytes,
                    const std::string& what)
    {
        const uint32_t n = schedule.GetSize();
        const ByteMatrix matrix = MakeMatrix(n, bytes);
        const ChunkLayout layout(schedule, bytes, matrix);
        const bool exchanges =
            IsExchange(schedule.operation) && schedule.operation != Operation::SEND_RECEIVE;
        uint64_t least = uint64_t{n - 1} * bytes * (schedule.operation == Operation::ALL_REDUCE);
        least += exchanges ? 0 : uint64_t{n - 1} * bytes;
        uint64_t exact = cost ? cost->all.value_or(0) * bytes : 0;
        uint64_t sent = 0;
        for (uint32_t chunk = 0; chunk < schedule.chunks; chunk++)
        {
            uint64_t size = 0;
            for (uint32_t segment = 0; segment < schedule.segments; segment++)
            {
                size += layout.GetBytes(chunk, segment);
            }
            sent += size * sends[chunk];
            const bool moves = exchanges && chunk % n > 0;
            least += moves ? size : 0;
            exact += moves && cost && cost->hops ? size * cost->hops(chunk % n) : 0;
        }
        if (schedule.operation == Operation::BARRIER || bytes == 0)
        {
            NS_TEST_EXPECT_MSG_EQ(sent, 0, what);
            return;
        }
        NS_TEST_EXPECT_MSG_GT_OR_EQ(sent, least, bytes << " bytes: less than possible: " << what);
        if (cost && (cost->all || cost->hops))
        {
            NS_TEST_EXPECT_MSG_EQ(sent, exact, bytes << " bytes: of all ranks: " << what);
        }
    }

    static ByteMatrix MakeMatrix(uint32_t n, uint64_t bytes)
    {
        auto matrix = std::make_shared<std::vector<uint64_t>>();
        for (uint32_t i = 0; i < n * n; i++)
        {
            matrix->push_back(bytes / n * (i * 3 % 7));
        }
        return matrix;
    }

    uint64_t cases{0};
};

/** @param copies concurrent messages of a rank, each along one dimension; 0: turns are allowed */
void
Check(const std::string& name,
      Operation operation,
      const std::string& topology,
      uint32_t ranks,
      uint32_t steps,
      uint32_t copies)
{
    const auto graph = BuildTopology(topology, ranks, DataRate("100Gbps"), NanoSeconds(500));
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.topology = &graph;
    const auto schedule = BuildSchedule(name, request);
    const std::string what = name + " on " + topology;
    const auto& sides = graph.shape.sides; // a side of 2 has one neighbor only
    const uint32_t least = sides.empty() ? 0 : *std::min_element(sides.begin(), sides.end());
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(schedule), "", what);
    NS_TEST_EXPECT_MSG_EQ(schedule.GetSteps(), steps, what);
    for (uint32_t rank = 0; rank < ranks && copies > 0; rank++)
    {
        std::map<uint32_t, uint32_t> sends;           // by step
        std::map<uint32_t, std::set<uint32_t>> peers; // by step
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind != Kind::SEND)
            {
                continue;
            }
            sends[action.step]++;
            peers[action.step].insert(action.peer);
            uint32_t differing = 0;
            uint32_t stride = 1;
            for (std::size_t d = graph.shape.sides.size(); d-- > 0;)
            {
                const uint32_t side = graph.shape.sides[d];
                differing += rank / stride % side != action.peer / stride % side;
                stride *= side;
            }
            NS_TEST_EXPECT_MSG_EQ(differing, 1, what << ": a message turns");
        }
        for (const auto& [step, count] : sends)
        {
            NS_TEST_EXPECT_MSG_EQ(count, copies, what << ", step " << step);
            NS_TEST_EXPECT_MSG_EQ((peers[step].size() == copies),
                                  (least > 2 || copies == 1),
                                  what << ": in all directions, step " << step);
        }
    }
}

void
ExpectRefusal(const std::string& name,
              const std::string& topology,
              uint32_t ranks,
              const std::string& expected)
{
    const auto graph = BuildTopology(topology, ranks, DataRate("100Gbps"), NanoSeconds(500));
    CollectiveRequest request;
    request.operation = Operation::ALL_TO_ALL;
    request.ranks = ranks;
    request.topology = &graph;
    ExpectPart(GetRefusal([&] { BuildSchedule(name, request); }), expected);
}

/**
 * Topology-aware algorithms: Swing splits the vector over all directions of a torus, an all-to-all
 * proceeds dimension by dimension, and no message of either changes its dimension.
 */
void
TestTopologyAware()
{
    Check("swing", Operation::ALL_REDUCE, "torus:4x4", 16, 8, 4);
    Check("swing:variant=latency", Operation::ALL_REDUCE, "torus:4x4", 16, 4, 4);
    Check("swing", Operation::REDUCE_SCATTER, "torus:2x8", 16, 4, 4);
    Check("swing", Operation::ALL_GATHER, "torus:4x2x4", 32, 5, 6);
    Check("swing", Operation::ALL_REDUCE, "ring:16", 16, 8, 2);
    Check("swing", Operation::ALL_REDUCE, "mesh:4x4", 16, 8, 0); // as on a ring
    Check("swing", Operation::ALL_REDUCE, "torus:4x4", 8, 6, 0); // as on a ring: not all nodes
    Check("hierarchical-all-to-all", Operation::ALL_TO_ALL, "torus:4x4", 16, 6, 1);
    Check("hierarchical-all-to-all", Operation::ALL_TO_ALL_V, "mesh:3x2x5", 30, 7, 1);
    Check("hierarchical-all-to-all", Operation::ALL_TO_ALL, "bigraph:m=4,n=4", 16, 6, 0);
    Check("hierarchical-all-to-all:along=ring", Operation::ALL_TO_ALL, "torus:3x5", 15, 6, 1);
    Check("hierarchical-all-to-all:along=ring",
          Operation::ALL_TO_ALL_V,
          "local-switch-torus:2x3,nodes=4",
          24,
          6,
          1);
    const std::string packages = "local-switch-torus:2x3,nodes=4";
    Check("dimension-wise", Operation::ALL_REDUCE, packages, 24, 2 * (1 + 2 + 3), 1);
    Check("dimension-wise:local=hou", Operation::ALL_REDUCE, packages, 24, 2 * (1 + 2) + 2, 1);
    Check("dimension-wise:local=hou", Operation::ALL_GATHER, packages, 24, 1 + 2 + 2, 1);
    Check("dimension-wise:gather-first=outer", Operation::ALL_GATHER, packages, 24, 6, 1);
    Check("hierarchical-all-to-all",
          Operation::ALL_TO_ALL,
          "hierarchical-torus:2x3,nodes=4",
          24,
          6,
          1);
    ExpectRefusal("hierarchical-all-to-all", "single-switch", 8, "group=0 (allowed: ");
    ExpectRefusal("hierarchical-all-to-all",
                  "torus:4x4",
                  8,
                  "8 ranks on topology 'torus:4x4' with group=0");
    ExpectRefusal("hierarchical-all-to-all:group=3", "torus:4x4", 16, "group=3 (allowed: ");
    ExpectRefusal(
        "pairwise:form=xor",
        "single-switch",
        6,
        "6 ranks on topology 'single-switch' (allowed: a number of ranks that is a power");
}

/** Communication partners equal the published ones. */
struct PublishedPartnersTest
{
    /** @return destinations of a rank, in order of its steps */
    static std::vector<int> GetPeers(const std::string& name,
                                     Operation operation,
                                     uint32_t ranks,
                                     uint32_t rank,
                                     uint32_t message = 0)
    {
        CollectiveRequest request;
        request.operation = operation;
        request.ranks = ranks;
        request.segments = 1;
        const auto schedule = BuildSchedule(name, request);
        std::vector<int> peers;
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            if (action.kind == Kind::SEND && action.message == message)
            {
                peers.push_back(static_cast<int>(action.peer));
            }
        }
        return peers;
    }

    void Expect(const std::string& what, std::vector<int> got, std::vector<int> expected)
    {
        std::string text;
        for (int peer : got)
        {
            text += " " + std::to_string(peer);
        }
        NS_TEST_EXPECT_MSG_EQ(got, expected, what << ":" << text);
    }

    void Run()
    {
        // NCCL's trees of eight ranks: the first message of each rank except the root goes to its
        // parent.
        const std::vector<std::vector<int>> parents{{-1, 2, 4, 2, 0, 6, 4, 6},
                                                    {1, 3, 1, 7, 5, 3, 5, -1}};
        for (uint32_t tree = 0; tree < 2; tree++)
        {
            std::vector<int> got;
            for (uint32_t rank = 0; rank < 8; rank++)
            {
                const auto up =
                    GetPeers("double-binary-tree", Operation::ALL_REDUCE, 8, rank, tree);
                const bool isRoot = parents[tree][rank] < 0;
                got.push_back(isRoot ? -1 : up.at(0));
            }
            Expect("double binary tree", got, parents[tree]);
        }
        const auto allReduce = Operation::ALL_REDUCE;
        Expect("Hou et al., 8", GetPeers("hou", allReduce, 8, 3), {4, 5, 7});
        Expect("Hou et al., 16", GetPeers("hou", allReduce, 16, 0), {1, 2, 4, 8});
        Expect("Hou et al., 7", GetPeers("hou", allReduce, 7, 0), {1, 2, 4, 6});
        Expect("Hou et al., third stripe",
               GetPeers("hou:stripes=3", allReduce, 8, 3, 2),
               {4, 5, 7});
        const std::string latency = "swing:variant=latency";
        Expect("Swing, even", GetPeers(latency, allReduce, 32, 0), {1, 31, 3, 27, 11});
        Expect("Swing, odd", GetPeers(latency, allReduce, 32, 1), {0, 2, 30, 6, 22});
        Expect("circulant", GetPeers("circulant", Operation::REDUCE_SCATTER, 7, 0), {4, 2, 1});
        Expect("Bruck", GetPeers("bruck", Operation::ALL_GATHER, 7, 0), {6, 5, 3});
        Expect("Rabenseifner", GetPeers("rabenseifner", allReduce, 8, 5), {4, 7, 1, 1, 7, 4});
        Expect("xor", GetPeers("pairwise", Operation::ALL_TO_ALL, 4, 1), {0, 3, 2});
        Expect("shift", GetPeers("pairwise", Operation::ALL_TO_ALL, 5, 1), {2, 3, 4, 0});
        Expect("binomial", GetPeers("binomial", Operation::BROADCAST, 7, 0), {4, 2, 1});
    }
};

/** @return window of the double binary tree on a topology */
uint32_t
GetTreeWindow(const std::string& spec, uint32_t ranks)
{
    const auto topology = BuildTopology(spec, ranks, DataRate("100Gbps"), MicroSeconds(1));
    CollectiveRequest request;
    request.operation = Operation::ALL_REDUCE;
    request.ranks = ranks;
    request.topology = &topology;
    request.segments = 1;
    return BuildSchedule("double-binary-tree", request).window;
}

/** Segments on their way fill the paths between neighbours in the trees, whose links count. */
void
TestTreeWindow()
{
    const uint32_t usual = GetTreeWindow("mesh:3x3", 9);
    NS_TEST_EXPECT_MSG_GT(usual, 0, "a window");
    NS_TEST_EXPECT_MSG_EQ(GetTreeWindow("mesh:3x3,host-rate=10Tbps", 9), usual, "fast hosts");
}

/** With a window, the next message waits until enough earlier messages are received. */
void
TestWindow()
{
    constexpr uint32_t N = 8;
    for (const uint32_t window : {0U, 1U, 3U, 7U, 9U})
    {
        CollectiveRequest request;
        request.operation = Operation::ALL_TO_ALL;
        request.ranks = N;
        const auto schedule = BuildSchedule("direct:window=" + std::to_string(window), request);
        std::map<uint32_t, uint32_t> sends; // number of actions by distance of the peer
        std::map<uint32_t, uint32_t> receives;
        for (uint32_t i = 0; i < schedule.GetActions(0); i++)
        {
            const ScheduleAction action = schedule.Get(0, i);
            const bool out = action.kind == Kind::SEND;
            (out ? sends : receives)[out ? action.peer : N - action.peer] = i;
        }
        for (uint32_t distance = 1; distance < N; distance++)
        {
            std::vector<uint32_t> expected;
            if (window > 0 && distance > window)
            {
                expected.push_back(receives.at(distance - window));
            }
            const auto after = schedule.GetDependencies(0, sends.at(distance));
            const std::vector<uint32_t> got(after.begin(), after.end());
            NS_TEST_EXPECT_MSG_EQ(got, expected, window << ", " << distance);
        }
    }
}

/** Rotated schedules of thousands of ranks take the memory of one rank. */
void
TestLargePlans()
{
    for (const std::string name :
         {"ring", "bidirectional-ring", "circulant", "hou:stripes=4", "direct"})
    {
        CollectiveRequest request;
        request.ranks = 4096;
        const auto schedule = BuildSchedule(name, request);
        NS_TEST_EXPECT_MSG_EQ(schedule.GetStoredRanks(), 1, name);
        NS_TEST_EXPECT_MSG_LT(schedule.GetMemory(), 2 << 20, name);
    }
}

const Suite g_suite("collective-algorithm",
                    Duration::EXTENSIVE,
                    {{"every schedule is proven right and costs what is published",
                      RunTest<AlgorithmPropertiesTest>},
                     {"algorithms that follow the dimensions of a topology", TestTopologyAware},
                     {"partners of published algorithms", RunTest<PublishedPartnersTest>},
                     {"window of a direct exchange", TestWindow},
                     {"window of trees", TestTreeWindow},
                     {"plans of 4096 ranks", TestLargePlans}});

} // namespace ns3::training::tests::collective_algorithm_test
