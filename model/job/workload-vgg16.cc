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
 * Columns: layer, parameters, multiply-accumulates of the forward pass per image, and numbers that
 * ReLU and max pooling after it read and write forward and backward. ReLU reads and writes once;
 * its backward pass also reads its outputs. Pooling reads its inputs and writes a quarter, or vice
 * versa.
 */
const Registry<WorkloadEntry>::Entry g_vgg16(
    "vgg16",
    MakeModelWorkload("VGG-16, 138.4 M parameters, 15.5 GMAC an image",
                      {
                          {"conv1", 1792, 86704128, 6422528, 9633792},
                          {"conv2", 36928, 1849688064, 10436608, 13647872},
                          {"conv3", 73856, 924844032, 3211264, 4816896},
                          {"conv4", 147584, 1849688064, 5218304, 6823936},
                          {"conv5", 295168, 924844032, 1605632, 2408448},
                          {"conv6", 590080, 1849688064, 1605632, 2408448},
                          {"conv7", 590080, 1849688064, 2609152, 3411968},
                          {"conv8", 1180160, 924844032, 802816, 1204224},
                          {"conv9", 2359808, 1849688064, 802816, 1204224},
                          {"conv10", 2359808, 1849688064, 1304576, 1705984},
                          {"conv11", 2359808, 462422016, 200704, 301056},
                          {"conv12", 2359808, 462422016, 200704, 301056},
                          {"conv13", 2359808, 462422016, 326144, 426496},
                          {"fc14", 102764544, 102760448, 8192, 12288},
                          {"fc15", 16781312, 16777216, 8192, 12288},
                          {"fc16", 4097000, 4096000, 0, 0},
                      }));

} // namespace

} // namespace ns3::training
