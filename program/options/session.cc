/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "session.h"

#include "core/input-file.h"
#include "engine/window-simulator-impl.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/command-line.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-registry.h"
#include "ns3/training-time-resolution.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

namespace ns3::training
{

void
Session::Begin(const std::string& program)
{
    UsePicoseconds();
    static const bool isChosen = // once: a user's choice stays
        (BucketScheduler::UseByDefault(), WindowSimulatorImpl::UseByDefault(), true);
    (void)isChosen;
    CommandLine().Parse(std::vector<std::string>{program});
}

void
Session::LoadExtension(const std::string& file)
{
    // dlopen() would search the system's libraries for a name without a slash.
    const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
    const auto refuse = [&](const std::string& reason) {
        return ConfigurationError("extension '" + file + "': " + reason +
                                  " (allowed: shared libraries built for this module by "
                                  "distributed_training_add_extension())");
    };
    if (IsNamedPipe(path))
    {
        throw refuse("is a named pipe");
    }
    const std::size_t refused = GetRefusedRegistrations().size();
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
    {
        const char* reason = dlerror();
        throw refuse(reason ? reason : "cannot be loaded");
    }
    if (GetRefusedRegistrations().size() > refused)
    {
        throw refuse("registers " + GetRefusedRegistrations().back() + ", which exists already");
    }
}

std::vector<std::string>
Session::LoadExtensionsOfEnvironment()
{
    const char* variable = std::getenv("DISTRIBUTED_TRAINING_EXTENSIONS");
    std::istringstream stream(variable ? variable : "");
    std::vector<std::string> files;
    for (std::string file; std::getline(stream, file, ':');)
    {
        if (!file.empty())
        {
            LoadExtension(file);
            files.push_back(file);
        }
    }
    return files;
}

} // namespace ns3::training
