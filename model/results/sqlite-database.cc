/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sqlite-database.h"

#include <chrono>
#include <iostream>
#include <sqlite3.h>
#include <thread>
#include <utility>

namespace ns3::training
{

namespace
{

/// Longest wait of a writer for others at the start, ms: many processes may be ahead of it.
constexpr int MAX_PATIENCE_MS = 60000;
/// Time between two attempts, ms.
constexpr int BUSY_SLEEP_MS = 10;
/// Time after which the user hears of the wait, ms.
constexpr int TOLD_MS = 2500;

int
GetFlags(SqliteDatabase::Mode mode)
{
    switch (mode)
    {
    case SqliteDatabase::Mode::READ:
        return SQLITE_OPEN_READONLY;
    case SqliteDatabase::Mode::WRITE:
        return SQLITE_OPEN_READWRITE;
    default:
        return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    }
}

} // namespace

SqliteDatabase::SqliteDatabase(const std::string& path, Mode mode)
    : m_path(path)
{
    // With a folder, so that SQLite takes neither file:NAME as a URI nor :memory: as no file.
    const std::string name = path.find('/') < path.find(':') ? path : "./" + path;
    const int status = sqlite3_open_v2(name.c_str(), &m_handle, GetFlags(mode), nullptr);
    if (status != SQLITE_OK)
    {
        const std::string text = m_handle ? sqlite3_errmsg(m_handle) : sqlite3_errstr(status);
        sqlite3_close(m_handle);
        throw std::runtime_error("results file '" + path + "': " + text);
    }
    sqlite3_busy_handler(m_handle, &SqliteDatabase::OnBusy, this);
}

SqliteDatabase::~SqliteDatabase()
{
    for (auto* statement : m_statements)
    {
        sqlite3_finalize(statement);
    }
    sqlite3_close(m_handle);
}

void
SqliteDatabase::SetPatience(int milliseconds)
{
    m_patienceMs = milliseconds;
}

int
SqliteDatabase::OnBusy(void* database, int count)
{
    auto& self = *static_cast<SqliteDatabase*>(database);
    const int waited = count * BUSY_SLEEP_MS;
    if (waited >= self.m_patienceMs)
    {
        return 0;
    }
    if (waited >= TOLD_MS && !std::exchange(self.m_isWaitTold, true))
    {
        std::cerr << "results file '" << self.m_path
                  << "': is locked, waiting for the other program" << std::endl;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(BUSY_SLEEP_MS));
    return 1;
}

void
SqliteDatabase::Throw() const
{
    const std::string text = "results file '" + m_path + "': " + sqlite3_errmsg(m_handle);
    const int status = sqlite3_errcode(m_handle);
    if (status == SQLITE_BUSY || status == SQLITE_LOCKED)
    {
        throw SqliteBusy(text);
    }
    throw std::runtime_error(text);
}

void
SqliteDatabase::Expect(int wanted, int status) const
{
    if (status != wanted)
    {
        Throw();
    }
}

void
SqliteDatabase::Execute(const std::string& sql)
{
    Expect(SQLITE_OK, sqlite3_exec(m_handle, sql.c_str(), nullptr, nullptr, nullptr));
}

void
SqliteDatabase::RollBack()
{
    sqlite3_exec(m_handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

void
SqliteDatabase::UseWriteAheadLog()
{
    m_patienceMs = MAX_PATIENCE_MS;
    const char* sql = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    for (int count = 0;; count++)
    {
        const int status = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
        if (status == SQLITE_OK)
        {
            return;
        }
        // SQLite does not always wait by itself, where that might be for ever.
        if ((status != SQLITE_BUSY && status != SQLITE_LOCKED) || OnBusy(this, count) == 0)
        {
            Throw();
        }
    }
}

std::vector<std::vector<std::string>>
SqliteDatabase::Query(const std::string& sql)
{
    sqlite3_stmt* statement = m_statements[Prepare(sql)];
    std::vector<std::vector<std::string>> rows;
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW)
    {
        rows.emplace_back();
        for (int column = 0; column < sqlite3_column_count(statement); column++)
        {
            const unsigned char* text = sqlite3_column_text(statement, column);
            rows.back().emplace_back(text ? reinterpret_cast<const char*>(text) : "");
        }
    }
    sqlite3_finalize(statement); // an unfinished query would keep its lock
    m_statements.pop_back();
    Expect(SQLITE_DONE, status);
    return rows;
}

std::vector<std::string>
SqliteDatabase::GetColumns(const std::string& sql)
{
    sqlite3_stmt* statement = m_statements[Prepare(sql)];
    std::vector<std::string> columns;
    for (int column = 0; column < sqlite3_column_count(statement); column++)
    {
        columns.emplace_back(sqlite3_column_name(statement, column));
    }
    sqlite3_finalize(statement);
    m_statements.pop_back();
    return columns;
}

std::string
SqliteDatabase::QueryValue(const std::string& sql)
{
    return Query(sql).at(0).at(0);
}

std::size_t
SqliteDatabase::Prepare(const std::string& sql)
{
    sqlite3_stmt* statement = nullptr;
    Expect(SQLITE_OK, sqlite3_prepare_v2(m_handle, sql.c_str(), -1, &statement, nullptr));
    m_statements.push_back(statement);
    return m_statements.size() - 1;
}

void
SqliteDatabase::BindInteger(std::size_t statement, int parameter, int64_t value)
{
    Expect(SQLITE_OK, sqlite3_bind_int64(m_statements.at(statement), parameter, value));
}

void
SqliteDatabase::BindNumber(std::size_t statement, int parameter, double value)
{
    Expect(SQLITE_OK, sqlite3_bind_double(m_statements.at(statement), parameter, value));
}

void
SqliteDatabase::BindText(std::size_t statement, int parameter, const std::string& value)
{
    Expect(SQLITE_OK,
           sqlite3_bind_text64(m_statements.at(statement),
                               parameter,
                               value.data(),
                               value.size(),
                               SQLITE_TRANSIENT,
                               SQLITE_UTF8));
}

void
SqliteDatabase::Run(std::size_t statement)
{
    sqlite3_stmt* prepared = m_statements.at(statement);
    const int status = sqlite3_step(prepared);
    sqlite3_reset(prepared);
    Expect(SQLITE_DONE, status);
}

int64_t
SqliteDatabase::GetLastRow() const
{
    return sqlite3_last_insert_rowid(m_handle);
}

} // namespace ns3::training
