/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/host-channels.h"

namespace ns3::training::tests::host_channels_test
{

constexpr bool LOCAL = true;
constexpr bool REMOTE = false;

/** @return hosts that copy a byte in 1 ns within a server, and in 4 ns beyond it */
HostCost
MakeCost()
{
    HostCost cost;
    cost.localSecondsPerByte = 1e-9;
    cost.remoteSecondsPerByte = 4e-9;
    return cost;
}

void
ExpectReceived(HostChannels& channels,
               const HostChannels::Message& message,
               int64_t now,
               int64_t copied,
               const char* why)
{
    const Time from = NanoSeconds(now);
    NS_TEST_EXPECT_MSG_EQ((from + channels.Receive(message, from)), NanoSeconds(copied), why);
}

void
TestNoTime()
{
    HostChannels channels;
    ExpectReceived(channels, {1, 0, 1000, REMOTE}, 5, 5, "hosts take no time by default");
    channels.Send({1, 0, 1000, REMOTE}, NanoSeconds(5));
    ExpectReceived(channels, {1, 0, 0, LOCAL}, 5, 5, "nor does sending");
    NS_TEST_EXPECT_MSG_EQ(channels.GetWireBytes(7), 7, "no flags");
}

void
TestOneAfterTheOther()
{
    HostChannels channels(MakeCost());
    ExpectReceived(channels, {1, 0, 1000, LOCAL}, 100, 1100, "a copy in a server");
    ExpectReceived(channels, {1, 0, 100, LOCAL}, 200, 1200, "waits for the one before");
    ExpectReceived(channels, {1, 0, 100, LOCAL}, 2000, 2100, "a free channel");
    ExpectReceived(channels, {1, 1, 100, LOCAL}, 200, 300, "another lane does not wait");
    ExpectReceived(channels, {2, 0, 100, REMOTE}, 200, 600, "nor does another peer");
    ExpectReceived(channels, {2, 0, 0, REMOTE}, 300, 600, "no bytes wait, too");
}

void
TestSendingDelaysReceiving()
{
    HostCost cost = MakeCost();
    cost.sendSecondsPerByte = 2e-9;
    HostChannels channels(cost);
    channels.Send({1, 0, 100, LOCAL}, NanoSeconds(0));
    ExpectReceived(channels, {1, 0, 10, LOCAL}, 0, 10, "sending in a server takes no time");
    channels.Send({2, 0, 100, REMOTE}, NanoSeconds(0));
    ExpectReceived(channels, {2, 0, 10, REMOTE}, 0, 240, "200 ns for what is sent, 40 ns");
    ExpectReceived(channels, {3, 0, 10, REMOTE}, 0, 40, "another peer");
}

void
TestMessagesSlotsAndWindows()
{
    HostCost cost = MakeCost();
    cost.perMessage = NanoSeconds(7);
    cost.perSlot = NanoSeconds(50);
    cost.slotBytes = 100;
    cost.perWindow = NanoSeconds(1000);
    cost.windowBytes = 200;
    const auto receive = [&](uint64_t bytes, bool isLocal, int64_t copied) {
        HostChannels channels(cost);
        ExpectReceived(channels, {1, 0, bytes, isLocal}, 0, copied, "of a message alone");
    };
    receive(0, REMOTE, 7);
    receive(99, REMOTE, 396 + 7);
    receive(100, REMOTE, 400 + 7 + 50);
    receive(200, REMOTE, 800 + 7 + 100);
    receive(201, REMOTE, 804 + 7 + 100 + 1000);
    receive(601, REMOTE, 2404 + 7 + 300 + 3000);
    receive(601, LOCAL, 601);
    HostChannels channels(cost);
    channels.Send({1, 0, 601, REMOTE}, NanoSeconds(0));
    ExpectReceived(channels, {1, 0, 0, REMOTE}, 0, 307 + 7, "windows are the receiver's");
}

void
TestCommonChannel()
{
    HostCost cost = MakeCost();
    cost.sendSecondsPerByte = 6e-9;
    cost.hasCommonChannel = true;
    HostChannels channels(cost);
    // Of the 600 ns of copying 100 bytes, 200 passed while they arrived.
    ExpectReceived(channels, {1, 0, 100, REMOTE}, 1000, 1400, "began with the first byte");
    ExpectReceived(channels, {2, 3, 100, REMOTE}, 1000, 2000, "all peers share it");
    ExpectReceived(channels, {3, 0, 100, LOCAL}, 1000, 1000, "messages of a server do not");
    channels.Send({4, 0, 10, REMOTE}, NanoSeconds(1500));
    ExpectReceived(channels, {1, 0, 100, REMOTE}, 1500, 2660, "a sent message delays it");
}

void
TestPassingOn()
{
    HostCost cost = MakeCost();
    cost.localLineSecondsPerByte = 3e-9; // of a copy of 4 ns
    cost.passesOn = true;
    HostChannels channels(cost);
    ExpectReceived(channels, {1, 0, 1000, LOCAL}, 100, 100, "the copy hides no message");
    ExpectReceived(channels, {1, 0, 100, LOCAL}, 200, 4100, "the next one waits for all of it");
    ExpectReceived(channels, {1, 0, 100, LOCAL}, 5000, 5000, "a free channel");
    cost.perMessage = NanoSeconds(7);
    HostChannels network(cost);
    ExpectReceived(network, {2, 0, 100, REMOTE}, 0, 7, "other times delay it");
    ExpectReceived(network, {2, 0, 100, REMOTE}, 0, 414, "400 ns of copying, and both others");
}

void
TestBytes()
{
    HostCost cost;
    cost.wireFactor = 2;
    const HostChannels twice(cost);
    cost.wireFactor = 128.0 / 120;
    const HostChannels lines(cost);
    for (uint64_t bytes : {0ULL, 1ULL, 119ULL, 120ULL, 1ULL << 33})
    {
        NS_TEST_EXPECT_MSG_EQ(twice.GetWireBytes(bytes), 2 * bytes, "a flag beside each word");
        NS_TEST_EXPECT_MSG_EQ(twice.GetDataBytes(2 * bytes), bytes, "and back");
    }
    NS_TEST_EXPECT_MSG_EQ(lines.GetWireBytes(120), 128, "a flag in each line");
    NS_TEST_EXPECT_MSG_EQ(lines.GetWireBytes(121), 130, "rounded up");
    NS_TEST_EXPECT_MSG_EQ(lines.GetDataBytes(130), 121, "and back");
}

const Suite g_suite("host-channels",
                    Duration::QUICK,
                    {{"hosts without cost", TestNoTime},
                     {"one message after the other", TestOneAfterTheOther},
                     {"sending delays receiving", TestSendingDelaysReceiving},
                     {"messages, slots and windows", TestMessagesSlotsAndWindows},
                     {"a channel of all messages", TestCommonChannel},
                     {"messages that are passed on", TestPassingOn},
                     {"bytes of flags", TestBytes}});

} // namespace ns3::training::tests::host_channels_test
