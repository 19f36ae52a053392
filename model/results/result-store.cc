/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "result-store.h"

#include "result-table.h"
#include "result-views.h"

#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-output-file.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <sys/stat.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingResultStore");

namespace
{

/** Maximum rows kept in memory, over all tables. */
constexpr std::size_t MAX_ROWS_KEPT = 200000;

/** Wait for the transactions of other processes, ms. */
constexpr int PATIENCE_MS = 2000;

/** Maximum size of a file that is checked completely before rows are appended, bytes. */
constexpr off_t MAX_CHECKED_FILE = 16 << 20;

/** Table of runs in layout version 1. */
constexpr const char* RUN_LAYOUT = R"(CREATE TABLE run (
    run_id INTEGER PRIMARY KEY, program TEXT NOT NULL, version TEXT NOT NULL,
    seed INTEGER NOT NULL, configuration TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
    state TEXT NOT NULL CHECK (state IN ('unfinished', 'finished', 'failed')), reason TEXT);
)";

/** @return current time in UTC, ISO 8601 */
std::string
GetUtcNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

/**
 * @param path a file
 * @return whether it exists and is not empty. SQLite creates files empty, so another process may be
 *         about to lay out an empty file
 */
bool
HasContent(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

/**
 * Refuses files that SQLite need not open, because opening may leave files beside it.
 * @param path a file that is not empty
 */
void
CheckHeader(const std::string& path)
{
    // "Database file format" of sqlite.org, section 1.3: user_version is big-endian at offset 60.
    constexpr std::size_t HEADER_BYTES = 100;
    constexpr std::size_t USER_VERSION_OFFSET = 60;
    const std::string magic("SQLite format 3\0", 16);
    std::string header(HEADER_BYTES, '\0');
    std::ifstream file(path, std::ios::binary);
    if (!file.read(&header[0], HEADER_BYTES) || header.compare(0, magic.size(), magic) != 0)
    {
        throw ConfigurationError("results file '" + path +
                                 "': is not an SQLite database (allowed: a new file, or a results "
                                 "file written by this program)");
    }
    uint32_t version = 0;
    for (std::size_t index = 0; index < 4; ++index)
    {
        version = version << 8 | static_cast<unsigned char>(header[USER_VERSION_OFFSET + index]);
    }
    if (version > static_cast<uint32_t>(ResultStore::LAYOUT_VERSION))
    {
        throw ConfigurationError("results file '" + path + "': has layout version " +
                                 std::to_string(version) + " of a newer program (allowed: up to " +
                                 std::to_string(ResultStore::LAYOUT_VERSION) + ")");
    }
}

/**
 * Refuses a foreign database. Call within a transaction, so that a file that another process lays
 * out is either empty or complete.
 * @param database the file
 * @param path its name
 * @return whether it is still empty
 */
bool
CheckLayout(SqliteDatabase& database, const std::string& path)
{
    const int version = std::stoi(database.QueryValue("PRAGMA user_version"));
    if (version > ResultStore::LAYOUT_VERSION)
    {
        throw ConfigurationError("results file '" + path + "': has layout version " +
                                 std::to_string(version) + " of a newer program (allowed: up to " +
                                 std::to_string(ResultStore::LAYOUT_VERSION) + ")");
    }
    const bool isEmpty = database.QueryValue("SELECT count(*) FROM sqlite_master") == "0";
    const bool isOurs =
        database.QueryValue("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                            "('run', 'iteration', 'collective', 'message', 'link_counter')") == "5";
    if ((version == ResultStore::LAYOUT_VERSION && !isOurs) ||
        (version != ResultStore::LAYOUT_VERSION && !isEmpty))
    {
        throw ConfigurationError("results file '" + path +
                                 "': is a database of something else (allowed: a new file, or a "
                                 "results file written by this program)");
    }
    return isEmpty;
}

} // namespace

/** The tables of a run. */
struct ResultStore::Tables
{
    ResultTable<IterationRecord> iterations{"iteration",
                                            ResultTable<IterationRecord>::Key::FIRST_COLUMN,
                                            GetIterationColumns()};
    ResultTable<CollectiveRow> collectives{"collective",
                                           ResultTable<CollectiveRow>::Key::RUN,
                                           CollectiveRow::GetFields()};
    ResultTable<MessageRow> messages{"message",
                                     ResultTable<MessageRow>::Key::RUN,
                                     MessageRow::GetFields()};
    ResultTable<LinkCounterRow> linkCounters{"link_counter",
                                             ResultTable<LinkCounterRow>::Key::RUN,
                                             LinkCounterRow::GetFields()};
    ResultTable<LinkIterationRow> linkIterations{"link_iteration",
                                                 ResultTable<LinkIterationRow>::Key::RUN,
                                                 LinkIterationRow::GetFields()};

    ResultTable<SampleRow> samples{"sample",
                                   ResultTable<SampleRow>::Key::RUN,
                                   SampleRow::GetFields()};

    ResultTable<ComputePhaseRow> computePhases{"compute_phase",
                                               ResultTable<ComputePhaseRow>::Key::RUN,
                                               ComputePhaseRow::GetFields()};
    ResultTable<CriticalPathRow> criticalPaths{"critical_path",
                                               ResultTable<CriticalPathRow>::Key::FIRST_COLUMN,
                                               CriticalPathRow::GetFields()};

    ResultTable<NicCounterRow> nicCounters{"nic_counter",
                                           ResultTable<NicCounterRow>::Key::RUN,
                                           NicCounterRow::GetFields()};
    ResultTable<CodecCounterRow> codecCounters{"codec_counter",
                                               ResultTable<CodecCounterRow>::Key::RUN,
                                               CodecCounterRow::GetFields()};

    ResultTable<LearningRow> learning{"learning",
                                      ResultTable<LearningRow>::Key::FIRST_COLUMN,
                                      LearningRow::GetFields()};

    ResultTable<EnergyRow> energy{"energy",
                                  ResultTable<EnergyRow>::Key::RUN,
                                  EnergyRow::GetFields()};

    ResultTable<LifeRow> life{"life", ResultTable<LifeRow>::Key::RUN, LifeRow::GetFields()};

    ResultTable<FlowRow> flows{"flow",
                               ResultTable<FlowRow>::Key::FIRST_COLUMN,
                               FlowRow::GetFields()};

    ResultTable<JobRow> jobs{"job", ResultTable<JobRow>::Key::FIRST_COLUMN, JobRow::GetFields()};

    ResultTable<SimulationRow> simulations{"simulation",
                                           ResultTable<SimulationRow>::Key::RUN,
                                           SimulationRow::GetFields()};

    /** @param work called with each table */
    template <class F>
    void ForEach(const F& work)
    {
        work(iterations);
        work(collectives);
        work(messages);
        work(linkCounters);
        work(linkIterations);
        work(samples);
        work(computePhases);
        work(criticalPaths);
        work(nicCounters);
        work(codecCounters);
        work(learning);
        work(energy);
        work(life);
        work(flows);
        work(jobs);
        work(simulations);
    }

    std::size_t GetSize() const
    {
        return iterations.GetSize() + collectives.GetSize() + messages.GetSize() +
               linkCounters.GetSize() + linkIterations.GetSize() + samples.GetSize() +
               computePhases.GetSize() + criticalPaths.GetSize() + nicCounters.GetSize() +
               codecCounters.GetSize() + learning.GetSize() + energy.GetSize() + life.GetSize() +
               flows.GetSize() + jobs.GetSize() + simulations.GetSize();
    }
};

void
ResultStore::Check(const std::string& path)
{
    NS_LOG_FUNCTION(path);
    try
    {
        CheckOutputFile(path, OutputKind::ANY);
        struct stat type;
        if (stat(path.c_str(), &type) == 0 && !S_ISREG(type.st_mode))
        {
            throw ConfigurationError("results file '" + path +
                                     "': is not a regular file (allowed: a new file, or a results "
                                     "file written by this program)");
        }
        if (!HasContent(path))
        {
            return;
        }
        CheckHeader(path);
        SqliteDatabase database(path, SqliteDatabase::Mode::WRITE);
        database.Execute("BEGIN"); // all queries see one snapshot of the file
        CheckLayout(database, path);
        struct stat status;
        if (stat(path.c_str(), &status) == 0 && status.st_size <= MAX_CHECKED_FILE &&
            database.QueryValue("PRAGMA quick_check(1)") != "ok")
        {
            throw ConfigurationError("results file '" + path +
                                     "': is corrupt (allowed: a new file, or a results file "
                                     "written by this program)");
        }
        database.Execute("COMMIT");
    }
    catch (const ConfigurationError&)
    {
        throw;
    }
    catch (const std::runtime_error& error)
    {
        throw ConfigurationError(error.what());
    }
}

std::vector<std::vector<std::string>>
ResultStore::Query(const std::string& path, const std::string& sql)
{
    NS_LOG_FUNCTION(path << sql);
    return SqliteDatabase(path, SqliteDatabase::Mode::READ).Query(sql);
}

ResultStore::ResultStore(const std::string& path, const RunRow& run)
    : m_path(path),
      m_tables(std::make_unique<Tables>()),
      m_flushAt(MAX_ROWS_KEPT)
{
    NS_LOG_FUNCTION(this << path);
    Check(path);
    try
    {
        m_database = std::make_unique<SqliteDatabase>(path, SqliteDatabase::Mode::CREATE);
        SqliteDatabase& database = *m_database;
        database.UseWriteAheadLog();
        database.Transaction([&] {
            if (CheckLayout(database, path))
            {
                database.Execute(RUN_LAYOUT);
                m_tables->ForEach([&](const auto& table) { database.Execute(table.GetLayout()); });
                database.Execute("PRAGMA user_version = " + std::to_string(LAYOUT_VERSION));
            }
            m_tables->ForEach([&](const auto& table) { table.AddMissingColumns(database); });
            database.Execute(RESULT_VIEWS);
            const auto insert = database.Prepare(
                "INSERT INTO run (program, version, seed, configuration, started, state) "
                "VALUES (?, ?, ?, ?, ?, 'unfinished')");
            database.RunWith(insert,
                             run.program,
                             run.version,
                             run.seed,
                             run.configuration,
                             GetUtcNow());
            m_runId = database.GetLastRow();
        });
        m_tables->ForEach([&](auto& table) { table.Prepare(database); });
        m_endRun = database.Prepare(
            "UPDATE run SET finished = ?, state = ?, reason = nullif(?, '') WHERE run_id = ?");
        struct stat status;
        if (stat(path.c_str(), &status) == 0)
        {
            m_device = status.st_dev;
            m_inode = status.st_ino;
        }
    }
    catch (const ConfigurationError&)
    {
        throw;
    }
    catch (const std::runtime_error& error)
    {
        throw ConfigurationError(error.what());
    }
}

ResultStore::~ResultStore()
{
    NS_LOG_FUNCTION(this);
    try
    {
        m_isLocked = true; // no wait
        Flush();
    }
    catch (const std::runtime_error& error)
    {
        NS_LOG_ERROR(error.what());
    }
}

int64_t
ResultStore::GetRunId() const
{
    return m_runId;
}

void
ResultStore::AddIteration(const IterationRecord& row)
{
    NS_LOG_FUNCTION(this << row.iteration);
    m_tables->iterations.Add(row);
    Flush();
}

void
ResultStore::AddCollective(const CollectiveRow& row)
{
    m_tables->collectives.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddMessage(const MessageRow& row)
{
    m_tables->messages.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddLinkCounter(const LinkCounterRow& row)
{
    m_tables->linkCounters.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddLinkIteration(const LinkIterationRow& row)
{
    m_tables->linkIterations.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddSample(const SampleRow& row)
{
    m_tables->samples.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddComputePhase(const ComputePhaseRow& row)
{
    m_tables->computePhases.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddCriticalPath(const CriticalPathRow& row)
{
    m_tables->criticalPaths.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddNicCounter(const NicCounterRow& row)
{
    m_tables->nicCounters.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddLearning(const LearningRow& row)
{
    m_tables->learning.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddSimulation(const SimulationRow& row)
{
    m_tables->simulations.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddEnergy(const EnergyRow& row)
{
    m_tables->energy.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddLife(const LifeRow& row)
{
    m_tables->life.Add(row);
    FlushIfLarge();
}

void
ResultStore::DropIterations(uint32_t first)
{
    NS_LOG_FUNCTION(this << first);
    const auto isLost = [first](const auto& row) { return row.iteration >= first; };
    m_tables->iterations.Drop(isLost);
    m_tables->collectives.Drop(isLost);
    m_tables->linkIterations.Drop(isLost);
    m_lost = std::min(first, m_lost.value_or(first));
}

void
ResultStore::AddCodecCounter(const CodecCounterRow& row)
{
    m_tables->codecCounters.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddFlow(const FlowRow& row)
{
    m_tables->flows.Add(row);
    FlushIfLarge();
}

void
ResultStore::AddJob(const JobRow& row)
{
    m_tables->jobs.Add(row);
    FlushIfLarge();
}

void
ResultStore::FlushIfLarge()
{
    if (m_tables->GetSize() >= m_flushAt)
    {
        Flush();
    }
}

void
ResultStore::Flush()
{
    NS_LOG_FUNCTION(this << m_tables->GetSize());
    if (m_tables->GetSize() == 0)
    {
        return;
    }
    CheckFile();
    try
    {
        // While the file is locked, the simulation goes on without a wait.
        m_database->SetPatience(m_isLocked ? 0 : PATIENCE_MS);
        m_database->Transaction([this] { WriteRows(); });
    }
    catch (const SqliteBusy& error)
    {
        NS_LOG_WARN(error.what() << ", " << m_tables->GetSize() << " rows wait");
        m_isLocked = true;
        m_flushAt = m_tables->GetSize() + MAX_ROWS_KEPT;
        return;
    }
    m_isLocked = false;
    m_flushAt = MAX_ROWS_KEPT;
    m_lost.reset();
    m_tables->ForEach([](auto& table) { table.Clear(); });
}

void
ResultStore::WriteRows()
{
    for (const std::string table : {"iteration", "collective", "link_iteration"})
    {
        if (m_lost)
        {
            m_database->Execute("DELETE FROM " + table +
                                " WHERE run_id = " + std::to_string(m_runId) +
                                " AND iteration >= " + std::to_string(*m_lost));
        }
    }
    m_tables->ForEach([this](const auto& table) { table.Write(*m_database, m_runId); });
}

void
ResultStore::CheckFile() const
{
    struct stat status;
    if (stat(m_path.c_str(), &status) != 0 || status.st_dev != m_device || status.st_ino != m_inode)
    {
        throw std::runtime_error("results file '" + m_path +
                                 "': has been deleted or replaced during the run");
    }
}

void
ResultStore::Finish()
{
    NS_LOG_FUNCTION(this);
    End("finished", "");
}

void
ResultStore::Fail(const std::string& reason)
{
    NS_LOG_FUNCTION(this << reason);
    End("failed", reason);
}

void
ResultStore::End(const std::string& state, const std::string& reason)
{
    CheckFile();
    m_database->SetPatience(PATIENCE_MS);
    for (bool isTold = false;; isTold = true)
    {
        try
        {
            m_database->Transaction([&] {
                WriteRows();
                m_database->RunWith(m_endRun, GetUtcNow(), state, reason, m_runId);
            });
            m_lost.reset();
            m_tables->ForEach([](auto& table) { table.Clear(); });
            return;
        }
        catch (const SqliteBusy& error)
        {
            if (!isTold)
            {
                std::cerr << error.what() << ", waiting for the other program" << std::endl;
            }
        }
    }
}

} // namespace ns3::training
