/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_NETWORKS_H
#define DISTRIBUTED_TRAINING_MULTITREE_NETWORKS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The neural networks of the MULTITREE paper, and the time of their layers on its accelerator. The
 * shapes are those of the layer files of the published programs (SCALE-Sim's, and
 * farabimahmud/accelerator's), with their oddities: AlexNet is its convolutions, of strange sizes.
 */

namespace ns3::training
{

/** A layer as SCALE-Sim describes it: a convolution, or a product of matrices in its form. */
struct SystolicLayer
{
    uint64_t height;       ///< of the input
    uint64_t width;        ///< of the input
    uint64_t filterHeight; ///< of a filter
    uint64_t filterWidth;  ///< of a filter
    uint64_t channels;     ///< of the input
    uint64_t filters;      ///< number of filters
    uint64_t stride;       ///< in both directions

    /** @return numbers of all filters */
    uint64_t GetParameters() const
    {
        return filterHeight * filterWidth * channels * filters;
    }
};

/** Cycles of a layer, for one sample. */
struct LayerCycles
{
    uint64_t forward;        ///< outputs
    uint64_t inputGradient;  ///< gradients of its input
    uint64_t weightGradient; ///< gradients of its filters
};

/** A network. */
struct SystolicNetwork
{
    std::string name;                  ///< as in the paper
    bool isConvolutional;              ///< a CNN; otherwise NCF or the Transformer
    std::vector<SystolicLayer> layers; ///< from input to output

    /** @return numbers of all filters */
    uint64_t GetParameters() const
    {
        uint64_t sum = 0;
        for (const SystolicLayer& layer : layers)
        {
            sum += layer.GetParameters();
        }
        return sum;
    }
};

/** @return a / b, rounded up */
constexpr uint64_t
DivideUp(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/**
 * Cycles of a layer on a systolic array of 32x32 with stationary outputs: SCALE-Sim's model in
 * closed form. The array makes 32 outputs of 32 filters at a time, one product each in a cycle; it
 * fills and empties once.
 *
 * @param layer the layer
 * @return cycles
 */
constexpr LayerCycles
GetCycles(const SystolicLayer& layer)
{
    constexpr uint64_t SIDE = 32;
    constexpr uint64_t FILL = 2 * (SIDE - 1);
    const uint64_t filter = layer.filterHeight * layer.filterWidth;
    const uint64_t outputs = ((layer.height - layer.filterHeight) / layer.stride + 1) *
                             ((layer.width - layer.filterWidth) / layer.stride + 1);
    const uint64_t filters = DivideUp(layer.filters, SIDE);
    return {DivideUp(outputs, SIDE) * filters * filter * layer.channels + FILL,
            DivideUp(layer.height * layer.width, SIDE) * DivideUp(layer.channels, SIDE) * filter *
                    layer.filters +
                FILL,
            DivideUp(filter * layer.channels, SIDE) * filters * outputs + FILL};
}

/** @return the layers that ResNet-50 and FasterRCNN have in common */
inline std::vector<SystolicLayer>
GetResidualLayers()
{
    return {
        {224, 224, 7, 7, 3, 64, 2},   {56, 56, 1, 1, 64, 64, 1},    {56, 56, 3, 3, 64, 64, 1},
        {56, 56, 1, 1, 64, 256, 1},   {56, 56, 1, 1, 64, 256, 1},   {56, 56, 1, 1, 256, 64, 1},
        {56, 56, 3, 3, 64, 64, 1},    {56, 56, 1, 1, 64, 256, 1},   {56, 56, 1, 1, 256, 64, 1},
        {56, 56, 3, 3, 64, 64, 1},    {56, 56, 1, 1, 64, 256, 1},   {56, 56, 1, 1, 256, 128, 2},
        {28, 28, 3, 3, 128, 128, 1},  {28, 28, 1, 1, 128, 512, 1},  {56, 56, 1, 1, 256, 512, 2},
        {28, 28, 1, 1, 512, 128, 1},  {28, 28, 3, 3, 128, 128, 1},  {28, 28, 1, 1, 128, 512, 1},
        {28, 28, 1, 1, 512, 128, 1},  {28, 28, 3, 3, 128, 128, 1},  {28, 28, 1, 1, 128, 512, 1},
        {28, 28, 1, 1, 512, 128, 1},  {28, 28, 3, 3, 128, 128, 1},  {28, 28, 1, 1, 128, 512, 1},
        {28, 28, 1, 1, 512, 256, 2},  {14, 14, 3, 3, 256, 256, 1},  {14, 14, 1, 1, 256, 1024, 1},
        {28, 28, 1, 1, 512, 1024, 2}, {14, 14, 1, 1, 1024, 256, 1}, {14, 14, 3, 3, 256, 256, 1},
        {14, 14, 1, 1, 256, 1024, 1}, {14, 14, 1, 1, 1024, 256, 1}, {14, 14, 3, 3, 256, 256, 1},
        {14, 14, 1, 1, 256, 1024, 1}, {14, 14, 1, 1, 1024, 256, 1}, {14, 14, 3, 3, 256, 256, 1},
        {14, 14, 1, 1, 256, 1024, 1}, {14, 14, 1, 1, 1024, 256, 1}, {14, 14, 3, 3, 256, 256, 1},
        {14, 14, 1, 1, 256, 1024, 1}, {14, 14, 1, 1, 1024, 256, 1}, {14, 14, 3, 3, 256, 256, 1},
        {14, 14, 1, 1, 256, 1024, 1}};
}

/** @return layers behind others */
inline std::vector<SystolicLayer>
Append(std::vector<SystolicLayer> layers, const std::vector<SystolicLayer>& more)
{
    layers.insert(layers.end(), more.begin(), more.end());
    return layers;
}

/** @return the layers of GoogLeNet */
inline std::vector<SystolicLayer>
GetGoogLeNetLayers()
{
    return {{224, 224, 7, 7, 3, 64, 2},  {56, 56, 1, 1, 64, 64, 1},   {56, 56, 3, 3, 64, 192, 1},
            {28, 28, 1, 1, 192, 64, 1},  {28, 28, 1, 1, 192, 96, 1},  {28, 28, 3, 3, 96, 128, 1},
            {28, 28, 1, 1, 192, 16, 1},  {28, 28, 5, 5, 16, 32, 1},   {28, 28, 1, 1, 192, 32, 1},
            {28, 28, 1, 1, 256, 128, 1}, {28, 28, 1, 1, 256, 128, 1}, {28, 28, 3, 3, 128, 192, 1},
            {28, 28, 1, 1, 256, 32, 1},  {28, 28, 5, 5, 32, 96, 1},   {28, 28, 1, 1, 256, 64, 1},
            {14, 14, 1, 1, 480, 192, 1}, {14, 14, 1, 1, 480, 96, 1},  {14, 14, 3, 3, 96, 208, 1},
            {14, 14, 1, 1, 480, 16, 1},  {14, 14, 5, 5, 16, 48, 1},   {14, 14, 1, 1, 480, 64, 1},
            {14, 14, 1, 1, 512, 160, 1}, {14, 14, 1, 1, 512, 112, 1}, {14, 14, 3, 3, 112, 224, 1},
            {14, 14, 1, 1, 512, 24, 1},  {14, 14, 5, 5, 24, 64, 1},   {14, 14, 1, 1, 512, 64, 1},
            {14, 14, 1, 1, 512, 128, 1}, {14, 14, 1, 1, 512, 128, 1}, {14, 14, 3, 3, 128, 256, 1},
            {14, 14, 1, 1, 512, 24, 1},  {14, 14, 1, 1, 24, 64, 1},   {14, 14, 1, 1, 512, 64, 1},
            {14, 14, 1, 1, 512, 112, 1}, {14, 14, 1, 1, 512, 144, 1}, {14, 14, 3, 3, 144, 288, 1},
            {14, 14, 1, 1, 512, 32, 1},  {14, 14, 5, 5, 32, 64, 1},   {14, 14, 1, 1, 512, 64, 1},
            {14, 14, 1, 1, 528, 256, 1}, {14, 14, 1, 1, 528, 160, 1}, {14, 14, 3, 3, 160, 320, 1},
            {14, 14, 1, 1, 528, 32, 1},  {14, 14, 5, 5, 32, 128, 1},  {14, 14, 1, 1, 528, 128, 1},
            {7, 7, 1, 1, 832, 256, 1},   {7, 7, 1, 1, 532, 160, 1},   {7, 7, 3, 3, 160, 320, 1},
            {7, 7, 1, 1, 832, 32, 1},    {7, 7, 5, 5, 32, 128, 1},    {7, 7, 1, 1, 832, 128, 1},
            {7, 7, 1, 1, 832, 384, 1},   {7, 7, 1, 1, 832, 192, 1},   {7, 7, 3, 3, 192, 384, 1},
            {7, 7, 1, 1, 832, 48, 1},    {7, 7, 5, 5, 32, 128, 1},    {7, 7, 1, 1, 832, 128, 1},
            {1, 1, 1, 1, 1024, 1000, 1}};
}

/** @return the layers of the Transformer: a vector of 512 through 6 encoders and 6 decoders */
inline std::vector<SystolicLayer>
GetTransformerLayers()
{
    const SystolicLayer embedding{512, 1, 1, 1, 1, 33708, 1};
    const SystolicLayer map{1, 1, 1, 1, 512, 64, 1}; // values, keys or queries of a head
    const SystolicLayer joined{1, 1, 1, 1, 512, 512, 1};
    const std::vector<SystolicLayer> head{map,
                                          map,
                                          map,
                                          {1, 64, 1, 1, 1, 64, 1},
                                          {1, 64, 1, 1, 64, 1, 1},
                                          joined};
    std::vector<SystolicLayer> layers;
    for (const uint32_t heads : {8, 16}) // a decoder attends twice
    {
        layers.push_back(embedding);
        for (uint32_t block = 0; block < 6; block++)
        {
            for (uint32_t i = 0; i < heads; i++)
            {
                layers = Append(std::move(layers), head);
            }
            layers.push_back({1, 1, 1, 1, 512, 2048, 1});
            layers.push_back({1, 1, 1, 1, 2048, 512, 1});
        }
    }
    layers.push_back(joined);
    return layers;
}

/** @return the networks of the paper */
inline std::vector<SystolicNetwork>
GetNetworks()
{
    return {{"AlexNet (convolutions)",
             true,
             {{224, 224, 11, 11, 3, 96, 4},
              {207, 207, 5, 5, 96, 256, 1},
              {13, 13, 3, 3, 256, 384, 1},
              {13, 13, 3, 3, 384, 384, 1},
              {13, 13, 3, 3, 384, 256, 1}}},
            {"AlphaGoZero",
             true,
             {{19, 19, 3, 3, 17, 256, 1},
              {19, 19, 3, 3, 256, 256, 1},
              {19, 19, 3, 3, 256, 256, 1},
              {19, 19, 1, 1, 256, 1, 1},
              {1, 1, 1, 1, 361, 256, 1},
              {1, 1, 1, 1, 256, 1, 1},
              {19, 19, 1, 1, 256, 2, 1},
              {1, 1, 1, 1, 722, 362, 1}}},
            {"FasterRCNN",
             true,
             Append(GetResidualLayers(),
                    {{14, 14, 3, 3, 1024, 512, 1},
                     {14, 14, 1, 1, 512, 36, 1},
                     {14, 14, 1, 1, 512, 18, 1}})},
            {"GoogLeNet", true, GetGoogLeNetLayers()},
            {"NCF",
             false,
             {{1, 1, 1, 1, 138000, 8, 1},
              {1, 1, 1, 1, 138000, 8, 1},
              {1, 1, 1, 1, 138000, 32, 1},
              {1, 1, 1, 1, 138000, 32, 1},
              {1, 1, 1, 1, 64, 32, 1},
              {1, 1, 1, 1, 32, 16, 1},
              {1, 1, 1, 1, 16, 8, 1},
              {1, 1, 1, 1, 16, 1, 1}}},
            {"ResNet-50",
             true,
             Append(GetResidualLayers(),
                    {{14, 14, 1, 1, 1024, 512, 2},
                     {7, 7, 3, 3, 512, 512, 1},
                     {7, 7, 1, 1, 512, 2048, 1},
                     {14, 14, 1, 1, 1024, 2048, 2},
                     {7, 7, 1, 1, 2048, 512, 1},
                     {7, 7, 3, 3, 512, 512, 1},
                     {7, 7, 1, 1, 512, 2048, 1},
                     {7, 7, 1, 1, 2048, 512, 1},
                     {7, 7, 3, 3, 512, 512, 1},
                     {7, 7, 1, 1, 512, 2048, 1},
                     {1, 1, 1, 1, 2048, 1000, 1}})},
            {"Transformer", false, GetTransformerLayers()}};
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_NETWORKS_H
