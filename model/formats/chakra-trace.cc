/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/chakra-trace.h"

#include "core/input-file.h"
#include "formats/protobuf-reader.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace ns3::training
{

namespace
{

using Type = ProtobufReader::Type;

/// Fields of a node that both schemas have, or today's has.
enum NodeField : uint32_t
{
    ID = 1,
    NAME = 2,
    TYPE = 3,
    CONTROL_DEPENDENCIES = 4, // before: parents, whose results it needs
    DATA_DEPENDENCIES = 5,    // before: place of the tensor
    START_TIME = 6,           // before: size of the tensor
    DURATION = 7,
    INPUTS = 8,
    ATTRIBUTE = 10,
    FIRST_OLD_FIELD = 12
};

/// Names of the attributes, by ChakraNumber.
constexpr const char* NUMBERS[] = {"is_cpu_op",
                                   "num_ops",
                                   "tensor_size",
                                   "comm_type",
                                   "comm_size",
                                   "comm_src",
                                   "comm_dst",
                                   "comm_tag",
                                   "comm_priority",
                                   "comm_group",
                                   "root",
                                   "stream"};

/** @return the attribute of a field of the schema before 1.0, or none */
std::optional<ChakraNumber>
FindOldField(uint32_t field)
{
    switch (field)
    {
    case 12:
        return ChakraNumber::OPERATIONS;
    case 13:
        return ChakraNumber::COLLECTIVE;
    case 15:
        return ChakraNumber::GROUP;
    case 16:
        return ChakraNumber::SOURCE;
    case 17:
        return ChakraNumber::TARGET;
    case 18:
        return ChakraNumber::BYTES;
    case 19:
        return ChakraNumber::TAG;
    case 20:
        return ChakraNumber::PRIORITY;
    default:
        return std::nullopt;
    }
}

/** Adds a number, or packed numbers, to a list. */
void
AddNumbers(const ProtobufReader& reader, std::vector<uint64_t>& list)
{
    if (reader.GetType() != Type::BYTES)
    {
        list.push_back(reader.GetInteger());
        return;
    }
    std::string_view packed = reader.GetBytes();
    while (!packed.empty())
    {
        list.push_back(ProtobufReader::TakeVarint(packed));
    }
}

/** Reads an AttributeProto: a name, and one of many kinds of values. */
void
ReadAttribute(std::string_view bytes,
              ChakraNode& node,
              const std::string& path,
              InputManifest::File& file)
{
    constexpr uint32_t DOUBLE = 3;
    constexpr uint32_t FLOAT = 5;
    constexpr uint32_t BOOLEANS = 28;
    constexpr uint32_t STRING = 29;
    constexpr uint32_t BYTES = 31;
    ProtobufReader reader(bytes);
    std::string_view name;
    std::optional<int64_t> number;
    std::string_view text;
    std::vector<uint64_t> booleans;
    while (reader.Next())
    {
        const uint32_t field = reader.GetField();
        if (field == 1)
        {
            name = reader.GetBytes();
        }
        else if (field == DOUBLE || field == FLOAT)
        {
            const double value = reader.GetNumber();
            constexpr double MOST = 9e18; // else not a whole number of 64 bits
            number = std::abs(value) < MOST ? static_cast<int64_t>(value) : -1;
        }
        else if (field == BOOLEANS && reader.GetType() == Type::BYTES)
        {
            ProtobufReader list(reader.GetBytes());
            while (list.Next())
            {
                AddNumbers(list, booleans);
            }
        }
        else if (field == STRING || field == BYTES)
        {
            text = reader.GetBytes();
        }
        else if (field > 2 && reader.GetType() != Type::BYTES)
        {
            const uint64_t value = reader.GetInteger();
            // sint32 and sint64 are written as zigzag.
            const bool isZigzag = field == 15 || field == 17;
            number = isZigzag ? static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1)
                              : static_cast<int64_t>(value);
        }
    }
    const auto known = std::find(std::begin(NUMBERS), std::end(NUMBERS), name);
    if (number && known != std::end(NUMBERS))
    {
        node.numbers.emplace_back(static_cast<ChakraNumber>(known - std::begin(NUMBERS)), *number);
    }
    const bool isUsed =
        (number && known != std::end(NUMBERS)) || name == "involved_dim" || name == "pg_name";
    if (isUsed)
    {
        file.Use();
    }
    else
    {
        file.Ignore("attribute '" + std::string(name) + "'",
                    [&] { return path + ": node " + std::to_string(node.id); });
    }
    if (name == "involved_dim")
    {
        node.dimensions.assign(booleans.begin(), booleans.end());
    }
    if (name == "pg_name")
    {
        node.group = std::string(text);
    }
}

/** @return the list of process groups in an input or output of a node (IOInfo); empty: none */
std::string
FindGroups(std::string_view bytes)
{
    ProtobufReader values(bytes);
    while (values.Next())
    {
        if (values.GetField() != 1 || values.GetType() != Type::BYTES)
        {
            continue;
        }
        const std::string_view text = values.GetBytes();
        const auto begin = text.find("[{");
        const auto end = text.rfind(']');
        // Two characters enclose it in traces of PyTorch.
        if (text.find("pg_name") != std::string_view::npos && begin != std::string_view::npos &&
            end != std::string_view::npos && begin < end)
        {
            return std::string(text.substr(begin, end + 1 - begin));
        }
    }
    return "";
}

/** @return whether the first message describes the trace, and is no node: version, attributes */
bool
IsMetadata(std::string_view content)
{
    ProtobufReader reader(content);
    while (reader.Next())
    {
        if (reader.GetField() > 2 || reader.GetType() != Type::BYTES)
        {
            return false;
        }
    }
    return true;
}

/** @return a node with the types and dependencies as they are written */
ChakraNode
ReadNode(std::string_view bytes,
         bool& hasAttributes,
         bool& hasOldFields,
         const std::string& path,
         InputManifest::File& file)
{
    ChakraNode node;
    ProtobufReader reader(bytes);
    while (reader.Next())
    {
        const uint32_t field = reader.GetField();
        switch (field)
        {
        case ID:
            node.id = reader.GetInteger();
            break;
        case NAME:
            node.name = MakePrintableName(std::string(reader.GetBytes()));
            break;
        case TYPE:
            node.writtenType = static_cast<uint32_t>(reader.GetInteger());
            break;
        case CONTROL_DEPENDENCIES:
            AddNumbers(reader, node.controlDependencies);
            break;
        case DATA_DEPENDENCIES:
            AddNumbers(reader, node.dataDependencies);
            break;
        case START_TIME:
            node.startMicros = reader.GetInteger();
            break;
        case DURATION:
            node.durationMicros = reader.GetInteger();
            break;
        case INPUTS:
            if (reader.GetType() == Type::BYTES && node.groups.empty())
            {
                node.groups = FindGroups(reader.GetBytes());
            }
            break;
        case ATTRIBUTE:
            ReadAttribute(reader.GetBytes(), node, path, file);
            hasAttributes = true;
            break;
        default:
            hasOldFields = hasOldFields || field >= FIRST_OLD_FIELD;
            const auto old = FindOldField(field);
            if (old && reader.GetType() != Type::BYTES)
            {
                node.numbers.emplace_back(*old, static_cast<int64_t>(reader.GetInteger()));
            }
            break;
        }
    }
    return node;
}

/** Translates types and collectives of the schema before 1.0. */
void
TranslateOld(ChakraNode& node)
{
    constexpr ChakraType TYPES[] = {ChakraType::INVALID,
                                    ChakraType::MEMORY_LOAD,
                                    ChakraType::MEMORY_STORE,
                                    ChakraType::COMPUTE,
                                    ChakraType::SEND,
                                    ChakraType::RECEIVE,
                                    ChakraType::COLLECTIVE};
    constexpr ChakraCollective COLLECTIVES[] = {ChakraCollective::ALL_REDUCE,
                                                ChakraCollective::ALL_TO_ALL,
                                                ChakraCollective::ALL_GATHER,
                                                ChakraCollective::REDUCE_SCATTER};
    node.type = node.writtenType < std::size(TYPES) ? TYPES[node.writtenType] : ChakraType::INVALID;
    node.dataDependencies = std::exchange(node.controlDependencies, {});
    node.numbers.emplace_back(ChakraNumber::MEMORY, std::exchange(node.startMicros, 0));
    for (auto& [name, value] : node.numbers)
    {
        if (name == ChakraNumber::COLLECTIVE)
        {
            value = value >= 1 && value <= 4 ? static_cast<int64_t>(COLLECTIVES[value - 1]) : -1;
        }
    }
}

} // namespace

const char*
GetName(ChakraNumber number)
{
    return NUMBERS[static_cast<uint32_t>(number)];
}

std::optional<int64_t>
ChakraNode::Find(ChakraNumber name) const
{
    for (const auto& [known, value] : numbers)
    {
        if (known == name)
        {
            return value;
        }
    }
    return std::nullopt;
}

std::vector<ChakraNode>
ReadChakraTrace(const std::string& path, const std::string& bytes, InputManifest::File& file)
{
    std::vector<ChakraNode> nodes;
    bool hasAttributes = false;
    bool hasOldFields = false;
    std::string_view rest = bytes;
    for (uint64_t message = 0; !rest.empty(); message++)
    {
        const std::size_t offset = bytes.size() - rest.size();
        try
        {
            const uint64_t size = ProtobufReader::TakeVarint(rest);
            if (size > rest.size())
            {
                throw ProtobufError("needs " + std::to_string(size) + " bytes, the file has " +
                                    std::to_string(rest.size()) + " more");
            }
            const std::string_view content = rest.substr(0, size);
            rest.remove_prefix(size);
            if (message > 0 || !IsMetadata(content))
            {
                nodes.push_back(ReadNode(content, hasAttributes, hasOldFields, path, file));
            }
        }
        catch (const ProtobufError& error)
        {
            throw ConfigurationError(path + ": message " + std::to_string(message) + " at byte " +
                                     std::to_string(offset) + " " + error.what() +
                                     " (allowed: whole Chakra traces)");
        }
    }
    for (ChakraNode& node : nodes)
    {
        if (hasOldFields && !hasAttributes)
        {
            TranslateOld(node);
        }
        else
        {
            node.type = node.writtenType <= static_cast<uint32_t>(ChakraType::CHECKPOINT)
                            ? static_cast<ChakraType>(node.writtenType)
                            : ChakraType::INVALID;
        }
    }
    return nodes;
}

bool
IsChakraTrace(const std::string& bytes)
{
    std::string_view rest = bytes;
    try
    {
        uint64_t size = ProtobufReader::TakeVarint(rest);
        if (size == 0)
        {
            size = ProtobufReader::TakeVarint(rest); // behind empty metadata
        }
        ProtobufReader reader(rest.substr(0, size));
        constexpr uint32_t LAST_FIELD = 20;
        return size > 0 && reader.Next() && reader.GetField() <= LAST_FIELD;
    }
    catch (const ProtobufError&)
    {
        return false;
    }
}

std::optional<ChakraNumber>
FindMissingNumber(const ChakraNode& node)
{
    const bool isCollective = node.type == ChakraType::COLLECTIVE;
    if (!isCollective && node.type != ChakraType::SEND && node.type != ChakraType::RECEIVE)
    {
        return std::nullopt;
    }
    const auto second = isCollective                    ? ChakraNumber::COLLECTIVE
                        : node.type == ChakraType::SEND ? ChakraNumber::TARGET
                                                        : ChakraNumber::SOURCE;
    const auto type = node.Find(ChakraNumber::COLLECTIVE);
    const bool isBarrier = isCollective && type == static_cast<int64_t>(ChakraCollective::BARRIER);
    if (!isBarrier && !node.Find(ChakraNumber::BYTES))
    {
        return ChakraNumber::BYTES;
    }
    return node.Find(second) ? std::nullopt : std::make_optional(second);
}

} // namespace ns3::training
