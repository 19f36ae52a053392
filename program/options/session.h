/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SESSION_H
#define DISTRIBUTED_TRAINING_SESSION_H

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * What a process decides once for all of its simulations. A program's ProgramOptions begins the
 * session; without a command line, TrainingRun does.
 */
class Session
{
  public:
    /**
     * Sets ns-3's time resolution to picoseconds (UsePicoseconds()), makes BucketScheduler the
     * default of SchedulerType and WindowSimulatorImpl that of SimulatorImplementationType, and
     * lets ns-3 do its documentation run and event metrics. Later calls change no default.
     * @param program name of the program
     */
    static void Begin(const std::string& program);

    /**
     * Loads the libraries of the environment variable DISTRIBUTED_TRAINING_EXTENSIONS, paths
     * separated by ":".
     * @return the paths
     * @throw ConfigurationError as LoadExtension()
     */
    static std::vector<std::string> LoadExtensionsOfEnvironment();

    /**
     * Loads a shared library that registers alternatives: algorithms, topologies, congestion
     * controls and the like (see Registry). They can then be selected by name like those of the
     * module. Loading a library again has no effect.
     * @param file path of the library; it stays loaded until the program ends
     * @throw ConfigurationError if it cannot be loaded, or registers an existing name
     */
    static void LoadExtension(const std::string& file);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SESSION_H
