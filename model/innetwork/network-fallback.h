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
 * How the ranks of a job that the network has served go over to the hosts, one object at each rank.
 *
 * A rank that gets no answers any more starts it. The ranks then tell each other how many
 * operations of the network each has completed, by notices that are repeated until all have them
 * (NetworkFallbackHeader). When a rank has the notices of all others, the operation under way is
 * completed without the network: if no rank has completed it, the hosts do it from the tensors,
 * which are intact until then. A rank completes an operation only when all have the one before, so
 * some can be ahead by one; then the first of these sends its result to the ranks behind. Of a
 * reduce, the ranks send their contributions to the root if that has no result, and the root adds
 * them.
 *
 * If a rank does not answer notices either, the fallback fails.
 */
class NetworkFallback
{
  public:
    /** The part of an operation that other ranks may need. */
    struct Operation
    {
        CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< which it is
        uint32_t root{0};                                               ///< its root, if it has one
        Ptr<Tensor> tensor; ///< its input before, its result after it is complete
    };

    /** The communicator whose operations the network has made. */
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /** The fallback begins: the network is not to be used any more; calls SetTimes(). */
        virtual void OnFallback() = 0;

        /** @return the operation under way that was begun in the network, or null */
        virtual const Operation* GetOperationInNetwork() = 0;

        /** The ranks have agreed: the hosts make the operation under way, and all others. */
        virtual void ContinueByHosts() = 0;

        /** The hosts are completing the operation under way; OnCompleted() will follow. */
        virtual void OnResynchronization() = 0;

        /** The operation under way is complete. */
        virtual void OnCompleted() = 0;

        /** @param reason why the ranks do not agree, one line */
        virtual void OnFallbackFailure(const std::string& reason) = 0;
    };

    /** Where the ranks are. */
    struct Group
    {
        uint32_t rank{0};                ///< this rank
        uint16_t system{0};              ///< protocol number of the system that serves the job
        uint8_t job{0};                  ///< number of the job
        std::vector<uint32_t> endpoints; ///< of each rank
    };

    /** @param owner outlives it */
    explicit NetworkFallback(Owner& owner);
    ~NetworkFallback();
    NetworkFallback(const NetworkFallback&) = delete;
    NetworkFallback& operator=(const NetworkFallback&) = delete;

    /**
     * @param group the ranks
     * @param device NIC of this rank, which notices go by
     * @param hosts the communicator that completes operations without the network
     */
    void Configure(const Group& group, Ptr<HostDevice> device, Ptr<ScheduledCommunicator> hosts);

    /**
     * @param interval between two notices to a rank that has not confirmed any
     * @param timeout for all ranks to agree
     */
    void SetTimes(Time interval, Time timeout);

    /** Neither sends nor receives any more. */
    void Stop();

    /** @param operation that the network has just completed, with its result */
    void NoteCompleted(const Operation& operation);

    /** @param reason why the network is given up at this rank, one line */
    void Start(const std::string& reason);

    /** @return whether the network serves the job */
    bool IsNetworkInUse() const;

    /** @return whether the ranks have yet to agree */
    bool IsUnderWay() const;

    /** @return whether the ranks have agreed, so that the hosts make all operations */
    bool IsComplete() const;

    /** @return why it was started, one line; empty if it was not */
    const std::string& GetReason() const;

  private:
    /** Another rank during the fallback. */
    struct Peer
    {
        bool told{false};      ///< its notice has come
        bool heard{false};     ///< it has had ours
        uint32_t completed{0}; ///< operations of the network it has completed, modulo 2^32
    };

    /** Who makes operations. */
    enum class Mode : uint8_t
    {
        NETWORK,      ///< the network
        FALLING_BACK, ///< nobody: the ranks exchange notices
        HOSTS         ///< the hosts
    };

    uint32_t GetSize() const;
    void OnNotice(Frame* frame);
    void SendNotice(uint32_t rank);
    void SendNotices();
    std::string GetSilentRanks() const;
    void OnAllNotices();
    bool IsBehind(uint32_t rank, uint32_t first) const;
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
    uint32_t m_completed{0};             // operations that the network has completed, modulo 2^32
    Operation m_latest;                  // the last of these, with a copy of its result
    std::vector<Peer> m_peers;           // by rank
    Time m_deadline;                     // for all to agree
    EventId m_notices;                   // when they are repeated
    Ptr<Tensor> m_sum;                   // reduce: of the root, completed by the hosts
    std::vector<Ptr<Tensor>> m_gathered; // reduce: contributions of the other ranks
    uint32_t m_missing{0};               // of these
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_FALLBACK_H
