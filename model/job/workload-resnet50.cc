/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-workload.h"

namespace ns3::training
{

namespace
{

/// Channels and pixels of the outputs of conv1, and pixels after max pooling.
constexpr uint64_t FIRST_CHANNELS = 64;
constexpr uint64_t FIRST_PIXELS = 112 * 112;
constexpr uint64_t POOLED_PIXELS = 56 * 56;

/** @return whether a text ends with another */
bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/**
 * Adds the numbers that batch norms read and write: forward the inputs twice (statistics, then
 * normalization) and the outputs; backward inputs and gradients twice, and the gradients of inputs.
 * ReLU reads and writes once; its backward pass also reads its outputs. A shortcut's addition reads
 * two inputs and writes their sum, and so does that of the two gradients. Each is counted at the
 * batch norm before it.
 *
 * @param layers each batch norm follows its convolution, which has no biases
 * @return the layers
 */
std::vector<LayerShape>
AddElements(std::vector<LayerShape> layers)
{
    for (std::size_t i = 1; i < layers.size(); i++)
    {
        LayerShape& norm = layers[i];
        const LayerShape& convolution = layers[i - 1];
        if (norm.forwardMacs > 0)
        {
            continue;
        }
        const uint64_t channels = norm.parameters / 2;
        const uint64_t outputs = convolution.forwardMacs / convolution.parameters * channels;
        const bool adds = EndsWith(norm.name, "bn3");
        const bool hasRelu = !EndsWith(norm.name, "downsample_bn");
        norm.forwardElements = (3 + (adds ? 3 : 0) + (hasRelu ? 2 : 0)) * outputs;
        norm.backwardElements = (5 + (adds ? 3 : 0) + (hasRelu ? 3 : 0)) * outputs;
    }
    const uint64_t pooled = FIRST_CHANNELS * (FIRST_PIXELS + POOLED_PIXELS);
    layers[1].forwardElements += pooled;
    layers[1].backwardElements += pooled;
    return layers;
}

/**
 * ResNet-50 (He et al., CVPR 2016; strides of the 3x3 layers as in torchvision), 224x224 images.
 *
 * @return layer, parameters, multiply-accumulates of the forward pass per image
 */
std::vector<LayerShape>
MakeResnet50()
{
    return AddElements({
        {"conv1", 9408, 118013952},
        {"bn1", 128, 0},
        {"layer1.0.conv1", 4096, 12845056},
        {"layer1.0.bn1", 128, 0},
        {"layer1.0.conv2", 36864, 115605504},
        {"layer1.0.bn2", 128, 0},
        {"layer1.0.conv3", 16384, 51380224},
        {"layer1.0.bn3", 512, 0},
        {"layer1.0.downsample", 16384, 51380224},
        {"layer1.0.downsample_bn", 512, 0},
        {"layer1.1.conv1", 16384, 51380224},
        {"layer1.1.bn1", 128, 0},
        {"layer1.1.conv2", 36864, 115605504},
        {"layer1.1.bn2", 128, 0},
        {"layer1.1.conv3", 16384, 51380224},
        {"layer1.1.bn3", 512, 0},
        {"layer1.2.conv1", 16384, 51380224},
        {"layer1.2.bn1", 128, 0},
        {"layer1.2.conv2", 36864, 115605504},
        {"layer1.2.bn2", 128, 0},
        {"layer1.2.conv3", 16384, 51380224},
        {"layer1.2.bn3", 512, 0},
        {"layer2.0.conv1", 32768, 102760448},
        {"layer2.0.bn1", 256, 0},
        {"layer2.0.conv2", 147456, 115605504},
        {"layer2.0.bn2", 256, 0},
        {"layer2.0.conv3", 65536, 51380224},
        {"layer2.0.bn3", 1024, 0},
        {"layer2.0.downsample", 131072, 102760448},
        {"layer2.0.downsample_bn", 1024, 0},
        {"layer2.1.conv1", 65536, 51380224},
        {"layer2.1.bn1", 256, 0},
        {"layer2.1.conv2", 147456, 115605504},
        {"layer2.1.bn2", 256, 0},
        {"layer2.1.conv3", 65536, 51380224},
        {"layer2.1.bn3", 1024, 0},
        {"layer2.2.conv1", 65536, 51380224},
        {"layer2.2.bn1", 256, 0},
        {"layer2.2.conv2", 147456, 115605504},
        {"layer2.2.bn2", 256, 0},
        {"layer2.2.conv3", 65536, 51380224},
        {"layer2.2.bn3", 1024, 0},
        {"layer2.3.conv1", 65536, 51380224},
        {"layer2.3.bn1", 256, 0},
        {"layer2.3.conv2", 147456, 115605504},
        {"layer2.3.bn2", 256, 0},
        {"layer2.3.conv3", 65536, 51380224},
        {"layer2.3.bn3", 1024, 0},
        {"layer3.0.conv1", 131072, 102760448},
        {"layer3.0.bn1", 512, 0},
        {"layer3.0.conv2", 589824, 115605504},
        {"layer3.0.bn2", 512, 0},
        {"layer3.0.conv3", 262144, 51380224},
        {"layer3.0.bn3", 2048, 0},
        {"layer3.0.downsample", 524288, 102760448},
        {"layer3.0.downsample_bn", 2048, 0},
        {"layer3.1.conv1", 262144, 51380224},
        {"layer3.1.bn1", 512, 0},
        {"layer3.1.conv2", 589824, 115605504},
        {"layer3.1.bn2", 512, 0},
        {"layer3.1.conv3", 262144, 51380224},
        {"layer3.1.bn3", 2048, 0},
        {"layer3.2.conv1", 262144, 51380224},
        {"layer3.2.bn1", 512, 0},
        {"layer3.2.conv2", 589824, 115605504},
        {"layer3.2.bn2", 512, 0},
        {"layer3.2.conv3", 262144, 51380224},
        {"layer3.2.bn3", 2048, 0},
        {"layer3.3.conv1", 262144, 51380224},
        {"layer3.3.bn1", 512, 0},
        {"layer3.3.conv2", 589824, 115605504},
        {"layer3.3.bn2", 512, 0},
        {"layer3.3.conv3", 262144, 51380224},
        {"layer3.3.bn3", 2048, 0},
        {"layer3.4.conv1", 262144, 51380224},
        {"layer3.4.bn1", 512, 0},
        {"layer3.4.conv2", 589824, 115605504},
        {"layer3.4.bn2", 512, 0},
        {"layer3.4.conv3", 262144, 51380224},
        {"layer3.4.bn3", 2048, 0},
        {"layer3.5.conv1", 262144, 51380224},
        {"layer3.5.bn1", 512, 0},
        {"layer3.5.conv2", 589824, 115605504},
        {"layer3.5.bn2", 512, 0},
        {"layer3.5.conv3", 262144, 51380224},
        {"layer3.5.bn3", 2048, 0},
        {"layer4.0.conv1", 524288, 102760448},
        {"layer4.0.bn1", 1024, 0},
        {"layer4.0.conv2", 2359296, 115605504},
        {"layer4.0.bn2", 1024, 0},
        {"layer4.0.conv3", 1048576, 51380224},
        {"layer4.0.bn3", 4096, 0},
        {"layer4.0.downsample", 2097152, 102760448},
        {"layer4.0.downsample_bn", 4096, 0},
        {"layer4.1.conv1", 1048576, 51380224},
        {"layer4.1.bn1", 1024, 0},
        {"layer4.1.conv2", 2359296, 115605504},
        {"layer4.1.bn2", 1024, 0},
        {"layer4.1.conv3", 1048576, 51380224},
        {"layer4.1.bn3", 4096, 0},
        {"layer4.2.conv1", 1048576, 51380224},
        {"layer4.2.bn1", 1024, 0},
        {"layer4.2.conv2", 2359296, 115605504},
        {"layer4.2.bn2", 1024, 0},
        {"layer4.2.conv3", 1048576, 51380224},
        {"layer4.2.bn3", 4096, 0},
        {"fc", 2049000, 2048000},
    });
}

const Registry<WorkloadEntry>::Entry g_resnet50(
    "resnet50",
    MakeModelWorkload("ResNet-50, 25.6 M parameters, 4.1 GMAC an image", MakeResnet50()));

} // namespace

} // namespace ns3::training
