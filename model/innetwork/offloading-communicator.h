/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OFFLOADING_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_OFFLOADING_COMMUNICATOR_H

#include "ns3/scheduled-communicator.h"
#include "ns3/traced-callback.h"

#include <deque>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A communicator that offloads some operations. A ScheduledCommunicator, "the hosts", runs all
 * others. Operations run one at a time, in issue order.
 */
class OffloadingCommunicator : public Communicator
{
  public:
    /**
     * @param operation any operation
     * @return whether it is offloaded; only all-reduce, reduce, broadcast and barrier can be
     */
    virtual bool IsOffloaded(CollectiveOperation operation) const
    {
        return operation == CollectiveOperation::ALL_REDUCE;
    }

    /**
     * @param bytes size of an offloaded operation's tensor
     * @return whether the network makes it, not the hosts; the same at every rank
     */
    virtual bool IsChosen([[maybe_unused]] uint64_t bytes) const
    {
        return true;
    }

    /**
     * @param rank number of this rank, for its records; that in its group unless it is called
     * @param communicator number of the communicator, for its records
     */
    void SetPlace(uint32_t rank, uint32_t communicator)
    {
        m_place = rank;
        m_number = communicator;
    }

    /** @return number of this rank in its records */
    uint32_t GetPlace() const
    {
        return m_place;
    }

    /** @return communicator for operations that are not offloaded */
    const Ptr<ScheduledCommunicator>& GetHosts() const
    {
        return m_hosts;
    }

    /** @return whether an all-reduce returns a sum, not weights kept in the network */
    virtual bool ReturnsSum() const
    {
        return true;
    }

    // Communicator
    uint32_t GetRank() const override
    {
        return m_rank;
    }

    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    void SetErrorHandler(ErrorHandler handler) override;
    std::string GetWaitingFor() const override;

  protected:
    /** An issued operation. */
    struct Operation
    {
        CollectiveRecord record;     ///< its times; the algorithm from its start on
        Ptr<Tensor> tensor;          ///< of this rank
        uint32_t root{0};            ///< if it has one
        ByteMatrix matrix;           ///< all-to-all-v: bytes from each rank to each
        Done done;                   ///< called at its end
        std::function<void()> begin; ///< starts an operation that is not a collective
    };

    void DoDispose() override;

    /**
     * @param rank this rank
     * @param hosts communicator for operations that are not offloaded
     */
    void SetHosts(uint32_t rank, Ptr<ScheduledCommunicator> hosts);

    /** @return name of the system, such as switchml */
    virtual std::string GetName() const = 0;

    /**
     * Starts an operation with at least two ranks and, except for a barrier, a non-empty tensor.
     * Complete() ends it.
     * @param tensor of this rank, unchanged until the end
     */
    virtual void Begin(const Tensor& tensor) = 0;

    /**
     * Queues another operation of the network. Complete() ends it.
     * @param tensor to be filled in
     * @param done called when the tensor is filled in
     * @param begin starts the operation
     */
    void Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin);

    /** @return whether no operation may start now */
    virtual bool IsHeld() const = 0;

    /** @return whether operations are still offloaded, not all left to the hosts */
    virtual bool HasOffload() const = 0;

    /** @return the current operation; null: none */
    const Operation* GetCurrent() const
    {
        return m_busy ? &m_queue.front() : nullptr;
    }

    /** @return whether the current operation is offloaded */
    bool IsOffloadUnderWay() const
    {
        return m_isOffloaded;
    }

    /** @return type of the current operation */
    CollectiveOperation GetOperation() const
    {
        return m_queue.front().record.operation;
    }

    /** @return root of the current operation, if it has one */
    uint32_t GetRoot() const
    {
        return m_queue.front().root;
    }

    /** Goes on after IsHeld(): the hosts run the current operation if it was offloaded. */
    void Continue();

    /** Leaves the current operation to the hosts. */
    void TakeBack();

    /** Ends the current operation, whose result is in its tensor. */
    void Finish();

    TracedCallback<const CollectiveRecord&> m_collectiveTrace; ///< a collective is complete

  private:
    void Add(CollectiveOperation type, Operation operation);
    void StartNext();
    void RunByHosts();

    uint32_t m_rank{0};
    uint32_t m_place{0};  // of this rank, for records
    uint32_t m_number{0}; // of the communicator, for records
    Ptr<ScheduledCommunicator> m_hosts;
    std::deque<Operation> m_queue; // the first one is in progress if m_busy
    bool m_busy{false};
    bool m_isOffloaded{false}; // the current operation
    uint64_t m_issued{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OFFLOADING_COMMUNICATOR_H
