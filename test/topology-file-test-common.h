/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_FILE_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_FILE_TEST_COMMON_H

#include <string>

namespace ns3::training::tests
{

/// HPCC and ASTRA-sim: four hosts, a switch numbered between them, one parallel link.
inline const std::string HPCC = "5 1 5\n"
                                "2\n"
                                "0 2 400Gbps 0.0005ms 0\n"
                                "1 2 400Gbps 0.0005ms 0\n"
                                "2 3 400Gbps 0.0005ms 0\r\n"
                                "4 2 100Gbps 1us 0.25\n"
                                "4 2 100Gbps 1us 0.25\n";

/// ASTRA-sim: a ring of hosts and an empty list of switches.
inline const std::string RING = "4 0 4\n"
                                "\n"
                                "0 1 200Gbps 500ns 0\n"
                                "1 2 200Gbps 500ns 0\n"
                                "2 3 200Gbps 500ns 0\n"
                                "3 0 200Gbps 500ns 0\n";

/// SimAI: two servers of two GPUs with an NVSwitch each, two leaves, a spine.
inline const std::string SIMAI = "9 2 2 3 10 H100\n"
                                 "4 5 6 7 8\n"
                                 "0 4 2880Gbps 0.000025ms 0\n"
                                 "0 6 400Gbps 0.0005ms 0\n"
                                 "1 4 2880Gbps 0.000025ms 0\n"
                                 "1 7 400Gbps 0.0005ms 0\n"
                                 "2 5 2880Gbps 0.000025ms 0\n"
                                 "2 6 400Gbps 0.0005ms 0\n"
                                 "3 5 2880Gbps 0.000025ms 0\n"
                                 "3 7 400Gbps 0.0005ms 0\n"
                                 "6 8 400Gbps 0.0005ms 0\n"
                                 "7 8 400Gbps 0.0005ms 0\n";

/// This module's format: two hosts on two switches.
inline const std::string JSON = "{\n"
                                "  \"hosts\": 2, \"switches\": 2,\n"
                                "  \"links\": [\n"
                                "    {\"a\": 0, \"b\": 2},\n"
                                "    {\"a\": 1, \"b\": 3, \"rate\": \"25Gbps\"},\n"
                                "    {\"a\": 2, \"b\": 3, \"delay\": \"7us\", \"cost\": 2,\n"
                                "     \"dimension\": 1, \"dateline\": true, \"loss\": 0.5}\n"
                                "  ]\n"
                                "}\n";

/** @return the text with one part replaced */
inline std::string
Replace(std::string text, const std::string& part, const std::string& by)
{
    return text.replace(text.find(part), part.size(), by);
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_FILE_TEST_COMMON_H
