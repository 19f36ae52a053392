/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/layer-file.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"

#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/** @return whether a file begins with a policy */
bool
RecognizeLayers(const std::string& /* path */, const std::string& begin)
{
    const auto first = begin.find_first_not_of(" \t\r\n");
    const auto end = begin.find_first_of(" \t\r\n", first);
    return first != std::string::npos && end != std::string::npos &&
           GetLayerPolicies().count(begin.substr(first, end - first)) > 0;
}

/** @return whether its header is one of AICB */
bool
RecognizeAicb(const std::string& path, const std::string& begin)
{
    const auto first = begin.find_first_not_of(" \t\r\n");
    const std::string line =
        first == std::string::npos ? "" : begin.substr(first, begin.find('\n', first) - first);
    return RecognizeLayers(path, begin) &&
           (line.find(" ep:") != std::string::npos || line.find(" pp:") != std::string::npos ||
            line.find(" all_gpus:") != std::string::npos);
}

FormatResult
ReadLayers(const FormatRequest& request, const KeyValues& values, bool isAicb)
{
    const auto text = ReadPackedFile(request.path);
    if (!text)
    {
        throw ConfigurationError(request.path +
                                 ": cannot be read (allowed: a layer file of ASTRA-sim 1.0)");
    }
    return LayerFile(request, values, *text, isAicb).Read();
}

FormatResult
ReadAstra(const FormatRequest& request, const KeyValues& values)
{
    return ReadLayers(request, values, false);
}

FormatResult
ReadAicb(const FormatRequest& request, const KeyValues& values)
{
    return ReadLayers(request, values, true);
}

/** @return the keys of both kinds of files */
std::vector<Key>
GetKeys()
{
    return {Key::OptionalCount("inner",
                               1,
                               LayerFile::MAX_RANKS,
                               "ranks of the first dimension, which share a model; default: the "
                               "file's, or all"),
            Key::Word("gather-size",
                      "auto",
                      {"auto", "part", "whole"},
                      "what the size of an all-gather counts: the part of a rank, as in ASTRA-sim, "
                      "or the result, as in files of AICB; auto: by the file"),
            Key::Word("transformer-ig",
                      "blocking",
                      {"blocking", "overlap"},
                      "whether collectives of the gradients of inputs end before those of weights "
                      "begin: as the ns-3 variant does, or as version 1.0")};
}

const Registry<WorkloadFormatEntry>::Entry g_astra(
    "astra",
    {"layer files of ASTRA-sim 1.0; those with a header of AICB are read as `aicb`",
     &RecognizeLayers,
     &ReadAstra,
     GetKeys(),
     FirstValue{"PATH", "the file", false, true, {}}});

const Registry<WorkloadFormatEntry>::Entry g_aicb(
    "aicb",
    {"layer files of AICB for SimAI",
     &RecognizeAicb,
     &ReadAicb,
     GetKeys(),
     FirstValue{"PATH", "the file", false, true, {}}});

} // namespace

} // namespace ns3::training
