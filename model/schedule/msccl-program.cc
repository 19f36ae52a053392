/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/msccl-program.h"

#include "collective-schedule.h"
#include "core/input-file.h"
#include "core/input-manifest.h"
#include "core/xml-tree.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;
using Tree = boost::property_tree::ptree;

constexpr uint64_t MAX_GPUS = 65535;

/** An element of the file with its attributes and its location. */
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

    /** @return a number; none for -1 or if the attribute is missing */
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

/** Parser of an MSCCL file. */
class MscclReader
{
  public:
    explicit MscclReader(const std::string& name)
        : m_name(name)
    {
    }

    MscclProgram Read(const std::string& text)
    {
        ReadAlgorithm(ReadXmlTree(text, m_name, "algo", "an MSCCL algorithm"));
        CheckReferences();
        return std::move(m_program);
    }

  private:
    void ReadAlgorithm(const Tree& tree)
    {
        const Element algorithm(tree, m_name);
        m_program.name = MakePrintableName(algorithm.Find("name").value_or("msccl"));
        m_program.gpus.resize(algorithm.GetNumber("ngpus", 1, MAX_GPUS));
        m_program.inPlace = algorithm.Find("inplace").value_or("0") != "0";
        ReadWords(algorithm);
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
        m_program.operation = operation->second;
        const auto n = static_cast<uint32_t>(m_program.gpus.size());
        m_program.root = algorithm.FindNumber("root", n - 1).value_or(0);
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
            largest =
                std::max({largest, m_program.gpus[id].sizes['i'], m_program.gpus[id].sizes['o']});
        }
        const auto missing = std::find(seen.begin(), seen.end(), false);
        if (missing != seen.end())
        {
            algorithm.Refuse("no gpu " + std::to_string(missing - seen.begin()));
        }
        m_program.chunks = algorithm.Find("nchunksperloop")
                               ? algorithm.GetNumber("nchunksperloop", 1, MscclProgram::MAX_CHUNKS)
                               : largest;
        const bool pairs = m_program.operation == Operation::ALL_TO_ALL;
        const bool parts = pairs || m_program.operation == Operation::ALL_GATHER ||
                           m_program.operation == Operation::REDUCE_SCATTER;
        const uint64_t chunks = uint64_t{m_program.chunks} * (pairs ? n : 1);
        if (m_program.chunks == 0 || (parts && m_program.chunks % n != 0) ||
            chunks > MscclProgram::MAX_CHUNKS)
        {
            algorithm.Refuse(std::to_string(m_program.chunks) + " chunks for " + std::to_string(n) +
                             " gpus (allowed: " + (parts ? "multiples of the gpus" : "1 and more") +
                             ", up to " +
                             std::to_string(MscclProgram::MAX_CHUNKS / (pairs ? n : 1)) + ")");
        }
    }

    /** Reads the attributes that are words. */
    void ReadWords(const Element& algorithm)
    {
        InputManifest::File& file = InputManifest::Begin(m_name);
        const std::vector<std::string>& protocols = CollectiveSchedule::GetProtocols();
        const std::string name = algorithm.Find("proto").value_or(protocols[0]);
        const auto protocol = std::find(protocols.begin(), protocols.end(), name);
        if (protocol == protocols.end())
        {
            algorithm.Refuse("proto=\"" + MakePrintableName(name) +
                             "\" (allowed: Simple, LL, LL128)");
        }
        m_program.protocol = static_cast<uint32_t>(protocol - protocols.begin());
        file.Use();
        const std::string reduction = algorithm.Find("redop").value_or("sum");
        static const std::set<std::string> reductions{"avg", "max", "min", "nop", "prod", "sum"};
        if (reductions.count(reduction) == 0)
        {
            algorithm.Refuse("redop=\"" + MakePrintableName(reduction) +
                             "\" (allowed: avg, max, min, nop, prod, sum)");
        }
        const auto where = [this] { return m_name; };
        if (reduction != "sum" && reduction != "nop")
        {
            file.Ignore("redop " + reduction + ", as numbers are added", where);
        }
        for (const std::string key : {"minBytes", "maxBytes"})
        {
            if (algorithm.Find(key))
            {
                file.Ignore("attribute " + key, where);
            }
        }
    }

    void ReadGpu(const Element& element, const Tree& tree, uint32_t id)
    {
        MscclGpu& gpu = m_program.gpus[id];
        gpu.sizes['i'] = element.GetNumber("i_chunks", 0, MscclProgram::MAX_CHUNKS);
        gpu.sizes['o'] = element.GetNumber("o_chunks", 0, MscclProgram::MAX_CHUNKS);
        gpu.sizes['s'] = element.GetNumber("s_chunks", 0, MscclProgram::MAX_CHUNKS);
        const uint64_t last = m_program.gpus.size() - 1;
        for (const auto& [key, child] : tree)
        {
            if (key != "tb")
            {
                continue;
            }
            const uint32_t number = Element(child, element.GetWhere() + ", tb")
                                        .GetNumber("id", 0, MscclProgram::MAX_CHUNKS);
            const Element tb(child, element.GetWhere() + ", tb " + std::to_string(number));
            MscclBlock block{tb.FindNumber("send", last),
                             tb.FindNumber("recv", last),
                             tb.FindNumber("chan", MscclProgram::MAX_CHUNKS).value_or(0),
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

    static MscclStep ReadStep(const Element& element,
                              bool newer,
                              const MscclBlock& block,
                              const MscclGpu& gpu)
    {
        const auto place = static_cast<uint32_t>(block.steps.size());
        element.GetNumber(newer ? "step" : "s", place, place);
        const std::string type = element.Get("type");
        MscclStep step;
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
        step.block = element.FindNumber("depid", MscclProgram::MAX_CHUNKS);
        if (step.block)
        {
            step.step = element.GetNumber("deps", 0, MscclProgram::MAX_CHUNKS);
        }
        if (type == "nop")
        {
            return step;
        }
        step.count =
            element.Find("cnt") ? element.GetNumber("cnt", 1, MscclProgram::MAX_CHUNKS) : 1;
        // The source of a receive and the destination of a send are at the peer.
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

    static MscclPlace ReadPlace(const Element& element,
                                const std::string& side,
                                uint32_t count,
                                const MscclGpu& gpu)
    {
        // The newer format has one slot for source and destination.
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

    void CheckReferences() const
    {
        for (const MscclGpu& gpu : m_program.gpus)
        {
            for (const auto& [number, block] : gpu.blocks)
            {
                for (const MscclStep& step : block.steps)
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

    using Connection = std::tuple<uint32_t, uint32_t, uint32_t>; // gpu, peer, channel

    std::string m_name;
    MscclProgram m_program;
    std::set<Connection> m_senders;
    std::set<Connection> m_receivers;
};

} // namespace

MscclProgram
ReadMscclProgram(const std::string& text, const std::string& name)
{
    return MscclReader(name).Read(text);
}

} // namespace ns3::training
