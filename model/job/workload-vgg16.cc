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
 * VGG-16 (Simonyan and Zisserman, ICLR 2015), 224x224 images.
 * Columns: layer, parameters, multiply-accumulates of the forward pass per image.
 */
const Registry<WorkloadEntry>::Entry g_vgg16(
    "vgg16",
    MakeModelWorkload("VGG-16, 138.4 M parameters, 15.5 GMAC an image",
                      {
                          {"conv1", 1792, 86704128},
                          {"conv2", 36928, 1849688064},
                          {"conv3", 73856, 924844032},
                          {"conv4", 147584, 1849688064},
                          {"conv5", 295168, 924844032},
                          {"conv6", 590080, 1849688064},
                          {"conv7", 590080, 1849688064},
                          {"conv8", 1180160, 924844032},
                          {"conv9", 2359808, 1849688064},
                          {"conv10", 2359808, 1849688064},
                          {"conv11", 2359808, 462422016},
                          {"conv12", 2359808, 462422016},
                          {"conv13", 2359808, 462422016},
                          {"fc14", 102764544, 102760448},
                          {"fc15", 16781312, 16777216},
                          {"fc16", 4097000, 4096000},
                      }));

} // namespace

} // namespace ns3::training
