/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * LeNet-5 (LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document
 * recognition", 1998) with fully connected feature maps, 32x32 images. Columns: layer, parameters,
 * multiply-accumulates of the forward pass per image.
 */

#include "ns3/training-workload.h"

namespace
{

using namespace ns3::training;

const Registry<WorkloadEntry>::Entry g_lenet5(
    "lenet5",
    MakeModelWorkload("LeNet-5, 61.7 k parameters, 0.42 MMAC an image",
                      {{"conv1", 156, 117600},
                       {"conv2", 2416, 240000},
                       {"conv3", 48120, 48000},
                       {"fc4", 10164, 10080},
                       {"fc5", 850, 840}}));

} // namespace
