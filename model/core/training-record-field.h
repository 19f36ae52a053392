/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RECORD_FIELD_H
#define DISTRIBUTED_TRAINING_RECORD_FIELD_H

#include "training-json-writer.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Description of one member of a record. SQLite columns, JSON objects, inter-process messages and
 * help texts are all generated from lists of these descriptions.
 *
 * @code
 *   struct Sample { double timeS; bool verified; };
 *
 *   const std::vector<RecordField<Sample>> FIELDS{
 *       {"time_s", "s", "time of the sample", &Sample::timeS},
 *       {"verified", "", "whether the result was compared", &Sample::verified}};
 *
 *   JsonValue object = JsonValue::Object();
 *   SetMembers(object, FIELDS, sample);
 * @endcode
 *
 * @tparam Record a struct
 */
template <class Record>
struct RecordField
{
    /** Pointer to a member. Every output format supports these types. */
    using Member = std::variant<bool Record::*,
                                uint32_t Record::*,
                                uint64_t Record::*,
                                double Record::*,
                                Time Record::*,
                                std::string Record::*>;

    std::string name; ///< table column and JSON key; ends with the unit
    std::string unit; ///< unit of the value, such as s; empty: none
    std::string help; ///< meaning, one line
    Member member;    ///< pointer to the member

    /**
     * @param visitor function called with the value of this field, of a Time in seconds
     * @param record the record to read
     */
    template <class Visitor>
    void Visit(const Visitor& visitor, const Record& record) const
    {
        std::visit(
            [&](auto pointer) {
                if constexpr (std::is_same_v<decltype(pointer), Time Record::*>)
                {
                    visitor((record.*pointer).GetSeconds());
                }
                else
                {
                    visitor(record.*pointer);
                }
            },
            member);
    }

    /** @return type name in JSON: boolean, integer, number, text */
    std::string GetTypeName() const
    {
        return std::visit(
            [](auto pointer) -> std::string {
                using Value = std::decay_t<decltype(std::declval<Record>().*pointer)>;
                if constexpr (std::is_same_v<Value, bool>)
                {
                    return "boolean";
                }
                else if constexpr (std::is_integral_v<Value>)
                {
                    return "integer";
                }
                else
                {
                    return std::is_same_v<Value, std::string> ? "text" : "number";
                }
            },
            member);
    }
};

/**
 * @ingroup distributed-training-results
 * Adds a member to a JSON object for each field of a record.
 * @param object JSON object to add to
 * @param fields field descriptions, as RecordField
 * @param record the record to read
 */
template <class Fields, class Record>
void
SetMembers(JsonValue& object, const Fields& fields, const Record& record)
{
    for (const auto& field : fields)
    {
        field.Visit([&](const auto& value) { object.Set(field.name, value); }, record);
    }
}

/**
 * @ingroup distributed-training-results
 * @param fields field descriptions, as RecordField
 * @return JSON array of objects with name, type, unit and help
 */
template <class Fields>
JsonValue
DescribeFields(const Fields& fields)
{
    auto array = JsonValue::Array();
    for (const auto& field : fields)
    {
        array.Append(JsonValue::Object()
                         .Set("name", field.name)
                         .Set("type", field.GetTypeName())
                         .Set("unit", field.unit)
                         .Set("help", field.help));
    }
    return array;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RECORD_FIELD_H
