/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TEST_CASE_H
#define DISTRIBUTED_TRAINING_TEST_CASE_H

#include "printed-values.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/test.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-time-resolution.h"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>

namespace ns3::training::tests
{

/// ns-3 up to 3.41 has an enumeration TestDuration with the values of Duration.
template <typename T, typename = void>
struct DurationOf
{
    using Type = typename T::TestDuration;
};

template <typename T>
struct DurationOf<T, std::void_t<typename T::Duration>>
{
    using Type = typename T::Duration;
};

/// QUICK, EXTENSIVE or TAKES_FOREVER: ns-3's test.py chooses by --fullness.
using Duration = DurationOf<TestCase>::Type;

/** A test: what it shows, and a function that checks it. */
struct Case
{
    std::string name;
    std::function<void()> run;
};

/** Runs a test that is a class. */
template <typename Test>
void
RunTest()
{
    Test().Run();
}

/**
 * A test while ns-3 runs it, with what NS_TEST_* and tests need of ns-3's class. It begins with
 * picoseconds and the default random run, whatever ran before it.
 */
class RunningCase : public TestCase
{
  public:
    /** @param test to run */
    explicit RunningCase(Case test)
        : TestCase(std::move(test.name)),
          m_run(std::move(test.run))
    {
    }

    using TestCase::CreateTempDirFilename;
    using TestCase::IsStatusFailure;
    using TestCase::MustAssertOnFailure;
    using TestCase::MustContinueOnFailure;
    using TestCase::ReportTestFailure;

    inline static RunningCase* current = nullptr; ///< the one that runs

  private:
    void DoRun() override
    {
        current = this;
        UsePicoseconds();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        m_run();
    }

    std::function<void()> m_run;
};

/**
 * Tests of a subject, which ns-3 lists as `distributed-training-NAME`. An object at the end of a
 * file of tests registers them:
 * @code
 * const Suite g_suite("topology-twins", Duration::QUICK, {{"longest paths", TestLongestPaths}});
 * @endcode
 */
class Suite : public TestSuite
{
  public:
    /**
     * @param name without the name of the module
     * @param duration of each test
     * @param cases in their order
     * @param type as ns-3 lists it
     */
    Suite(const std::string& name,
          Duration duration,
          const std::vector<Case>& cases,
          Type type = Type::UNIT)
        : TestSuite("distributed-training-" + name, type)
    {
        // Set by ns3w: part of the name of a case that runs alone, or nothing, to list all.
        const char* chosen = std::getenv("DISTRIBUTED_TRAINING_TEST_CASE");
        for (const Case& test : cases)
        {
            if (chosen && !*chosen)
            {
                std::cout << GetName() << '\t' << test.name << '\n';
            }
            if (!chosen || test.name.find(chosen) != std::string::npos)
            {
                AddTestCase(new RunningCase(test), duration);
            }
        }
    }
};

// NS_TEST_* call the following functions, which are members of TestCase elsewhere. So they work in
// every function of a test.

inline bool
MustAssertOnFailure()
{
    return RunningCase::current->MustAssertOnFailure();
}

inline bool
MustContinueOnFailure()
{
    return RunningCase::current->MustContinueOnFailure();
}

inline bool
IsStatusFailure()
{
    return RunningCase::current->IsStatusFailure();
}

inline void
ReportTestFailure(const std::string& condition,
                  const std::string& actual,
                  const std::string& limit,
                  const std::string& message,
                  const std::string& file,
                  int32_t line)
{
    RunningCase::current->ReportTestFailure(condition, actual, limit, message, file, line);
}

/** @return path of a file in a folder of the running test, as ns-3's method of this name */
inline std::string
CreateTempDirFilename(const std::string& name)
{
    return RunningCase::current->CreateTempDirFilename(name);
}

/** @return the refusal of an action; empty if it succeeds */
inline std::string
GetRefusal(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const ConfigurationError& error)
    {
        return error.what();
    }
    return "";
}

/** Expects a text to contain a part. An empty part says that nothing is refused. */
inline void
ExpectPart(const std::string& text, const std::string& part, const std::string& what = "")
{
    NS_TEST_EXPECT_MSG_EQ((part.empty() ? text.empty() : text.find(part) != std::string::npos),
                          true,
                          what << " '" << text << "': '" << part << "'");
}

/** @return the parts of a text between bars: a list of words that takes few lines */
inline std::vector<std::string>
Split(const std::string& text)
{
    std::vector<std::string> parts(1);
    for (const char each : text)
    {
        if (each == '|')
        {
            parts.emplace_back();
        }
        else
        {
            parts.back() += each;
        }
    }
    return parts;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_TEST_CASE_H
