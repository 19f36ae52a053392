/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The network files of ASTRA-sim 2's analytical model: for each dimension its kind, its number of
 * NPUs, and bandwidth (in units of 2^30 byte/s) and latency of a link. NPUs are numbered with the
 * first dimension fastest.
 */

#include "topology-builder.h"
#include "topology/astra-network.h"
#include "topology/topology-contents.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

namespace
{

/// An NPU of ASTRA-sim has its links itself, so the way to its router takes next to no time.
constexpr uint64_t HOST_FACTOR = 64;

/**
 * Adds the links between the NPUs of a row.
 * @param first NPU of the row
 * @param stride to the next one
 */
void
AddRow(const AstraDimension& dimension, uint32_t first, uint32_t stride, FileContents& contents)
{
    const auto add = [&](uint32_t a, uint32_t b) {
        FileLink link{};
        link.link = {a, b, dimension.rate, dimension.delay};
        contents.links.push_back(link);
    };
    const auto get = [&](uint32_t index) { return first + index * stride; };
    if (dimension.kind == "Switch")
    {
        const uint32_t node = contents.nodes++;
        contents.isSwitch.push_back(true);
        for (uint32_t i = 0; i < dimension.size; i++)
        {
            add(get(i), node);
        }
        return;
    }
    for (uint32_t i = 0; i < dimension.size; i++)
    {
        if (dimension.kind == "FullyConnected")
        {
            for (uint32_t j = i + 1; j < dimension.size; j++)
            {
                add(get(i), get(j));
            }
        }
        else if (i + 1 < dimension.size || dimension.size > 2) // a ring of two has one link
        {
            add(get(i), get((i + 1) % dimension.size));
        }
    }
}

void
BuildAstraNetwork(const TopologyRequest& request, TopologyGraph& graph)
{
    const auto dimensions = ReadAstraNetwork(request.keys.GetFirst());
    FileContents contents;
    contents.nodes = 1;
    double links = 1; // of an NPU
    for (const AstraDimension& dimension : dimensions)
    {
        contents.nodes *= dimension.size;
        links += dimension.kind == "FullyConnected" ? dimension.size / 2.0 : 1.0;
    }
    TopologyGraph::CheckLinks(links * contents.nodes, request.keys.GetFirst());
    const uint32_t npus = contents.nodes;
    contents.isSwitch.resize(npus, false);
    uint32_t stride = 1;
    for (const AstraDimension& dimension : dimensions)
    {
        for (uint32_t npu = 0; npu < npus; npu++)
        {
            if (npu / stride % dimension.size == 0)
            {
                AddRow(dimension, npu, stride, contents);
            }
        }
        stride *= dimension.size;
    }
    contents.hostsForward = true; // those of several switches as those of rings
    contents.hostFactor = HOST_FACTOR;
    contents.shape.groupSize = dimensions.size() > 1 ? dimensions[0].size : 1;
    BuildFromContents(contents, graph);
}

const Registry<TopologyBuilder>::Entry g_astraNetwork(
    "astra-network",
    {"a network file of ASTRA-sim 2's analytical model: kind, NPUs, bandwidth and latency of each "
     "dimension",
     {},
     &BuildAstraNetwork,
     FirstValue{"PATH", "a readable file", true, true, {}}});

} // namespace

} // namespace ns3::training
