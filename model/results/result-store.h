/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_STORE_H
#define DISTRIBUTED_TRAINING_RESULT_STORE_H

#include "iteration-record.h"
#include "sqlite-database.h"

#include "ns3/training-record-field.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Identity of a run.
 */
struct RunRow
{
    std::string program;       ///< the program that ran, such as "training-job"
    std::string version;       ///< its version
    uint64_t seed{0};          ///< its seed, below 2^63
    std::string configuration; ///< all its options, as a JSON object
};

/**
 * @ingroup distributed-training-results
 *
 * One collective at one rank.
 */
struct CollectiveRow
{
    uint32_t rank{0};      ///< the rank
    uint32_t iteration{0}; ///< iteration of the job, or repetition of the benchmark
    uint32_t sequence{0};  ///< number in the iteration, such as that of the bucket
    std::string operation; ///< "all-reduce", "reduce-scatter", ...
    std::string algorithm; ///< "ring", "parameter-server", ...
    uint64_t bytes{0};     ///< size of a rank's vector
    double startS{0};      ///< simulated time of issue at this rank
    double endS{0};        ///< simulated time of completion at this rank

    /** @return the columns */
    static std::vector<RecordField<CollectiveRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * One message from rank to rank.
 */
struct MessageRow
{
    uint32_t source{0};      ///< sending rank
    uint32_t destination{0}; ///< receiving rank
    uint64_t tag{0};         ///< matches sender and receiver
    uint64_t bytes{0};       ///< size without headers
    double startS{0};        ///< simulated time when the transport accepted it
    double endS{0};          ///< simulated time when its last byte arrived

    /** @return the columns */
    static std::vector<RecordField<MessageRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * Counters of a port over the whole run.
 */
struct LinkCounterRow
{
    std::string node;          ///< name of the host or switch
    uint32_t port{0};          ///< number of the port at that node
    std::string peer;          ///< name of the node at the other end of the link
    uint64_t bytes{0};         ///< bytes sent, including overhead on the line
    uint64_t frames{0};        ///< frames sent
    uint64_t marks{0};         ///< frames with an ECN mark
    uint64_t pauses{0};        ///< PFC pause frames sent
    uint64_t drops{0};         ///< frames dropped
    double busyS{0};           ///< transmission time
    uint64_t maxQueue{0};      ///< maximum queue length, bytes
    uint64_t losslessDrops{0}; ///< frames of lossless classes dropped for lack of buffer space
    uint64_t trims{0};         ///< frames cut to their header (packet trimming)

    /** @return the columns */
    static std::vector<RecordField<LinkCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * What the engine of a NIC coded over the whole run.
 */
struct NicCounterRow
{
    std::string node;            ///< name of the host
    uint32_t port{0};            ///< number of the port at that host
    uint64_t codedPackets{0};    ///< packets sent as code
    uint64_t plainBytes{0};      ///< their payload before coding
    uint64_t codedBytes{0};      ///< their payload on the line
    uint64_t bypassedPackets{0}; ///< packets with gradients sent plain
    uint64_t bypassedBytes{0};   ///< gradients in them
    std::string classes;         ///< numbers by class of the codec, as a JSON object

    /** @return the columns */
    static std::vector<RecordField<NicCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 * What a rank has coded on its GPU or CPU.
 */
struct CodecCounterRow
{
    uint32_t rank{0};       ///< the rank
    uint64_t encodings{0};  ///< messages or buckets encoded
    uint64_t decodings{0};  ///< codes decoded
    uint64_t plainBytes{0}; ///< gradients before coding
    uint64_t codedBytes{0}; ///< what was sent of them
    double encodeS{0};      ///< time of encoding, s
    double decodeS{0};      ///< time of decoding, s

    /** @return the columns */
    static std::vector<RecordField<CodecCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * State of a training inside the job after an iteration. Ranks have replicas of the model, which
 * lossy codecs may let drift apart.
 */
struct LearningRow
{
    uint32_t iteration{0};  ///< number of the iteration, from 0
    double endS{0};         ///< simulated time of its end
    double trainingLoss{0}; ///< mean over the samples of the iteration, before its update
    double testLoss{0};     ///< of rank 0's replica after the update, mean over the test
    double testAccuracy{0}; ///< the same: share of the samples whose class is found, 0 to 1
    double drift{0};        ///< largest difference of a weight between two ranks

    /** @return the columns */
    static std::vector<RecordField<LearningRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * Energy and cost of a run, warm-up included. Joules are 0 without a power model.
 */
struct EnergyRow
{
    std::string powerModel;            ///< with its keys; empty: none
    uint32_t iterations{0};            ///< complete ones
    double seconds{0};                 ///< of these iterations
    double joules{0};                  ///< of the whole cluster
    double joulesPerIteration{0};      ///< joules / iterations
    double joulesPerGradientByte{0};   ///< likewise / bytes of collectives and messages of rank 0
    double computeJoules{0};           ///< GPUs that compute
    double waitingJoules{0};           ///< GPUs that do not
    double hostJoules{0};              ///< servers, CPUs, NICs
    double switchJoules{0};            ///< switches and their ports
    double bitJoules{0};               ///< bits on links, in switches and in memory
    bool countsRetransmissions{false}; ///< whether the two below are counted
    double retransmissionJoules{0};    ///< the retransmitted part of bitJoules
    double retransmittedPart{0};       ///< retransmitted data packets / data packets sent
    double linkBits{0};                ///< sent, sum of all links
    double switchBits{0};              ///< received by switches
    double memoryBits{0};              ///< sent and received by hosts
    double dollars{0};                 ///< price of GPUs and ports
    double dollarsPerIteration{0};     ///< dollars / iterations

    /** @return the columns */
    static std::vector<RecordField<EnergyRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * A job of a shared cluster. Its iterations, collectives and messages are rows of a run of its own.
 */
struct JobRow
{
    uint32_t number{0};    ///< from 0
    std::string name;      ///< different for each job
    uint64_t runId{0};     ///< run of its rows
    std::string workload;  ///< what it trained
    uint32_t ranks{0};     ///< number of ranks
    std::string placement; ///< how it got its hosts
    std::string hosts;     ///< of its ranks, as 0-3,8
    double arrivalS{0};    ///< when it asked for hosts, s
    double waitS{0};       ///< how long it waited for them, s
    double startS{0};      ///< when it got them, s
    double endS{0};        ///< when its last rank ended, s
    double iterationS{0};  ///< mean time of an iteration, s
    double aloneS{0};      ///< the same alone on its hosts; 0: not simulated
    double slowdown{0};    ///< ratio of the two; 0: not known

    /** @return the columns */
    static std::vector<RecordField<JobRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * One run's part of an SQLite results file: tables `run`, `iteration`, `collective`, `message`,
 * `link_counter`, `nic_counter`, `codec_counter`, `learning`, `energy` and `job`. A table has one
 * column per field of its row type, and `run_id`, the key of `run`. Its `state` is 'unfinished'
 * until Finish() or Fail(), so a killed run stays 'unfinished'. Times of day are UTC in ISO 8601.
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
     * @param row a collective, written with the next iteration
     * @throw std::runtime_error as AddIteration()
     */
    void AddCollective(const CollectiveRow& row);
    /**
     * @param row a message, written with the next iteration
     * @throw std::runtime_error as AddIteration()
     */
    void AddMessage(const MessageRow& row);
    /**
     * @param row a port's counters, written with the next iteration or at the end
     * @throw std::runtime_error as AddIteration()
     */
    void AddLinkCounter(const LinkCounterRow& row);
    /**
     * @param row a NIC's counters, written with the next iteration or at the end
     * @throw std::runtime_error as AddIteration()
     */
    void AddNicCounter(const NicCounterRow& row);

    /**
     * @param row a training's state, written with the next iteration
     * @throw std::runtime_error as AddIteration()
     */
    void AddLearning(const LearningRow& row);

    /** @param row energy of the run
     * @throw std::runtime_error as AddIteration()
     */
    void AddEnergy(const EnergyRow& row);

    /**
     * @param row a rank
     * @throw std::runtime_error as AddIteration()
     */
    void AddCodecCounter(const CodecCounterRow& row);

    /**
     * @param row a job of a shared cluster
     * @throw std::runtime_error as AddIteration()
     */
    void AddJob(const JobRow& row);

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
    struct Tables;

    void End(const std::string& state, const std::string& reason);
    void FlushIfLarge();
    void WriteRows();
    void CheckFile() const;

    std::string m_path;
    uint64_t m_device{0}; // identity of the file
    uint64_t m_inode{0};
    std::unique_ptr<SqliteDatabase> m_database;
    std::unique_ptr<Tables> m_tables; // with rows that are not written yet
    int64_t m_runId{0};
    std::size_t m_flushAt;   // rows in memory that make a flush due
    bool m_isLocked{false};  // whether the last flush found the file locked
    std::size_t m_endRun{0}; // number of the prepared statement
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_STORE_H
