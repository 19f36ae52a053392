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
 * Columns: layer, parameters, multiply-accumulates of the forward pass per image.
 */
const Registry<WorkloadEntry>::Entry g_alexnet(
    "alexnet",
    MakeModelWorkload("AlexNet as in torchvision, 61.1 M parameters, 0.71 GMAC an image",
                      {
                          {"conv1", 23296, 70276800},
                          {"conv2", 307392, 223948800},
                          {"conv3", 663936, 112140288},
                          {"conv4", 884992, 149520384},
                          {"conv5", 590080, 99680256},
                          {"fc6", 37752832, 37748736},
                          {"fc7", 16781312, 16777216},
                          {"fc8", 4097000, 4096000},
                      }));

} // namespace

} // namespace ns3::training
