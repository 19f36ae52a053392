/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_TABLE_H
#define DISTRIBUTED_TRAINING_RESULT_TABLE_H

#include "sqlite-database.h"

#include "ns3/training-record-field.h"
#include "ns3/training-registry.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 * A table of a results file, whatever its rows are.
 */
class AnyResultTable
{
  public:
    virtual ~AnyResultTable() = default;

    /** @return SQL statements that create it */
    virtual std::string GetLayout() const = 0;

    /**
     * Adds what a file of an older program lacks: the table, or columns, with 0 or an empty text in
     * its rows.
     * @param database may have this table
     */
    virtual void AddMissingColumns(SqliteDatabase& database) const = 0;

    /** @param database destination of the rows */
    virtual void Prepare(SqliteDatabase& database) = 0;

    /** @return number of buffered rows */
    virtual std::size_t GetSize() const = 0;

    /**
     * Drops buffered rows that a failure has undone.
     * @param first number of the first iteration that is lost
     */
    virtual void DropIterations(uint32_t first) = 0;

    /**
     * @param first number of the first iteration that is lost
     * @return SQL condition of rows that it undoes; empty: there are none in this table
     */
    virtual std::string GetLostCondition(uint32_t first) const = 0;

    /**
     * @param database as for Prepare()
     * @param runId run of the rows
     */
    virtual void Write(SqliteDatabase& database, int64_t runId) const = 0;

    /** Drops the buffered rows. */
    virtual void Clear() = 0;

    /** @return name of the table */
    const std::string& GetName() const
    {
        return m_name;
    }

  protected:
    /** @param name of the table */
    explicit AnyResultTable(std::string name)
        : m_name(std::move(name))
    {
    }

  private:
    std::string m_name;
};

/**
 * @ingroup distributed-training-results
 * How rows of a table stand to their run.
 */
struct ResultKey
{
    bool isFirstColumn{false}; ///< the first column is unique within a run, and the primary key
    bool isUndone{false};      ///< a failure undoes rows, by their column and member `iteration`
};

/**
 * @ingroup distributed-training-results
 *
 * A table of a results file: a column `run_id`, then one column per field of a record. Buffers rows
 * until Write().
 *
 * @tparam Record type of a row; its GetFields() describes the columns
 */
template <class Record>
class ResultTable : public AnyResultTable
{
  public:
    /**
     * @param name of the table
     * @param key of its rows
     */
    ResultTable(const std::string& name, ResultKey key)
        : AnyResultTable(name),
          m_key(key),
          m_fields(Record::GetFields())
    {
    }

    std::string GetLayout() const override
    {
        std::string sql =
            "CREATE TABLE " + GetName() + " (\n    run_id INTEGER NOT NULL REFERENCES run";
        for (const auto& field : m_fields)
        {
            sql += ",\n    " + GetColumn(field);
        }
        if (m_key.isFirstColumn)
        {
            return sql + ",\n    PRIMARY KEY (run_id, " + m_fields[0].name + ")) WITHOUT ROWID;\n";
        }
        return sql + ");\nCREATE INDEX " + GetName() + "_run ON " + GetName() + " (run_id);\n";
    }

    void AddMissingColumns(SqliteDatabase& database) const override
    {
        if (database.QueryValue("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                                "name = '" +
                                GetName() + "'") == "0")
        {
            database.Execute(GetLayout());
            return;
        }
        for (const auto& field : m_fields)
        {
            if (database.QueryValue("SELECT count(*) FROM pragma_table_info('" + GetName() +
                                    "') WHERE name = '" + field.name + "'") == "0")
            {
                database.Execute("ALTER TABLE " + GetName() + " ADD COLUMN " + GetColumn(field));
            }
        }
    }

    void Prepare(SqliteDatabase& database) override
    {
        std::string columns = "run_id";
        std::string values = "?";
        for (const auto& field : m_fields)
        {
            columns += ", " + field.name;
            values += ", ?";
        }
        m_insert = database.Prepare("INSERT INTO " + GetName() + " (" + columns + ") VALUES (" +
                                    values + ")");
    }

    /** @param row buffered until Clear() */
    void Add(const Record& row)
    {
        m_rows.push_back(row);
    }

    std::size_t GetSize() const override
    {
        return m_rows.size();
    }

    void Write(SqliteDatabase& database, int64_t runId) const override
    {
        for (const Record& row : m_rows)
        {
            int parameter = 1;
            database.Bind(m_insert, parameter, runId);
            for (const auto& field : m_fields)
            {
                parameter++;
                field.Visit([&](const auto& value) { database.Bind(m_insert, parameter, value); },
                            row);
            }
            database.Run(m_insert);
        }
    }

    void DropIterations([[maybe_unused]] uint32_t first) override
    {
        if constexpr (HasIteration<Record>::value)
        {
            const auto isLost = [&](const auto& row) {
                return m_key.isUndone && row.iteration >= first;
            };
            m_rows.erase(std::remove_if(m_rows.begin(), m_rows.end(), isLost), m_rows.end());
        }
    }

    std::string GetLostCondition(uint32_t first) const override
    {
        return m_key.isUndone ? "iteration >= " + std::to_string(first) : "";
    }

    void Clear() override
    {
        m_rows.clear();
    }

  private:
    /** Whether rows belong to an iteration. */
    template <class T, class = void>
    struct HasIteration : std::false_type
    {
    };

    template <class T>
    struct HasIteration<T, std::void_t<decltype(T::iteration)>> : std::true_type
    {
    };

    /** @return SQL definition of a column; by its default, an older program can add rows, too */
    static std::string GetColumn(const RecordField<Record>& field)
    {
        const std::string type = field.GetTypeName();
        return field.name +
               (type == "text"     ? " TEXT"
                : type == "number" ? " REAL"
                                   : " INTEGER") +
               " NOT NULL DEFAULT " + (type == "text" ? "''" : "0");
    }

    ResultKey m_key;
    std::vector<RecordField<Record>> m_fields;
    std::size_t m_insert{0}; // number of the prepared statement
    std::vector<Record> m_rows;
};

/**
 * @ingroup distributed-training-results
 * A table of results files, in Registry<ResultTableMaker>. Files have all of them.
 */
struct ResultTableMaker
{
    static constexpr const char* KIND = "table of results"; ///< for messages
    std::type_index row;                                    ///< type of its rows
    std::function<std::unique_ptr<AnyResultTable>()> make;  ///< makes an empty table
};

/** @param row type of the rows of a table @return its place in the order of names */
std::size_t FindResultTable(std::type_index row);

/**
 * @ingroup distributed-training-results
 * Registers a table, beside the fields of its rows.
 * @tparam Record see ResultTable
 *
 * @code
 *   const ResultTableEntry<FlowRow> g_flow("flow", {true});
 * @endcode
 */
template <class Record>
class ResultTableEntry : public Registry<ResultTableMaker>::Entry
{
  public:
    /**
     * @param name of the table
     * @param key of its rows
     */
    explicit ResultTableEntry(const std::string& name, ResultKey key = {})
        : Registry<ResultTableMaker>::Entry(
              name,
              {typeid(Record),
               [name, key] { return std::make_unique<ResultTable<Record>>(name, key); }})
    {
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_TABLE_H
