/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FILE_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_FILE_TEST_COMMON_H

#include "test-case.h"

#include <fstream>
#include <iterator>
#include <unistd.h>

namespace ns3::training::tests
{

/**
 * ns-3 names the temporary directory after the current second, unless it is given a name, so runs
 * in quick succession would share files.
 * @return a path that no other process uses
 */
inline std::string
MakePath(const std::string& name)
{
    return CreateTempDirFilename(std::to_string(getpid()) + "-" + name);
}

/** @return path of a new file */
inline std::string
WriteFile(const std::string& name, const std::string& content)
{
    const std::string path = CreateTempDirFilename(name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

/** @return the content of a file */
inline std::string
ReadFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_FILE_TEST_COMMON_H
