/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_FALLBACK_H
#define DISTRIBUTED_TRAINING_NETWORK_FALLBACK_H

#include "ns3/event-id.h"
#include "ns3/host-device.h"
#include "ns3/nstime.h"
#include "ns3/scheduled-communicator.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The fallback of a job's ranks from the network to the hosts, one object per rank.
 *
 * A rank that gets no more answers starts it. The ranks then exchange the number of operations that
 * the network has completed at each, by notices that are repeated until all ranks have them
 * (NetworkFallbackHeader). When a rank has the notices of all others, it completes the current
 * operation without the network. If no rank has completed the operation, the hosts run it on the
 * tensors, which are intact until then. A rank completes an operation only after all ranks
 * completed the previous one, so some ranks can be ahead by one. The first of these then sends its
 * result to the ranks behind. For a reduce, the ranks send their contributions to the root if it
 * has no result, and the root adds them.
 *
 * If a rank does not answer notices either, the fallback fails.
 */
class NetworkFallback
{
  public:
    /** The state of an operation that other ranks may need. */
    struct Operation
    {
        CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< type of the operation
        uint32_t root{0};                                               ///< its root, if it has one
        Ptr<Tensor> tensor; ///< its input; after completion its result
    };

    /** The communicator whose operations the network runs. */
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /** The fallback begins: stop using the network. Calls SetTimes(). */
        virtual void OnFallback() = 0;

        /** @return the current operation, which was started in the network */
        virtual Operation GetOperationInNetwork() const = 0;

        /** The ranks have agreed: the hosts run the current operation and all later ones. */
        virtual void ContinueByHosts() = 0;

        /** The hosts are completing the current operation; Finish() will follow. */
        virtual void OnResynchronization() = 0;

        /** The current operation is complete. */
        virtual void Finish() = 0;

        /** @param reason of the disagreement, one line */
        virtual void Abort(const std::string& reason) = 0;
    };

    /** The ranks of the job and their endpoints. */
    struct Group
    {
        uint32_t rank{0};                ///< this rank
        uint16_t system{0};              ///< protocol number of the job's system
        uint8_t job{0};                  ///< number of the job
        std::vector<uint32_t> endpoints; ///< by rank
    };

    /** @param owner must outlive this object */
    explicit NetworkFallback(Owner& owner);
    ~NetworkFallback();
    NetworkFallback(const NetworkFallback&) = delete;
    NetworkFallback& operator=(const NetworkFallback&) = delete;

    /**
     * @param group the ranks
     * @param device NIC of this rank, which sends the notices
     * @param hosts communicator that completes operations without the network
     */
    void Configure(const Group& group, Ptr<HostDevice> device, Ptr<ScheduledCommunicator> hosts);

    /**
     * @param interval between two notices to a rank that has not confirmed one
     * @param timeout for the agreement of all ranks
     */
    void SetTimes(Time interval, Time timeout);

    /** Stops sending and receiving. */
    void Stop();

    /** @param operation just completed by the network, with its result */
    void NoteCompleted(const Operation& operation);

    /** @param reason why this rank gives up the network, one line */
    void Start(const std::string& reason);

    /** @return whether the network serves the job */
    bool IsNetworkInUse() const
    {
        return m_mode == Mode::NETWORK;
    }

    /** @return whether the ranks are still exchanging notices */
    bool IsUnderWay() const
    {
        return m_mode == Mode::FALLING_BACK;
    }

    /** @return whether the ranks have agreed, so that the hosts run all operations */
    bool IsComplete() const
    {
        return m_mode == Mode::HOSTS;
    }

    /** @return reason for the start, one line; empty if it was not started */
    const std::string& GetReason() const
    {
        return m_reason;
    }

  private:
    /** Another rank during the fallback. */
    struct Peer
    {
        bool told{false};      ///< its notice has arrived
        bool heard{false};     ///< it has our notice
        uint32_t completed{0}; ///< operations that the network completed at it, modulo 2^32
    };

    /** The executor of operations. */
    enum class Mode : uint8_t
    {
        NETWORK,      ///< the network
        FALLING_BACK, ///< none: the ranks exchange notices
        HOSTS         ///< the hosts
    };

    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_group.endpoints.size());
    }

    void OnNotice(Frame* frame);
    void SendNotice(uint32_t rank);
    void SendNotices();
    std::string GetSilentRanks() const;
    void OnAllNotices();

    bool IsBehind(uint32_t rank, uint32_t first) const
    {
        return m_peers[rank].completed != m_peers[first].completed;
    }

    void SendResults(uint32_t first);
    void Resynchronize(uint32_t first);
    static void AddGathered(NetworkFallback* self);
    static void Complete(NetworkFallback* self);
    static void Ignore();

    Owner& m_owner;
    Group m_group;
    Ptr<HostDevice> m_device;
    Ptr<ScheduledCommunicator> m_hosts;
    Time m_interval;
    Time m_timeout;
    Mode m_mode{Mode::NETWORK};
    std::string m_reason;
    uint32_t m_completed{0};             // operations completed by the network, modulo 2^32
    Operation m_latest;                  // the last completed operation, with a copy of its result
    std::vector<Peer> m_peers;           // by rank
    Time m_deadline;                     // for the agreement of all ranks
    EventId m_notices;                   // next repetition of the notices
    Ptr<Tensor> m_sum;                   // reduce at the root: completed by the hosts
    std::vector<Ptr<Tensor>> m_gathered; // reduce: contributions of the other ranks
    uint32_t m_missing{0};               // contributions not yet received
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_FALLBACK_H
