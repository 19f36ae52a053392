/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODED_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_CODED_COMMUNICATOR_H

#include "coding-unit.h"
#include "communicator-records.h"
#include "training-communicator.h"

#include "ns3/bucket-codec.h"
#include "ns3/error-feedback.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Sums buckets of gradients in coded form, by the collectives of another communicator, whatever
 * that is. A BucketCodec says what the ranks exchange in the phases of an all-reduce:
 * - SUM: an all-reduce of fewer numbers. Hosts send whole numbers in the bits of their sum.
 *   Others send a number each, or, if they add whole numbers exactly, as many as fit.
 * - MAX: an all-gather of the numbers of all ranks, of which each takes the largest.
 * - GATHER: an all-gather of codes. If their sizes differ, an all-gather of the sizes precedes, and
 *   codes are filled up to the largest, as the all-gather of NCCL has equal parts.
 *
 * All-reduces take their turn in the order of issue; a bucket may be encoded while others are
 * exchanged. Other operations pass uncoded.
 *
 * What a rank keeps of a bucket, Tensor::bucket, begins with iteration 0: the state of the codec,
 * and with error feedback what its codes left out.
 */
class CodedCommunicator : public Communicator
{
  public:
    /** How buckets are coded. */
    struct Settings
    {
        std::string codec;         ///< `NAME` or `NAME:key=value,...`
        bool keepsErrors{false};   ///< error feedback
        bool sendsIntegers{false}; ///< whether the other communicator obeys Tensor::lineCode
        bool hasFixedSizes{false}; ///< whether all ranks know the size of gathered codes
        /// Bits of the whole numbers that the other communicator adds exactly; 0: not known.
        uint32_t exactBits{0};
        uint64_t seed{1};       ///< of random numbers
        Ptr<CodingUnit> unit{}; ///< that codes
    };

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param inner communicator of the exchanges
     * @param settings of the coding, but for the unit the same at every rank
     */
    void Setup(Ptr<Communicator> inner, const Settings& settings);

    /**
     * @param phase a sum
     * @param settings of the coding
     * @return bytes that a rank gives to it
     */
    static uint64_t GetSumBytes(const BucketPhase& phase, const Settings& settings);

    // Communicator
    void SetErrorHandler(ErrorHandler handler) override;
    std::string GetWaitingFor() const override;
    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;

  protected:
    void DoDispose() override;

  private:
    /** A collective that is not complete at this rank. */
    struct Operation
    {
        CollectiveRecord record;
        Ptr<Tensor> tensor;
        uint32_t root;
        Done done;
        ByteMatrix matrix;
        Ptr<BucketCodec> codec;          // null: it passes
        std::vector<BucketPhase> phases; // of the codec
        std::size_t phase{0};            // the current one
        bool isEncoded{false};           // it can take its turn
        std::vector<float> gradient;     // as it was coded
        Ptr<Tensor> part;                // of the current exchange
        bool hasSizes{false};            // GATHER: the sizes of the codes are known
        std::vector<uint64_t> sizes;     // of the codes, by rank
    };

    using OperationPtr = std::shared_ptr<Operation>;

    void Encode(Operation& operation);
    void OnEncoded(OperationPtr operation);
    void StartNext();
    void StartPhase();
    void Gather(const std::vector<float>& mine, uint64_t count);
    void OnExchanged();
    bool TakeSizes(Operation& operation);
    void EndPhase(Operation& operation);
    void OnDecoded(OperationPtr operation);
    void Finish(const Operation& operation);

    Ptr<Communicator> m_inner;
    Settings m_settings;
    std::map<uint32_t, Ptr<BucketCodec>> m_codecs; // by bucket
    ErrorFeedback m_feedback;
    std::deque<OperationPtr> m_queue; // not yet exchanged
    bool m_isExchanging{false};       // the first one in the queue
    uint64_t m_issued{0};
    uint64_t m_coding{0}; // operations that are being encoded or decoded
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODED_COMMUNICATOR_H
