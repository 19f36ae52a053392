/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SQLITE_DATABASE_H
#define DISTRIBUTED_TRAINING_SQLITE_DATABASE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace ns3::training
{

/** Thrown when another process has locked the database for longer than the patience. */
class SqliteBusy : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/**
 * @ingroup distributed-training-results
 *
 * An open SQLite database: RAII around the C interface. All members throw std::runtime_error with
 * the file's name and SQLite's message, SqliteBusy if the database is locked.
 */
class SqliteDatabase
{
  public:
    /** How to open the file. */
    enum class Mode
    {
        READ,  ///< read only
        WRITE, ///< read and write; the file must exist
        CREATE ///< read and write; creates the file if it is missing
    };

    /**
     * @param path the file
     * @param mode how to open it
     */
    SqliteDatabase(const std::string& path, Mode mode);
    ~SqliteDatabase();
    SqliteDatabase(const SqliteDatabase&) = delete;
    SqliteDatabase& operator=(const SqliteDatabase&) = delete;

    /**
     * Sets how long a statement waits for the lock of another process; initially 60 s. A longer
     * wait is told on standard error.
     * @param milliseconds maximum wait
     */
    void SetPatience(int milliseconds);

    /** @param sql statements without results */
    void Execute(const std::string& sql);

    /**
     * Switches to the write-ahead log. Retries while other processes use the file, because the
     * switch needs exclusive access and SQLite does not wait for it.
     */
    void UseWriteAheadLog();

    /**
     * @param sql a query
     * @return the values of each row as text, NULL as empty text
     */
    std::vector<std::vector<std::string>> Query(const std::string& sql);

    /**
     * @param sql a query
     * @return the names of its columns
     */
    std::vector<std::string> GetColumns(const std::string& sql);

    /**
     * @param sql a query with one result
     * @return the result
     */
    std::string QueryValue(const std::string& sql);

    /**
     * @param sql one statement, kept until destruction
     * @return its number
     */
    std::size_t Prepare(const std::string& sql);

    /**
     * Sets a parameter of a prepared statement.
     * @param statement its number
     * @param parameter number of the parameter, from 1
     * @param value a number, truth value or text
     */
    template <class T>
    void Bind(std::size_t statement, int parameter, const T& value)
    {
        if constexpr (std::is_integral_v<T>)
        {
            BindInteger(statement, parameter, static_cast<int64_t>(value));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            BindNumber(statement, parameter, value);
        }
        else
        {
            BindText(statement, parameter, value);
        }
    }

    /**
     * Executes a prepared statement.
     * @param statement its number
     */
    void Run(std::size_t statement);

    /**
     * Executes a prepared statement.
     * @param statement its number
     * @param values values of all its parameters
     */
    template <class... T>
    void RunWith(std::size_t statement, const T&... values)
    {
        int parameter = 0;
        (Bind(statement, ++parameter, values), ...);
        Run(statement);
    }

    /** @return row number of the last insertion */
    int64_t GetLastRow() const;

    /** @param work executed in one transaction: completely or not at all */
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
            RollBack();
            throw;
        }
    }

  private:
    static int OnBusy(void* database, int count);
    [[noreturn]] void Throw() const;
    void Expect(int wanted, int status) const;
    void RollBack();
    void BindInteger(std::size_t statement, int parameter, int64_t value);
    void BindNumber(std::size_t statement, int parameter, double value);
    void BindText(std::size_t statement, int parameter, const std::string& value);

    std::string m_path; // for messages
    sqlite3* m_handle{nullptr};
    std::vector<sqlite3_stmt*> m_statements; // prepared ones
    int m_patienceMs{60000};                 // longest wait for the lock of another process
    bool m_isWaitTold{false};                // whether the user has heard of a wait
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SQLITE_DATABASE_H
