/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-pcap.h"

#include "core/lost-outputs.h"
#include "fabric/frame-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-output-file.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <stdexcept>
#include <sys/resource.h>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabricPcap");

namespace
{

/// Header of a capture file: number that tells nanoseconds and byte order, version, link type.
constexpr uint32_t MAGIC_NANOSECONDS = 0xa1b23c4d;
constexpr uint16_t MAJOR_VERSION = 2;
constexpr uint16_t MINOR_VERSION = 4;
constexpr uint32_t DLT_EN10MB = 1;
/// Longest packet that is recorded, bytes; longer ones are cut.
constexpr uint32_t SNAPSHOT_BYTES = 65535;
/// Size of the buffer of a file before it is written: a system call costs as much as many packets.
constexpr std::size_t BUFFER_BYTES = 1 << 15;
/// File descriptors reserved for other open files of the program.
constexpr rlim_t OTHER_FILES = 64;
constexpr int64_t NANOSECONDS = 1000000000;

/** @return whether this many files can be open at the same time; raises the limit if necessary */
bool
CanOpen(rlim_t files)
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files)
    {
        return true;
    }
    if (limit.rlim_max < files)
    {
        return false;
    }
    limit.rlim_cur = files;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

} // namespace

/** A capture file in the byte order of this machine. */
class CaptureFile
{
  public:
    /** @param path created, or emptied */
    explicit CaptureFile(const std::string& path)
        : m_file(path, std::ios::binary | std::ios::trunc)
    {
        Put(MAGIC_NANOSECONDS);
        Put(MAJOR_VERSION);
        Put(MINOR_VERSION);
        Put(uint32_t{0}); // time zone
        Put(uint32_t{0}); // accuracy of time stamps
        Put(SNAPSHOT_BYTES);
        Put(DLT_EN10MB);
        Flush();
    }

    /**
     * Records a packet.
     * @param time of its transmission or arrival, ns
     * @param bytes on the wire
     */
    void Write(int64_t time, const WireBytes& bytes)
    {
        const auto all = static_cast<uint32_t>(bytes.size());
        const uint32_t recorded = std::min(all, SNAPSHOT_BYTES);
        Put(static_cast<uint32_t>(time / NANOSECONDS));
        Put(static_cast<uint32_t>(time % NANOSECONDS));
        Put(recorded);
        Put(all);
        m_buffer.append(reinterpret_cast<const char*>(bytes.data()), recorded);
        if (m_buffer.size() >= BUFFER_BYTES)
        {
            Flush();
        }
    }

    /** Writes the rest. */
    void Close()
    {
        Flush();
        m_file.close();
    }

    /** @return whether anything could not be written */
    bool HasFailed() const
    {
        return m_file.fail();
    }

  private:
    template <typename T>
    void Put(T number)
    {
        m_buffer.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }

    void Flush()
    {
        m_file.write(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
        m_buffer.clear();
    }

    std::ofstream m_file;
    std::string m_buffer;
};

/** The capture files of all ports. */
class FabricPcap::Files
{
  public:
    /**
     * @param path path of a new file
     * @return index of the file
     */
    std::size_t Add(const std::string& path)
    {
        m_paths.push_back(path);
        return m_paths.size() - 1;
    }

    /** @return paths by index */
    const std::deque<std::string>& GetPaths() const
    {
        return m_paths;
    }

    /**
     * Writes a frame to a file with the current time stamp.
     * @param index index of the file
     * @param frame frame to record
     */
    void Write(std::size_t index, const Frame& frame)
    {
        if (m_closed)
        {
            return;
        }
        if (m_files.empty())
        {
            Open();
        }
        if (m_closed)
        {
            return;
        }
        m_bytes.clear();
        PutFrame(m_bytes, frame);
        m_files[index].Write(Simulator::Now().GetNanoSeconds(), m_bytes);
        Check(index);
    }

    /** @return path of the first file that could not be written, or "" */
    std::string Close()
    {
        std::string failed;
        for (std::size_t i = 0; i < m_files.size() && !m_closed; i++)
        {
            m_files[i].Close();
            if (failed.empty() && m_files[i].HasFailed())
            {
                failed = m_paths[i];
            }
        }
        m_closed = true;
        return failed;
    }

    /** @param path of a file that cannot be written */
    [[noreturn]] static void Fail(const std::string& path)
    {
        throw std::runtime_error("capture file '" + path + "' cannot be written");
    }

  private:
    void Open()
    {
        for (std::size_t i = 0; i < m_paths.size(); i++)
        {
            m_files.emplace_back(m_paths[i]);
            Check(i);
        }
    }

    void Check(std::size_t index)
    {
        if (m_files[index].HasFailed())
        {
            m_closed = !LostOutputs::Try([&] { Fail(m_paths[index]); });
        }
    }

    std::deque<std::string> m_paths;
    std::vector<CaptureFile> m_files;
    WireBytes m_bytes; // of the frame being recorded
    bool m_closed{false};
};

FabricPcap::FabricPcap(const Fabric& fabric, const std::string& prefix)
    : m_files(std::make_shared<Files>())
{
    NS_LOG_FUNCTION(this << prefix);
    std::map<std::string, uint32_t> numbers; // number of ports so far, by device
    std::vector<FabricPort*> ports;          // by index of their file
    for (uint32_t link = 0; link < fabric.channels.size(); link++)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const std::string device = fabric.GetEndName(link, end);
            const std::string number = std::to_string(numbers[device]++);
            FabricPort& port = fabric.channels[link]->GetPort(end);
            if (GetProcess(port) == Processes::GetId())
            {
                m_files->Add(prefix + "-" + device + "-" + number + ".pcap");
                ports.push_back(&port);
            }
        }
    }
    const std::size_t count = m_files->GetPaths().size();
    if (!CanOpen(count + OTHER_FILES))
    {
        throw ConfigurationError("pcap",
                                 prefix,
                                 ": " + std::to_string(count) +
                                     " ports, a file each (allowed: as many as the system lets a "
                                     "process open, see ulimit -Hn)");
    }
    try
    {
        for (const std::string& path : m_files->GetPaths())
        {
            CheckOutputFile(path, OutputKind::CAPTURE);
        }
    }
    catch (const ConfigurationError& error)
    {
        throw ConfigurationError("pcap", prefix, std::string(": ") + error.what());
    }
    for (std::size_t i = 0; i < count; i++)
    {
        ports[i]->SetTap(
            [files = m_files, i](const Frame& frame, bool) { files->Write(i, frame); });
    }
    Simulator::ScheduleDestroy(&FabricPcap::Close, m_files);
}

FabricPcap::~FabricPcap()
{
    m_files->Close();
}

void
FabricPcap::Close(std::shared_ptr<Files> files)
{
    const std::string failed = files->Close();
    if (!failed.empty())
    {
        LostOutputs::Try([&] { Files::Fail(failed); });
    }
}

} // namespace ns3::training
