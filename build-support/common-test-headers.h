/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What three of four units of tests include, precompiled once for a build (units.cmake). Each file includes
// what it needs itself, so that nothing depends on this one.

#include "common-headers.h"

#include "../test/test-case.h"

#include "ns3/rdma-queue-pair.h"
#include "ns3/result-rows.h"
#include "ns3/task-runner.h"
#include "ns3/training-cluster.h"
