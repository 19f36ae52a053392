/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_COMMUNICATOR_H

#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
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
 * switch, a NIC); a job does not know which one it uses.
 */
class Communicator : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Called once, when the operation is complete at this rank. */
    using Done = Callback<void>;

    /** @return this rank's number, 0 to GetSize() - 1 */
    virtual uint32_t GetRank() const = 0;

    /** @return the number of ranks */
    virtual uint32_t GetSize() const = 0;

    /**
     * Sums the tensors of all ranks; every rank ends with the sum.
     * @param tensor the vector, same size at every rank; 0 bytes complete without traffic
     * @param done called when the sum is in place at this rank
     */
    virtual void AllReduce(Ptr<Tensor> tensor, Done done) = 0;

    /**
     * Sums the tensors of all ranks; rank r ends with part r of N equal parts of the sum in its
     * place; the other parts of its tensor are undefined.
     * @param tensor the whole vector, same size at every rank
     * @param done called when this rank's part is in place
     */
    virtual void ReduceScatter(Ptr<Tensor> tensor, Done done) = 0;

    /**
     * Every rank contributes part r of N equal parts and ends with all of them.
     * @param tensor the whole vector, of which this rank's part is filled in
     * @param done called when all parts are in place at this rank
     */
    virtual void AllGather(Ptr<Tensor> tensor, Done done) = 0;

    /**
     * Every rank ends with the root's tensor.
     * @param tensor the vector; at the root the source, elsewhere overwritten
     * @param root the rank that has the data
     * @param done called when the data is in place at this rank (at the root: when sent on)
     */
    virtual void Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done) = 0;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COMMUNICATOR_H
