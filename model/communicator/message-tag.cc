/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "message-tag.h"

#include "ns3/collective-schedule.h"

namespace ns3::training
{

namespace
{

constexpr uint64_t
Mask(uint32_t bits)
{
    return (uint64_t{1} << bits) - 1;
}

} // namespace

static_assert(MessageTag::COMMUNICATOR_BITS + MessageTag::COLLECTIVE_BITS + MessageTag::STEP_BITS +
                      MessageTag::MESSAGE_BITS ==
                  64,
              "a tag has 64 bits");
static_assert(CollectiveSchedule::MAX_STEPS + MessageTag::GRANT <= MessageTag::TURN &&
                  CollectiveSchedule::MAX_MESSAGES == 1 << MessageTag::MESSAGE_BITS,
              "every message of a schedule has a tag of its own");

uint64_t
MessageTag::Pack() const
{
    uint64_t tag = communicator;
    tag = tag << COLLECTIVE_BITS | (collective & Mask(COLLECTIVE_BITS));
    tag = tag << STEP_BITS | step;
    return tag << MESSAGE_BITS | message;
}

MessageTag
MessageTag::Unpack(uint64_t tag)
{
    MessageTag result;
    result.message = static_cast<uint32_t>(tag & Mask(MESSAGE_BITS));
    tag >>= MESSAGE_BITS;
    result.step = static_cast<uint32_t>(tag & Mask(STEP_BITS));
    tag >>= STEP_BITS;
    result.collective = tag & Mask(COLLECTIVE_BITS);
    result.communicator = static_cast<uint32_t>(tag >> COLLECTIVE_BITS);
    return result;
}

bool
MessageTag::IsSameCollective(uint64_t a, uint64_t b)
{
    return ((a ^ b) & Mask(COLLECTIVE_BITS)) == 0;
}

} // namespace ns3::training
