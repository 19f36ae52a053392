/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
#define DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H

#include "gradient-buckets.h"
#include "workload.h"

#include "ns3/application.h"
#include "ns3/communicator.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * What one rank has measured of one iteration.
 */
struct RankIteration
{
    Time start;             ///< when its forward pass began
    Time end;               ///< when its update was applied
    Time computeTime;       ///< time it computed: forward, backward, update
    Time communicationTime; ///< time in which at least one of its collectives was under way
    Time exposedTime;       ///< end - start - computeTime: time it only waited for communication
};

/**
 * @ingroup distributed-training-job
 *
 * One rank of a data-parallel training job. An iteration is: forward pass; backward pass, layer by
 * layer in reverse order; the all-reduce of each gradient bucket; when all buckets are summed and
 * the backward pass is over, the update. The next iteration of this rank begins at once: ranks are
 * held together by their collectives alone.
 *
 * With Overlap, the all-reduce of a bucket is issued when its last gradient is ready, and proceeds
 * while the backward pass goes on (wait-free back-propagation with tensor fusion); otherwise all
 * are issued, in the same order, when the backward pass is over.
 *
 * The communication time of a rank is the length of the union of the intervals from the issue of a
 * bucket's all-reduce to its completion at this rank. Collectives of a communicator run one after
 * another in the order of issue, so that this is the time its stream of collectives is busy.
 *
 * Nothing is shared between the applications of different ranks.
 */
class TrainingApplication : public Application
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    TrainingApplication();
    ~TrainingApplication() override;

    /**
     * Says what to train and with whom; before the application starts. Only times and sizes are
     * kept.
     * @param communicator this rank's handle on the group of ranks
     * @param workload the model and its compute times at this rank
     * @param buckets from MakeGradientBuckets() of the workload's layers
     */
    void SetTask(Ptr<Communicator> communicator,
                 const Workload& workload,
                 const std::vector<GradientBucket>& buckets);

    /** @return this rank's number; once the task is set */
    uint32_t GetRank() const;

    /** @return whether all iterations are over at this rank */
    bool IsFinished() const;

    /** @return whether the end of a piece of compute is still to come */
    bool IsComputing() const;

    /**
     * What this rank is waiting for, for a report on a run that makes no progress.
     * @return for example "iteration 3: waits for the all-reduce of bucket 1 of 5 (31498240 B)"
     */
    std::string GetState() const;

    /**
     * @param rank the rank
     * @param iteration the iteration, from 0
     */
    typedef void (*IterationStartTracedCallback)(uint32_t rank, uint32_t iteration);
    /**
     * @param rank the rank
     * @param iteration the iteration, from 0
     * @param phase "forward", "backward" or "update"
     * @param start its begin
     * @param end its end, which is now
     */
    typedef void (*ComputePhaseTracedCallback)(uint32_t rank,
                                               uint32_t iteration,
                                               const std::string& phase,
                                               Time start,
                                               Time end);
    /**
     * @param rank the rank
     * @param iteration the iteration, from 0
     * @param bucket the bucket, from 0, whose all-reduce is being issued
     */
    typedef void (*BucketReadyTracedCallback)(uint32_t rank, uint32_t iteration, uint32_t bucket);
    /**
     * @param rank the rank
     * @param iteration the iteration, from 0
     * @param bucket the bucket, from 0, whose all-reduce is complete at this rank
     * @param sum the summed gradients
     */
    typedef void (*BucketDoneTracedCallback)(uint32_t rank,
                                             uint32_t iteration,
                                             uint32_t bucket,
                                             Ptr<const Tensor> sum);
    /**
     * @param rank the rank
     * @param iteration the iteration, from 0
     * @param record what was measured
     */
    typedef void (*IterationEndTracedCallback)(uint32_t rank,
                                               uint32_t iteration,
                                               const RankIteration& record);

  protected:
    void DoDispose() override;

  private:
    /** When and what a bucket communicates. */
    struct BucketPlan
    {
        Time ready;     ///< when its last gradient is ready, from the start of the backward pass
        uint64_t bytes; ///< its size
    };

    void StartApplication() override;
    void StopApplication() override;

    /** Begins iteration m_iteration. */
    void StartIteration();
    /** The forward pass is over. */
    void EndForward();
    /** Issues the buckets that are ready, and schedules what comes next in the backward pass. */
    void ContinueBackward();
    /** Issues the all-reduce of the next bucket. */
    void IssueBucket();
    /**
     * Called by the communicator.
     * @param self the application
     * @param bucket the bucket whose all-reduce is complete
     */
    static void BucketDone(TrainingApplication* self, uint32_t bucket);
    /** Begins the update if nothing stands in its way. */
    void UpdateIfReady();
    /** The update is over. */
    void EndUpdate();

    uint32_t m_iterations; ///< iterations to run
    bool m_overlap;        ///< whether buckets are issued during the backward pass
    bool m_realPayload;    ///< whether gradients are real numbers
    uint64_t m_seed;       ///< seed of the gradients

    Ptr<Communicator> m_communicator;  ///< this rank's handle on the group
    Time m_forwardTime;                ///< length of the forward pass
    Time m_backwardTime;               ///< length of the backward pass
    Time m_updateTime;                 ///< length of the update
    std::vector<BucketPlan> m_buckets; ///< buckets in the order of issue

    bool m_running{false};              ///< between start and the last iteration's end or stop
    bool m_finished{false};             ///< all iterations are over
    EventId m_event;                    ///< end of the present piece of compute
    uint32_t m_iteration{0};            ///< present iteration, from 0
    Time m_iterationStart;              ///< its start
    Time m_phaseStart;                  ///< start of the present compute phase
    bool m_backwardDone{false};         ///< whether the backward pass of the iteration is over
    bool m_issuing{false};              ///< whether buckets are being issued right now
    uint32_t m_issued{0};               ///< buckets issued in the iteration
    uint32_t m_completed{0};            ///< buckets complete in the iteration
    Time m_busyStart;                   ///< since when at least one bucket is under way
    Time m_busyTime;                    ///< communication time of the iteration before that
    std::vector<Ptr<Tensor>> m_tensors; ///< tensors of buckets under way

    TracedCallback<uint32_t, uint32_t> m_iterationStartTrace; ///< "IterationStart"
    TracedCallback<uint32_t, uint32_t, const std::string&, Time, Time>
        m_computePhaseTrace;                                         ///< "ComputePhase"
    TracedCallback<uint32_t, uint32_t, uint32_t> m_bucketReadyTrace; ///< "BucketReady"
    TracedCallback<uint32_t, uint32_t, uint32_t, Ptr<const Tensor>>
        m_bucketDoneTrace; ///< "BucketDone"
    TracedCallback<uint32_t, uint32_t, const RankIteration&>
        m_iterationEndTrace; ///< "IterationEnd"
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_APPLICATION_H
