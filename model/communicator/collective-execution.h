/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_EXECUTION_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_EXECUTION_H

#include "collective-progress.h"
#include "collective-shortcut.h"
#include "communicator-endpoint.h"
#include "communicator-records.h"
#include "host-channels.h"
#include "host-model.h"
#include "message-coder.h"
#include "training-communicator.h"

#include "ns3/data-rate.h"
#include "ns3/message-coding.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A collective at one rank: performs the actions of its schedule, each as soon as the actions that
 * it waits for are complete, and charges the host for what it does. See ScheduledCommunicator for
 * grants.
 */
class CollectiveExecution : public SimpleRefCount<CollectiveExecution>
{
  public:
    /** What hosts add to collectives. */
    struct Hosts
    {
        std::shared_ptr<const HostModel> model; ///< null: they add no time
        std::shared_ptr<const HostLoad> load;   ///< of this rank's GPU; null: none
        /// What becomes of messages on their way.
        std::shared_ptr<const MessageCoding> coding{std::make_shared<const MessageCoding>()};
        Ptr<const MessageCoder> coder; ///< null: messages are sent as they are
    };

    /** What is to be done. */
    struct Request
    {
        CollectiveRecord record;                            ///< without times, other than of issue
        std::shared_ptr<const CollectiveSchedule> schedule; ///< of all ranks
        Ptr<Tensor> tensor;                                 ///< this rank's vector
        uint32_t root{0};                                   ///< see Communicator::Start()
        ByteMatrix matrix;                                  ///< see Communicator::Start()
        Communicator::Done done;                            ///< see Communicator::Start()
        Hosts hosts;                                        ///< of all ranks
        DataRate reduceRate;         ///< at which chunks are added; 0: in no time
        uint64_t rendezvousBytes{0}; ///< least size of messages that need grants
        uint8_t typeOfService{0};    ///< of its messages
    };

    /** Called once, when it is complete at this rank. */
    using EndHandler = std::function<void(CollectiveExecution&)>;

    /**
     * @param endpoint of the communicator; must outlive it, or Abandon()
     * @param request what is to be done
     * @param onEnd called when it is complete
     */
    CollectiveExecution(CommunicatorEndpoint& endpoint, Request request, EndHandler onEnd);

    /** @return what is done; without times that are not known yet */
    const Request& GetRequest() const
    {
        return m_request;
    }

    /**
     * Its turn has come.
     * @param shortcut decides whether it is simulated, unless its numbers are real; null: it is
     */
    void Start(const std::shared_ptr<CollectiveShortcut>& shortcut);

    /** Leaves all as it is: nothing of it happens any more. */
    void Abandon()
    {
        m_isOver = true;
    }

    /**
     * @param peer source of a message of it
     * @param tag of the message
     * @param chunk its contents
     * @return whether it was ready for the message; otherwise it takes it from the endpoint later
     */
    bool Receive(uint32_t peer, const MessageTag& tag, const CommunicatorEndpoint::Chunk& chunk);

    /** @param index of an action, whose message has been granted */
    void SendChunk(uint32_t index);

    /** @return what it waits for, such as "all-reduce 3 (ring) for its own additions" */
    std::string DescribeMissing() const;

  private:
    using Chunk = CommunicatorEndpoint::Chunk;
    /** What follows a delay. */
    using Step = void (CollectiveExecution::*)(uint32_t index, const Chunk& chunk);

    void Begin();
    void Run();
    void CompleteIn(Time time);
    void RunReady();
    void BeginAction(uint32_t index);
    void GrantStep(uint32_t index);
    bool NeedsGrant(const ScheduleAction& action, uint64_t bytes) const;
    void ContinueIn(Time delay, uint32_t index, Step step, const Chunk& chunk);
    void Continue(uint32_t index, Step step, const Chunk& chunk);
    void Post(uint32_t index, const Chunk& chunk);
    void Decode(uint32_t index, const Chunk& chunk);
    void TakeIn(uint32_t index, const Chunk& chunk);
    void Reduce(uint32_t index, const Chunk& chunk);
    void Complete(uint32_t index, const Chunk& chunk);
    HostChannels::Message ToHostMessage(const ScheduleAction& action, uint64_t bytes) const;
    void Finish();

    CommunicatorEndpoint& m_endpoint;
    Request m_request;
    EndHandler m_onEnd;
    HostChannels m_host;
    std::shared_ptr<CollectiveShortcut> m_shortcut; // null: it is simulated
    std::optional<CollectiveProgress> m_progress;   // none: waits for its turn
    bool m_isRunning{false};                        // its actions may begin
    bool m_isOver{false};                           // complete, or abandoned
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_EXECUTION_H
