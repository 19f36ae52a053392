/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_DESCRIPTION_H
#define DISTRIBUTED_TRAINING_PROGRAM_DESCRIPTION_H

#include "renamed-option.h"

#include "ns3/training-json-writer.h"
#include "ns3/training-key-values.h"

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A function that lists the alternatives of a kind, such as &DescribeAlternatives<TopologyBuilder>.
 */
using AlternativeLister = std::function<std::vector<AlternativeDescription>()>;

/**
 * @ingroup distributed-training-helper
 * Description of an option of a program.
 */
struct OptionDescription
{
    std::string group;      ///< title of its group
    Key key;                ///< name, type, help, default, and allowed values
    bool isList{false};     ///< whether it may be given several times
    std::string kind;       ///< of an option NAME:key=value,...: name of the kind
    AlternativeLister list; ///< of an option NAME:key=value,...: lists the alternatives
    std::string otherwise;  ///< of an option NAME:key=value,...: other allowed values
    /// Of a list of values NAME:key=value,...: a value.
    std::optional<AlternativeDescription> form;

    /** @return name of the type for JSON: list, choice, or as Key::GetTypeName() */
    std::string GetTypeName() const;

    /** @return the allowed values, with their units */
    std::string GetAllowed() const;
};

/**
 * @ingroup distributed-training-helper
 *
 * Description of a program's command line, and its three output forms: the overview of `--help`,
 * the details of `--help=WORD`, and the JSON of `--describe=json`.
 */
struct ProgramDescription
{
    std::string program;                    ///< name of the program
    std::string description;                ///< its purpose, one or more lines
    std::vector<OptionDescription> options; ///< in the order of the help
    std::vector<RenamedOption> renamed;     ///< former spellings, which are refused
    /// Additional members of the JSON by name, such as the quantities that the program measures.
    std::vector<std::pair<std::string, JsonValue>> members;

    /** @param output receives every option with its default, and the names of the alternatives */
    void PrintOverview(std::ostream& output) const;

    /**
     * Prints everything with a name: an option, the alternatives of a kind, or one alternative.
     * @param word name of an option, of a kind or of an alternative
     * @param output receives the details
     * @throw ConfigurationError with the existing names, if the word is unknown
     */
    void PrintDetails(const std::string& word, std::ostream& output) const;

    /** @return the description as JSON; the user guide explains its members */
    JsonValue ToJson() const;
};

/**
 * @ingroup distributed-training-helper
 * @param key description of a value
 * @param text an allowed value, or empty
 * @return a JSON number for a count, number or size (bytes), a boolean, otherwise a string
 */
JsonValue ToJsonValue(const Key& key, const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_DESCRIPTION_H
