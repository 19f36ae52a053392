/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_SCHEDULE_TEST_COMMON_H

#include "ns3/abort.h"
#include "ns3/collective-schedule.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/** A modifiable action. */
struct Edited
{
    ScheduleAction::Kind kind;
    uint32_t peer;
    std::vector<ChunkRun> chunks;
    uint32_t step;
    std::vector<uint32_t> after;
};

/** @return a schedule without rotation, with an injected fault */
inline CollectiveSchedule
Inject(const CollectiveSchedule& schedule,
       const std::function<void(std::vector<std::vector<Edited>>&)>& inject)
{
    std::vector<std::vector<Edited>> ranks(schedule.GetSize());
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
        {
            const ScheduleAction action = schedule.Get(rank, i);
            const auto after = schedule.GetDependencies(rank, i);
            Edited edited{action.kind, action.peer, {}, action.step, {after.first, after.last}};
            action.ForEachChunk([&](uint32_t chunk) { edited.chunks.push_back({chunk, 1}); });
            ranks[rank].push_back(edited);
        }
    }
    inject(ranks);
    CollectiveSchedule result = schedule;
    result.Resize(schedule.GetSize());
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        for (const Edited& action : ranks[rank])
        {
            result.Add(rank, action.kind, action.peer, action.chunks, action.step, action.after);
        }
    }
    result.Close(false);
    return result;
}

/// One chunk around a ring of three, in place, in the older form.
inline const std::string MSCCL_RING = R"(<?xml version="1.0"?>
<!-- a comment -->
<algo name="ring3" proto="LL" nchannels="1" nchunksperloop="1" ngpus="3" coll="allreduce" inplace="1">
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="1" recv="2" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="2" recv="0" chan="0">
      <step s="0" type="rrs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="1" chan="0">
      <step s="0" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

/** @return two gpus that exchange their whole buffers, out of place, in the newer form */
inline std::string
MakeSwap()
{
    std::string text =
        R"(<algo name="swap" proto="Simple" nchannels="2" ngpus="2" coll="allreduce" inplace="0">
)";
    for (const std::string peer : {"1", "0"})
    {
        const std::string gpu = peer == "1" ? "0" : "1";
        text += R"(<gpu id=")" + gpu + R"(" i_chunks="2" o_chunks="2" s_chunks="1">
  <tb id="0" send=")" +
                peer + R"(" recv="-1" chan="0">
    <op step="0" type="s" buf="i" off="0"/>
    <op step="1" type="s" buf="i" off="1"/>
  </tb>
  <tb id="1" send="-1" recv=")" +
                peer + R"(" chan="0">
    <op step="0" type="r" buf="s" off="0" hasdep="1"/>
    <op step="1" type="rrc" buf="o" off="1" depid="2" deps="0"/>
  </tb>
  <tb id="2" send="-1" recv="-1" chan="0">
    <op step="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2" hasdep="1"/>
    <op step="1" type="nop"/>
    <op step="2" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" depid="1" deps="0"/>
  </tb>
</gpu>
)";
    }
    return text + "</algo>\n";
}

inline std::string
Replace(std::string text, const std::string& what, const std::string& by)
{
    const std::size_t at = text.find(what);
    NS_ABORT_MSG_IF(at == std::string::npos, "no " << what);
    return text.replace(at, what.size(), by);
}

/** @return numbers that differ by rank and index, with exact sums */
inline std::vector<std::vector<float>>
MakeInputs(uint32_t ranks, uint32_t count)
{
    std::vector<std::vector<float>> inputs(ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        for (uint32_t i = 0; i < count; i++)
        {
            inputs[rank].push_back(static_cast<float>((rank * 37 + i * 11) % 1009));
        }
    }
    return inputs;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_SCHEDULE_TEST_COMMON_H
