/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_H

#include "ns3/callback.h"
#include "ns3/collective-operation.h"
#include "ns3/gradient-codec.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The vector of a collective at one rank; the result overwrites it. With real payload `values`
 * holds `bytes / 4` float32 numbers. With virtual payload it is empty and only the size matters.
 */
struct Tensor : public SimpleRefCount<Tensor>
{
    uint64_t bytes{0};         ///< size of the whole vector at this rank, bytes
    std::vector<float> values; ///< its numbers; empty with virtual payload
    int32_t priority{0};       ///< priority of its collective, see CollectiveOrder
    uint32_t bucket{0};        ///< number of the collective in an iteration, from 0
    uint32_t iteration{0};     ///< number of the iteration in which it starts, from 0
    uint32_t channel{0};       ///< messages: those of a channel match in order; at most MAX_CHANNEL
    /// Sum of whole numbers: how hosts write each message; null: as float32.
    Ptr<const GradientCodec> lineCode{};
    bool untilSent{false}; ///< messages: Send() is complete when the last byte has left

    /// Largest number of a channel.
    static constexpr uint32_t MAX_CHANNEL = 65533;

    /** @return whether the payload is real */
    bool IsReal() const
    {
        return !values.empty();
    }
};

class ScheduledCommunicator;

/**
 * @ingroup distributed-training-collective
 *
 * A rank's handle on a group of ranks, like an NCCL communicator. Collectives are non-blocking,
 * match between ranks in issue order, and complete at each rank independently. Subclasses differ in
 * where data is moved and added (hosts, switches); a job works with any of them. An unsupported
 * operation ends the program.
 */
class Communicator : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Called once, when the operation is complete at this rank. */
    using Done = Callback<void>;

    /** Called when a peer becomes unreachable. (rank of the peer, one line with the reason) */
    using ErrorHandler = std::function<void(uint32_t, const std::string&)>;

    /** @param handler called on failures; communicators that never fail ignore it */
    virtual void SetErrorHandler(ErrorHandler handler);

    /** @return the rank, collective and message that this rank waits for; empty if it is idle */
    virtual std::string GetWaitingFor() const;

    /**
     * @param operation of a collective
     * @param bytes size of the whole vector
     * @return the communicator that executes it on hosts; null: others do, or it is not known
     */
    virtual ScheduledCommunicator* FindHosts([[maybe_unused]] CollectiveOperation operation,
                                             [[maybe_unused]] uint64_t bytes)
    {
        return nullptr;
    }

    /**
     * Starts any of the collective operations below.
     * @param operation of the collective
     * @param tensor the vector
     * @param root broadcast, reduce: the root
     * @param done called when it is complete at this rank
     * @param matrix all-to-all-v: bytes from each rank to each
     */
    virtual void Start(CollectiveOperation operation,
                       Ptr<Tensor> tensor,
                       uint32_t root,
                       Done done,
                       ByteMatrix matrix = nullptr) = 0;

    /** @return this rank's number, 0 to GetSize() - 1 */
    virtual uint32_t GetRank() const = 0;

    /** @return the number of ranks */
    virtual uint32_t GetSize() const = 0;

    /**
     * Adds the tensors of all ranks; every rank gets the sum.
     * @param tensor the vector, same size at every rank; 0 bytes complete without traffic
     * @param done called when this rank has the sum
     */
    void AllReduce(Ptr<Tensor> tensor, Done done);

    /**
     * Adds the tensors of all ranks. Rank r gets part r of N equal parts of the sum, in place. The
     * other parts of its tensor are undefined afterwards.
     * @param tensor the whole vector, same size at every rank
     * @param done called when this rank has its part
     */
    void ReduceScatter(Ptr<Tensor> tensor, Done done);

    /**
     * Every rank r contributes part r of N equal parts and gets all of them.
     * @param tensor the whole vector, with this rank's part filled in
     * @param done called when this rank has all parts
     */
    void AllGather(Ptr<Tensor> tensor, Done done);

    /**
     * Every rank gets the root's tensor.
     * @param tensor the vector; read at the root, overwritten elsewhere
     * @param root source of the data
     * @param done called when this rank has the data, or at the root has sent it
     */
    void Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done);

    /**
     * The root gets the sum of the tensors of all ranks; the tensors of others become undefined.
     * @param tensor the vector, same size at every rank
     * @param root destination of the sum
     * @param done called when this rank is done
     */
    void Reduce(Ptr<Tensor> tensor, uint32_t root, Done done);

    /**
     * Every rank sends part r of its tensor to rank r and replaces its tensor by the received
     * parts, in rank order. Part sizes differ by at most one element, see ChunkLayout.
     * @param tensor the parts for all ranks in rank order, same size at every rank
     * @param done called when this rank has all parts
     */
    void AllToAll(Ptr<Tensor> tensor, Done done);

    /**
     * Like AllToAll(), with parts of arbitrary sizes.
     * @param tensor the parts for all ranks in rank order; afterwards the parts from all ranks,
     *        whose total size is the sum of this rank's column of the matrix
     * @param matrix bytes from each rank to each, the same at every rank
     * @param done called when this rank has all parts
     */
    void AllToAllV(Ptr<Tensor> tensor, ByteMatrix matrix, Done done);

    /**
     * Waits until all ranks have called it.
     * @param done called when all ranks have called it
     */
    void Barrier(Done done);

    /**
     * Every rank sends its tensor to the next rank and receives that of the previous rank, like
     * sendrecv of nccl-tests.
     * @param tensor the vector, same size at every rank
     * @param done called when this rank has received the tensor
     */
    void SendReceive(Ptr<Tensor> tensor, Done done);

    /**
     * Sends a tensor to one rank, independently of collectives. Matches Receive() there, in order
     * of the tensor's channel.
     * @param tensor the vector
     * @param peer destination rank, not this one
     * @param done called when the transport has accepted the tensor, which may then be changed;
     * with Tensor::untilSent when its last byte has been passed to the network
     */
    virtual void Send(Ptr<Tensor> tensor, uint32_t peer, Done done);

    /**
     * Receives a tensor from one rank, independently of collectives. Matches Send() there, in
     * order of the tensor's channel.
     * @param tensor to be filled in, of the size of the sent tensor
     * @param peer source rank, not this one
     * @param done called when the tensor is filled in
     */
    virtual void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done);

  private:
    void Refuse(const char* operation) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_H
