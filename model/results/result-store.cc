/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "result-store.h"

#include "output-file.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sqlite3.h>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingResultStore");

namespace
{

/** How long a writer waits for others, ms: many processes may be ahead of it. */
constexpr int BUSY_TIMEOUT_MS = 60000;

/** Rows kept in memory at most, of all kinds. */
constexpr std::size_t MOST_ROWS_KEPT = 200000;

/** A file up to this size is checked through before it is appended to, bytes. */
constexpr off_t LARGEST_CHECKED_FILE = 16 << 20;

/** The layout of version 1. */
constexpr const char* LAYOUT = R"(
CREATE TABLE run (
    run_id INTEGER PRIMARY KEY, program TEXT NOT NULL, version TEXT NOT NULL,
    seed INTEGER NOT NULL, configuration TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
    state TEXT NOT NULL CHECK (state IN ('unfinished', 'finished', 'failed')), reason TEXT);
CREATE TABLE iteration (
    run_id INTEGER NOT NULL REFERENCES run, iteration INTEGER NOT NULL, warmup INTEGER NOT NULL,
    start_s REAL NOT NULL, end_s REAL NOT NULL, iteration_time_s REAL NOT NULL,
    compute_time_s REAL NOT NULL, communication_time_s REAL NOT NULL,
    exposed_communication_s REAL NOT NULL, busbw_GBps REAL NOT NULL, lower_bound_s REAL NOT NULL,
    scaling_efficiency REAL NOT NULL, verified INTEGER NOT NULL,
    PRIMARY KEY (run_id, iteration)) WITHOUT ROWID;
CREATE TABLE collective (
    run_id INTEGER NOT NULL REFERENCES run, rank INTEGER NOT NULL, iteration INTEGER NOT NULL,
    sequence INTEGER NOT NULL, operation TEXT NOT NULL, algorithm TEXT NOT NULL,
    bytes INTEGER NOT NULL, start_s REAL NOT NULL, end_s REAL NOT NULL);
CREATE INDEX collective_run ON collective (run_id);
CREATE TABLE message (
    run_id INTEGER NOT NULL REFERENCES run, source INTEGER NOT NULL, destination INTEGER NOT NULL,
    tag INTEGER NOT NULL, bytes INTEGER NOT NULL, start_s REAL NOT NULL, end_s REAL NOT NULL);
CREATE INDEX message_run ON message (run_id);
CREATE TABLE link_counter (
    run_id INTEGER NOT NULL REFERENCES run, node TEXT NOT NULL, port INTEGER NOT NULL,
    peer TEXT NOT NULL, bytes INTEGER NOT NULL, frames INTEGER NOT NULL, marks INTEGER NOT NULL,
    pauses INTEGER NOT NULL, drops INTEGER NOT NULL, busy_s REAL NOT NULL,
    max_queue_bytes INTEGER NOT NULL);
CREATE INDEX link_counter_run ON link_counter (run_id);
)";

/** @return the time of day in UTC, ISO 8601 */
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
 * @return whether it exists and has content; SQLite creates its files empty, so that an empty one
 *         may be another process's that is about to lay it out
 */
bool
HasContent(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

/**
 * Refuses what SQLite need not even open, which might leave traces beside the file.
 * @param path a file that has content
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

} // namespace

/** RAII around the C interface of SQLite. */
class ResultStore::Database
{
  public:
    /**
     * @param path the file
     * @param flags how to open it, SQLITE_OPEN_...
     */
    Database(const std::string& path, int flags)
        : m_path(path)
    {
        const int status = sqlite3_open_v2(path.c_str(), &m_handle, flags, nullptr);
        if (status != SQLITE_OK)
        {
            const std::string text = m_handle ? sqlite3_errmsg(m_handle) : sqlite3_errstr(status);
            sqlite3_close(m_handle);
            throw std::runtime_error("results file '" + path + "': " + text);
        }
        sqlite3_busy_timeout(m_handle, BUSY_TIMEOUT_MS);
    }

    ~Database()
    {
        for (auto* statement : m_statements)
        {
            sqlite3_finalize(statement);
        }
        sqlite3_close(m_handle);
    }

    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /** @throw std::runtime_error with what SQLite says */
    [[noreturn]] void Throw() const
    {
        throw std::runtime_error("results file '" + m_path + "': " + sqlite3_errmsg(m_handle));
    }

    /** @param sql statements without results */
    void Execute(const char* sql)
    {
        if (sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        {
            Throw();
        }
    }

    /**
     * Switching to the write-ahead log needs the file for oneself, and SQLite does not wait for
     * that by itself.
     */
    void UseWriteAheadLog()
    {
        const auto deadline =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(BUSY_TIMEOUT_MS);
        const char* sql = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
        while (true)
        {
            const int status = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
            if (status == SQLITE_OK)
            {
                return;
            }
            if ((status != SQLITE_BUSY && status != SQLITE_LOCKED) ||
                std::chrono::steady_clock::now() > deadline)
            {
                Throw();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    /**
     * @param sql a query
     * @return the values of each row as text, NULL as empty text
     */
    std::vector<std::vector<std::string>> Query(const char* sql)
    {
        const auto number = Prepare(sql);
        sqlite3_stmt* statement = m_statements[number];
        std::vector<std::vector<std::string>> rows;
        int status;
        while ((status = sqlite3_step(statement)) == SQLITE_ROW)
        {
            rows.emplace_back();
            for (int column = 0; column < sqlite3_column_count(statement); ++column)
            {
                const unsigned char* text = sqlite3_column_text(statement, column);
                rows.back().emplace_back(text ? reinterpret_cast<const char*>(text) : "");
            }
        }
        sqlite3_finalize(statement); // a query that is not over would keep its lock
        m_statements.pop_back();
        if (status != SQLITE_DONE)
        {
            Throw();
        }
        return rows;
    }

    /**
     * @param sql a query
     * @return the only value it gives
     */
    std::string QueryValue(const char* sql)
    {
        return Query(sql).at(0).at(0);
    }

    /**
     * @param sql one statement, kept until the end
     * @return its number for Run()
     */
    std::size_t Prepare(const char* sql)
    {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(m_handle, sql, -1, &statement, nullptr) != SQLITE_OK)
        {
            Throw();
        }
        m_statements.push_back(statement);
        return m_statements.size() - 1;
    }

    /**
     * @param number from Prepare()
     * @param values a value for each parameter of the statement
     */
    template <class... T>
    void Run(std::size_t number, const T&... values)
    {
        sqlite3_stmt* statement = m_statements.at(number);
        int index = 0;
        (Bind(statement, ++index, values), ...);
        const int status = sqlite3_step(statement);
        sqlite3_reset(statement);
        if (status != SQLITE_DONE)
        {
            Throw();
        }
    }

    /** @return the number of the row that was inserted last */
    int64_t GetLastRow() const
    {
        return sqlite3_last_insert_rowid(m_handle);
    }

    /** @param work what to do in one transaction, all of it or nothing */
    template <class F>
    void Transaction(const F& work)
    {
        Execute("BEGIN IMMEDIATE");
        try
        {
            work();
            Execute("COMMIT");
        }
        catch (...)
        {
            sqlite3_exec(m_handle, "ROLLBACK", nullptr, nullptr, nullptr);
            throw;
        }
    }

    /**
     * Refuses a database that is not ours; within a transaction, so that a file that another
     * process is laying out is seen either empty or whole.
     * @return whether it is still empty
     */
    bool CheckLayout()
    {
        const int version = std::stoi(QueryValue("PRAGMA user_version"));
        if (version > LAYOUT_VERSION)
        {
            throw ConfigurationError(
                "results file '" + m_path + "': has layout version " + std::to_string(version) +
                " of a newer program (allowed: up to " + std::to_string(LAYOUT_VERSION) + ")");
        }
        const bool isEmpty = QueryValue("SELECT count(*) FROM sqlite_master") == "0";
        const bool isOurs =
            QueryValue(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('run', "
                "'iteration', 'collective', 'message', 'link_counter')") == "5";
        if ((version == LAYOUT_VERSION && !isOurs) || (version != LAYOUT_VERSION && !isEmpty))
        {
            throw ConfigurationError("results file '" + m_path +
                                     "': is a database of something else (allowed: a new file, or "
                                     "a results file written by this program)");
        }
        return isEmpty;
    }

    std::size_t m_insertIteration{0};   ///< number of the statement
    std::size_t m_insertCollective{0};  ///< number of the statement
    std::size_t m_insertMessage{0};     ///< number of the statement
    std::size_t m_insertLinkCounter{0}; ///< number of the statement
    std::size_t m_endRun{0};            ///< number of the statement

  private:
    /**
     * @param statement a statement
     * @param index a parameter of it, from 1
     * @param value its value
     */
    template <class T>
    void Bind(sqlite3_stmt* statement, int index, const T& value)
    {
        int status;
        if constexpr (std::is_integral_v<T>)
        {
            status = sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(value));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            status = sqlite3_bind_double(statement, index, value);
        }
        else
        {
            const std::string& text = value;
            status = sqlite3_bind_text64(statement,
                                         index,
                                         text.data(),
                                         text.size(),
                                         SQLITE_TRANSIENT,
                                         SQLITE_UTF8);
        }
        if (status != SQLITE_OK)
        {
            Throw();
        }
    }

    std::string m_path;                      ///< the file's name, for messages
    sqlite3* m_handle{nullptr};              ///< the open file
    std::vector<sqlite3_stmt*> m_statements; ///< prepared statements
};

void
ResultStore::Check(const std::string& path)
{
    NS_LOG_FUNCTION(path);
    try
    {
        CheckOutputFile(path);
        if (!HasContent(path))
        {
            return;
        }
        CheckHeader(path);
        Database database(path, SQLITE_OPEN_READWRITE);
        database.Execute("BEGIN"); // all that follows sees one state of the file
        database.CheckLayout();
        struct stat status;
        if (stat(path.c_str(), &status) == 0 && status.st_size <= LARGEST_CHECKED_FILE &&
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
    return Database(path, SQLITE_OPEN_READONLY).Query(sql.c_str());
}

ResultStore::ResultStore(const std::string& path, const RunRow& run)
{
    NS_LOG_FUNCTION(this << path);
    Check(path);
    try
    {
        m_database = std::make_unique<Database>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
        m_database->UseWriteAheadLog();
        m_database->Transaction([this, &run] {
            if (m_database->CheckLayout())
            {
                m_database->Execute(LAYOUT);
                m_database->Execute("PRAGMA user_version = 1");
            }
            const auto insert = m_database->Prepare(
                "INSERT INTO run (program, version, seed, configuration, started, state) "
                "VALUES (?, ?, ?, ?, ?, 'unfinished')");
            m_database
                ->Run(insert, run.program, run.version, run.seed, run.configuration, GetUtcNow());
            m_runId = m_database->GetLastRow();
        });
        m_database->m_insertIteration = m_database->Prepare(
            "INSERT INTO iteration (run_id, iteration, warmup, start_s, end_s, iteration_time_s, "
            "compute_time_s, communication_time_s, exposed_communication_s, busbw_GBps, "
            "lower_bound_s, scaling_efficiency, verified) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        m_database->m_insertCollective = m_database->Prepare(
            "INSERT INTO collective (run_id, rank, iteration, sequence, operation, algorithm, "
            "bytes, start_s, end_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
        m_database->m_insertMessage = m_database->Prepare(
            "INSERT INTO message (run_id, source, destination, tag, bytes, start_s, end_s) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)");
        m_database->m_insertLinkCounter = m_database->Prepare(
            "INSERT INTO link_counter (run_id, node, port, peer, bytes, frames, marks, pauses, "
            "drops, busy_s, max_queue_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        m_database->m_endRun = m_database->Prepare(
            "UPDATE run SET finished = ?, state = ?, reason = nullif(?, '') WHERE run_id = ?");
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
ResultStore::AddIteration(const IterationRow& row)
{
    NS_LOG_FUNCTION(this << row.iteration);
    m_iterations.push_back(row);
    Flush();
}

void
ResultStore::AddCollective(const CollectiveRow& row)
{
    m_collectives.push_back(row);
    FlushIfLarge();
}

void
ResultStore::AddMessage(const MessageRow& row)
{
    m_messages.push_back(row);
    FlushIfLarge();
}

void
ResultStore::AddLinkCounter(const LinkCounterRow& row)
{
    m_linkCounters.push_back(row);
    FlushIfLarge();
}

void
ResultStore::FlushIfLarge()
{
    if (m_collectives.size() + m_messages.size() + m_linkCounters.size() >= MOST_ROWS_KEPT)
    {
        Flush();
    }
}

void
ResultStore::Flush()
{
    NS_LOG_FUNCTION(this << m_iterations.size() << m_collectives.size() << m_messages.size());
    if (m_iterations.empty() && m_collectives.empty() && m_messages.empty() &&
        m_linkCounters.empty())
    {
        return;
    }
    auto& database = *m_database;
    database.Transaction([this, &database] {
        for (const auto& row : m_iterations)
        {
            database.Run(database.m_insertIteration,
                         m_runId,
                         row.iteration,
                         row.warmup,
                         row.startS,
                         row.endS,
                         row.iterationTimeS,
                         row.computeTimeS,
                         row.communicationTimeS,
                         row.exposedCommunicationS,
                         row.busbwGBps,
                         row.lowerBoundS,
                         row.scalingEfficiency,
                         row.verified);
        }
        for (const auto& row : m_collectives)
        {
            database.Run(database.m_insertCollective,
                         m_runId,
                         row.rank,
                         row.iteration,
                         row.sequence,
                         row.operation,
                         row.algorithm,
                         row.bytes,
                         row.startS,
                         row.endS);
        }
        for (const auto& row : m_messages)
        {
            database.Run(database.m_insertMessage,
                         m_runId,
                         row.source,
                         row.destination,
                         row.tag,
                         row.bytes,
                         row.startS,
                         row.endS);
        }
        for (const auto& row : m_linkCounters)
        {
            database.Run(database.m_insertLinkCounter,
                         m_runId,
                         row.node,
                         row.port,
                         row.peer,
                         row.bytes,
                         row.frames,
                         row.marks,
                         row.pauses,
                         row.drops,
                         row.busyS,
                         row.maxQueue);
        }
    });
    m_iterations.clear();
    m_collectives.clear();
    m_messages.clear();
    m_linkCounters.clear();
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
    Flush();
    m_database->Run(m_database->m_endRun, GetUtcNow(), state, reason, m_runId);
}

} // namespace ns3::training
