/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-trace.h"

#include "protobuf-reader.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-input-file.h"

#include <cstddef>
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

/// Fields of the schema before 1.0 that are attributes today, by number.
const std::map<uint32_t, std::string>&
GetOldFields()
{
    static const std::map<uint32_t, std::string> fields{
        {12, "num_ops"},
        {13, "comm_type"},
        {15, "comm_group"},
        {16, "comm_src"},
        {17, "comm_dst"},
        {18, "comm_size"},
        {19, "comm_tag"},
        {20, "comm_priority"},
    };
    return fields;
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
ReadAttribute(std::string_view bytes, ChakraNode& node)
{
    constexpr uint32_t DOUBLE = 3;
    constexpr uint32_t FLOAT = 5;
    constexpr uint32_t STRING = 29;
    constexpr uint32_t BYTES = 31;
    ProtobufReader reader(bytes);
    std::string name;
    std::optional<int64_t> number;
    std::optional<std::string> text;
    while (reader.Next())
    {
        const uint32_t field = reader.GetField();
        if (field == 1)
        {
            name = reader.GetBytes();
        }
        else if (field == DOUBLE || field == FLOAT)
        {
            number = static_cast<int64_t>(reader.GetNumber());
        }
        else if (field == STRING || field == BYTES)
        {
            text = std::string(reader.GetBytes());
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
    if (number)
    {
        node.numbers[name] = *number;
    }
    if (text)
    {
        node.texts[name] = *text;
    }
}

/** A node as it is written, before its schema is known. */
struct RawNode
{
    ChakraNode node;
    uint32_t type{0};
    std::vector<uint64_t> fourth; // numbers of field 4
    std::vector<uint64_t> fifth;  // numbers of field 5
    uint64_t sixth{0};            // number of field 6
};

RawNode
ReadNode(std::string_view bytes, bool& hasAttributes, bool& hasOldFields)
{
    RawNode raw;
    ProtobufReader reader(bytes);
    while (reader.Next())
    {
        const uint32_t field = reader.GetField();
        switch (field)
        {
        case ID:
            raw.node.id = reader.GetInteger();
            break;
        case NAME:
            raw.node.name = MakePrintableName(std::string(reader.GetBytes()));
            break;
        case TYPE:
            raw.type = static_cast<uint32_t>(reader.GetInteger());
            break;
        case CONTROL_DEPENDENCIES:
            AddNumbers(reader, raw.fourth);
            break;
        case DATA_DEPENDENCIES:
            AddNumbers(reader, raw.fifth);
            break;
        case START_TIME:
            raw.sixth = reader.GetInteger();
            break;
        case DURATION:
            raw.node.durationMicros = reader.GetInteger();
            break;
        case INPUTS: {
            if (reader.GetType() != Type::BYTES)
            {
                break;
            }
            ProtobufReader values(reader.GetBytes());
            while (values.Next())
            {
                if (values.GetField() == 1 && values.GetType() == Type::BYTES)
                {
                    raw.node.inputs.emplace_back(values.GetBytes());
                }
            }
            break;
        }
        case ATTRIBUTE:
            ReadAttribute(reader.GetBytes(), raw.node);
            hasAttributes = true;
            break;
        default:
            hasOldFields = hasOldFields || field >= FIRST_OLD_FIELD;
            const auto old = GetOldFields().find(field);
            if (old != GetOldFields().end() && reader.GetType() != Type::BYTES)
            {
                raw.node.numbers[old->second] = static_cast<int64_t>(reader.GetInteger());
            }
            break;
        }
    }
    return raw;
}

/** Translates types and collectives of the schema before 1.0. */
void
TranslateOld(RawNode& raw)
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
    raw.node.type = raw.type <= 6 ? TYPES[raw.type] : ChakraType::INVALID;
    raw.node.dataDependencies = raw.fourth;
    raw.node.numbers["tensor_size"] = static_cast<int64_t>(raw.sixth);
    const auto type = raw.node.numbers.find("comm_type");
    if (type != raw.node.numbers.end() && type->second >= 1 && type->second <= 4)
    {
        type->second = static_cast<int64_t>(COLLECTIVES[type->second - 1]);
    }
}

} // namespace

std::optional<int64_t>
ChakraNode::Find(const std::string& attribute) const
{
    const auto found = numbers.find(attribute);
    return found == numbers.end() ? std::nullopt : std::make_optional(found->second);
}

std::vector<ChakraNode>
ReadChakraTrace(const std::string& path, const std::string& bytes)
{
    std::vector<RawNode> raws;
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
            ProtobufReader first(content);
            const bool isMetadata = message == 0 && first.Next() &&
                                    first.GetType() == Type::BYTES &&
                                    first.GetField() <= 2; // a node has its number first
            if (!isMetadata)
            {
                raws.push_back(ReadNode(content, hasAttributes, hasOldFields));
            }
        }
        catch (const ProtobufError& error)
        {
            throw ConfigurationError(path + ": message " + std::to_string(message) + " at byte " +
                                     std::to_string(offset) + " " + error.what() +
                                     " (allowed: whole Chakra traces)");
        }
    }
    std::vector<ChakraNode> nodes;
    for (RawNode& raw : raws)
    {
        if (hasOldFields && !hasAttributes)
        {
            TranslateOld(raw);
        }
        else
        {
            raw.node.type =
                raw.type <= 10 ? static_cast<ChakraType>(raw.type) : ChakraType::INVALID;
            raw.node.controlDependencies = std::move(raw.fourth);
            raw.node.dataDependencies = std::move(raw.fifth);
            raw.node.startMicros = raw.sixth;
        }
        nodes.push_back(std::move(raw.node));
    }
    return nodes;
}

bool
IsChakraTrace(const std::string& bytes)
{
    std::string_view rest = bytes;
    try
    {
        const uint64_t size = ProtobufReader::TakeVarint(rest);
        const uint64_t key = ProtobufReader::TakeVarint(rest);
        constexpr uint64_t NUMBER_OF_NODE = 8; // field 1, a number
        constexpr uint64_t VERSION = 10;       // field 1, bytes
        constexpr uint64_t METADATA = 18;      // field 2, bytes
        return size > 1 && (key == NUMBER_OF_NODE || key == VERSION || key == METADATA);
    }
    catch (const ProtobufError&)
    {
        return false;
    }
}

} // namespace ns3::training
