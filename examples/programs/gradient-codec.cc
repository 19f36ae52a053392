/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Codes files of float32, and prints the ratio and the errors:
 *
 *   ./ns3w run "gradient-codec --list"
 *   ./ns3w run "gradient-codec --codec=inceptionn:bound=-8 --input=gradients.f32 --output=code"
 *   ./ns3w run "gradient-codec --codec=inceptionn:bound=-8 --input=code --decode --count=1000"
 */

#include "../hidden-global-values.h"

#include "ns3/codec-program.h"
#include "ns3/training-program.h"

int
main(int argc, char* argv[])
{
    using namespace ns3::training;
    return RunProgram("gradient-codec", [&] { return RunGradientCodec({argv + 1, argv + argc}); });
}
