/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/binding-figures.h"
#include "test-case.h"

#include <functional>

namespace ns3::training::tests::run_binding_test
{

/** A run of which a link is busy for 30 % of the communication, and nothing else is known. */
BindingFacts
MakeFacts()
{
    BindingFacts facts;
    facts.seconds = 10;
    facts.computeSeconds = 4;
    facts.exposedSeconds = 5;
    facts.bubbleSeconds = 1;
    facts.communication = 8;
    facts.bound = 2;
    facts.busy = {{"link", "a -> b", 2.4}, {"router", "", 0}, {"engine", "", 0}};
    facts.control = "dcqcn";
    return facts;
}

void
Expect(const std::string& what,
       const std::string& begin,
       const std::function<void(BindingFacts&)>& change)
{
    BindingFacts facts = MakeFacts();
    change(facts);
    const BindingRow row = FindBinding(facts);
    NS_TEST_EXPECT_MSG_EQ(row.what, what, row.sentence);
    NS_TEST_EXPECT_MSG_EQ(row.sentence.substr(0, begin.size()), begin, what);
}

void
TestBinding()
{
    Expect("computation", "Computation binds: ranks are idle for 2 %", [](auto& facts) {
        facts.exposedSeconds = 0.2;
        facts.bubbleSeconds = 0;
    });
    Expect("waiting", "Waiting binds: ranks wait for other ranks for 60 %", [](auto& facts) {
        facts.bubbleSeconds = 6;
    });
    Expect("pipeline", "The pipeline binds: ranks wait", [](auto& facts) {
        facts.bubbleSeconds = 6;
        facts.hasPipeline = true;
    });
    Expect("link", "The link a -> b binds: it is busy for 75 % of the comm", [](auto& facts) {
        facts.busy[0].seconds = 6;
    });
    Expect("router", "The router r binds: it is busy for 100 %", [](auto& facts) {
        facts.busy[1] = {"router", "r", 9};
    });
    Expect("engine", "The engine e binds: that of a NIC is busy for 90 %", [](auto& facts) {
        facts.busy[2] = {"engine", "e", 7.2};
    });
    Expect("adders",
           "The adders of the NICs bind: those of one are busy for 80 %",
           [](auto& facts) {
               facts.busy.push_back({"adders", "of the NICs", 6.4});
           });
    Expect("host", "The hosts' additions bind: a host is busy for 80 %", [](auto& facts) {
        facts.busy.push_back({"host", "additions", 6.4});
    });
    Expect("losses", "Losses bind: 1.00 % of the frames", [](auto& facts) {
        facts.lostShare = 0.01;
        facts.limit = "window=8 limits";
    });
    Expect("slots", "Slots bind: window=8 limits", [](auto& facts) {
        facts.limit = "window=8 limits";
    });
    Expect("congestion control", "Congestion control binds: dcqcn slows down", [](auto& facts) {
        facts.markedShare = 0.02;
        facts.hosts = "nccl";
    });
    Expect("host", "Hosts bind: they take the times of nccl", [](auto& facts) {
        facts.hosts = "nccl";
    });
    Expect("latency",
           "No link binds, but latencies, windows and hosts: the busiest link, a -> b, is busy for "
           "30 %",
           [](auto&) {});
    Expect("unknown", "What binds is not known", [](auto& facts) { facts.busy[0].seconds = 0; });
    // Communication at its bound: what is busiest has set it.
    Expect("link", "The link a -> b binds", [](auto& facts) {
        facts.busy[0].seconds = 4.8;
        facts.bound = 7.9;
    });
}

const Suite g_suite("run-binding", Duration::QUICK, {{"one run for each kind", TestBinding}});

} // namespace ns3::training::tests::run_binding_test
