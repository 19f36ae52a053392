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

/**
 * AlexNet as in torchvision ("one weird trick", Krizhevsky 2014), 224x224 images.
 * Columns: layer, parameters, multiply-accumulates of the forward pass per image, and numbers that
 * ReLU and max pooling after it read and write forward and backward. ReLU reads and writes once;
 * its backward pass also reads its outputs. Pooling reads its inputs and writes its outputs, or
 * vice versa.
 */
const Registry<WorkloadEntry>::Entry g_alexnet(
    "alexnet",
    MakeModelWorkload("AlexNet as in torchvision, 61.1 M parameters, 0.71 GMAC an image",
                      {
                          {"conv1", 23296, 70276800, 627456, 821056},
                          {"conv2", 307392, 223948800, 452352, 592320},
                          {"conv3", 663936, 112140288, 129792, 194688},
                          {"conv4", 884992, 149520384, 86528, 129792},
                          {"conv5", 590080, 99680256, 139008, 182272},
                          {"fc6", 37752832, 37748736, 8192, 12288},
                          {"fc7", 16781312, 16777216, 8192, 12288},
                          {"fc8", 4097000, 4096000, 0, 0},
                      }));

} // namespace

} // namespace ns3::training
