/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H

#include "collective-execution.h"
#include "collective-queue.h"
#include "collective-shortcut.h"
#include "communicator-endpoint.h"
#include "communicator-records.h"
#include "host-model.h"
#include "message-coder.h"
#include "peer-messages.h"
#include "shared-transport.h"
#include "training-communicator.h"

#include "ns3/data-rate.h"
#include "ns3/message-coding.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A communicator whose collectives run on the hosts: it executes CollectiveSchedules over a
 * MessageTransport, for one rank. Adding a received chunk takes its size / ReduceRate.
 *
 * In a stepwise schedule (see CollectiveSchedule) a send is complete when its message has left, and
 * a message that needs a grant waits for it if it has at least RendezvousBytes. The receiver grants
 * it when it starts the step.
 *
 * At most ActiveCollectives collectives run at a time (1, as NCCL on one stream); the others wait
 * for their turn, see TurnOrder.
 *
 * Any number of communicators share the transport of a rank, see Split(). Their collectives run
 * independently.
 */
class ScheduledCommunicator : public Communicator
{
  public:
    /**
     * Returns the schedule of a collective, the same at every rank.
     * (operation, size of the whole vector in bytes, root)
     */
    using Planner = std::function<
        std::shared_ptr<const CollectiveSchedule>(CollectiveOperation, uint64_t, uint32_t)>;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank this rank
     * @param size number of ranks
     * @param transport connected to every peer in the schedules
     * @param planner creates the schedules of the collectives
     * @param number of the communicator, below 256; two communicators with the same number share at
     *        most one rank
     */
    void Setup(uint32_t rank,
               uint32_t size,
               Ptr<MessageTransport> transport,
               Planner planner,
               uint32_t number = 0);

    /**
     * Creates a communicator of some ranks of this one, over the same transport, with the same
     * attributes, host model, coding and coder. Every member must call it. Trace sinks, the error
     * handler and the shortcut are not taken over: failures are reported here.
     * @param ranks members by their rank here, including this rank, in the order of the new
     *        communicator
     * @param planner creates the schedules of its collectives
     * @param number of the new communicator, 1 to 255, as in Setup(); disjoint groups may share a
     *        number
     * @return the new communicator; this one keeps it alive
     */
    Ptr<ScheduledCommunicator> Split(const std::vector<uint32_t>& ranks,
                                     Planner planner,
                                     uint32_t number);

    /**
     * @param operation of a collective
     * @param bytes of the whole vector
     * @param root broadcast, reduce: the root
     * @return what it executes
     */
    std::shared_ptr<const CollectiveSchedule> GetSchedule(CollectiveOperation operation,
                                                          uint64_t bytes,
                                                          uint32_t root) const
    {
        return m_planner(operation, bytes, root);
    }

    /** @return the transport of the rank, shared with other communicators */
    Ptr<SharedTransport> GetTransport() const
    {
        return m_endpoint.GetTransport();
    }

    /**
     * @param shortcut of the whole group; null: every collective is simulated, as it is with real
     *        payload, and if several may run at a time (ActiveCollectives)
     */
    void SetShortcut(std::shared_ptr<CollectiveShortcut> shortcut)
    {
        m_collectives.SetShortcut(m_activeLimit == 1 ? std::move(shortcut) : nullptr);
    }

    /** @param model of the hosts; null: hosts add no time. Rank r of the transport is on host r */
    void SetHostModel(std::shared_ptr<const HostModel> model)
    {
        m_hosts.model = std::move(model);
    }

    /** @return whether hosts add time to collectives */
    bool HasHostModel() const
    {
        return m_hosts.model != nullptr;
    }

    /** @param load of this rank's GPU, which changes while collectives run; null: none */
    void SetHostLoad(std::shared_ptr<const HostLoad> load)
    {
        m_hosts.load = std::move(load);
    }

    /**
     * @param coding of messages on their way; the communicator replaces its own copies of what it
     *        sends, if MessageCoding::codesOwner
     */
    void SetCoding(MessageCoding coding)
    {
        m_hosts.coding = std::make_shared<const MessageCoding>(std::move(coding));
    }

    /** @return what becomes of messages on their way */
    const MessageCoding& GetCoding() const
    {
        return *m_hosts.coding;
    }

    /**
     * @param operation a collective
     * @return type of service that marks its messages; 0: they are not marked
     */
    uint8_t GetTypeOfService(CollectiveOperation operation) const
    {
        return GetCoding().Marks(operation) ? m_gradientTos : 0;
    }

    /** @param coder of the messages of sums; null: they are sent as they are */
    void SetCoder(Ptr<const MessageCoder> coder)
    {
        m_hosts.coder = coder;
    }

    /**
     * Sends a tensor outside the order of Send(); once per peer.
     * @param tensor to send
     * @param peer rank that calls ReceiveUnordered()
     * @param done called when the transport has accepted the tensor
     */
    void SendUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done);

    /**
     * Receives the tensor of SendUnordered(); once per peer.
     * @param tensor to be filled in
     * @param peer source rank
     * @param done called when the tensor is filled in
     */
    void ReceiveUnordered(Ptr<Tensor> tensor, uint32_t peer, Done done);

    /** @return number of the next collective, here or in a communicator of Split() */
    uint64_t GetNextCollective() const;

    /**
     * Abandons all collectives and messages, also in the communicators of Split(); their callbacks
     * are not called. All ranks call it at one time, after MultiPortTransport::Restart().
     * @param next number of the next collective, the same at all ranks and not used before
     */
    void Abort(uint64_t next);

    // Communicator
    ScheduledCommunicator* FindHosts(CollectiveOperation, uint64_t) override
    {
        return this;
    }

    void SetErrorHandler(ErrorHandler handler) override
    {
        m_onError = std::move(handler);
    }

    uint32_t GetRank() const override
    {
        return m_endpoint.GetRank();
    }

    uint32_t GetSize() const override
    {
        return m_endpoint.GetSize();
    }

    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;

    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    std::string GetWaitingFor() const override;

    /** @see MessageRecord */
    typedef void (*MessageTracedCallback)(const MessageRecord& message);
    /** @see CollectiveRecord */
    typedef void (*CollectiveTracedCallback)(const CollectiveRecord& collective);

  private:
    void DoDispose() override;
    void Clear();

    void SetOrder(std::string name)
    {
        m_collectives.GetOrder().SetOrder(name);
    }

    std::string GetOrder() const
    {
        return m_collectives.GetOrder().GetOrder();
    }

    void Join(Ptr<SharedTransport> transport,
              uint32_t rank,
              uint32_t size,
              uint32_t number,
              const std::vector<uint32_t>& members);
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);
    void OnError(uint32_t peer, const std::string& reason) const;

    Planner m_planner;
    CollectiveExecution::Hosts m_hosts;
    uint8_t m_gradientTos;
    ErrorHandler m_onError;
    std::vector<Ptr<ScheduledCommunicator>> m_split;
    uint32_t m_activeLimit;
    DataRate m_reduceRate;
    uint64_t m_rendezvousBytes;
    uint64_t m_issued{0};
    PeerMessages m_peerMessages;
    TracedCallback<const MessageRecord&> m_sendTrace;
    TracedCallback<const MessageRecord&> m_receiveTrace;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
    CommunicatorEndpoint m_endpoint{m_sendTrace};
    CollectiveQueue m_collectives{m_endpoint, m_activeLimit, m_collectiveTrace};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
