/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RESULT_ROWS_H
#define DISTRIBUTED_TRAINING_RESULT_ROWS_H

#include "ns3/training-record-field.h"

#include <cstdint>
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
    uint32_t rank{0};         ///< the rank
    uint32_t iteration{0};    ///< iteration of the job, or repetition of the benchmark
    uint32_t sequence{0};     ///< number in the iteration, such as that of the bucket
    std::string operation;    ///< "all-reduce", "reduce-scatter", ...
    std::string algorithm;    ///< "ring", "parameter-server", ...
    uint64_t bytes{0};        ///< size of a rank's vector
    double startS{0};         ///< simulated time of issue at this rank
    double endS{0};           ///< simulated time of completion at this rank
    uint32_t communicator{0}; ///< number of its communicator
    double turnS{0};          ///< simulated time of its turn at this rank
    std::string layers{};     ///< of the model, whose gradients or activations it has; or empty
    bool derived{false};      ///< follows from what was simulated, and was not itself

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
    uint32_t source{0};       ///< sending rank
    uint32_t destination{0};  ///< receiving rank
    uint64_t tag{0};          ///< matches sender and receiver
    uint64_t bytes{0};        ///< size without headers
    double startS{0};         ///< simulated time when the transport accepted it
    double endS{0};           ///< simulated time when its last byte arrived
    uint32_t communicator{0}; ///< see MessageTag
    uint64_t collective{0};   ///< see MessageTag
    uint32_t step{0};         ///< see MessageTag
    uint32_t message{0};      ///< see MessageTag
    bool derived{false};      ///< follows from what was simulated, and was not itself

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
    uint64_t drops{0};         ///< frames dropped by the owner of the port
    double busyS{0};           ///< transmission time
    uint64_t maxQueue{0};      ///< maximum queue length, bytes
    uint64_t losslessDrops{0}; ///< frames of lossless classes dropped for lack of buffer space
    uint64_t trims{0};         ///< frames cut to their header (packet trimming)
    uint64_t rate{0};          ///< line rate, bit/s
    double utilization{0};     ///< busyS / simulated time of the run
    double pausedS{0};         ///< time that the peer paused each priority, sum of the priorities
    uint64_t losses{0};        ///< frames sent that the link lost

    /** @return the columns */
    static std::vector<RecordField<LinkCounterRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * What a port sent in one iteration in one priority.
 */
struct LinkIterationRow
{
    uint32_t iteration{0}; ///< iteration of the job, or repetition of the benchmark
    std::string node;      ///< name of the host or switch
    uint32_t port{0};      ///< number of the port at that node
    std::string peer;      ///< name of the node at the other end of the link
    uint32_t priority{0};  ///< traffic class
    uint64_t bytes{0};     ///< bytes sent, without preamble and gap
    uint64_t frames{0};    ///< frames sent, without pause frames
    uint64_t marks{0};     ///< frames with an ECN mark
    uint64_t drops{0};     ///< frames dropped by the owner of the port
    double utilization{0}; ///< transmission time, preamble and gap included / iteration time
    double pausedS{0};     ///< time that the peer paused it, counted when a pause ends

    /** @return the columns */
    static std::vector<RecordField<LinkIterationRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * How much of a run was simulated, and how much followed from that.
 */
struct SimulationRow
{
    uint64_t packetHops{0};           ///< frames sent on all links
    uint64_t skippedHops{0};          ///< of these, in periods and iterations that repeat others
    uint64_t derivedIterations{0};    ///< iterations that repeat others
    uint64_t simulatedCollectives{0}; ///< of groups whose collectives may be derived
    uint64_t derivedCollectives{0};   ///< of the same groups

    /** @return the columns */
    static std::vector<RecordField<SimulationRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * A value that a sample found changed; it holds until the next row of the same series. Series begin
 * with 0. Names and numbers that a quantity does not have are empty or 0.
 */
struct SampleRow
{
    double timeS{0};       ///< simulated time of the sample
    std::string quantity;  ///< "queue_bytes", "utilization", "paused", "rate_bps", ...
    std::string node;      ///< name of the host or switch
    uint32_t port{0};      ///< number of the port at that node
    std::string peer;      ///< name of the node at the other end of the link
    uint32_t priority{0};  ///< traffic class, of queues and pauses
    uint32_t queuePair{0}; ///< its number at the node, of rates and windows
    uint32_t job{0};       ///< number of the job, of slots
    double value{0};       ///< the value

    /** @return the columns */
    static std::vector<RecordField<SampleRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * A phase of computation of a rank.
 */
struct ComputePhaseRow
{
    uint32_t rank{0};      ///< the rank
    uint32_t iteration{0}; ///< iteration of the job
    std::string phase;     ///< "forward", "backward", "update", ...
    double startS{0};      ///< simulated time of its start
    double endS{0};        ///< simulated time of its end
    bool derived{false};   ///< follows from what was simulated, and was not itself

    /** @return the columns */
    static std::vector<RecordField<ComputePhaseRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * A part of the critical path of the last iteration, in order of time and without gaps.
 */
struct CriticalPathRow
{
    uint32_t step{0}; ///< number of the part, from 0
    uint32_t rank{0}; ///< that the path leads through; of "idle" the rank before
    std::string task; ///< name of the task in progress, or empty
    std::string kind; ///< compute, what communication is for, or "idle"
    double startS{0}; ///< simulated time of its start
    double endS{0};   ///< simulated time of its end

    /** @return the columns */
    static std::vector<RecordField<CriticalPathRow>> GetFields();
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
 * A part of the life of a job. The rows but those of `write` follow each other, from the start of
 * the job to its end; a `write` goes on beside them.
 */
struct LifeRow
{
    std::string kind;      ///< productive, checkpoint, lost, detection, waiting, restart; write
    double startS{0};      ///< simulated time of its start
    double endS{0};        ///< simulated time of its end
    uint64_t lengthPs{0};  ///< its length, ps
    uint32_t iteration{0}; ///< of work and checkpoints; otherwise the one that comes next
    std::string node;      ///< detection: the rank, node or link that has failed
    std::string detail;    ///< detection: why; lost: work or checkpoint

    /** @return the columns */
    static std::vector<RecordField<LifeRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * Parts of an input file that its reader treated alike, see InputManifest.
 */
struct InputRow
{
    std::string path;  ///< of the file
    std::string fate;  ///< used, ignored, or assumed
    std::string what;  ///< name of the parts; used: empty
    uint64_t count{0}; ///< their number
    std::string first; ///< place of the first one; used: empty

    /** @return the columns */
    static std::vector<RecordField<InputRow>> GetFields();

    /** @return the rows of all input files */
    static std::vector<InputRow> List();
};

/**
 * @ingroup distributed-training-results
 *
 * What limits a run.
 */
struct BindingRow
{
    std::string what;     ///< see Binding
    std::string name;     ///< of the link, engine, system or part; may be empty
    double share{0};      ///< of the communication, or of the run, for which it is busy
    double pauseShare{0}; ///< of all pauses, those that its node sent
    std::string sentence; ///< for people

    /** @return the columns */
    static std::vector<RecordField<BindingRow>> GetFields();
};

/**
 * @ingroup distributed-training-results
 *
 * A flow of flow-benchmark that has ended.
 */
struct FlowRow
{
    uint64_t number{0};      ///< in the order of their starts, from 0
    uint32_t source{0};      ///< sending host
    uint32_t destination{0}; ///< receiving host
    uint64_t bytes{0};       ///< payload
    double startS{0};        ///< simulated time of its start
    double endS{0};          ///< simulated time when its last byte arrived
    double timeS{0};         ///< completion time
    double idleS{0};         ///< completion time on an idle network
    double slowdown{0};      ///< ratio of the two
    bool isMeasured{false};  ///< whether it started in the time of the measurement
    uint64_t incast{0};      ///< incast that it is part of, from 1; 0: none

    /** @return the columns */
    static std::vector<RecordField<FlowRow>> GetFields();
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
    uint64_t slots{0};     ///< of each switch that it had, or shared; 0: no switch sums for it
    uint64_t sent{0};      ///< packets of its ranks to switches, without retransmissions
    uint64_t resent{0};    ///< retransmissions
    uint64_t packets{0};   ///< of its ranks and switches, at switches
    uint64_t added{0};     ///< of these, added to sums in slots
    uint64_t repeated{0};  ///< duplicates
    uint64_t collided{0};  ///< sent on to a server, because the slot was taken
    uint64_t passed{0};    ///< sent on to a server, as retransmissions or floats
    uint64_t evicted{0};   ///< partial sums sent to a server

    /** @return the columns */
    static std::vector<RecordField<JobRow>> GetFields();
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RESULT_ROWS_H
