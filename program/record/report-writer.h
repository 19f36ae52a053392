/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REPORT_WRITER_H
#define DISTRIBUTED_TRAINING_REPORT_WRITER_H

#include "ns3/communicator-records.h"
#include "ns3/message-tag.h"
#include "ns3/result-store.h"
#include "ns3/timeline-trace.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace ns3::training
{

/** A phase of computation of a rank. @ingroup distributed-training-helper */
struct PhaseRecord
{
    uint32_t rank{0};      ///< of the job
    uint32_t iteration{0}; ///< number of the iteration
    std::string phase;     ///< its name
    Time start;            ///< simulated time
    Time end;              ///< simulated time
};

/** A message that is sent. @ingroup distributed-training-helper */
struct SendRecord
{
    MessageRecord message; ///< at this time
};

/** What a trace source reports; a message when it is received. */
using TraceReport = std::variant<CollectiveRecord, MessageRecord, SendRecord, PhaseRecord>;

/**
 * @ingroup distributed-training-helper
 *
 * Writes reports into a results file and a timeline.
 */
class ReportWriter
{
  public:
    /// Number of a collective in a tag is modulo this.
    static constexpr uint64_t COLLECTIVES_OF_TAGS = uint64_t{1} << MessageTag::COLLECTIVE_BITS;

    /** Names the layers of a model that a collective belongs to. (rank, number in the iteration) */
    using LayerNames = std::function<std::string(uint32_t, uint32_t)>;

    /**
     * @param store results file, or null
     * @param timeline trace file, or null
     * @param traceRanks ranks in the timeline; empty: all
     */
    ReportWriter(ResultStore* store, TimelineTrace* timeline, std::set<uint32_t> traceRanks);

    /**
     * @param rank that is in the timeline, if it is one of those
     * @param name its name there
     */
    void Name(uint32_t rank, const std::string& name);

    /** @param hosts by rank of the job; see RunRecorder::SetHosts() */
    void SetHosts(std::vector<uint32_t> hosts);

    /** @param layers of the collectives */
    void SetLayers(LayerNames layers);

    /** @return whether there is a file */
    bool HasFile() const
    {
        return m_store || m_timeline;
    }

    /**
     * @param report what happened
     * @param isDerived whether it follows from an earlier report, and was not simulated
     */
    void Write(const TraceReport& report, bool isDerived);

    /** Draws messages of collectives that the run has left. */
    void Finish();

  private:
    /** Source, destination and tag of a message between sending and receipt. */
    using MessageKey = std::tuple<uint32_t, uint32_t, uint64_t>;

    /** A collective at a rank: the rank, and the fields of a MessageTag. */
    using CollectiveKey = std::tuple<uint32_t, uint32_t, uint64_t>;

    /** A message that waits for the name of its collective. */
    struct DrawnMessage
    {
        MessageRecord record;
        Time sent;
    };

    bool IsDrawn(uint32_t rank) const;
    void Draw(const DrawnMessage& message, const std::string& collective);
    void Write(const CollectiveRecord& record, bool isDerived);
    void Write(const MessageRecord& record, bool isDerived);
    void Write(const SendRecord& record, bool isDerived);
    void Write(const PhaseRecord& record, bool isDerived);

    ResultStore* m_store;
    TimelineTrace* m_timeline;
    std::set<uint32_t> m_traceRanks; // empty: all
    std::vector<uint32_t> m_hosts;   // by rank of the job; empty: the ranks are the cluster's
    LayerNames m_layers;
    std::map<MessageKey, Time> m_sent;
    /// Messages of collectives that are not complete at their receiver.
    std::map<CollectiveKey, std::vector<DrawnMessage>> m_drawn;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_REPORT_WRITER_H
