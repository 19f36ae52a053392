/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NOTE_TRANSPORT_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_NOTE_TRANSPORT_TEST_COMMON_H

#include "ns3/message-transport.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training::tests
{

/** A transport without a network: it notes what is sent, and a test delivers what it wants. */
class NoteTransport : public MessageTransport
{
  public:
    /** A message that was sent. */
    struct Note : public Message
    {
        uint32_t peer;
    };

    void Send(uint32_t peer, Message message) override
    {
        messages.push_back({std::move(message), peer});
    }

    using MessageTransport::Deliver;
    using MessageTransport::Fail;

    std::vector<Note> messages; ///< in their order
};

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_NOTE_TRANSPORT_TEST_COMMON_H
