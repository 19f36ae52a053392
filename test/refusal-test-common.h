/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_REFUSAL_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_REFUSAL_TEST_COMMON_H

#include "test-case.h"

#include "ns3/training-configuration-error.h"

namespace ns3::training::tests
{

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

/** Expects a text to contain a part. An empty one, of both, says that nothing is refused. */
inline void
ExpectPart(const std::string& text, const std::string& part, const std::string& what = "")
{
    const std::string nothing = "nothing is refused";
    const std::string& actual = text.empty() ? nothing : text;
    const std::string& wanted = part.empty() ? nothing : part;
    NS_TEST_EXPECT_MSG_NE(actual.find(wanted), std::string::npos, what << actual << ": " << wanted);
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_REFUSAL_TEST_COMMON_H
