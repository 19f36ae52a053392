/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H

#include <fstream>
#include <malloc.h>
#include <string>

namespace ns3::training::tests
{

/** @return resident set of this process, MiB; 0 if unknown */
inline double
GetResident()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind("VmRSS:", 0) == 0)
        {
            return std::stod(line.substr(6)) / 1024;
        }
    }
    return 0;
}

/// Factor of limits of memory: AddressSanitizer surrounds all objects.
#ifdef __SANITIZE_ADDRESS__
inline constexpr double MEMORY_FACTOR = 5;
#else
inline constexpr double MEMORY_FACTOR = 1;
#endif

/** @return bytes that this process has allocated and not freed; 0: the C library does not tell */
inline double
GetHeapBytes()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && !defined(__SANITIZE_ADDRESS__)
    const auto heap = mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
#else
    return 0;
#endif
}

/** @return bytes of the heap per object; 0: unknown */
template <class F>
double
GetBytesPerObject(unsigned count, F make)
{
    make(); // one-time allocations
    const double before = GetHeapBytes();
    for (unsigned i = 0; i < count; i++)
    {
        make();
    }
    return (GetHeapBytes() - before) / count;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_MEMORY_TEST_COMMON_H
