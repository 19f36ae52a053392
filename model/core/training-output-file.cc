/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-output-file.h"

#include "training-configuration-error.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace ns3::training
{

void
CheckOutputFile(const std::string& path)
{
    const auto fail = [&path](const std::string& what) {
        throw ConfigurationError("output file '" + path + "': " + what);
    };
    if (path.empty())
    {
        fail("the name is empty (allowed: the path of a file that can be written)");
    }
    struct stat status;
    if (stat(path.c_str(), &status) == 0)
    {
        if (S_ISDIR(status.st_mode))
        {
            fail("is a directory (allowed: the path of a file that can be written)");
        }
        if (access(path.c_str(), W_OK) != 0)
        {
            fail(std::string("cannot be written (") + std::strerror(errno) + ")");
        }
        return;
    }
    if (errno != ENOENT)
    {
        fail(std::string("cannot be written (") + std::strerror(errno) + ")");
    }
    const auto slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "."
                                  : slash == 0               ? "/"
                                                             : path.substr(0, slash);
    if (slash + 1 == path.size())
    {
        fail("is a directory (allowed: the path of a file that can be written)");
    }
    if (stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    {
        fail("there is no directory '" + directory +
             "' (allowed: a file in an existing directory)");
    }
    if (access(directory.c_str(), W_OK | X_OK) != 0)
    {
        fail("no file can be created in '" + directory + "' (" + std::strerror(errno) + ")");
    }
}

} // namespace ns3::training
