/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SQLITE_DATABASE_H
#define DISTRIBUTED_TRAINING_SQLITE_DATABASE_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * An open SQLite database: RAII around the C interface. All members throw std::runtime_error with
 * the file's name and the text of SQLite.
 */
class SqliteDatabase
{
  public:
    /** How to open the file. */
    enum class Mode
    {
        READ,  ///< only for reading
        WRITE, ///< for writing; the file must exist
        CREATE ///< for writing; the file is created if it is missing
    };

    /**
     * @param path the file
     * @param mode how to open it
     */
    SqliteDatabase(const std::string& path, Mode mode);
    ~SqliteDatabase();
    SqliteDatabase(const SqliteDatabase&) = delete;
    SqliteDatabase& operator=(const SqliteDatabase&) = delete;

    /** @param sql statements without results */
    void Execute(const std::string& sql);

    /**
     * Switches to the write-ahead log. Waits for other processes, as this needs the file for itself
     * and SQLite does not wait for that.
     */
    void UseWriteAheadLog();

    /**
     * @param sql a query
     * @return the values of each row as text, NULL as empty text
     */
    std::vector<std::vector<std::string>> Query(const std::string& sql);

    /**
     * @param sql a query with one result
     * @return this result
     */
    std::string QueryValue(const std::string& sql);

    /**
     * @param sql one statement, kept until the end
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
     * @param values of all its parameters
     */
    template <class... T>
    void RunWith(std::size_t statement, const T&... values)
    {
        int parameter = 0;
        (Bind(statement, ++parameter, values), ...);
        Run(statement);
    }

    /** @return number of the row that was inserted last */
    int64_t GetLastRow() const;

    /** @param work done in one transaction: all of it or nothing */
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
    [[noreturn]] void Throw() const;
    void Expect(int wanted, int status) const;
    void RollBack();
    void BindInteger(std::size_t statement, int parameter, int64_t value);
    void BindNumber(std::size_t statement, int parameter, double value);
    void BindText(std::size_t statement, int parameter, const std::string& value);

    std::string m_path; // for messages
    sqlite3* m_handle{nullptr};
    std::vector<sqlite3_stmt*> m_statements; // prepared ones
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SQLITE_DATABASE_H
