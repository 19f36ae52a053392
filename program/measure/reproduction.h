/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPRODUCTION_H
#define DISTRIBUTED_TRAINING_REPRODUCTION_H

#include "experiment.h"
#include "measure/recorded-collectives.h"
#include "published-table.h"

#include "ns3/training-run.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/// An unknown number: "-" in print, null in JSON.
constexpr double NONE = PublishedTable::UNKNOWN;

/**
 * @ingroup distributed-training-helper
 *
 * Named values: of a published case, or of a pass of a loop. Texts of rows have their names in
 * braces.
 */
class PublishedCase
{
  public:
    PublishedCase() = default;
    /** @param values by name */
    PublishedCase(std::initializer_list<std::pair<const std::string, std::string>> values);

    /**
     * @param name of the value
     * @param value a text or a number
     * @return this case
     */
    PublishedCase& Set(const std::string& name, const std::string& value);
    /** @copydoc Set */
    PublishedCase& Set(const std::string& name, double value);

    /**
     * @param name of the value
     * @return the text; empty if there is none
     */
    std::string GetText(const std::string& name) const;

    /**
     * @param name of the value
     * @return the number; NONE if there is none
     */
    double Get(const std::string& name) const;

    /**
     * @param name of the value
     * @return the number, which is whole
     */
    uint64_t GetCount(const std::string& name) const
    {
        return static_cast<uint64_t>(Get(name));
    }

    /**
     * @param text with names in braces
     * @return the text with their values
     */
    std::string Fill(std::string text) const;

  private:
    std::map<std::string, std::string> m_values;
};

/**
 * @ingroup distributed-training-helper
 * Reads published.toml. A list of cases in a case stands for a case for each of them, with the
 * values of both.
 * @param program its table there
 * @param name of a list of cases in it
 * @return the cases
 */
std::vector<PublishedCase> GetPublishedCases(const std::string& program, const std::string& name);

/**
 * @ingroup distributed-training-helper
 *
 * A program that repeats what a paper publishes. What is published stands in published.toml, in the
 * program's table: its parts, and in each part the title, the rows and the cases. The program
 * computes what is expected and simulates what is ours.
 *
 * @code
 *   Reproduction paper("fpga-ring");
 *   paper.GetOptions().AddRate("rate", "of every link", rate);
 *   paper.AddPart("rates", [&] { paper.Add("chain", 96.1, paper.GetSeconds(cluster, 1 << 20)); });
 *   return paper.Run(argc, argv);
 * @endcode
 */
class Reproduction
{
  public:
    /**
     * @param name of the program, and of its table
     * @param rows member of the JSON output that has the rows; empty: none
     */
    explicit Reproduction(const std::string& name, const std::string& rows = "rows");
    Reproduction(const Reproduction&) = delete;
    Reproduction& operator=(const Reproduction&) = delete;

    /** @return the options; the program adds those of its own */
    ProgramOptions& GetOptions();

    /**
     * Adds the option --mtu of a program whose rates are those of payload.
     * @param mtu receives the payload of a packet, bytes; its default
     */
    void AddMtu(uint64_t& mtu);

    /**
     * @param name for --part, and of its table in published.toml
     * @param run adds its rows
     */
    void AddPart(const std::string& name, std::function<void()> run);

    /** @param finish called after the parts; adds members to the JSON output */
    void AtEnd(std::function<void(JsonValue& document)> finish);

    /**
     * Reads the options, and runs the parts that they choose.
     * @param argc number of arguments
     * @param argv the arguments
     * @param prepare checks the options, and sets defaults of attributes that options override;
     *        empty: nothing
     * @param hosts what else is assumed of hosts, one line; empty: they have no model
     * @return exit status
     * @throw ConfigurationError if an option is invalid
     */
    int Run(int argc,
            char* argv[],
            const std::function<void()>& prepare = {},
            const std::string& hosts = "");

    /** @return whether there is print; otherwise JSON replaces it */
    bool IsPrinting() const;

    /**
     * Continues with another table of published.toml. A part begins with the one of its name.
     * @param section the table, whose title is printed
     */
    void Begin(const std::string& section);

    /**
     * Prints the headings of a table of other columns: its title is the text "table" of the current
     * table of published.toml.
     * @param columns of the table
     * @param values of the names in the title
     * @return the table, to which rows may be added
     */
    PublishedTable MakeTable(std::vector<PublishedTable::Column> columns,
                             const PublishedCase& values = {});

    /**
     * @param name of a list of cases in the current table
     * @return the cases
     */
    std::vector<PublishedCase> GetCases(const std::string& name = "cases") const;

    /**
     * Adds a row of the current table.
     * @param row its name there
     * @param expected by a closed form
     * @param ours simulated value
     * @param values of the names in its texts
     */
    void Add(const std::string& row,
             double expected,
             double ours,
             const PublishedCase& values = {});

    /** @param cost of one more simulation */
    void AddCost(const RunCost& cost);

    /**
     * Simulates collectives, one after the other.
     * @param cluster on which they run
     * @param operation collective operation
     * @param sizes of the whole vectors, bytes
     * @param real whether the payload is real
     * @return the last of them
     */
    CollectiveMeasurement Measure(const ClusterOptions& cluster,
                                  CollectiveOperation operation,
                                  const std::vector<uint64_t>& sizes,
                                  bool real = false);

    /**
     * @param cluster on which an all-reduce runs
     * @param bytes of the whole vector
     * @return its time, s
     */
    double GetSeconds(const ClusterOptions& cluster, uint64_t bytes);

    /**
     * @param options of a training
     * @return its result
     */
    TrainingRunResult Train(const TrainingRunOptions& options);

  private:
    std::string GetText(const std::string& section,
                        const std::string& row,
                        const std::string& key) const;
    std::string MakeTitle(const std::string& text);

    std::string m_name;
    std::string m_rows;
    ProgramOptions m_options;
    ExperimentParts m_parts;
    std::function<void(JsonValue&)> m_finish{[](JsonValue&) {}};
    std::string m_part{"all"};
    std::string m_json;
    RunFilesOptions m_files;
    std::unique_ptr<PublishedTable> m_table;
    JsonValue m_document{JsonValue::Object()};
    std::string m_section;
    bool m_hasBegun{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPRODUCTION_H
