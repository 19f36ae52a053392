/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "result-store.h"

#include "core/lost-outputs.h"
#include "results/result-views.h"

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
      m_flushAt(MAX_ROWS_KEPT)
{
    NS_LOG_FUNCTION(this << path);
    Check(path);
    for (const auto& [name, table] : Registry<ResultTableMaker>::All())
    {
        m_tables.push_back(table.make());
    }
    try
    {
        m_database = std::make_unique<SqliteDatabase>(path, SqliteDatabase::Mode::CREATE);
        SqliteDatabase& database = *m_database;
        database.UseWriteAheadLog();
        database.Transaction([&] {
            if (CheckLayout(database, path))
            {
                database.Execute(RUN_LAYOUT);
                for (const auto& table : m_tables)
                {
                    database.Execute(table->GetLayout());
                }
                database.Execute("PRAGMA user_version = " + std::to_string(LAYOUT_VERSION));
            }
            for (const auto& table : m_tables)
            {
                table->AddMissingColumns(database);
            }
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
        for (const auto& table : m_tables)
        {
            table->Prepare(database);
        }
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
    Add(row);
    Flush();
}

void
ResultStore::DropIterations(uint32_t first)
{
    NS_LOG_FUNCTION(this << first);
    m_lost = std::min(first, m_lost.value_or(first));
    m_size = 0;
    for (const auto& table : m_tables)
    {
        table->DropIterations(first);
        m_size += table->GetSize();
    }
}

void
ResultStore::FlushIfLarge()
{
    if (m_size >= m_flushAt)
    {
        Flush();
    }
}

void
ResultStore::Flush()
{
    NS_LOG_FUNCTION(this << m_size);
    m_isGone = m_isGone || (m_size > 0 && !LostOutputs::Try([this] { Save(); }));
    if (m_isGone)
    {
        ClearRows();
    }
}

void
ResultStore::Save()
{
    CheckFile();
    try
    {
        // While the file is locked, the simulation goes on without a wait.
        m_database->SetPatience(m_isLocked ? 0 : PATIENCE_MS);
        m_database->Transaction([this] { WriteRows(); });
    }
    catch (const SqliteBusy& error)
    {
        NS_LOG_WARN(error.what() << ", " << m_size << " rows wait");
        m_isLocked = true;
        m_flushAt = m_size + MAX_ROWS_KEPT;
        return;
    }
    m_isLocked = false;
    m_flushAt = MAX_ROWS_KEPT;
    m_lost.reset();
    ClearRows();
}

void
ResultStore::WriteRows()
{
    for (const auto& table : m_tables)
    {
        const std::string lost = m_lost ? table->GetLostCondition(*m_lost) : "";
        if (!lost.empty())
        {
            m_database->Execute("DELETE FROM " + table->GetName() +
                                " WHERE run_id = " + std::to_string(m_runId) + " AND " + lost);
        }
    }
    for (const auto& table : m_tables)
    {
        table->Write(*m_database, m_runId);
    }
}

void
ResultStore::ClearRows()
{
    m_size = 0;
    for (const auto& table : m_tables)
    {
        table->Clear();
    }
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
    m_isGone = m_isGone || !LostOutputs::Try([&] { SaveEnd(state, reason); });
    if (m_isGone)
    {
        try // there may be room again for a single row
        {
            ClearRows();
            SaveEnd("failed", "rows are missing: the file could not be written");
        }
        catch (const std::runtime_error& error)
        {
            NS_LOG_ERROR(error.what());
        }
    }
}

void
ResultStore::SaveEnd(const std::string& state, const std::string& reason)
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
            ClearRows();
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
