/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/kineto-collective.h"

#include <map>

namespace ns3::training
{

std::optional<KinetoCollective>
FindKinetoCollective(const std::string& name)
{
    using Operation = CollectiveOperation;
    static const std::map<std::string, KinetoCollective> all{
        {"allreduce", {TaskKind::COLLECTIVE, Operation::ALL_REDUCE}},
        {"allreduce_coalesced", {TaskKind::COLLECTIVE, Operation::ALL_REDUCE}},
        {"all_reduce", {TaskKind::COLLECTIVE, Operation::ALL_REDUCE}},
        {"allgather", {TaskKind::COLLECTIVE, Operation::ALL_GATHER}},
        {"all_gather", {TaskKind::COLLECTIVE, Operation::ALL_GATHER}},
        {"_allgather_base", {TaskKind::COLLECTIVE, Operation::ALL_GATHER}},
        {"allgather_into_tensor_coalesced", {TaskKind::COLLECTIVE, Operation::ALL_GATHER}},
        {"reduce_scatter", {TaskKind::COLLECTIVE, Operation::REDUCE_SCATTER}},
        {"_reduce_scatter_base", {TaskKind::COLLECTIVE, Operation::REDUCE_SCATTER}},
        {"reduce_scatter_tensor_coalesced", {TaskKind::COLLECTIVE, Operation::REDUCE_SCATTER}},
        {"all_to_all", {TaskKind::COLLECTIVE, Operation::ALL_TO_ALL}},
        {"all_to_allv", {TaskKind::COLLECTIVE, Operation::ALL_TO_ALL}},
        {"alltoall", {TaskKind::COLLECTIVE, Operation::ALL_TO_ALL}},
        {"alltoall_base", {TaskKind::COLLECTIVE, Operation::ALL_TO_ALL}},
        {"broadcast", {TaskKind::COLLECTIVE, Operation::BROADCAST}},
        {"reduce", {TaskKind::COLLECTIVE, Operation::REDUCE}},
        {"barrier", {TaskKind::COLLECTIVE, Operation::BARRIER}},
        {"send", {TaskKind::SEND, Operation::SEND_RECEIVE}},
        {"recv", {TaskKind::RECEIVE, Operation::SEND_RECEIVE}},
    };
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::make_optional(found->second);
}

std::optional<uint64_t>
FindKinetoElementSize(const std::string& type)
{
    static const std::map<std::string, uint64_t> sizes{{"Byte", 1},
                                                       {"Char", 1},
                                                       {"Bool", 1},
                                                       {"Short", 2},
                                                       {"Half", 2},
                                                       {"BFloat16", 2},
                                                       {"Int", 4},
                                                       {"Float", 4},
                                                       {"Long", 8},
                                                       {"Double", 8},
                                                       {"ComplexFloat", 8}};
    if (type.compare(0, 7, "Float8_") == 0)
    {
        return 1;
    }
    const auto found = sizes.find(type);
    return found == sizes.end() ? std::nullopt : std::make_optional(found->second);
}

} // namespace ns3::training
