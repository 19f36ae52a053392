/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-program.h"

#include "core/json-escape.h"
#include "core/lost-outputs.h"
#include "core/setup-progress.h"
#include "guard/parent-process.h"
#include "guard/run-interrupts.h"
#include "options/value-suggestion.h"
#include "simulation-stuck.h"

#include "ns3/cluster-command-line.h"
#include "ns3/gradient-codec.h"
#include "ns3/program-options.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/// Words of messages, such as values of options, and whole messages are shortened to these lengths.
constexpr std::size_t MAX_WORD = 300;
constexpr std::size_t MAX_LINE = 4000;

/** @return the text without its middle if it is longer than a limit */
std::string
Shorten(const std::string& text, std::size_t limit)
{
    const std::string gap = "[...]";
    const std::size_t half = (limit - gap.size()) / 2;
    return text.size() <= limit ? text
                                : text.substr(0, half) + gap + text.substr(text.size() - half);
}

/** @return whether everything has reached standard output */
bool
FlushOutput()
{
    std::cout.flush();
    return std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
}

/// Message about an output that cannot be written.
constexpr const char* LOST_OUTPUT = "standard output: cannot be written";

/// Name of the program while its body runs, which --help and ns-3 may end by std::exit(0).
const char* g_running = nullptr;

/** Ends the program by a signal, as without its handler. */
void
EndBySignal(int signal)
{
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/** Ends the program with status 1 if output of its body is lost, or by SIGPIPE if nobody reads on.
 */
void
CheckOutputAtExit()
{
    if (g_running && !FlushOutput())
    {
        if (RunInterrupts::GetSignal() == SIGPIPE)
        {
            EndBySignal(SIGPIPE);
        }
        std::fprintf(stderr, "%s: %s\n", g_running, LOST_OUTPUT);
        _exit(1);
    }
}

} // namespace

std::string
ToLine(const std::string& text)
{
    std::string line;
    std::string word;
    const std::string ended = text + ' ';
    for (std::size_t at = 0; at < ended.size();)
    {
        const std::size_t length = GetUtf8Length(ended, at);
        const auto character = static_cast<unsigned char>(ended[at]);
        if (character == ' ')
        {
            line += Shorten(word, MAX_WORD) + ' ';
            word.clear();
        }
        else
        {
            const bool isControl = character < ' ' || character == 127 || length == 0;
            word += isControl ? "?" : ended.substr(at, length);
        }
        at += std::max<std::size_t>(1, length);
    }
    line.pop_back();
    return Shorten(line, MAX_LINE);
}

int
RunProgram(const std::string& name, const std::function<int()>& body)
{
    EndWithParent();
    // With several processes only the first one prints.
    const bool speaks = Processes::GetId() == 0;
    if (!speaks && !std::freopen("/dev/null", "w", stdout))
    {
        return 1;
    }
    g_running = name.c_str();
    std::atexit(&CheckOutputAtExit);
    RunInterrupts::HandleSignals();
    if (speaks)
    {
        SetupProgress::Enable();
    }
    bool isLost = false;
    LostOutputs::SetHandler([&](const std::string& lost) {
        isLost = true;
        std::cerr << name << ": " << ToLine(lost) << std::endl;
    });
    int status = 0;
    int signal = 0;
    std::string text;
    try
    {
        status = body();
    }
    catch (const ConfigurationError& error)
    {
        status = 2;
        text = SuggestValue(NameOption(error));
    }
    catch (const SimulationInterrupted& error)
    {
        signal = error.GetSignal();
        text = error.what();
    }
    catch (const SimulationCodecError& error)
    {
        status = 4;
        text = error.what();
    }
    catch (const SimulationStuck& error)
    {
        status = 3;
        text = std::string("stuck: ") + error.what();
    }
    catch (const std::exception& error) // for example a full disk, or no memory left
    {
        const bool isCodec = dynamic_cast<const CodecError*>(&error);
        status = isCodec ? 4 : 1;
        text = isCodec                                       ? std::string("codec: ") + error.what()
               : dynamic_cast<const std::bad_alloc*>(&error) ? "out of memory"
                                                             : error.what();
        if (Processes::GetCount() > 1) // the other processes do not know of the error
        {
            std::cerr << name << ": " << ToLine(text) << std::endl;
            Processes::Abort(status);
        }
    }
    if (status != 2 && speaks)
    {
        LostOutputs::Try(&ProgramOptions::SaveConfiguration);
    }
    g_running = nullptr;
    LostOutputs::SetHandler(nullptr);
    status = status == 0 && isLost ? 1 : status;
    const bool isCut = RunInterrupts::GetSignal() == SIGPIPE;
    signal = isCut && signal == 0 ? SIGPIPE : signal;
    if (!isCut && !FlushOutput() && status == 0)
    {
        status = 1;
        text = LOST_OUTPUT;
    }
    if (!text.empty() && speaks)
    {
        std::cerr << name << ": " << ToLine(text) << std::endl;
    }
    Processes::Finish();
    if (signal != 0)
    {
        EndBySignal(signal); // the run is over
    }
    // mpirun kills the others when one fails, possibly before the first one prints.
    return speaks ? status : 0;
}

} // namespace ns3::training
