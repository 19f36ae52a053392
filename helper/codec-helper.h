/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_HELPER_H
#define DISTRIBUTED_TRAINING_CODEC_HELPER_H

#include "cluster-options.h"
#include "codec-choice.h"

#include "ns3/coded-communicator.h"
#include "ns3/collective-operation.h"
#include "ns3/lower-bound.h"
#include "ns3/message-coder.h"
#include "ns3/message-coding.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-key.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The codec of a cluster's hosts, as ClusterOptions::codec describes it: none, or a codec that runs
 * on each GPU or CPU, for each message on its way or for whole buckets.
 */
class CodecHelper
{
  public:
    /** @return keys of the place, beside those of a codec */
    static std::vector<Key> GetKeys();

    /** Creates a helper that installs nothing. */
    CodecHelper() = default;

    /**
     * @param options of the cluster
     * @throw ConfigurationError if there is no such codec, or if it cannot work there
     */
    explicit CodecHelper(const ClusterOptions& options);

    /** @return whether hosts code */
    bool IsInstalled() const;

    /** @return whether owner=coded can keep replicas from drifting apart */
    bool CanCodeOwner() const;

    /** @return whether hosts code whole buckets, not messages */
    bool CodesBuckets() const;

    /**
     * @param isReal whether messages carry numbers
     * @param operations collectives that will run
     * @throw ConfigurationError if the size of codes is unknown, or declared although it is
     *        measured, or if an operation is not coded here
     */
    void Check(bool isReal, const std::vector<CollectiveOperation>& operations) const;

    /**
     * @param communicator of hosts, which codes messages from now on, if messages are coded
     * @param rank of the communicator
     */
    void InstallIn(ScheduledCommunicator& communicator, uint32_t rank) const;

    /**
     * @param inner communicators by rank
     * @return by rank, the communicators that code buckets; none if buckets are not coded
     */
    std::vector<Ptr<CodedCommunicator>> Wrap(const std::vector<Ptr<Communicator>>& inner);

    /**
     * @param iteration see Tensor
     * @param bucket see Tensor
     * @return what happens to messages
     */
    MessageCoding GetCoding(uint32_t iteration = 0, uint32_t bucket = 0) const;

    /** @return how buckets are coded, without the unit of a rank */
    CodedCommunicator::Settings GetSettings() const;

    /**
     * @param bound of uncoded collectives
     * @param operation collective operation
     * @param bytes size of the whole vector
     * @param matrix all-to-all-v: bytes from each rank to each
     * @return lower bound of the time of the collective, s, with the codes that are sent for it
     */
    double GetLowerBound(const LowerBound& bound,
                         CollectiveOperation operation,
                         uint64_t bytes,
                         const ByteMatrix& matrix = nullptr) const;

    /** @return one line: the codec, its place, and the time that it takes */
    std::string Describe() const;

    /** @return the codec whose error bound holds for sums; null if there is none */
    const GradientCodec* GetBoundedCodec() const;

    /**
     * @param isReal whether messages carry numbers
     * @return whether the size of codes is declared, not measured
     */
    bool IsDeclared(bool isReal) const;

    /** @return the codec with its keys */
    const std::string& GetSpec() const;

    /** @return where it runs: gpu or cpu */
    std::string GetDevice() const;

    /** @return whether layers are not computed while a rank codes */
    bool DelaysLayers() const;

    /** @return the GPU or CPU of each rank; none without a codec */
    const std::vector<Ptr<CodingUnit>>& GetUnits() const;

  private:
    void CheckMessages(const ClusterOptions& options) const;
    void CheckBuckets(const ClusterOptions& options) const;
    [[noreturn]] void Refuse(const std::string& reason) const;
    void SetTime();
    double GetLeastShare() const;

    CodecChoice m_choice;
    std::string m_text; // as the user wrote it
    uint32_t m_ranks{1};
    Ptr<const GradientCodec> m_codec; // null: it codes only buckets
    bool m_codesBuckets{false};
    bool m_isOnHosts{true};  // the collectives that it codes
    uint32_t m_exactBits{0}; // see CodedCommunicator::Settings
    bool m_isTimed{false};   // the times of the codec are known
    CodingTime m_time;
    uint64_t m_seed{1};
    std::vector<Ptr<CodingUnit>> m_units; // by rank
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CODEC_HELPER_H
