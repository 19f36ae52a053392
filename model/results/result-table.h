/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_TABLE_H
#define DISTRIBUTED_TRAINING_RESULT_TABLE_H

#include "sqlite-database.h"

#include "ns3/training-record-field.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * A table of a results file: a column `run_id`, then one column per field of a record. Buffers rows
 * until Write().
 *
 * @tparam Record type of a row
 */
template <class Record>
class ResultTable
{
  public:
    /** Primary key of the rows. */
    enum class Key
    {
        FIRST_COLUMN, ///< run and first column, which is unique within a run
        RUN           ///< run
    };

    /**
     * @param name of the table
     * @param key primary key
     * @param fields the columns
     */
    ResultTable(std::string name, Key key, std::vector<RecordField<Record>> fields)
        : m_name(std::move(name)),
          m_key(key),
          m_fields(std::move(fields))
    {
    }

    /** @return SQL statements that create it */
    std::string GetLayout() const
    {
        std::string sql =
            "CREATE TABLE " + m_name + " (\n    run_id INTEGER NOT NULL REFERENCES run";
        for (const auto& field : m_fields)
        {
            sql += ",\n    " + GetColumn(field);
        }
        if (m_key == Key::FIRST_COLUMN)
        {
            return sql + ",\n    PRIMARY KEY (run_id, " + m_fields[0].name + ")) WITHOUT ROWID;\n";
        }
        return sql + ");\nCREATE INDEX " + m_name + "_run ON " + m_name + " (run_id);\n";
    }

    /**
     * Adds what a file of an older program lacks: the table, or columns, with 0 or an empty text in
     * its rows.
     * @param database may have this table
     */
    void AddMissingColumns(SqliteDatabase& database) const
    {
        if (database.QueryValue("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                                "name = '" +
                                m_name + "'") == "0")
        {
            database.Execute(GetLayout());
            return;
        }
        for (const auto& field : m_fields)
        {
            if (database.QueryValue("SELECT count(*) FROM pragma_table_info('" + m_name +
                                    "') WHERE name = '" + field.name + "'") == "0")
            {
                database.Execute("ALTER TABLE " + m_name + " ADD COLUMN " + GetColumn(field));
            }
        }
    }

    /** @param database destination of the rows */
    void Prepare(SqliteDatabase& database)
    {
        std::string columns = "run_id";
        std::string values = "?";
        for (const auto& field : m_fields)
        {
            columns += ", " + field.name;
            values += ", ?";
        }
        m_insert = database.Prepare("INSERT INTO " + m_name + " (" + columns + ") VALUES (" +
                                    values + ")");
    }

    /** @param row buffered until Clear() */
    void Add(const Record& row)
    {
        m_rows.push_back(row);
    }

    /** @return number of buffered rows */
    std::size_t GetSize() const
    {
        return m_rows.size();
    }

    /**
     * @param database as for Prepare()
     * @param runId run of the rows
     */
    void Write(SqliteDatabase& database, int64_t runId) const
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

    /** @param isDropped whether a buffered row leaves the buffer */
    template <class F>
    void Drop(const F& isDropped)
    {
        m_rows.erase(std::remove_if(m_rows.begin(), m_rows.end(), isDropped), m_rows.end());
    }

    /** Drops the buffered rows. */
    void Clear()
    {
        m_rows.clear();
    }

  private:
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

    std::string m_name;
    Key m_key;
    std::vector<RecordField<Record>> m_fields;
    std::size_t m_insert{0}; // number of the prepared statement
    std::vector<Record> m_rows;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_TABLE_H
