/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HIDDEN_GLOBAL_VALUES_H
#define DISTRIBUTED_TRAINING_HIDDEN_GLOBAL_VALUES_H

#include <cstddef>

/**
 * @file
 * For programs only. ns-3's constructors abort at a value in NS_GLOBAL_VALUE that they cannot
 * parse. So the variable is called DT_GLOBAL_VALUE before they run. ProgramOptions reads it, and
 * refuses such a value in one line.
 */

#ifdef __GLIBC__

namespace
{

/** Renames the variable. Runs before any library is ready, so it calls nothing. */
__attribute__((no_sanitize("address", "undefined"))) void
HideGlobalValues(int, char**, char** environment)
{
    constexpr char NAME[] = "NS_GLOBAL_VALUE=";
    for (; *environment; environment++)
    {
        char* entry = *environment;
        std::size_t same = 0;
        while (same < sizeof(NAME) - 1 && entry[same] == NAME[same])
        {
            same++;
        }
        if (same == sizeof(NAME) - 1)
        {
            entry[0] = 'D';
            entry[1] = 'T';
        }
    }
}

/// The dynamic loader calls it first of all.
__attribute__((section(".preinit_array"),
               used)) void (*const g_hideGlobalValues)(int, char**, char**) = &HideGlobalValues;

} // namespace

#endif

#endif // DISTRIBUTED_TRAINING_HIDDEN_GLOBAL_VALUES_H
