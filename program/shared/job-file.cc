/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-file.h"

#include "core/input-file.h"
#include "options/toml-options.h"
#include "options/value-suggestion.h"

#include "ns3/host-allocator.h"
#include "ns3/job-plan.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <set>

namespace ns3::training
{

namespace
{

/// Maximum number of ranks of a job.
constexpr uint64_t MAX_RANKS = 1 << 20;
/// Maximum arrival, s.
constexpr double MAX_ARRIVAL = 1e6;
/// Highest traffic class.
constexpr uint64_t MAX_PRIORITY = 7;
/// Maximum number of slots.
constexpr uint64_t MAX_SLOTS = 1 << 15;
/// Maximum weight.
constexpr uint64_t MAX_WEIGHT = 1000;
// Keys of lists of hosts, which no option has.
constexpr const char* HOSTS = "hosts";
constexpr const char* SERVERS = "servers";

/** The keys of a job: options of training-job, and what the job asks of the cluster. */
class JobKeys
{
  public:
    /** @param job receives the values; its values are their defaults */
    explicit JobKeys(SharedJob& job)
        : m_job(job),
          m_options("job", "A job that shares a cluster.")
    {
        m_options.AddString("name", "different for each job", job.name);
        job.training.AddWorkloadTo(m_options);
        m_options.AddString("schedule", "short for pipeline-schedule", m_schedule);
        m_options.AddUnsigned("ranks",
                              "number of workers, one on a host; otherwise as many as hosts, or "
                              "as the model or the trace has",
                              job.training.cluster.ranks,
                              1,
                              MAX_RANKS);
        m_options.AddTime("arrival", "when it asks for hosts", job.arrival);
        m_options.AddChoice("placement",
                            "which free hosts it gets",
                            job.placement,
                            HostAllocator::PLACEMENTS);
        m_options.AddUnsigned("priority",
                              "RDMA: traffic class of its packets; otherwise as usual",
                              m_priority,
                              0,
                              MAX_PRIORITY);
        m_options.AddUnsigned(
            "slots",
            "switchml: slots that it asks for at each of its switches; 0: its share "
            "of those that no job asks for",
            m_slots,
            0,
            MAX_SLOTS);
        m_options.AddUnsigned("slot-weight",
                              "switchml: weight of that share",
                              m_slotWeight,
                              1,
                              MAX_WEIGHT);
    }

    JobKeys(const JobKeys&) = delete;
    JobKeys& operator=(const JobKeys&) = delete;

    /** @return the keys with their values */
    ProgramOptions& GetOptions()
    {
        return m_options;
    }

    /**
     * Checks the job as a whole. Call when all keys are set.
     * @throw ConfigurationError without the place in the file
     */
    void Finish()
    {
        TrainingRunOptions& training = m_job.training;
        training.model.CheckGiven(m_options);
        training.model.TakeSchedule(m_schedule);
        if (!m_schedule.empty())
        {
            throw ConfigurationError("schedule=" + m_schedule +
                                     " (allowed: schedules of the pipelines of a model)");
        }
        if (m_job.arrival.GetSeconds() > MAX_ARRIVAL)
        {
            throw ConfigurationError("arrival=" + FormatTime(m_job.arrival) + " (allowed: up to " +
                                     FormatDouble(MAX_ARRIVAL) + " s)");
        }
        if (m_options.IsGiven("priority"))
        {
            m_job.priority = static_cast<uint32_t>(m_priority);
        }
        if (m_slots > 0 && m_options.IsGiven("slot-weight"))
        {
            throw ConfigurationError("slots=" + std::to_string(m_slots) +
                                     " with slot-weight (allowed: one of them)");
        }
        m_job.slots = static_cast<uint32_t>(m_slots);
        if (m_options.IsGiven("slot-weight"))
        {
            m_job.slotWeight = static_cast<uint32_t>(m_slotWeight);
        }
        SetRanks();
    }

  private:
    void SetRanks()
    {
        TrainingRunOptions& training = m_job.training;
        uint64_t& ranks = training.cluster.ranks;
        const std::size_t hosts = m_job.hosts.size();
        const bool isGiven = m_options.IsGiven("ranks");
        training.cluster.hasRanks = isGiven || hosts > 0;
        if ((m_job.placement == "list") != (hosts > 0))
        {
            throw ConfigurationError("placement=" + m_job.placement +
                                     (hosts > 0 ? " with hosts (allowed: list)"
                                                : " without hosts (allowed: with a list of them)"));
        }
        if (isGiven && hosts > 0 && ranks != hosts)
        {
            throw ConfigurationError("ranks=" + std::to_string(ranks) +
                                     " (allowed: as many as hosts, " + std::to_string(hosts) + ")");
        }
        if (isGiven || hosts > 0)
        {
            ranks = isGiven ? ranks : hosts;
        }
        else if (training.model.HasTransformer())
        {
            ranks = training.model.MakePlan(0)->GetRanks();
        }
        else if (IsTraceFile(training.workload))
        {
            ranks = 0;
        }
        else
        {
            throw ConfigurationError("job without ranks (allowed: ranks = 1 to " +
                                     std::to_string(MAX_RANKS) + ")");
        }
    }

    SharedJob& m_job;
    ProgramOptions m_options;
    std::string m_schedule;
    uint64_t m_priority{0};
    uint64_t m_slots{0};
    uint64_t m_slotWeight{1};
};

/** A TOML file, for messages. */
class JobReader
{
  public:
    /** @param option that names the file @param path of the file */
    JobReader(const std::string& option, std::string path)
        : m_path(std::move(path))
    {
        const auto text = ReadInputFile(m_path);
        if (!text)
        {
            throw ConfigurationError(option, m_path, " (allowed: a TOML file that can be read)");
        }
        m_document = ParseToml(m_path, *text);
    }

    /** @return what is in the file */
    const toml::table& GetDocument() const
    {
        return m_document;
    }

    /** Refuses something in the file. */
    [[noreturn]] void Refuse(const toml::node& node, const std::string& reason) const
    {
        throw ConfigurationError(GetTomlPlace(m_path, node.source()) + ": " + reason);
    }

    /**
     * @param table a job
     * @param number of the job
     * @return the job
     */
    SharedJob ReadJob(const toml::table& table, std::size_t number) const
    {
        SharedJob job;
        job.name = "job" + std::to_string(number);
        job.training.warmup = 0;
        JobKeys keys(job);
        std::map<std::string, bool> isList;
        for (const OptionDescription& option : keys.GetOptions().Describe().options)
        {
            isList[option.key.name] = option.isList;
        }
        for (const auto& [key, node] : table)
        {
            const std::string name(key.str());
            if (name == HOSTS || name == SERVERS)
            {
                (name == HOSTS ? job.hosts : job.servers) = ReadHosts(name, node);
                continue;
            }
            const auto found = isList.find(name);
            if (found == isList.end())
            {
                Refuse(node, "unknown key '" + name + "'" + Suggest(name, isList));
            }
            ReadValue(name, node, found->second, keys.GetOptions());
        }
        Try(table, [&] { keys.Finish(); });
        job.configuration = keys.GetOptions().ToJson();
        job.configuration.Set(HOSTS, ToJson(job.hosts)).Set(SERVERS, ToJson(job.servers));
        return job;
    }

  private:
    /** Adds the place in the file to a message, and names keys rather than options. */
    template <class F>
    void Try(const toml::node& node, const F& action) const
    {
        try
        {
            action();
        }
        catch (const ConfigurationError& error)
        {
            Refuse(node, NameKey(error));
        }
    }

    static JsonValue ToJson(const std::vector<uint32_t>& hosts)
    {
        auto list = JsonValue::Array();
        for (uint32_t host : hosts)
        {
            list.Append(JsonValue(uint64_t{host}));
        }
        return list;
    }

    static std::string Suggest(const std::string& name, const std::map<std::string, bool>& known)
    {
        std::vector<std::string> names{HOSTS, SERVERS};
        for (const auto& [each, isList] : known)
        {
            names.push_back(each);
        }
        return SuggestNearest(name, names) + " (allowed: see doc/shared-clusters.rst)";
    }

    void ReadValue(const std::string& name,
                   const toml::node& node,
                   bool isList,
                   ProgramOptions& options) const
    {
        if (const toml::array* list = isList ? node.as_array() : nullptr)
        {
            for (const toml::node& element : *list)
            {
                ReadValue(name, element, false, options);
            }
            return;
        }
        const std::string text = GetOptionText(node);
        if (text.empty())
        {
            Refuse(node,
                   name + " (allowed: a text in quotes, a number, or true or false" +
                       (isList ? ", or a list" : "") + ")");
        }
        Try(node, [&] { options.Set(name, text); });
    }

    std::vector<uint32_t> ReadHosts(const std::string& key, const toml::node& node) const
    {
        std::vector<uint32_t> hosts;
        const toml::array* list = node.as_array();
        for (std::size_t i = 0; list && i < list->size(); i++)
        {
            const auto host = list->get(i)->value_exact<int64_t>().value_or(-1);
            const bool isHost = host >= 0 && static_cast<uint64_t>(host) < MAX_RANKS;
            if (!isHost || std::count(hosts.begin(), hosts.end(), host) > 0)
            {
                Refuse(node, key + " (allowed: numbers of different hosts)");
            }
            hosts.push_back(static_cast<uint32_t>(host));
        }
        if (hosts.empty())
        {
            Refuse(node, key + " (allowed: a list of numbers)");
        }
        return hosts;
    }

    std::string m_path;
    toml::table m_document;
};

/** Adds the jobs of a file with a table for each. */
void
AddJobs(const std::string& path, std::vector<SharedJob>& jobs)
{
    const JobReader reader("jobs", path);
    for (const auto& [key, node] : reader.GetDocument())
    {
        if (key.str() != "job")
        {
            reader.Refuse(node, "unknown key '" + std::string(key.str()) + "' (allowed: job)");
        }
        const toml::array* tables = node.as_array();
        for (std::size_t i = 0; tables && i < tables->size(); i++)
        {
            const toml::table* table = tables->get(i)->as_table();
            if (!table)
            {
                reader.Refuse(node, "job (allowed: tables [[job]])");
            }
            jobs.push_back(reader.ReadJob(*table, jobs.size()));
        }
    }
    if (jobs.empty())
    {
        throw ConfigurationError(path + ": no jobs (allowed: tables [[job]])");
    }
}

} // namespace

std::string
NameKey(const ConfigurationError& error)
{
    std::string text = NameOption(error);
    boost::replace_all(text, " --", " ");
    return boost::starts_with(text, "--") ? text.substr(2) : text;
}

std::vector<SharedJob>
ReadJobs(const std::string& file, const std::vector<std::string>& single)
{
    std::vector<SharedJob> jobs;
    if (!file.empty())
    {
        AddJobs(file, jobs);
    }
    for (const std::string& path : single)
    {
        const JobReader reader("job", path);
        jobs.push_back(reader.ReadJob(reader.GetDocument(), jobs.size()));
    }
    std::set<std::string> names;
    for (const SharedJob& job : jobs)
    {
        if (!names.insert(job.name).second)
        {
            throw ConfigurationError("second job '" + job.name + "' (allowed: different names)");
        }
    }
    return jobs;
}

ProgramDescription
DescribeJobs()
{
    SharedJob job;
    job.training.warmup = 0;
    return JobKeys(job).GetOptions().Describe();
}

} // namespace ns3::training
