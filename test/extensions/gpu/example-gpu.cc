/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * A GPU that trains 1000 images of ResNet-50 a second.
 */

#include "ns3/training-gpu.h"

namespace
{

using namespace ns3::training;

const Registry<GpuEntry>::Entry g_gpu("example-gpu",
                                      {"an invented GPU: 100 TFLOP/s, 0.9 TB/s",
                                       100e12, // operations/s
                                       0.9e12, // byte/s
                                       0.4,    // of the peak, for other models
                                       {{"resnet50", 1000, 256, "an example"}}});

} // namespace
