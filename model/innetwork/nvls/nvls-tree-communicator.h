/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NVLS_TREE_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_NVLS_TREE_COMMUNICATOR_H

#include "nvls-communicator.h"

#include "ns3/scheduled-communicator.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A GPU of several servers whose switches add, like NCCL's NVLSTree all-reduce. In each server it
 * works like NvlsCommunicator, but between reading a part of the server's sums and writing it, a
 * rank adds it to those of its counterparts, the owners of the same part in the other servers (its
 * rail). These run an all-reduce by two binary trees for each pair of chunks; the chunks of a pair
 * take different trees, like NCCL's channels. Chunks follow each other through the trees without
 * waiting.
 *
 * A message between servers carries a chunk over the transport, which recovers losses. Numbers are
 * float32. GetErrorBound() follows from the numbers of this rank's server: the largest bound of all
 * ranks is one for all sums.
 */
class NvlsTreeCommunicator : public NvlsCommunicator
{
  public:
    /// Trees between servers.
    static constexpr uint32_t TREES = 2;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * Call SetGroup() before.
     * @param rail communicator of this rank and its counterparts in the other servers, which adds
     *        the first half of a vector by the first tree and the second one by the second tree.
     *        Not used otherwise
     * @throw ConfigurationError if DataType is not float32
     */
    void SetRail(Ptr<ScheduledCommunicator> rail);

    /**
     * @param model of the hosts; null: hosts add no time. Call SetRail() before
     * @throw ConfigurationError if its hosts have no such all-reduce
     */
    void SetTreeHostModel(const std::shared_ptr<const HostModel>& model);

    /**
     * @copydoc InNetworkCommunicator::GetSum()
     *
     * SetSums() has TREES trees for each owner, with the addends of all servers.
     */
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;

  protected:
    void DoDispose() override;

    std::string GetName() const override
    {
        return "nvls-tree";
    }

    std::string GetMissing() const override
    {
        return m_units.empty() ? NvlsCommunicator::GetMissing()
                               : "the sums of other servers (" + m_rail->GetWaitingFor() + ")";
    }

    void Cancel() override;
    void Start() override;
    void OnSum(const Frame& frame) override;

    SwitchCost GetSwitchCost(uint64_t bytes) const override
    {
        return GetHostModel() ? GetHostModel()->GetSwitchTreeCost(bytes) : SwitchCost();
    }

  private:
    /** Packets that pass through the trees together. */
    struct Unit
    {
        Ptr<Tensor> tensor;               ///< their numbers
        std::vector<SharpHeader> headers; ///< of each packet
        bool isComplete{false};           ///< whether the numbers are those of all servers
    };

    uint64_t GetPacketsOfUnit(uint64_t bytes) const;
    static void OnTotal(NvlsTreeCommunicator* self, uint64_t number);
    void WriteUnit(const Unit& unit);

    uint64_t m_chunk{0}; // attribute
    Ptr<ScheduledCommunicator> m_rail;
    std::deque<Unit> m_units;    // of the current operation, not written yet
    uint64_t m_first{0};         // number of the first of them, over all operations
    uint64_t m_packetsOfUnit{1}; // of the current operation
    uint64_t m_read{0};          // packets of the current operation that were read
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NVLS_TREE_COMMUNICATOR_H
