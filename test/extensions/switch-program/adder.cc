/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The controller of the adder: installs its program in the switch of rank 0, and tells the workers.
 */

#include "adder-communicator.h"
#include "adder-program.h"
