/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "msccl-schedule.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/quantity.h"

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingMscclImport");

namespace
{

using Kind = ScheduleAction::Kind;
using Operation = CollectiveOperation;
using Tree = boost::property_tree::ptree;

constexpr uint64_t MOST_GPUS = 65535;
constexpr uint64_t MOST_CHUNKS = 1 << 24;
/// Buffer of what is received, added to and sent on without being stored, a place a thread block.
constexpr char TEMPORARY = 't';

/** A place for chunks in a buffer of a gpu. */
struct Place
{
    char buffer; // i, o, s or TEMPORARY
    uint64_t offset;

    bool operator<(const Place& other) const
    {
        return std::tie(buffer, offset) < std::tie(other.buffer, other.offset);
    }
};

/** An element of the file with its attributes, and where it is. */
class Element
{
  public:
    Element(const Tree& tree, std::string where)
        : m_attributes(tree.get_child("<xmlattr>", Tree())),
          m_where(std::move(where))
    {
    }

    [[noreturn]] void Refuse(const std::string& text) const
    {
        throw ConfigurationError(m_where + ": " + text);
    }

    std::optional<std::string> Find(const std::string& key) const
    {
        const auto found = m_attributes.find(key);
        return found == m_attributes.not_found() ? std::nullopt
                                                 : std::optional(found->second.data());
    }

    std::string Get(const std::string& key) const
    {
        const auto text = Find(key);
        if (!text)
        {
            Refuse("no " + key);
        }
        return *text;
    }

    uint32_t GetNumber(const std::string& key, uint64_t least, uint64_t most) const
    {
        const auto number = ParseUnsigned(Get(key));
        if (!number || *number < least || *number > most)
        {
            Refuse(key + "=\"" + Get(key) + "\" (allowed: " + std::to_string(least) + " to " +
                   std::to_string(most) + ")");
        }
        return static_cast<uint32_t>(*number);
    }

    /** @return a number, or nothing for -1 or if it is missing */
    std::optional<uint32_t> FindNumber(const std::string& key, uint64_t most) const
    {
        const auto text = Find(key);
        return !text || *text == "-1" ? std::nullopt : std::optional(GetNumber(key, 0, most));
    }

    const std::string& GetWhere() const
    {
        return m_where;
    }

  private:
    Tree m_attributes;
    std::string m_where;
};

/** A step of a thread block. */
struct Step
{
    std::string where; // in the file
    bool receives{false};
    bool sends{false};
    bool adds{false};
    bool copies{false}; // from a place to another
    bool stores{true};  // what is received
    Place source{};
    Place target{};
    uint32_t count{0};
    std::optional<uint32_t> block; // that of the step it waits for
    uint32_t step{0};              // the step it waits for
    // When it has been carried out:
    std::vector<uint32_t> last; // actions that it ends with
    uint32_t depth{0};          // messages in a row that have led here
};

/** A thread block: steps in order. */
struct Block
{
    uint32_t gpu;
    std::optional<uint32_t> send;
    std::optional<uint32_t> receive;
    uint32_t channel;
    std::vector<Step> steps;
    uint32_t done{0}; // steps carried out
};

/** A message between two gpus on a channel. */
struct Message
{
    std::vector<uint32_t> chunks;
    uint32_t step;
    uint32_t number;
};

/** What is where at a gpu. */
struct Gpu
{
    std::map<char, uint32_t> sizes;                        // of buffers, chunks
    std::map<uint32_t, Block> blocks;                      // by id
    std::map<Place, uint32_t> holds;                       // chunk in each place
    std::map<std::pair<Place, uint32_t>, uint32_t> copies; // number of a chunk in a place
    std::map<uint32_t, uint32_t> used;                     // copies of each chunk
};

/** Reads a file, then carries it out. */
class MscclImport
{
  public:
    explicit MscclImport(const std::string& name)
        : m_name(name)
    {
    }

    CollectiveSchedule Read(const std::string& text)
    {
        Tree tree;
        try
        {
            using namespace boost::property_tree::xml_parser;
            std::istringstream stream(text);
            read_xml(stream, tree, no_comments | trim_whitespace);
        }
        catch (const boost::property_tree::xml_parser_error& error)
        {
            throw ConfigurationError(m_name + ":" + std::to_string(error.line()) + ": " +
                                     error.message() + " (allowed: XML)");
        }
        const auto root = tree.find("algo");
        if (root == tree.not_found())
        {
            throw ConfigurationError(m_name + ": no element algo (allowed: an MSCCL algorithm)");
        }
        ReadAlgorithm(root->second);
        PlaceChunks();
        CarryOut();
        CollectOutputs();
        m_schedule.Close(false);
        return std::move(m_schedule);
    }

  private:
    void ReadAlgorithm(const Tree& tree)
    {
        const Element algorithm(tree, m_name);
        m_schedule.algorithm = algorithm.Find("name").value_or("msccl");
        m_gpus.resize(algorithm.GetNumber("ngpus", 1, MOST_GPUS));
        m_inPlace = algorithm.Find("inplace").value_or("0") != "0";
        static const std::map<std::string, Operation> operations{
            {"allgather", Operation::ALL_GATHER},
            {"allreduce", Operation::ALL_REDUCE},
            {"alltoall", Operation::ALL_TO_ALL},
            {"broadcast", Operation::BROADCAST},
            {"reduce", Operation::REDUCE},
            {"reduce_scatter", Operation::REDUCE_SCATTER},
            {"reducescatter", Operation::REDUCE_SCATTER}};
        const auto operation = operations.find(algorithm.Get("coll"));
        if (operation == operations.end())
        {
            std::string allowed;
            for (const auto& [key, value] : operations)
            {
                allowed += (allowed.empty() ? "" : ", ") + key;
            }
            algorithm.Refuse("coll=\"" + algorithm.Get("coll") + "\" (allowed: " + allowed + ")");
        }
        m_schedule.operation = operation->second;
        const auto n = static_cast<uint32_t>(m_gpus.size());
        m_schedule.root = algorithm.FindNumber("root", n - 1).value_or(0);
        std::vector<bool> seen(n);
        uint32_t largest = 0;
        for (const auto& [key, child] : tree)
        {
            if (key != "gpu")
            {
                continue;
            }
            const Element element(child, m_name + ": gpu");
            const uint32_t id = element.GetNumber("id", 0, n - 1);
            const std::string where = m_name + ": gpu " + std::to_string(id);
            if (seen[id])
            {
                throw ConfigurationError(where + " twice");
            }
            seen[id] = true;
            ReadGpu(Element(child, where), child, id);
            largest = std::max({largest, m_gpus[id].sizes['i'], m_gpus[id].sizes['o']});
        }
        const auto missing = std::find(seen.begin(), seen.end(), false);
        if (missing != seen.end())
        {
            algorithm.Refuse("no gpu " + std::to_string(missing - seen.begin()));
        }
        m_chunks = algorithm.Find("nchunksperloop")
                       ? algorithm.GetNumber("nchunksperloop", 1, MOST_CHUNKS)
                       : largest;
        const bool pairs = m_schedule.operation == Operation::ALL_TO_ALL;
        const bool parts = pairs || m_schedule.operation == Operation::ALL_GATHER ||
                           m_schedule.operation == Operation::REDUCE_SCATTER;
        const uint64_t chunks = uint64_t{m_chunks} * (pairs ? n : 1);
        if (m_chunks == 0 || (parts && m_chunks % n != 0) || chunks > MOST_CHUNKS)
        {
            algorithm.Refuse(std::to_string(m_chunks) + " chunks for " + std::to_string(n) +
                             " gpus (allowed: " + (parts ? "multiples of the gpus" : "1 and more") +
                             ", up to " + std::to_string(MOST_CHUNKS / (pairs ? n : 1)) + ")");
        }
        m_schedule.chunks = static_cast<uint32_t>(chunks);
        m_schedule.Resize(n);
    }

    void ReadGpu(const Element& element, const Tree& tree, uint32_t id)
    {
        Gpu& gpu = m_gpus[id];
        gpu.sizes['i'] = element.GetNumber("i_chunks", 0, MOST_CHUNKS);
        gpu.sizes['o'] = element.GetNumber("o_chunks", 0, MOST_CHUNKS);
        gpu.sizes['s'] = element.GetNumber("s_chunks", 0, MOST_CHUNKS);
        const uint64_t last = m_gpus.size() - 1;
        for (const auto& [key, child] : tree)
        {
            if (key != "tb")
            {
                continue;
            }
            const uint32_t number =
                Element(child, element.GetWhere() + ", tb").GetNumber("id", 0, MOST_CHUNKS);
            const Element tb(child, element.GetWhere() + ", tb " + std::to_string(number));
            Block block{id,
                        tb.FindNumber("send", last),
                        tb.FindNumber("recv", last),
                        tb.FindNumber("chan", MOST_CHUNKS).value_or(0),
                        {}};
            for (const auto& peer : {block.send, block.receive})
            {
                if (peer && *peer == id)
                {
                    tb.Refuse("gpu " + std::to_string(id) + " as its own peer");
                }
            }
            if (block.send && !m_senders.insert({id, *block.send, block.channel}).second)
            {
                tb.Refuse("a second thread block sends to gpu " + std::to_string(*block.send) +
                          " on channel " + std::to_string(block.channel));
            }
            if (block.receive && !m_receivers.insert({id, *block.receive, block.channel}).second)
            {
                tb.Refuse("a second thread block receives from gpu " +
                          std::to_string(*block.receive) + " on channel " +
                          std::to_string(block.channel));
            }
            for (const auto& [name, step] : child)
            {
                if (name == "step" || name == "op")
                {
                    const Element here(step,
                                       tb.GetWhere() + ", step " +
                                           std::to_string(block.steps.size()));
                    block.steps.push_back(ReadStep(here, name == "op", block, gpu));
                }
            }
            if (!gpu.blocks.emplace(number, std::move(block)).second)
            {
                tb.Refuse("twice");
            }
        }
    }

    static Step ReadStep(const Element& element, bool newer, const Block& block, Gpu& gpu)
    {
        const auto place = static_cast<uint32_t>(block.steps.size());
        element.GetNumber(newer ? "step" : "s", place, place);
        const std::string type = element.Get("type");
        Step step;
        step.where = element.GetWhere();
        step.receives = type[0] == 'r' && type != "re";
        step.sends = type == "s" || (step.receives && type.back() == 's');
        step.copies = type == "cpy";
        step.adds = type == "re" || type.compare(0, 2, "rr") == 0;
        step.stores = type != "rrs";
        static const std::vector<std::string>
            types{"cpy", "nop", "r", "rcs", "re", "rrc", "rrcs", "rrs", "s"};
        if (std::find(types.begin(), types.end(), type) == types.end())
        {
            element.Refuse("type=\"" + type +
                           "\" (allowed: cpy, nop, r, rcs, re, rrc, rrcs, rrs, s)");
        }
        if ((step.sends && !block.send) || (step.receives && !block.receive))
        {
            element.Refuse("type=\"" + type + "\" in a thread block without such a peer");
        }
        step.block = element.FindNumber("depid", MOST_CHUNKS);
        if (step.block)
        {
            step.step = element.GetNumber("deps", 0, MOST_CHUNKS);
        }
        if (type == "nop")
        {
            return step;
        }
        step.count = element.Find("cnt") ? element.GetNumber("cnt", 1, MOST_CHUNKS) : 1;
        // Of a receive the source, and of a send the target, is at the peer.
        const bool reads = !step.receives || step.adds;
        const bool writes = type != "s" && type != "rrs";
        if (reads)
        {
            step.source = ReadPlace(element, "src", step.count, gpu);
        }
        if (writes)
        {
            step.target = ReadPlace(element, "dst", step.count, gpu);
        }
        return step;
    }

    static Place ReadPlace(const Element& element,
                           const std::string& side,
                           uint32_t count,
                           const Gpu& gpu)
    {
        // The newer form has one place for both.
        const std::string prefix = element.Find(side + "buf") ? side : "";
        const std::string buffer = element.Get(prefix + "buf");
        if (buffer != "i" && buffer != "o" && buffer != "s")
        {
            element.Refuse(prefix + "buf=\"" + buffer + "\" (allowed: i, o, s)");
        }
        const uint32_t size = gpu.sizes.at(buffer[0]);
        if (count > size)
        {
            element.Refuse("cnt=\"" + std::to_string(count) + "\" in a buffer of " +
                           std::to_string(size) + " chunks");
        }
        return {buffer[0], element.GetNumber(prefix + "off", 0, size - count)};
    }

    /** @return the place itself; in place, input and output are the same */
    Place Resolve(uint32_t gpu, Place place) const
    {
        const uint32_t part = gpu * (m_chunks / static_cast<uint32_t>(m_gpus.size()));
        if (m_inPlace && m_schedule.operation == Operation::ALL_GATHER && place.buffer == 'i')
        {
            return {'o', place.offset + part};
        }
        if (m_inPlace && place.buffer == 'o' && m_schedule.operation != Operation::ALL_GATHER)
        {
            const bool scatters = m_schedule.operation == Operation::REDUCE_SCATTER;
            return {'i', place.offset + (scatters ? part : 0)};
        }
        return place;
    }

    /** @return the chunks of a buffer at the start (input) or the end (output), in order */
    std::vector<uint32_t> GetContent(uint32_t gpu, bool input) const
    {
        const auto n = static_cast<uint32_t>(m_gpus.size());
        const uint32_t parts = std::max<uint32_t>(1, m_chunks / n); // of an all-to-all's pair
        std::vector<uint32_t> content;
        for (uint32_t i = 0; i < m_chunks; i++)
        {
            const uint32_t peer = i / parts;
            switch (m_schedule.operation)
            {
            case Operation::ALL_TO_ALL:
                content.push_back(
                    (input ? gpu * n + (peer + n - gpu) % n : peer * n + (gpu + n - peer) % n) *
                        parts +
                    i % parts);
                break;
            case Operation::ALL_GATHER:
            case Operation::REDUCE_SCATTER:
                if (input == (m_schedule.operation == Operation::REDUCE_SCATTER) ||
                    m_schedule.GetOwner(i) == gpu)
                {
                    content.push_back(i);
                }
                break;
            default:
                if (input ? m_schedule.HasAtStart(gpu, i)
                          : m_schedule.GetPromise(gpu, i) != CollectiveSchedule::Promise::NOTHING)
                {
                    content.push_back(i);
                }
            }
        }
        return content;
    }

    /** Gives number 0 to each chunk where it is at the start, or where only its end is. */
    void PlaceChunks()
    {
        for (uint32_t id = 0; id < m_gpus.size(); id++)
        {
            Gpu& gpu = m_gpus[id];
            for (bool input : {true, false})
            {
                uint64_t offset = 0;
                for (uint32_t chunk : GetContent(id, input))
                {
                    const Place place = Resolve(id, {input ? 'i' : 'o', offset++});
                    if (gpu.used.emplace(chunk, 1).second)
                    {
                        gpu.copies[{place, chunk}] = 0;
                    }
                    if (input)
                    {
                        gpu.holds[place] = chunk;
                    }
                }
            }
        }
    }

    /** @return number of the chunk as a copy in a place */
    uint32_t GetNumber(uint32_t id, Place place, uint32_t chunk)
    {
        Gpu& gpu = m_gpus[id];
        const auto [found, isNew] = gpu.copies.emplace(std::pair(place, chunk), 0);
        if (isNew)
        {
            found->second = gpu.used[chunk]++;
            if (found->second >= CollectiveSchedule::MOST_COPIES)
            {
                throw ConfigurationError(m_name + ": gpu " + std::to_string(id) + " keeps " +
                                         std::to_string(found->second + 1) + " copies of chunk " +
                                         std::to_string(chunk) + " (allowed: up to " +
                                         std::to_string(CollectiveSchedule::MOST_COPIES) + ")");
            }
        }
        return found->second * m_schedule.chunks + chunk;
    }

    std::vector<uint32_t> GetNumbers(uint32_t id, Place place, const std::vector<uint32_t>& chunks)
    {
        std::vector<uint32_t> numbers;
        for (uint32_t chunk : chunks)
        {
            numbers.push_back(GetNumber(id, Resolve(id, place), chunk));
            place.offset++;
        }
        return numbers;
    }

    std::vector<uint32_t> GetHeld(uint32_t id, Place place, const Step& step) const
    {
        std::vector<uint32_t> chunks;
        for (uint32_t i = 0; i < step.count; i++, place.offset++)
        {
            const auto held = m_gpus[id].holds.find(Resolve(id, place));
            if (held == m_gpus[id].holds.end())
            {
                throw ConfigurationError(step.where + ": there is nothing yet in " + place.buffer +
                                         "[" + std::to_string(place.offset) + "]");
            }
            chunks.push_back(held->second);
        }
        return chunks;
    }

    void Hold(uint32_t id, Place place, const std::vector<uint32_t>& chunks)
    {
        for (uint32_t chunk : chunks)
        {
            m_gpus[id].holds[Resolve(id, place)] = chunk;
            place.offset++;
        }
    }

    ChunkList Compress(const std::vector<uint32_t>& numbers) const
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

    /** Adds what moves chunks between places of a gpu. @return the actions */
    std::vector<uint32_t> AddLocal(Kind kind,
                                   uint32_t id,
                                   uint32_t depth,
                                   const std::vector<uint32_t>& from,
                                   const std::vector<uint32_t>& to,
                                   const std::vector<uint32_t>& after)
    {
        std::map<uint32_t, std::vector<uint32_t>> byCopy; // of the source
        for (std::size_t i = 0; i < from.size(); i++)
        {
            if (from[i] != to[i])
            {
                byCopy[from[i] / m_schedule.chunks].push_back(to[i]);
            }
        }
        std::vector<uint32_t> actions;
        for (const auto& [copy, numbers] : byCopy)
        {
            actions.push_back(m_schedule.Add(id, kind, copy, Compress(numbers), depth, after));
        }
        return actions.empty() ? after : actions;
    }

    bool IsReady(const Block& block) const
    {
        const Step& step = block.steps[block.done];
        if (step.receives)
        {
            const auto queue = m_messages.find({*block.receive, block.gpu, block.channel});
            if (queue == m_messages.end() || queue->second.empty())
            {
                return false;
            }
        }
        return !step.block || m_gpus[block.gpu].blocks.at(*step.block).done > step.step;
    }

    void CarryOut()
    {
        CheckReferences();
        bool progress = true;
        while (progress)
        {
            progress = false;
            for (Gpu& gpu : m_gpus)
            {
                for (auto& [number, block] : gpu.blocks)
                {
                    while (block.done < block.steps.size() && IsReady(block))
                    {
                        CarryOut(block, number);
                        block.done++;
                        progress = true;
                    }
                }
            }
        }
        for (const Gpu& gpu : m_gpus)
        {
            for (const auto& [number, block] : gpu.blocks)
            {
                if (block.done < block.steps.size())
                {
                    throw ConfigurationError(block.steps[block.done].where +
                                             ": waits for what never comes");
                }
            }
        }
        for (const auto& [key, queue] : m_messages)
        {
            if (!queue.empty())
            {
                const auto [from, to, channel] = key;
                throw ConfigurationError(m_name + ": a message from gpu " + std::to_string(from) +
                                         " to gpu " + std::to_string(to) + " on channel " +
                                         std::to_string(channel) + " is never received");
            }
        }
    }

    void CheckReferences() const
    {
        for (const Gpu& gpu : m_gpus)
        {
            for (const auto& [number, block] : gpu.blocks)
            {
                for (const Step& step : block.steps)
                {
                    const auto other =
                        step.block ? gpu.blocks.find(*step.block) : gpu.blocks.begin();
                    if (step.block &&
                        (other == gpu.blocks.end() || step.step >= other->second.steps.size()))
                    {
                        throw ConfigurationError(
                            step.where + ": depid=\"" + std::to_string(*step.block) + "\" deps=\"" +
                            std::to_string(step.step) + "\", which does not exist");
                    }
                }
            }
        }
    }

    void CarryOut(Block& block, uint32_t number)
    {
        Step& step = block.steps[block.done];
        const uint32_t id = block.gpu;
        std::vector<uint32_t> after;
        const auto waitFor = [&](const Step& before) {
            after.insert(after.end(), before.last.begin(), before.last.end());
            step.depth = std::max(step.depth, before.depth);
        };
        if (block.done > 0)
        {
            waitFor(block.steps[block.done - 1]);
        }
        if (step.block)
        {
            waitFor(m_gpus[id].blocks.at(*step.block).steps[step.step]);
        }
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (step.receives)
        {
            after = Receive(block, number, step, after);
        }
        else if (step.copies || step.adds)
        {
            const auto chunks = GetHeld(id, step.source, step);
            if (step.adds && GetHeld(id, step.target, step) != chunks)
            {
                throw ConfigurationError(step.where + ": adds different chunks");
            }
            const auto from = GetNumbers(id, step.source, chunks);
            const auto to = GetNumbers(id, step.target, chunks);
            if (step.adds && from == to)
            {
                throw ConfigurationError(step.where + ": adds chunks to themselves");
            }
            after =
                AddLocal(step.adds ? Kind::REDUCE : Kind::COPY, id, step.depth, from, to, after);
            Hold(id, step.target, chunks);
        }
        if (step.sends)
        {
            const Place place = !step.receives ? step.source
                                : step.stores  ? step.target
                                               : Place{TEMPORARY, number * MOST_CHUNKS};
            const auto chunks = GetHeld(id, place, step);
            const uint32_t message = m_counts[{id, *block.send, step.depth}]++;
            m_messages[{id, *block.send, block.channel}].push_back({chunks, step.depth, message});
            after = {m_schedule.Add(id,
                                    Kind::SEND,
                                    *block.send,
                                    Compress(GetNumbers(id, place, chunks)),
                                    step.depth,
                                    after,
                                    message)};
        }
        step.last = after;
    }

    std::vector<uint32_t> Receive(const Block& block,
                                  uint32_t number,
                                  Step& step,
                                  std::vector<uint32_t> after)
    {
        const uint32_t id = block.gpu;
        auto& queue = m_messages[{*block.receive, id, block.channel}];
        const Message message = queue.front();
        queue.pop_front();
        if (message.chunks.size() != step.count)
        {
            throw ConfigurationError(
                step.where + ": receives " + std::to_string(message.chunks.size()) +
                " chunks (allowed: cnt=\"" + std::to_string(step.count) + "\")");
        }
        const Place target = step.stores ? step.target : Place{TEMPORARY, number * MOST_CHUNKS};
        const auto to = GetNumbers(id, target, message.chunks);
        if (step.adds)
        {
            if (GetHeld(id, step.source, step) != message.chunks)
            {
                throw ConfigurationError(step.where + ": adds different chunks");
            }
            after = AddLocal(Kind::COPY,
                             id,
                             step.depth,
                             GetNumbers(id, step.source, message.chunks),
                             to,
                             after);
        }
        Hold(id, target, message.chunks);
        const uint32_t action = m_schedule.Add(id,
                                               step.adds ? Kind::RECEIVE_REDUCE : Kind::RECEIVE,
                                               *block.receive,
                                               Compress(to),
                                               message.step,
                                               after,
                                               message.number);
        step.depth = std::max(step.depth, message.step + 1);
        return {action};
    }

    /** Copies what has its end elsewhere than its start there, when all else is done. */
    void CollectOutputs()
    {
        for (uint32_t id = 0; id < m_gpus.size(); id++)
        {
            std::vector<uint32_t> after;
            uint32_t depth = 0;
            for (const auto& [number, block] : m_gpus[id].blocks)
            {
                if (!block.steps.empty())
                {
                    const Step& last = block.steps.back();
                    after.insert(after.end(), last.last.begin(), last.last.end());
                    depth = std::max(depth, last.depth);
                }
            }
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            std::vector<uint32_t> from;
            std::vector<uint32_t> to;
            uint64_t offset = 0;
            for (uint32_t chunk : GetContent(id, false))
            {
                const Place place = Resolve(id, {'o', offset});
                const auto held = m_gpus[id].holds.find(place);
                if (held == m_gpus[id].holds.end() || held->second != chunk)
                {
                    throw ConfigurationError(
                        m_name + ": gpu " + std::to_string(id) + ": o[" + std::to_string(offset) +
                        "] holds " +
                        (held == m_gpus[id].holds.end() ? "nothing" : "another chunk") +
                        " at the end");
                }
                from.push_back(GetNumber(id, place, chunk));
                to.push_back(chunk);
                offset++;
            }
            AddLocal(Kind::COPY, id, depth, from, to, after);
        }
    }

    using Connection = std::tuple<uint32_t, uint32_t, uint32_t>; // gpu, peer, channel or step

    std::string m_name;
    CollectiveSchedule m_schedule;
    bool m_inPlace{false};
    uint32_t m_chunks{0}; // of the whole vector, or of what one gpu has in an all-to-all
    std::vector<Gpu> m_gpus;
    std::set<Connection> m_senders;
    std::set<Connection> m_receivers;
    std::map<Connection, std::deque<Message>> m_messages; // from, to, channel
    std::map<Connection, uint32_t> m_counts;              // messages, by from, to, step
};

} // namespace

CollectiveSchedule
ReadMscclSchedule(const std::string& text, const std::string& name)
{
    return MscclImport(name).Read(text);
}

} // namespace ns3::training
