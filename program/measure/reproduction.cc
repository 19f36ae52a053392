/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/reproduction.h"

#include "ns3/abort.h"
#include "ns3/cluster-command-line.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <boost/algorithm/string/replace.hpp>
#include <cmath>
#include <filesystem>
#include <toml++/toml.h>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return published.toml: beside the program if it is installed, otherwise where it was built */
toml::table
ParsePublished()
{
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto beside = program.parent_path() / "published.toml";
    const std::string path = !program.empty() && std::filesystem::exists(beside, error)
                                 ? beside.string()
                                 : DISTRIBUTED_TRAINING_PUBLISHED;
    try
    {
        return toml::parse_file(path);
    }
    catch (const toml::parse_error& wrong)
    {
        throw ConfigurationError(path + ":" + std::to_string(wrong.source().begin.line) + ": " +
                                 std::string(wrong.description()) +
                                 " (allowed: the file of this version, beside the program or where "
                                 "it was built)");
    }
}

/** @return a table of a program, or in a part of it */
const toml::table&
FindTable(const std::string& program, const std::string& part = "", const std::string& row = "")
{
    static const toml::table file = ParsePublished();
    auto place = file[program];
    place = part.empty() ? place : place[part];
    place = row.empty() ? place : place["rows"][row];
    NS_ABORT_MSG_UNLESS(place.as_table(),
                        "published.toml has no " << program << "." << part << " " << row);
    return *place.as_table();
}

/** @return the cases of a list */
std::vector<PublishedCase>
ReadCases(const toml::table& table, const std::string& name, const PublishedCase& outer = {})
{
    const toml::array* list = table[name].as_array();
    NS_ABORT_MSG_UNLESS(list, "published.toml has no list " << name);
    std::vector<PublishedCase> cases;
    for (const toml::node& each : *list)
    {
        NS_ABORT_MSG_UNLESS(each.is_table(), "published.toml: " << name << " has no tables");
        PublishedCase values = outer;
        std::string inner;
        for (const auto& [key, value] : *each.as_table())
        {
            const auto number = value.value<double>();
            NS_ABORT_MSG_IF(value.is_array() && !inner.empty(),
                            "published.toml: two lists in a case of " << name);
            inner = value.is_array() ? std::string(key) : inner;
            number ? values.Set(std::string(key), *number)
                   : values.Set(std::string(key), value.value_or(std::string()));
        }
        const auto more = inner.empty() ? std::vector<PublishedCase>{values}
                                        : ReadCases(*each.as_table(), inner, values);
        cases.insert(cases.end(), more.begin(), more.end());
    }
    return cases;
}

} // namespace

PublishedCase::PublishedCase(
    std::initializer_list<std::pair<const std::string, std::string>> values)
    : m_values(values)
{
}

PublishedCase&
PublishedCase::Set(const std::string& name, const std::string& value)
{
    m_values[name] = value;
    return *this;
}

PublishedCase&
PublishedCase::Set(const std::string& name, double value)
{
    return Set(name, FormatDouble(value));
}

std::string
PublishedCase::GetText(const std::string& name) const
{
    const auto found = m_values.find(name);
    return found == m_values.end() ? "" : found->second;
}

double
PublishedCase::Get(const std::string& name) const
{
    const std::string text = GetText(name);
    return text.empty() ? NONE : std::stod(text);
}

std::string
PublishedCase::Fill(std::string text) const
{
    for (const auto& [name, value] : m_values)
    {
        boost::replace_all(text, "{" + name + "}", value);
    }
    return text;
}

std::vector<PublishedCase>
GetPublishedCases(const std::string& program, const std::string& name)
{
    return ReadCases(FindTable(program), name);
}

Reproduction::Reproduction(const std::string& name, const std::string& rows)
    : m_name(name),
      m_rows(rows),
      m_options(name, GetText("", "", "description"))
{
    m_options.Group("Experiment");
}

/** @return a text of a row, or else of its section */
std::string
Reproduction::GetText(const std::string& section,
                      const std::string& row,
                      const std::string& key) const
{
    const auto ofSection = FindTable(m_name, section)[key].value_or(std::string());
    return row.empty() ? ofSection : FindTable(m_name, section, row)[key].value_or(ofSection);
}

std::string
Reproduction::MakeTitle(const std::string& text)
{
    return (std::exchange(m_hasBegun, true) ? "\n" : "") + text + "\n";
}

ProgramOptions&
Reproduction::GetOptions()
{
    return m_options;
}

void
Reproduction::AddMtu(uint64_t& mtu)
{
    m_options.AddUnsigned(
        "mtu",
        "payload of the simulation's packets; of no influence on the rate of payload",
        mtu,
        ClusterOptions::MIN_MTU,
        ClusterOptions::MAX_MTU);
}

void
Reproduction::AddPart(const std::string& name, std::function<void()> run)
{
    m_parts.emplace_back(name, [this, name, run = std::move(run)] {
        Begin(name);
        run();
    });
}

void
Reproduction::AtEnd(std::function<void(JsonValue&)> finish)
{
    m_finish = std::move(finish);
}

int
Reproduction::Run(int argc,
                  char* argv[],
                  const std::function<void()>& prepare,
                  const std::string& hosts)
{
    std::vector<std::string> names{"all"};
    std::string help;
    for (const auto& [name, run] : m_parts)
    {
        names.push_back(name);
        help += (help.empty() ? "" : "; ") + name + ": " + GetText(name, "", "help");
    }
    m_options.AddChoice("part", help, m_part, names);
    m_options.AddJson(m_json);
    m_files.AddTo(m_options);
    ClusterCommandLine::ReserveAttributes(m_options);
    m_options.Parse(argc, argv);
    const auto width = FindTable(m_name)["width"].value_or(int64_t{74});
    m_table = std::make_unique<PublishedTable>(
        std::vector<PublishedTable::Column>{{"figure", "", -static_cast<int>(width)},
                                            {"unit", "unit", 0, "", "  ", true},
                                            {"role", "role", -11, "", "  ", true},
                                            {"source", "source", 0, "", "  ", true},
                                            {"published", "published", 10, "%.5g"},
                                            {"expected", "expected", 10, "%.5g"},
                                            {"ours", "ours", 10, "%.5g"},
                                            {"error_percent", "error (%)", 10, "%+.1f"}},
        IsPrinting() ? PublishedTable::Printing::AT_ONCE : PublishedTable::Printing::NEVER);
    if (prepare)
    {
        prepare();
        m_options.Parse(argc, argv); // options of the user override the paper's attributes
    }
    RunExperiment(
        m_options,
        m_json,
        m_files,
        m_part,
        m_parts,
        [this] {
            m_finish(m_document);
            return m_rows.empty() ? m_document : m_document.Set(m_rows, m_table->GetRows());
        },
        m_table->GetCost(),
        hosts);
    return 0;
}

bool
Reproduction::IsPrinting() const
{
    return m_json != "-";
}

void
Reproduction::Begin(const std::string& section)
{
    m_section = section;
    const std::string title = GetText(section, "", "title");
    if (!title.empty())
    {
        m_table->PrintHeadings(MakeTitle(title));
    }
}

PublishedTable
Reproduction::MakeTable(std::vector<PublishedTable::Column> columns, const PublishedCase& values)
{
    PublishedTable table(std::move(columns),
                         IsPrinting() ? PublishedTable::Printing::AT_ONCE
                                      : PublishedTable::Printing::NEVER);
    table.PrintHeadings(MakeTitle(values.Fill(GetText(m_section, "", "table"))));
    return table;
}

std::vector<PublishedCase>
Reproduction::GetCases(const std::string& name) const
{
    return ReadCases(FindTable(m_name, m_section), name);
}

void
Reproduction::Add(const std::string& row, double expected, double ours, const PublishedCase& values)
{
    const auto fill = [&](const std::string& key) {
        return values.Fill(GetText(m_section, row, key));
    };
    const std::string role = fill("role");
    const auto node = FindTable(m_name, m_section, row)["published"];
    const double published =
        node.is_string() ? values.Get(node.value_or(std::string())) : node.value_or(NONE);
    m_table->AddRow({fill("figure"),
                     fill("unit"),
                     role.empty() && !std::isnan(published) ? "predicted" : role,
                     fill("source"),
                     published,
                     expected,
                     ours,
                     100 * (ours / published - 1)});
}

void
Reproduction::AddCost(const RunCost& cost)
{
    m_table->AddCost(cost);
}

CollectiveMeasurement
Reproduction::Measure(const ClusterOptions& cluster,
                      CollectiveOperation operation,
                      const std::vector<uint64_t>& sizes,
                      bool real)
{
    const CollectiveRun run = RunCollectives(cluster, operation, sizes, real);
    AddCost(run.cost);
    return run.measurements.back();
}

double
Reproduction::GetSeconds(const ClusterOptions& cluster, uint64_t bytes)
{
    return Measure(cluster, CollectiveOperation::ALL_REDUCE, {bytes}).seconds;
}

TrainingRunResult
Reproduction::Train(const TrainingRunOptions& options)
{
    const TrainingRunResult result = TrainingRun(options).Run();
    AddCost(result.cost);
    return result;
}

} // namespace ns3::training
