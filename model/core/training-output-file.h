/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OUTPUT_FILE_H
#define DISTRIBUTED_TRAINING_OUTPUT_FILE_H

#include <string>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-results Results
 *
 * Output of a run. This code is independent of the simulation model: it receives numbers as plain
 * arguments.
 */

namespace ns3::training
{

/** Content of an output file. A file of another kind is never overwritten. */
enum class OutputKind
{
    ANY,          ///< the caller checks the content of an existing file
    RESULTS,      ///< JSON document of a program, with a member "version"
    TIMELINE,     ///< JSON array of a timeline
    TOPOLOGY,     ///< topology as JSON
    SCHEDULE,     ///< schedule as JSON or MSCCL XML
    CAPTURE,      ///< capture of packets
    GOAL,         ///< job as GOAL, text or binary
    DATABASE,     ///< results, which ResultStore checks; rows are added to them
    PAGE,         ///< page that draws results
    CONFIGURATION ///< options of a program as TOML
};

/**
 * @ingroup distributed-training-results
 *
 * Checks before the simulation that an output file is writable, so that a long run does not fail at
 * its end, and that it does not destroy anything else. Creates and changes nothing.
 *
 * @param path path of the file, which need not exist
 * @param kind what will be written
 * @throw ConfigurationError if the path is a directory, the file or its directory is not writable,
 *        the directory does not exist, or there is a file of another kind
 */
void CheckOutputFile(const std::string& path, OutputKind kind);

/**
 * @ingroup distributed-training-results
 * @param a path of a file, which need not exist
 * @param b path of a file, which need not exist
 * @return whether both name the same regular file, now or once they are created
 */
bool IsSameFile(const std::string& a, const std::string& b);

/**
 * @ingroup distributed-training-results
 *
 * A file that appears under its name only when it is complete. Until then it grows beside it as
 * `NAME.PID.part`, with the number of the process, or `NAME.PID-1.part` if there is one. A device
 * or pipe is written directly.
 */
class OutputFile
{
  public:
    /**
     * @param path the file; a symbolic link is followed
     * @throw std::runtime_error if the file cannot be created
     */
    explicit OutputFile(const std::string& path);
    /** Removes a file that is not complete. */
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /**
     * Passes text to the operating system.
     * @param text the next part of the content
     * @throw std::runtime_error if it cannot be written
     */
    void Write(const std::string& text);

    /**
     * Gives the complete file its name, in place of an older file.
     * @throw std::runtime_error if it cannot be written
     */
    void Commit();

    /** @return name under which the file grows */
    const std::string& GetGrowingName() const
    {
        return m_growing;
    }

  private:
    [[noreturn]] void Fail() const;

    std::string m_path;       ///< as given, for messages
    std::string m_name;       ///< final name
    std::string m_growing;    ///< name until Commit()
    int m_file{-1};           ///< descriptor; negative: closed
    bool m_isComplete{false}; ///< whether Commit() has succeeded
};

/**
 * @ingroup distributed-training-results
 * Writes a whole file: it is either complete or unchanged.
 * @param path the file
 * @param text its content
 * @throw std::runtime_error if it cannot be written
 */
void WriteOutputFile(const std::string& path, const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OUTPUT_FILE_H
