/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRAINING_JOB_H
#define DISTRIBUTED_TRAINING_TRAINING_JOB_H

#include "training-application.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * One iteration of a whole job, or a mean of iterations. GB is 10^9 bytes.
 */
struct IterationResult
{
    uint32_t iteration{0}; ///< its number, from 0
    bool warmup{false};    ///< whether means leave it out
    /** Simulated time when it started: the job's start, or the end of the iteration before, s. */
    double startS{0};
    double endS{0};           ///< simulated time when the last rank had applied its update, s
    double iterationTimeS{0}; ///< endS - startS; the sum over iterations is the job's time
    double computeTimeS{0};   ///< compute time of one rank (of the slowest, should they differ), s
    double communicationTimeS{0};    ///< RankIteration::communicationTime, mean over the ranks, s
    double exposedCommunicationS{0}; ///< iterationTimeS - computeTimeS: waiting that nothing hid, s
    /**
     * All-reduce bus bandwidth as in nccl-tests: gradient bytes * 2(n-1)/n / communicationTimeS;
     * 0 without communication.
     */
    double busbwGBps{0};
    double lowerBoundS{0};       ///< sum over the buckets of the caller's lower bound, s
    double scalingEfficiency{1}; ///< computeTimeS / iterationTimeS: 1 for a single rank
    bool verified{false}; ///< whether every rank's sums were compared bit by bit and were right
};

/**
 * @ingroup distributed-training-job
 *
 * The outcome of a job: listens to the trace sources of the applications of all ranks and puts
 * together what each has measured. It takes no part in the simulation, and must live as long as
 * the simulation runs.
 */
class TrainingJob
{
  public:
    /** Time that moving so many bytes takes at least, seconds. */
    using LowerBound = std::function<double(uint64_t bytes)>;
    /**
     * The sum of the ranks' vectors, added in exactly the order of the collective under test: of
     * each rank, as some algorithms add in another order at each; or a single one, that of all. The
     * result, of one rank, may tell what the order of arrival was.
     */
    using Reference = std::function<std::vector<std::vector<float>>(
        const std::vector<std::vector<float>>& perRankInputs,
        const std::vector<float>& result)>;
    /** Receives the result of an iteration. */
    using IterationComplete = std::function<void(const IterationResult& result)>;

    /**
     * @param ranks number of ranks, at least 1
     * @param iterations iterations to expect of every rank
     * @param warmup the first so many are left out of means
     * @param buckets the buckets all ranks use
     */
    TrainingJob(uint32_t ranks,
                uint32_t iterations,
                uint32_t warmup,
                const std::vector<GradientBucket>& buckets);
    ~TrainingJob();
    TrainingJob(const TrainingJob&) = delete;
    TrainingJob& operator=(const TrainingJob&) = delete;

    /**
     * Listens to a rank. All ranks must be observed before the simulation starts.
     * @param application the application of a rank
     */
    void Observe(Ptr<TrainingApplication> application);

    /**
     * @param bound source of IterationResult::lowerBoundS, called for each bucket right away
     */
    void SetLowerBound(const LowerBound& bound);

    /**
     * Has every sum of every rank compared bit by bit with a reference made from the same inputs.
     * Needs applications with RealPayload. Memory: 2 * ranks buckets while a reference is made,
     * what it has returned until the last rank has reported.
     * @param seed the seed of the applications
     * @param reference makes the expected sum
     */
    void SetReference(uint64_t seed, Reference reference);

    /**
     * @param alternative makes another sum that is right, if then all ranks have it; or returns
     *        nothing if there is none
     */
    void SetAlternative(Reference alternative);

    /**
     * @param callback called as soon as the last rank has ended an iteration
     */
    void OnIterationComplete(IterationComplete callback);

    /**
     * @param callback called when all observed ranks have ended all iterations
     */
    void OnRanksFinished(std::function<void()> callback);

    /**
     * If ranks are divided among processes, each observes its own, and they tell each other now and
     * then what they have seen.
     * @return bytes for Merge(): what was observed since the last call
     */
    std::string Pack();

    /** @param packed by the job of another process, with other ranks */
    void Merge(const std::string& packed);

    /** @return whether all ranks have ended all iterations */
    bool IsFinished() const;

    /** @return the iterations complete so far */
    const std::vector<IterationResult>& GetResults() const;

    /**
     * @return means over the complete iterations after the warm-up, bandwidth and efficiency being
     *         those of the mean times: its start and end are those of the first and last of them,
     *         its number how many they are, and it is verified if all are; all zero if there are
     *         none
     */
    IterationResult GetMean() const;

    /**
     * @return the first wrong sum, naming rank, iteration, bucket, element and both values; empty
     *         if all were right or none was compared
     */
    std::string Mismatch() const;

    /** @return size of the gradients of a rank, bytes */
    uint64_t GetGradientBytes() const;

  private:
    /** What the ranks have reported of an iteration that is not over at all of them. */
    struct Pending
    {
        uint32_t ranksEnded{0};   ///< ranks that ended it
        uint64_t sumsVerified{0}; ///< sums that were compared and right
        Time start{Time::Max()};  ///< earliest start
        Time end;                 ///< latest end
        Time computeTime;         ///< longest compute time
        Time communicationTime;   ///< communication times added up

        /** @param other what other ranks have reported, or the same ones of something else */
        void Add(const Pending& other);
    };

    /** The expected sum of a bucket that not all ranks have reported. */
    struct Expected
    {
        uint32_t reports{0};                    ///< ranks that have reported
        std::vector<std::vector<float>> values; ///< the expected sum of each rank, or of all
    };

    /**
     * Fills in what follows from its times.
     * @param result a result
     */
    void SetRatios(IterationResult& result) const;
    /**
     * Sink of BucketDone.
     * @param rank the rank
     * @param iteration the iteration
     * @param bucket the bucket
     * @param sum what the rank has got
     */
    void BucketDone(uint32_t rank, uint32_t iteration, uint32_t bucket, Ptr<const Tensor> sum);
    /**
     * Sink of IterationEnd.
     * @param rank the rank
     * @param iteration the iteration
     * @param record what the rank has measured
     */
    void IterationEnded(uint32_t rank, uint32_t iteration, const RankIteration& record);
    /**
     * Notes what an observed rank has reported.
     * @param iteration the iteration
     * @param report of one rank
     */
    void Note(uint32_t iteration, const Pending& report);
    /**
     * Adds a report, and makes the result if no rank is missing.
     * @param iteration the iteration
     * @param report what some ranks have reported of it
     */
    void Report(uint32_t iteration, const Pending& report);
    /**
     * @param iteration the iteration
     * @param pending what all ranks have reported of it
     */
    void Complete(uint32_t iteration, const Pending& pending);
    /**
     * @param rank the rank
     * @param iteration the iteration
     * @param bucket the bucket
     * @param expected the expected sum
     * @param sum what the rank has got
     * @return whether they are equal; else the first difference ever is noted
     */
    bool Compare(uint32_t rank,
                 uint32_t iteration,
                 uint32_t bucket,
                 const std::vector<float>& expected,
                 const Tensor& sum);

    uint32_t m_ranks;                      ///< number of ranks
    uint32_t m_iterations;                 ///< iterations of every rank
    uint32_t m_warmup;                     ///< iterations left out of means
    std::vector<uint64_t> m_bucketBytes;   ///< size of each bucket, bytes
    uint64_t m_gradientBytes{0};           ///< size of all buckets, bytes
    double m_lowerBoundS{0};               ///< lower bound of all buckets of an iteration, s
    uint64_t m_seed{0};                    ///< seed of the gradients
    Reference m_reference;                 ///< makes expected sums, or empty
    Reference m_alternative;               ///< makes others, or empty
    IterationComplete m_iterationComplete; ///< whom to tell, or empty
    std::function<void()> m_ranksFinished; ///< whom to tell, or empty
    uint32_t m_finished{0};                ///< observed ranks that have ended all iterations
    std::vector<Ptr<TrainingApplication>> m_applications; ///< whom it listens to
    Time m_previousEnd;                                   ///< start of the iteration under way
    std::map<uint32_t, Pending> m_pending;                ///< by iteration, of all ranks
    std::map<uint32_t, Pending> m_unpacked;               ///< by iteration, since Pack()
    std::map<std::pair<uint32_t, uint32_t>, Expected> m_expected; ///< by iteration and bucket
    std::vector<IterationResult> m_results;                       ///< complete iterations
    std::string m_mismatch;                                       ///< first wrong sum, or empty
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRAINING_JOB_H
