/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-processes.h"

#include "training-quantity.h"

#include "ns3/abort.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#ifdef NS3_MPI
#include <mpi.h>
#endif

namespace ns3::training
{

namespace
{

#ifdef NS3_MPI

/**
 * Reads a number from the environment.
 * @param names names of environment variables, one per MPI implementation
 * @param otherwise value if none of them is set
 * @return the number in the first variable that is set
 */
uint32_t
GetFromEnvironment(std::initializer_list<const char*> names, uint32_t otherwise)
{
    for (const char* name : names)
    {
        const char* text = std::getenv(name);
        const auto value = text ? ParseUnsigned(text) : std::nullopt;
        if (value)
        {
            return static_cast<uint32_t>(*value);
        }
    }
    return otherwise;
}

bool g_started = false;

#endif

} // namespace

#ifdef NS3_MPI

uint32_t
Processes::GetCount()
{
    static const uint32_t count =
        std::max<uint32_t>(1, GetFromEnvironment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1));
    return count;
}

uint32_t
Processes::GetId()
{
    static const uint32_t id =
        GetCount() == 1 ? 0 : GetFromEnvironment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0);
    return id;
}

void
Processes::Start()
{
    if (g_started || GetCount() == 1)
    {
        return;
    }
    MPI_Init(nullptr, nullptr);
    g_started = true;
    int count = 0;
    int id = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    NS_ABORT_MSG_IF(static_cast<uint32_t>(count) != GetCount() ||
                        static_cast<uint32_t>(id) != GetId(),
                    "the environment of this process is not that of MPI");
}

void
Processes::Finish()
{
    if (g_started)
    {
        g_started = false;
        MPI_Finalize();
    }
}

void
Processes::Abort(int status)
{
    if (g_started)
    {
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    std::exit(status);
}

std::vector<std::string>
Processes::Gather(const std::string& mine)
{
    if (!g_started)
    {
        return {mine};
    }
    std::vector<int> sizes(GetCount());
    auto size = static_cast<int>(mine.size());
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> offsets(1, 0);
    for (int each : sizes)
    {
        offsets.push_back(offsets.back() + each);
    }
    std::string all(static_cast<std::size_t>(offsets.back()), '\0');
    MPI_Allgatherv(mine.data(),
                   size,
                   MPI_CHAR,
                   all.data(),
                   sizes.data(),
                   offsets.data(),
                   MPI_CHAR,
                   MPI_COMM_WORLD);
    std::vector<std::string> result;
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        result.push_back(
            all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(sizes[i])));
    }
    return result;
}

void
Processes::Exchange(const std::vector<ByteWriter>& messages, const Receiver& receiver)
{
    static std::vector<MPI_Request> requests;
    static std::vector<uint8_t> buffer;
    requests.clear();
    for (uint32_t i = 1; i < GetCount(); i++)
    {
        const uint32_t to = (GetId() + i) % GetCount(); // not all to the same one first
        const ByteWriter& message = messages[to];
        NS_ABORT_MSG_IF(message.GetSize() > INT_MAX, "too much for one message");
        MPI_Isend(message.GetData(),
                  static_cast<int>(message.GetSize()),
                  MPI_BYTE,
                  static_cast<int>(to),
                  0,
                  MPI_COMM_WORLD,
                  &requests.emplace_back());
    }
    for (uint32_t from = 0; from < GetCount(); from++)
    {
        if (from == GetId())
        {
            continue;
        }
        MPI_Status status;
        MPI_Probe(static_cast<int>(from), 0, MPI_COMM_WORLD, &status);
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(size)));
        MPI_Recv(buffer.data(),
                 size,
                 MPI_BYTE,
                 static_cast<int>(from),
                 0,
                 MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        receiver(from, buffer.data(), static_cast<std::size_t>(size));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

#else

uint32_t
Processes::GetCount()
{
    return 1;
}

uint32_t
Processes::GetId()
{
    return 0;
}

void
Processes::Start()
{
}

void
Processes::Finish()
{
}

void
Processes::Abort(int status)
{
    std::exit(status);
}

std::vector<std::string>
Processes::Gather(const std::string& mine)
{
    return {mine};
}

void
Processes::Exchange(const std::vector<ByteWriter>&, const Receiver&)
{
}

#endif

} // namespace ns3::training
