/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_FORMAT_H
#define DISTRIBUTED_TRAINING_WORKLOAD_FORMAT_H

#include "core/input-manifest.h"

#include "ns3/task-graph.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-formats Workload formats
 *
 * Readers of the files in which other simulators and frameworks describe jobs.
 */

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * How files are read.
 */
struct FormatRequest
{
    std::string path;    ///< the file, or one of those that belong together, or their prefix
    uint32_t ranks{0};   ///< of the job; 0: as many as the file has
    bool lenient{false}; ///< unknown words and damage are counted rather than refused
    std::vector<uint32_t> dimensions; ///< of the network, innermost first; empty: not known
};

/**
 * @ingroup distributed-training-formats
 * A job of a file.
 */
struct FormatResult
{
    std::unique_ptr<TaskGraph> graph; ///< its tasks
    /// What is damaged, where, and under which rule the job runs nevertheless; one line each.
    std::vector<std::string> problems;
    std::string format;       ///< its name; set by ReadWorkloadFormat() if the reader does not
    bool isUniform{false};    ///< all ranks have tasks of the same kinds and lengths
    bool gathersParts{false}; ///< sizes of all-gathers in the file are those of the part of a rank
};

/// @ingroup distributed-training-formats
/// Name of tasks for gaps between the computations of a trace.
constexpr const char* IDLE_TASK = "idle";

/**
 * @ingroup distributed-training-formats
 * @param bytes of a rank
 * @param count ranks
 * @param where file:line, or node, for the message
 * @return bytes of all
 * @throw ConfigurationError if they are more than 2^62
 */
uint64_t MultiplySize(uint64_t bytes, uint64_t count, const std::string& where);

/**
 * @ingroup distributed-training-formats
 * Counts the files of a job that has one for each rank, named by its number.
 * @param prefix of their paths, before the number
 * @param ends of their paths, behind the number
 * @param ranks that the job should have; 0: as many as there are files
 * @param most ranks
 * @return number of ranks; 0: there is no file
 * @throw ConfigurationError if the file of a rank is missing or empty, or there are more files than
 *        `ranks`
 */
uint32_t CountRankFiles(const std::string& prefix,
                        const std::vector<std::string>& ends,
                        uint32_t ranks,
                        uint32_t most);

/**
 * @ingroup distributed-training-formats
 * What a reader has found damaged, and decided: each kind once, with its first place and a count.
 */
class FormatProblems
{
  public:
    FormatProblems() = default;
    FormatProblems(const FormatProblems&) = delete;
    FormatProblems& operator=(const FormatProblems&) = delete;

    /** @param file receives what is added, as assumptions; it outlives this */
    void SetFile(InputManifest::File& file)
    {
        m_file = &file;
        file.isSaid = true;
    }

    /**
     * @param count parts of the file that have an effect
     */
    void Use(uint64_t count = 1)
    {
        m_file->Use(count);
    }

    /**
     * @param what name of a part of the file that has no effect
     * @param where its place
     */
    void Ignore(const std::string& what, const std::string& where)
    {
        m_file->Ignore(what, [&where] { return where; });
    }

    /**
     * @param what is damaged, and by which rule the job runs
     * @param where it is
     */
    void Add(const std::string& what, const std::string& where);

    /** @return a line for each kind */
    std::vector<std::string> GetLines() const;

  private:
    std::map<std::string, std::pair<uint64_t, std::string>> m_all; // count and first place
    InputManifest::File m_none;                                    // of readers without a file
    InputManifest::File* m_file{&m_none};
};

/**
 * @ingroup distributed-training-formats
 * A format, in Registry<WorkloadFormatEntry>.
 */
struct WorkloadFormatEntry
{
    static constexpr const char* KIND = "workload format"; ///< for messages
    std::string help;                                      ///< one line
    /**
     * @param path of the file
     * @param begin its first bytes, at most MAX_FORMAT_PROBE
     * @return whether the file looks like one of this format
     */
    bool (*recognizes)(const std::string& path, const std::string& begin);
    /**
     * @param request the file
     * @param values keys of the format, validated
     * @return the job
     * @throw ConfigurationError with file:line, or the number of the record, if it is wrong
     */
    FormatResult (*read)(const FormatRequest& request, const KeyValues& values);
    std::vector<Key> keys{};           ///< its keys
    std::optional<FirstValue> first{}; ///< its leading value: the path
};

/** @return its leading value */
inline std::optional<FirstValue>
GetFirstValue(const WorkloadFormatEntry& entry)
{
    return entry.first;
}

/// Bytes by which a format is recognized. @ingroup distributed-training-formats
constexpr std::size_t MAX_FORMAT_PROBE = 4096;

/**
 * @ingroup distributed-training-formats
 * @param path of a file
 * @return name of its format; empty if there is no file, or no format recognizes it
 */
std::string FindWorkloadFormat(const std::string& path);

/**
 * @ingroup distributed-training-formats
 * @param text `FORMAT:PATH`, `FORMAT:PATH,key=value,...`, or a path
 * @param ranks of the job; 0: as many as the file has
 * @param lenient see FormatRequest
 * @param dimensions see FormatRequest
 * @return the job
 * @throw ConfigurationError if no format recognizes the file, or it is wrong
 */
FormatResult ReadWorkloadFormat(const std::string& text,
                                uint32_t ranks,
                                bool lenient,
                                const std::vector<uint32_t>& dimensions = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_FORMAT_H
