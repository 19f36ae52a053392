/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H
#define DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H

#include "ns3/cluster-options.h"
#include "ns3/in-network-system.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Published measurements of collectives of NCCL, and the clusters of them.
 */

namespace ns3::training
{

/// Bus bandwidth of rings within a server of H100s as measured by SimAI, as a rate: NVLink without
/// its headers and responses. Sums in the switch have NVLink's rate and its packets.
constexpr const char* RING_RATE = "2966.4Gbps";
constexpr const char* NVLINK_RATE = "3600Gbps";
/// Rate between two of four A100s, measured (simllm): 94 GB/s.
constexpr const char* A100_LOCAL_RATE = "752Gbps";
/// Peak bus bandwidth of 8 NICs of 400 Gbit/s, the reference of SimAI's ratios, GB/s.
constexpr double SIMAI_PEAK = 388;
/// Half of the last digit of SimAI's ratios.
constexpr double SIMAI_ROUNDING = .005;

/** What a row shows. */
enum class Role
{
    PREDICTED,  ///< not used to choose a number
    CALIBRATION ///< a number was chosen with it: a constant of the host model, or of the machine
};

/** A size and its published value. */
struct NcclPoint
{
    const char* bytes;
    double published; ///< bus bandwidth, GB/s, or time, us; of several values their mean
    Role role{Role::PREDICTED};
    double least{0}; ///< of several published values, GB/s; 0: there is one
    double most{0};  ///< of several published values, GB/s
};

/** A cluster and its table. */
struct NcclTable
{
    const char* name;
    const char* source;
    const char* operation;
    const char* algorithm;
    uint32_t servers;
    const char* hostModel;
    double factor; ///< converts the published numbers to GB/s; 0: they are times, us
    std::vector<NcclPoint> points;
    uint32_t gpus{8}; ///< of a server: 8 with a NIC of 400 Gbit/s each; 1 or 4: kernel TCP

    /** @return number of ranks */
    uint32_t GetRanks() const
    {
        return servers * gpus;
    }

    /** @return whether over kernel TCP */
    bool IsTcp() const
    {
        return gpus < 8;
    }
};

inline const std::vector<NcclTable>&
GetNcclTables()
{
    constexpr const char* NCCL_TESTS = "nccl-tests";
    // Packets of 1 KiB.
    constexpr const char* NVLS = "nvls:elements-per-packet=256";
    constexpr const char* SIMAI = "SimAI's ratio of the peak of 388 GB/s";
    // LL128 would be 40 % faster at 16 MiB.
    constexpr const char* SIMPLE = "nccl:protocol=simple";
    constexpr const char* SOCKET = "NCCL 2.31, NET/Socket, one port of 200 Gbit/s (simllm)";
    static const std::vector<NcclTable> tables{
        {"8 H200, NVLink", NCCL_TESTS, "all-reduce", "ring", 1, "nccl", 1, {{"1M", 39.9}}},
        {"8 H200, NVLink",
         NCCL_TESTS,
         "all-reduce",
         NVLS,
         1,
         "nccl",
         1,
         {{"1M", 39.9}, {"8M", 155.5}, {"64M", 346.5}, {"512M", 450.3}}},
        {"8 H100 of Azure ND v5, NVLink",
         NCCL_TESTS,
         "all-reduce",
         NVLS,
         1,
         "nccl",
         1,
         {{"1M", 43.7},
          {"4M", 128.7},
          {"16M", 234.5},
          {"64M", 361.8},
          {"128M", 400.6},
          {"256M", 423.4},
          {"512M", 438.5},
          {"1G", 466.4}}},
        {"2 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         2,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .32, Role::CALIBRATION},
          {"32M", .47},
          {"128M", .67},
          {"256M", .85},
          {"512M", .89},
          {"1G", .92}}},
        {"2 x 8 H100, 8 x 400 Gbit/s",
         "mean of SimAI, 194, and logs of nccl-tests on two other clusters, 214 and 286",
         "all-reduce",
         "multi-ring",
         2,
         SIMPLE,
         1,
         {{"64M", 231.3, Role::PREDICTED, 194, 286}}},
        {"8 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         8,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .13},
          {"32M", .24},
          {"64M", .39},
          {"128M", .54},
          {"256M", .69},
          {"512M", .78},
          {"1G", .90}}},
        {"16 x 8 H100, 8 x 400 Gbit/s",
         SIMAI,
         "all-reduce",
         "multi-ring",
         16,
         SIMPLE,
         SIMAI_PEAK,
         {{"16M", .05},
          {"32M", .11},
          {"64M", .21},
          {"128M", .38},
          {"256M", .57},
          {"512M", .73},
          {"1G", .76}}},
        {"2 hosts, kernel TCP, one message",
         SOCKET,
         "broadcast",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"8", 18.8, Role::CALIBRATION},
          {"512K", 172.1},
          {"4M", 1218},
          {"128M", 40665, Role::CALIBRATION}},
         1},
        {"2 hosts, kernel TCP",
         SOCKET,
         "all-reduce",
         "ring",
         2,
         "nccl-socket",
         0,
         {{"8", 40.1}, {"512K", 973.4, Role::CALIBRATION}, {"4M", 2800}, {"128M", 83389}},
         1},
        {"2 hosts, kernel TCP, bytes for all ranks",
         SOCKET,
         "all-to-all",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"16", 41.1}, {"1M", 469.6}, {"8M", 2689}, {"256M", 96231}},
         1},
        {"2 x 4 A100, kernel TCP",
         SOCKET,
         "all-reduce",
         "multi-ring",
         2,
         "nccl-socket",
         0,
         {{"8", 50.8}, {"512K", 936.2}, {"4M", 1321}, {"128M", 45691}},
         4},
        {"2 x 4 A100, kernel TCP, bytes for all ranks",
         SOCKET,
         "all-to-all",
         "direct",
         2,
         "nccl-socket",
         0,
         {{"64", 89.8, Role::CALIBRATION},
          {"4M", 2366},
          {"32M", 11828},
          {"1G", 417125, Role::CALIBRATION}},
         4}};
    return tables;
}

/** @return the cluster of a table, with a host model */
inline ClusterOptions
MakeNcclCluster(const NcclTable& table, const std::string& hostModel)
{
    ClusterOptions options;
    options.algorithm = table.algorithm;
    options.hostModel = hostModel;
    options.ranks = table.GetRanks();
    if (table.IsTcp())
    {
        options.transport = "tcp";
        options.rate = DataRate(200000000000);
        if (table.gpus > 1)
        {
            options.topology = "rail-optimized:gpus=" + std::to_string(table.gpus) +
                               ",servers=" + std::to_string(table.servers) +
                               ",local-rate=" + A100_LOCAL_RATE;
        }
        return options;
    }
    options.topology = "rail-optimized:gpus=8,servers=" + std::to_string(table.servers) +
                       ",local-rate=" + (IsInNetwork(table.algorithm) ? NVLINK_RATE : RING_RATE);
    options.rate = DataRate(400000000000);
    if (IsInNetwork(table.algorithm))
    {
        options.attributes["ns3::training::SharpProgram::Children"] = "8"; // the switch's memory
    }
    return options;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NCCL_PUBLISHED_H
