/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TIMELINE_TRACE_H
#define DISTRIBUTED_TRAINING_TIMELINE_TRACE_H

#include "ns3/nstime.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-output-file.h"
#include "ns3/training-packed-file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-results
 *
 * Writes a timeline for ui.perfetto.dev or chrome://tracing (Trace Event Format, JSON array form):
 * one process per rank, with tracks for compute, collectives, steps and messages on their way, and
 * one process for counters of the network. A file whose name ends with .gz is compressed.
 *
 * Events are written as they arrive, and only complete ones reach the file. The format permits a
 * missing closing bracket, so what a killed run leaves (OutputFile::GetGrowingName()) can be
 * loaded. Time stamps are microseconds of simulated time with all digits down to the picosecond.
 */
class TimelineTrace
{
  public:
    /** Track of a rank. */
    enum Track
    {
        COMPUTE = 1,     ///< forward passes, backward passes, updates
        COLLECTIVES = 2, ///< collectives from their turn to completion, in order of completion
        STEPS = 3,       ///< steps of a collective, in order of completion
        SENT = 4         ///< messages that the rank has sent, until they arrive
    };

    /**
     * Creates the file, which grows under another name until Close(), see OutputFile.
     * @param path the file
     * @throw ConfigurationError if it cannot be written, or there is a file of another kind
     */
    explicit TimelineTrace(const std::string& path);
    /** Calls Close(), ignoring errors. */
    ~TimelineTrace();
    TimelineTrace(const TimelineTrace&) = delete;
    TimelineTrace& operator=(const TimelineTrace&) = delete;

    /**
     * Names a rank and its tracks. Call before its first event.
     * @param rank the rank
     * @param name its name, such as "rank 3 (host 3)"
     */
    void AddProcess(uint32_t rank, const std::string& name);

    /**
     * Lets the times of a further simulation, which begins at 0, follow those of all events so far.
     */
    void BeginSimulation();

    /**
     * Adds an event with a duration.
     * @param rank the rank
     * @param track the track
     * @param name name of the event
     * @param start its start
     * @param end its end, not before the start
     * @param arguments object with details to show, or null
     * @return number of its thread
     */
    uint32_t Complete(uint32_t rank,
                      Track track,
                      const std::string& name,
                      Time start,
                      Time end,
                      const JsonValue& arguments = JsonValue());

    /** Track of the job as a whole. */
    enum JobTrack
    {
        LIFE = 1,  ///< what the time is used for
        WRITES = 2 ///< checkpoints on their way to storage
    };

    /**
     * Adds an event of the whole job. Events of a track do not overlap.
     * @param track the track
     * @param name name of the event
     * @param start its start
     * @param end its end, not before the start
     * @param arguments object with details to show, or null
     */
    void AddLife(JobTrack track,
                 const std::string& name,
                 Time start,
                 Time end,
                 const JsonValue& arguments);

    /** One end of an arrow: an event that begins at the time of the arrow. */
    struct ArrowEnd
    {
        uint32_t rank;   ///< of the event
        uint32_t thread; ///< of the event, see Complete()
    };

    /**
     * Adds an arrow between two events.
     * @param from the event that it begins at
     * @param to the event that it ends at
     * @param time start of both events
     */
    void AddArrow(ArrowEnd from, ArrowEnd to, Time time);

    /**
     * Adds a value of a counter of the network, which holds until the next one.
     * @param name of the track
     * @param series name of the value, of several in a track
     * @param time of the value
     * @param value the value
     */
    void AddCounter(const std::string& name, const std::string& series, Time time, double value);

    /**
     * Passes all events so far to the operating system.
     * @throw std::runtime_error if they cannot be written
     */
    void Flush();

    /**
     * Closes the array, which makes the file valid JSON, and gives the file its name. Further calls
     * do nothing.
     * @throw std::runtime_error if it cannot be written
     */
    void Close();

    /** @return name of the file until Close() */
    const std::string& GetGrowingName() const
    {
        return m_file.GetGrowingName();
    }

  private:
    /**
     * Finds a lane for an event, because events of a thread must not overlap in this format.
     * Messages of several peers overlap, and collectives of several communicators.
     * @param rank the rank
     * @param track STEPS, SENT or COLLECTIVES
     * @param start start of the event, in the file
     * @param end its end, in the file
     * @return number of the thread
     */
    uint32_t FindLane(uint32_t rank, Track track, Time start, Time end);
    /** @param path the file @return the path, if the file may be written */
    static const std::string& Check(const std::string& path);
    /** Adds an event of a process and a thread, at times of the simulation, see Complete(). */
    void AddEvent(uint32_t process,
                  uint32_t thread,
                  const std::string& name,
                  Time start,
                  Time end,
                  const JsonValue& arguments);
    /** @param event a JSON object */
    void Add(const std::string& event);
    /**
     * @param kind "process_name", "thread_name", "thread_sort_index", "process_sort_index"
     * @param rank the rank
     * @param track the track, or 0
     * @param key name of the argument
     * @param value the argument
     */
    void AddMetadata(const std::string& kind,
                     uint32_t rank,
                     uint32_t track,
                     const std::string& key,
                     const JsonValue& value);

    OutputFile m_file;                    ///< the file
    std::unique_ptr<TextPacker> m_packer; ///< of a compressed file, or null
    Time m_shift;                         ///< of the simulation: its start in the file
    Time m_last;                          ///< end of the last event, in the file
    uint64_t m_arrows{0};                 ///< number of arrows so far
    bool m_hasCounters{false};            ///< whether the process of the network is named
    bool m_hasLife{false};                ///< whether the process of the job is named
    std::string m_buffer;                 ///< complete events not yet written
    bool m_isFirst{true};                 ///< whether no event has been added
    bool m_isLost{false};                 ///< whether it could not be written, see LostOutputs
    bool m_isClosed{false};               ///< whether Close() has been called
    /// End of the last event in each lane, by rank and track.
    std::map<std::pair<uint32_t, Track>, std::vector<Time>> m_lanes;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TIMELINE_TRACE_H
