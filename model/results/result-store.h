/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_STORE_H
#define DISTRIBUTED_TRAINING_RESULT_STORE_H

#include "iteration-record.h"
#include "result-rows.h"
#include "result-table.h"
#include "sqlite-database.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * One run's part of an SQLite results file: tables `run`, `iteration`, `collective`, `message`,
 * `link_counter`, `link_iteration`, `sample`, `compute_phase`, `critical_path`, `nic_counter`,
 * `codec_counter`, `learning`, `energy`, `life`, `input`, `flow`, `job` and `simulation`. A table
 * has one column per field of its row type, and `run_id`, the key of `run`. The views `bucket`,
 * `bucket_wait`, `bottleneck`, `binding` and `slowest_message` answer questions from these tables
 * (see RESULT_VIEWS). Its `state` is 'unfinished' until Finish() or Fail(), so a killed run stays
 * 'unfinished'. Times of day are UTC
 * in ISO 8601.
 *
 * The file may hold many runs, written by many processes concurrently (write-ahead log; a writer
 * waits for the transactions of others). Rows are buffered and written in one transaction at the
 * end of each iteration, so a killed run loses at most the current iteration. While another program
 * keeps the file locked, rows remain in memory and each iteration tries again; Finish() and Fail()
 * wait until the lock is gone.
 *
 * `PRAGMA user_version` is the version of the layout.
 */
class ResultStore
{
  public:
    /** Supported version of the layout. */
    static constexpr int LAYOUT_VERSION = 1;

    /**
     * Checks whether the file can be written, without creating or changing anything.
     * @param path the file, which need not exist
     * @throw ConfigurationError if it cannot be written, is not a results file, is corrupt, or has
     *        a newer layout
     */
    static void Check(const std::string& path);

    /**
     * Queries a results file, which other processes may be writing.
     * @param path the file
     * @param sql a query
     * @return the values of each row as text, NULL as empty text
     * @throw std::runtime_error if the file cannot be read or the query is wrong
     */
    static std::vector<std::vector<std::string>> Query(const std::string& path,
                                                       const std::string& sql);

    /**
     * Opens or creates the file and adds a new run.
     * @param path the file
     * @param run identity of the run
     * @throw ConfigurationError as Check(); then nothing has been created or changed
     */
    ResultStore(const std::string& path, const RunRow& run);

    /** Writes buffered rows unless the file is locked; a run without Finish() or Fail() stays
     *  'unfinished'. */
    ~ResultStore();
    ResultStore(const ResultStore&) = delete;
    ResultStore& operator=(const ResultStore&) = delete;

    /** @return number of the run in the file */
    int64_t GetRunId() const;

    /**
     * Adds an iteration, and writes it with all rows added before, unless the file is locked.
     * @param row the iteration
     * @throw std::runtime_error if it cannot be written, for example on a full disk, or if the file
     *        has been deleted or replaced
     */
    void AddIteration(const IterationRecord& row);

    /**
     * @param row of a ResultTableEntry, written with the next iteration or at the end
     * @throw std::runtime_error as AddIteration()
     */
    template <class Row>
    void Add(const Row& row)
    {
        static const std::size_t place = FindResultTable(typeid(Row));
        static_cast<ResultTable<Row>&>(*m_tables.at(place)).Add(row);
        m_size++;
        FlushIfLarge();
    }

    /**
     * Removes the iterations, their collectives and the traffic of their links that a failure has
     * undone, because they will be added again.
     * @param first number of the first iteration that is lost
     */
    void DropIterations(uint32_t first);

    /**
     * Writes all rows added so far, unless the file is locked.
     * @throw std::runtime_error as AddIteration()
     */
    void Flush();

    /**
     * Writes everything and sets the run's state to 'finished'. Waits while the file is locked, and
     * says so on standard error.
     * @throw std::runtime_error as AddIteration()
     */
    void Finish();

    /**
     * Writes everything and sets the run's state to 'failed'. Waits as Finish().
     * @param reason one line
     * @throw std::runtime_error as AddIteration()
     */
    void Fail(const std::string& reason);

  private:
    void End(const std::string& state, const std::string& reason);
    void SaveEnd(const std::string& state, const std::string& reason);
    void FlushIfLarge();
    void Save();
    void WriteRows();
    void ClearRows();
    void CheckFile() const;

    std::string m_path;
    uint64_t m_device{0}; // identity of the file
    uint64_t m_inode{0};
    std::unique_ptr<SqliteDatabase> m_database;
    /// With rows that are not written yet; in the order of their names.
    std::vector<std::unique_ptr<AnyResultTable>> m_tables;
    std::size_t m_size{0}; // rows that are not written yet
    int64_t m_runId{0};
    std::size_t m_flushAt;          // rows in memory that make a flush due
    std::optional<uint32_t> m_lost; // rows of iterations from this one on must leave the file
    bool m_isGone{false};           // whether the file could not be written, see LostOutputs
    bool m_isLocked{false};         // whether the last flush found the file locked
    std::size_t m_endRun{0};        // number of the prepared statement
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_STORE_H
