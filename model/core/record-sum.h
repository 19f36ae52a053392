/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RECORD_SUM_H
#define DISTRIBUTED_TRAINING_RECORD_SUM_H

#include "training-byte-archive.h"
#include "training-processes.h"
#include "training-record-field.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 * Adds the described numbers and times of a record to those of another one. A boolean is true if
 * one of the two is; texts stay.
 * @param fields of the records
 * @param other to add
 * @param sum receives the sums
 */
template <class Record>
void
AddMembers(const std::vector<RecordField<Record>>& fields, const Record& other, Record& sum)
{
    for (const RecordField<Record>& field : fields)
    {
        std::visit(
            [&](auto pointer) {
                using Value = std::decay_t<decltype(sum.*pointer)>;
                if constexpr (std::is_same_v<Value, bool>)
                {
                    sum.*pointer = sum.*pointer || other.*pointer;
                }
                else if constexpr (!std::is_same_v<Value, std::string>)
                {
                    sum.*pointer += other.*pointer;
                }
            },
            field.member);
    }
}

/**
 * @ingroup distributed-training-results
 * Adds up records of all processes, each of which counts what it simulates. Collective: all
 * processes call it (see Processes), with as many records.
 * @param fields of the records
 * @param records of this process
 * @return by place, this process's record with the sums of all, see AddMembers()
 */
template <class Record>
std::vector<Record>
SumOverProcesses(const std::vector<RecordField<Record>>& fields, std::vector<Record> records)
{
    const auto forEach = [&](Record& record, const auto& work) {
        for (const RecordField<Record>& field : fields)
        {
            std::visit([&](auto pointer) { work(record.*pointer); }, field.member);
        }
    };
    ByteWriter writer;
    for (Record& record : records)
    {
        forEach(record, [&writer](const auto& value) { writer(value); });
    }
    const auto all = Processes::Gather(writer.GetText());
    for (std::size_t process = 0; process < all.size(); process++)
    {
        ByteReader reader(all[process].data(), all[process].size());
        for (Record& record : records)
        {
            Record other{};
            forEach(other, [&reader](auto& value) { reader(value); });
            if (process != Processes::GetId())
            {
                AddMembers(fields, other, record);
            }
        }
    }
    return records;
}

/**
 * @ingroup distributed-training-results
 * @tparam Derived a record that has the members of another one and more
 * @param fields of the other one
 * @return the same fields of the derived record
 */
template <class Derived, class Base>
std::vector<RecordField<Derived>>
InheritFields(const std::vector<RecordField<Base>>& fields)
{
    std::vector<RecordField<Derived>> derived;
    for (const RecordField<Base>& field : fields)
    {
        std::visit(
            [&](auto pointer) {
                using Value = std::decay_t<decltype(std::declval<Base>().*pointer)>;
                derived.push_back(
                    {field.name, field.unit, field.help, static_cast<Value Derived::*>(pointer)});
            },
            field.member);
    }
    return derived;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RECORD_SUM_H
