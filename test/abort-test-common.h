/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ABORT_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_ABORT_TEST_COMMON_H

#include <csignal>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3::training::tests
{

/**
 * Calls a function in a process of its own, as NS_ABORT ends the program.
 * @return what it prints to standard error; empty if it does not abort
 */
inline std::string
GetAbort(const std::function<void()>& action)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        return "";
    }
    const pid_t child = fork();
    if (child == 0)
    {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        std::signal(SIGABRT, SIG_DFL);
        action();
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char block[512];
    for (ssize_t bytes; (bytes = read(ends[0], block, sizeof(block))) > 0;)
    {
        text.append(block, static_cast<std::size_t>(bytes));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "";
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_ABORT_TEST_COMMON_H
