/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-loop.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLayerLoopAstraSim");

namespace
{

constexpr auto NONE = CollectiveOperation::BARRIER; // no bytes
constexpr auto REDUCE = CollectiveOperation::ALL_REDUCE;
constexpr auto GATHER = CollectiveOperation::ALL_GATHER;
constexpr auto EXCHANGE = CollectiveOperation::ALL_TO_ALL;

/** @return a layer; times are ns */
LoopLayer
MakeLayer(const char* name,
          std::array<int64_t, LAYER_PASSES> computes,
          std::array<CollectiveOperation, LAYER_PASSES> operations,
          uint64_t bytes,
          int64_t update)
{
    LoopLayer layer;
    layer.name = name;
    layer.update = NanoSeconds(update);
    for (uint32_t i = 0; i < LAYER_PASSES; i++)
    {
        layer.works[i] = {NanoSeconds(computes[i]),
                          operations[i],
                          operations[i] == NONE ? 0 : bytes};
    }
    return layer;
}

} // namespace

std::vector<LayerLoop>
GetAstraSimLoops()
{
    const auto dlrm = [](const char* name, int64_t f, int64_t i, int64_t w, uint64_t b, int64_t u) {
        return MakeLayer(name, {f, i, w}, {NONE, NONE, REDUCE}, b, u);
    };
    const auto model = [](const char* name, int64_t fi, int64_t w, uint64_t b, int64_t u) {
        return MakeLayer(name, {fi, fi, w}, {GATHER, REDUCE, NONE}, b, u);
    };
    const auto hybrid = [](const char* name, int64_t each, uint64_t b, int64_t u) {
        return MakeLayer(name, {each, each, each}, {GATHER, REDUCE, REDUCE}, b, u);
    };
    return {{"DLRM_HybridParallel",
             LayerLoop::Order::EMBEDDING,
             4,
             {MakeLayer("Embedding", {300, 300, 300}, {EXCHANGE, EXCHANGE, NONE}, 98304, 98),
              dlrm("MLP_Bottom_0", 1280, 794, 896, 13312, 13),
              dlrm("MLP_Bottom_1", 2560, 2560, 1792, 524288, 524),
              dlrm("MLP_Bottom_2", 2560, 2560, 1792, 524288, 524),
              dlrm("MLP_Bottom_3", 800, 1280, 800, 16384, 16),
              dlrm("MLP_Top_0", 6400, 6400, 4480, 1064960, 1065),
              dlrm("MLP_Top_1", 2560, 2560, 1792, 524288, 524),
              dlrm("MLP_Top_2", 2560, 2560, 1792, 524288, 524)}},
            {"MLP_ModelParallel",
             LayerLoop::Order::MODEL,
             0,
             {model("mlp0", 32291, 12864, 37632, 3229),
              model("mlp1", 7488, 3648, 65536, 749),
              model("mlp2", 7488, 3456, 65536, 749),
              model("mlp3", 14144, 10368, 147456, 1414),
              model("mlp4", 7488, 3648, 65536, 749),
              model("mlp5", 9984, 3456, 65536, 998)}},
            {"MLP_HybridParallel_Data_Model",
             LayerLoop::Order::MODEL,
             0,
             {hybrid("mlp0", 32291, 37632, 3229),
              hybrid("mlp1", 7488, 65536, 749),
              hybrid("mlp2", 7488, 65536, 749),
              hybrid("mlp3", 14144, 147456, 1414),
              hybrid("mlp4", 7488, 65536, 749),
              hybrid("mlp5", 9984, 65536, 998)}}};
}

} // namespace ns3::training
