/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KINETO_TRACE_H
#define DISTRIBUTED_TRAINING_KINETO_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Work of a GPU in a trace: a kernel, or a copy of memory. Communication has what NCCL reports.
 */
struct KinetoEvent
{
    std::string name;            ///< of the kernel
    int64_t start{0};            ///< ns
    int64_t length{0};           ///< ns
    int64_t stream{0};           ///< CUDA stream
    int64_t correlation{-1};     ///< number of the call that launched it; -1: not known
    std::string collective;      ///< Collective name, or empty
    std::string type;            ///< dtype of its elements
    std::string groupRanks;      ///< Process Group Ranks: a list, which may be cut by `...`
    int64_t groupSize{-1};       ///< Group size; -1: not known, as below
    int64_t inElements{-1};      ///< In msg nelems
    int64_t outElements{-1};     ///< Out msg nelems
    int64_t source{-1};          ///< Src Rank
    int64_t target{-1};          ///< Dst Rank
    bool hasUnevenSplits{false}; ///< In split size or Out split size has different numbers
};

/**
 * @ingroup distributed-training-formats
 * A wait of a stream for an event of another one (cudaStreamWaitEvent).
 */
struct KinetoWait
{
    int64_t stream;      ///< that waits
    int64_t correlation; ///< number of the call
    int64_t source;      ///< stream of the event
    int64_t record;      ///< number of the call that recorded the event
};

/**
 * @ingroup distributed-training-formats
 * The trace of a rank.
 */
struct KinetoTrace
{
    int64_t rank{-1};                ///< its rank; -1: not known
    int64_t worldSize{-1};           ///< ranks of the job; -1: not known
    std::vector<KinetoEvent> events; ///< in the order of their starts
    std::vector<KinetoWait> waits;   ///< whose event and calls are known
};

/**
 * @ingroup distributed-training-formats
 * Reads a trace of PyTorch's profiler (Kineto), in the JSON of Chrome.
 * @param path of the file, for messages
 * @param text its content
 * @return work of the GPU
 * @throw ConfigurationError with the line if it is no such trace, or has impossible times
 */
KinetoTrace ReadKinetoTrace(const std::string& path, const std::string& text);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KINETO_TRACE_H
