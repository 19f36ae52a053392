/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-traffic
 * Distributions of flow sizes. Those of HPCC's paper (Li et al., SIGCOMM 2019, section 5.1), and of
 * Alibaba's storage, are the files of its simulator.
 */

#include "flow-sizes.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training
{

namespace
{

FlowSizes
MakeWebSearch(const KeyValues&)
{
    return FlowSizes({{0, 0},
                      {10e3, 0.15},
                      {20e3, 0.2},
                      {30e3, 0.3},
                      {50e3, 0.4},
                      {80e3, 0.53},
                      {200e3, 0.6},
                      {1e6, 0.7},
                      {2e6, 0.8},
                      {5e6, 0.9},
                      {10e6, 0.97},
                      {30e6, 1}});
}

FlowSizes
MakeHadoop(const KeyValues&)
{
    return FlowSizes({{0, 0},       {100, 0.01},   {200, 0.02},  {300, 0.05},  {350, 0.15},
                      {400, 0.2},   {500, 0.3},    {600, 0.4},   {700, 0.5},   {1e3, 0.6},
                      {2e3, 0.67},  {7e3, 0.7},    {30e3, 0.72}, {50e3, 0.82}, {80e3, 0.87},
                      {120e3, 0.9}, {300e3, 0.95}, {1e6, 0.975}, {2e6, 0.99},  {10e6, 1}});
}

FlowSizes
MakeAliStorage(const KeyValues&)
{
    return FlowSizes({{0, 0},
                      {4e3, 0.2293},
                      {8e3, 0.6921},
                      {16e3, 0.8061},
                      {32e3, 0.9047},
                      {64e3, 0.9353},
                      {128e3, 0.9677},
                      {256e3, 0.9753},
                      {2e6, 1}});
}

FlowSizes
MakeFixed(const KeyValues& values)
{
    const auto bytes = static_cast<double>(values.GetBytes("bytes"));
    return FlowSizes({{bytes, 0}, {bytes, 1}});
}

FlowSizes
ReadFile(const KeyValues& values)
{
    if (!values.Has("path"))
    {
        throw ConfigurationError("flow sizes file without path (allowed: file:path=FILE)");
    }
    return FlowSizes::Read(values.GetText("path"));
}

Key
MakeBytesKey()
{
    Key key = Key::Of("bytes", Key::Type::BYTES, "1M", "size of each flow");
    key.min = 1;
    key.max = static_cast<double>(FlowSizes::MAX_BYTES);
    return key;
}

const Registry<FlowSizesEntry>::Entry g_webSearch("websearch",
                                                  {"web search, mean 1.7 MB; HPCC's file "
                                                   "WebSearch_distribution.txt",
                                                   {},
                                                   &MakeWebSearch});

const Registry<FlowSizesEntry>::Entry g_hadoop(
    "fbhadoop",
    {"Hadoop at Facebook, mean 120 kB; HPCC's file FbHdp_distribution.txt", {}, &MakeHadoop});

const Registry<FlowSizesEntry>::Entry g_aliStorage(
    "alistorage",
    {"storage at Alibaba, mean 42 kB; HPCC's file AliStorage2019.txt", {}, &MakeAliStorage});

const Registry<FlowSizesEntry>::Entry g_fixed("fixed",
                                              {"all flows alike", {MakeBytesKey()}, &MakeFixed});

const Registry<FlowSizesEntry>::Entry g_file(
    "file",
    {"points of a distribution, one a line: bytes, percent of flows up to it",
     {Key::Of("path", Key::Type::TEXT, "", "the file")},
     &ReadFile});

} // namespace

} // namespace ns3::training
