/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FORMATS_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_FORMATS_TEST_COMMON_H

#include "file-test-common.h"
#include "formats/workload-format.h"

#include <boost/crc.hpp>

namespace ns3::training::tests
{

/** @return a number of some bytes, the lowest first */
inline std::string
MakeBytes(uint64_t number, uint32_t count)
{
    std::string bytes;
    for (uint32_t i = 0; i < count; i++)
    {
        bytes += static_cast<char>(number >> (8 * i) & 0xff);
    }
    return bytes;
}

/** @return a text in the format of gzip (RFC 1952), in stored blocks */
inline std::string
MakeGzip(const std::string& text)
{
    std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    for (std::size_t begin = 0; begin == 0 || begin < text.size(); begin += 65535)
    {
        const std::string block = text.substr(begin, 65535);
        bytes += static_cast<char>(begin + 65535 >= text.size() ? 1 : 0);
        bytes += MakeBytes(block.size(), 2) + MakeBytes(~block.size() & 0xffff, 2) + block;
    }
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    return bytes + MakeBytes(crc.checksum(), 4) + MakeBytes(text.size(), 4);
}

/** @return the tasks of a rank in one iteration, without the end of the iteration */
inline std::vector<GraphTask>
GetTasks(const TaskGraph& graph, uint32_t rank)
{
    std::vector<GraphTask> tasks;
    const auto source = graph.MakeSource(rank, 1);
    for (GraphTask task; source->Next(task);)
    {
        tasks.push_back(std::exchange(task, {}));
    }
    tasks.pop_back();
    return tasks;
}

/** Expects a file to be refused with a message that has a part. */
inline void
ExpectRefusal(const std::string& spec, const std::string& part, uint32_t ranks = 0)
{
    ExpectPart(GetRefusal([&] { ReadWorkloadFormat(spec, ranks, false); }), part);
}

/** Expects a file to be read with --lenient only, with a problem that has a part. */
inline void
ExpectLenient(const std::string& spec, const std::string& refusal, const std::string& part)
{
    ExpectRefusal(spec, refusal);
    std::string all;
    const std::string message = GetRefusal([&] {
        for (const std::string& problem : ReadWorkloadFormat(spec, 0, true).problems)
        {
            all += problem + "\n";
        }
    });
    NS_TEST_EXPECT_MSG_EQ(message, "", "lenient");
    ExpectPart(all, part);
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_FORMATS_TEST_COMMON_H
