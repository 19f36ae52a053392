/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_H

#include "collective-operation.h"

#include "ns3/callback.h"
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
 * The vector a collective works on, in place, at one rank. With real payload `values` holds
 * `bytes / 4` float32 numbers; with virtual payload it is empty and only the size counts.
 */
struct Tensor : public SimpleRefCount<Tensor>
{
    uint64_t bytes{0};         ///< size of the whole vector at this rank, bytes
    std::vector<float> values; ///< its numbers, or empty (virtual payload)
    int32_t priority{0};       ///< of its collective among those that wait; see the implementation

    /** @return whether real numbers are carried */
    bool IsReal() const
    {
        return !values.empty();
    }
};

/**
 * @ingroup distributed-training-collective
 *
 * One rank's handle on a group of ranks, as an NCCL communicator: collectives are non-blocking, are
 * matched between ranks by the order in which each rank issues them, and complete at each rank on
 * its own. Implementations differ in who moves and adds the data (a schedule between hosts, a
 * switch, a NIC); a job does not know which one it uses. An operation that an implementation
 * does not have ends the program.
 */
class Communicator : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Called once, when the operation is complete at this rank. */
    using Done = Callback<void>;

    /** Called when a peer cannot be reached any more. (peer rank, one line that says so) */
    using ErrorHandler = std::function<void(uint32_t, const std::string&)>;

    /** @param handler of failures; one that never fails ignores it */
    virtual void SetErrorHandler(ErrorHandler handler);

    /** @return the rank, collective and message it waits for; empty if for nothing */
    virtual std::string GetWaitingFor() const;

    /**
     * Starts any of the collective operations below.
     * @param operation what to do
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
     * Sums the tensors of all ranks; every rank ends with the sum.
     * @param tensor the vector, same size at every rank; 0 bytes complete without traffic
     * @param done called when the sum is in place at this rank
     */
    void AllReduce(Ptr<Tensor> tensor, Done done);

    /**
     * Sums the tensors of all ranks; rank r ends with part r of N equal parts of the sum in its
     * place; the other parts of its tensor are undefined.
     * @param tensor the whole vector, same size at every rank
     * @param done called when this rank's part is in place
     */
    void ReduceScatter(Ptr<Tensor> tensor, Done done);

    /**
     * Every rank contributes part r of N equal parts and ends with all of them.
     * @param tensor the whole vector, of which this rank's part is filled in
     * @param done called when all parts are in place at this rank
     */
    void AllGather(Ptr<Tensor> tensor, Done done);

    /**
     * Every rank ends with the root's tensor.
     * @param tensor the vector; at the root the source, elsewhere overwritten
     * @param root the rank that has the data
     * @param done called when the data is in place at this rank (at the root: when sent on)
     */
    void Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done);

    /**
     * The root ends with the sum of the tensors of all ranks; those of others are undefined.
     * @param tensor the vector, same size at every rank
     * @param root the rank that gets the sum
     * @param done called when this rank has nothing left to do
     */
    void Reduce(Ptr<Tensor> tensor, uint32_t root, Done done);

    /**
     * Every rank sends a part of its tensor to each rank; the parts it gets take their place, that
     * of rank r as the r-th. Parts are equal up to one element; see ChunkLayout.
     * @param tensor the parts for all ranks in rank order, same size at every rank
     * @param done called when all parts are in place at this rank
     */
    void AllToAll(Ptr<Tensor> tensor, Done done);

    /**
     * As AllToAll() with parts of any sizes.
     * @param tensor the parts for all ranks in rank order; afterwards those of all ranks, in size
     *        the sum of this rank's column of the matrix
     * @param matrix bytes from each rank to each, the same at every rank
     * @param done called when all parts are in place at this rank
     */
    void AllToAllV(Ptr<Tensor> tensor, ByteMatrix matrix, Done done);

    /**
     * Completes at no rank before all ranks have called it.
     * @param done called when all have
     */
    void Barrier(Done done);

    /**
     * Every rank sends its tensor to the next rank and ends with that of the one before, as
     * nccl-tests' sendrecv.
     * @param tensor the vector, same size at every rank
     * @param done called when the other tensor is in place at this rank
     */
    void SendReceive(Ptr<Tensor> tensor, Done done);

    /**
     * Sends a tensor to one rank, beside all collectives. Matched with Receive() there, in order.
     * @param tensor the vector
     * @param peer the rank that receives it, not this one
     * @param done called when it is handed to the transport and may be changed
     */
    virtual void Send(Ptr<Tensor> tensor, uint32_t peer, Done done);

    /**
     * Receives a tensor from one rank, beside all collectives. Matched with Send() there, in order.
     * @param tensor where to put it; its size is that of the tensor sent
     * @param peer the rank that sends it, not this one
     * @param done called when it is in place
     */
    virtual void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done);

  private:
    void Refuse(const char* operation) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_H
