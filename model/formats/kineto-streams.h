/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KINETO_STREAMS_H
#define DISTRIBUTED_TRAINING_KINETO_STREAMS_H

#include "formats/kineto-trace.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 *
 * What the kernels of a trace wait for. Kernels of a stream run one after the other. Between
 * streams, a kernel waits for the events that its stream waits for (cudaStreamWaitEvent), if the
 * trace has any of them; otherwise for all kernels that had ended when it began, as far as the
 * trace can tell. What is left of the time before it is a gap: nobody had launched it.
 */
class KinetoStreams
{
  public:
    /** @param trace of a rank, which has events and outlives this */
    explicit KinetoStreams(const KinetoTrace& trace);

    /**
     * @param stream a stream
     * @return when the last kernel that was added to it has ended, ns
     */
    int64_t GetEnd(int64_t stream) const;

    /**
     * @param event the next kernel
     * @param after receives the tasks of other streams that it waits for
     * @return when all that it waits for has ended, ns
     */
    int64_t Await(const KinetoEvent& event, std::vector<uint64_t>& after);

    /**
     * @param event a kernel
     * @param end when it has ended, ns
     * @param task its number
     */
    void Add(const KinetoEvent& event, int64_t end, uint64_t task);

  private:
    using Ended = std::pair<int64_t, uint64_t>; // end of a kernel, and its task

    /** What a stream has done so far. */
    struct Stream
    {
        std::vector<Ended> ends;              // of its kernels
        std::map<int64_t, Ended> launched;    // the same by correlation
        std::map<int64_t, uint64_t> awaited;  // by stream, the last task it waited for
        std::vector<const KinetoWait*> waits; // in the order of their correlations
        std::size_t nextWait{0};              // the first that no kernel has met
    };

    void AwaitEnded(const KinetoEvent& event, int64_t& ready, std::vector<uint64_t>& after);
    void AwaitEvents(const KinetoEvent& event, int64_t& ready, std::vector<uint64_t>& after);
    static void Await(Stream& own,
                      int64_t stream,
                      const Ended& ended,
                      int64_t& ready,
                      std::vector<uint64_t>& after);

    int64_t m_begin; // of the trace, ns
    bool m_hasWaits;
    std::map<int64_t, Stream> m_streams;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KINETO_STREAMS_H
