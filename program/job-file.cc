/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-file.h"

#include "ns3/host-allocator.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-input-file.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <toml++/toml.h>

namespace ns3::training
{

namespace
{

/// Maximum number of ranks of a job.
constexpr int64_t MAX_RANKS = 1 << 20;
/// Maximum arrival, s.
constexpr double MAX_ARRIVAL = 1e6;
/// Highest traffic class.
constexpr int64_t MAX_PRIORITY = 7;

/** Reads the values of a table. */
class TableReader
{
  public:
    /**
     * @param path of the file
     * @param table a job
     */
    TableReader(std::string path, const toml::table& table)
        : m_path(std::move(path)),
          m_table(table)
    {
    }

    /** @return "FILE:LINE: " of a value */
    std::string At(const toml::node& node) const
    {
        return m_path + ":" + std::to_string(node.source().begin.line) + ": ";
    }

    /** Refuses the value of a key. */
    [[noreturn]] void Refuse(const std::string& key, const std::string& allowed) const
    {
        throw ConfigurationError(At(*m_table.get(key)) + key + " (allowed: " + allowed + ")");
    }

    /** @return whether the key is there */
    bool Has(const std::string& key)
    {
        m_known.insert(key);
        return m_table.contains(key);
    }

    /** Reads a text, if the key is there. */
    void Get(const std::string& key, std::string& value)
    {
        if (Has(key))
        {
            const auto text = m_table.get(key)->value_exact<std::string>();
            if (!text || text->empty())
            {
                Refuse(key, "a text in quotes");
            }
            value = *text;
        }
    }

    /** Reads a whole number from min to max, if the key is there. */
    template <class T>
    void Get(const std::string& key, int64_t min, int64_t max, T& value)
    {
        if (Has(key))
        {
            const auto number = m_table.get(key)->value_exact<int64_t>();
            if (!number || *number < min || *number > max)
            {
                Refuse(key, "a number, " + std::to_string(min) + " to " + std::to_string(max));
            }
            value = static_cast<uint32_t>(*number);
        }
    }

    /** Refuses keys that were not asked for. */
    void End() const
    {
        for (const auto& [key, node] : m_table)
        {
            const std::string name(key.str());
            if (m_known.count(name) == 0)
            {
                std::string allowed;
                for (const std::string& known : m_known)
                {
                    allowed += (allowed.empty() ? "" : ", ") + known;
                }
                throw ConfigurationError(At(node) + "unknown key '" + name +
                                         "' (allowed: " + allowed + ")");
            }
        }
    }

  private:
    std::string m_path;
    const toml::table& m_table;
    std::set<std::string> m_known;
};

/** Reads the hosts of a job. */
void
ReadHosts(TableReader& reader, const toml::table& table, SharedJob& job)
{
    reader.Get("placement", job.placement);
    const auto& known = HostAllocator::PLACEMENTS;
    if (std::find(known.begin(), known.end(), job.placement) == known.end())
    {
        reader.Refuse("placement", "packed, spread, random, list");
    }
    if (reader.Has("hosts"))
    {
        const toml::array* list = table.get("hosts")->as_array();
        std::set<uint32_t> seen;
        for (std::size_t i = 0; list && i < list->size(); i++)
        {
            const auto host = list->get(i)->value_exact<int64_t>();
            if (!host || *host < 0 || *host >= MAX_RANKS ||
                !seen.insert(static_cast<uint32_t>(*host)).second)
            {
                reader.Refuse("hosts", "numbers of different hosts");
            }
            job.hosts.push_back(static_cast<uint32_t>(*host));
        }
        if (job.placement != "list" || job.hosts.empty())
        {
            reader.Refuse("hosts", "a list of numbers, with placement = \"list\"");
        }
    }
    else if (job.placement == "list")
    {
        reader.Refuse("placement", "list with hosts = [...]");
    }
    job.training.cluster.ranks = job.hosts.size();
    if (reader.Has("ranks"))
    {
        reader.Get("ranks", 1, MAX_RANKS, job.training.cluster.ranks);
        if (!job.hosts.empty() && job.training.cluster.ranks != job.hosts.size())
        {
            reader.Refuse("ranks", "as many as hosts: " + std::to_string(job.hosts.size()));
        }
    }
    else if (job.hosts.empty())
    {
        throw ConfigurationError(reader.At(table) + "job without ranks (allowed: ranks = 1 to " +
                                 std::to_string(MAX_RANKS) + ")");
    }
}

/** @return the job of a table */
SharedJob
ReadJob(const std::string& path, const toml::table& table, std::size_t number)
{
    TableReader reader(path, table);
    SharedJob job;
    job.name = "job" + std::to_string(number);
    job.training.warmup = 0;
    reader.Get("name", job.name);
    reader.Get("workload", job.training.workload);
    reader.Get("gpu", job.training.gpu);
    reader.Get("batch", 1, static_cast<int64_t>(MAX_BATCH), job.training.batch);
    reader.Get("iterations",
               1,
               static_cast<int64_t>(TrainingRunOptions::MAX_ITERATIONS),
               job.training.iterations);
    reader.Get("priority", 0, MAX_PRIORITY, job.priority);
    std::string arrival = "0s";
    reader.Get("arrival", arrival);
    const auto time = ParseTime(arrival);
    if (!time || time->IsStrictlyNegative() || time->GetSeconds() > MAX_ARRIVAL)
    {
        reader.Refuse("arrival", "a time with a unit, up to " + FormatDouble(MAX_ARRIVAL) + " s");
    }
    job.arrival = *time;
    ReadHosts(reader, table, job);
    reader.End();
    return job;
}

} // namespace

std::vector<SharedJob>
ReadJobFile(const std::string& path)
{
    const auto text = ReadInputFile(path);
    if (!text)
    {
        throw ConfigurationError("jobs", path, " (allowed: a TOML file that can be read)");
    }
    toml::table document;
    try
    {
        document = toml::parse(*text, path);
    }
    catch (const toml::parse_error& error)
    {
        throw ConfigurationError(path + ":" + std::to_string(error.source().begin.line) + ": " +
                                 std::string(error.description()));
    }
    TableReader reader(path, document);
    const bool isGiven = reader.Has("job");
    reader.End();
    const toml::array* tables = isGiven ? document.get("job")->as_array() : nullptr;
    std::vector<SharedJob> jobs;
    std::set<std::string> names;
    for (std::size_t i = 0; tables && i < tables->size(); i++)
    {
        const toml::table* table = tables->get(i)->as_table();
        if (!table)
        {
            reader.Refuse("job", "tables [[job]]");
        }
        jobs.push_back(ReadJob(path, *table, i));
        if (!names.insert(jobs.back().name).second)
        {
            throw ConfigurationError(reader.At(*table) + "second job '" + jobs.back().name +
                                     "' (allowed: different names)");
        }
    }
    if (jobs.empty())
    {
        throw ConfigurationError(path + ": no jobs (allowed: tables [[job]])");
    }
    return jobs;
}

} // namespace ns3::training
