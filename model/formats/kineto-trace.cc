/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "formats/kineto-trace.h"

#include "core/input-file.h"
#include "core/json-scanner.h"
#include "formats/file-time.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** Reads the events of a trace. */
class KinetoReader
{
  public:
    KinetoReader(const std::string& path, const std::string& text)
        : m_scanner(path, text)
    {
    }

    KinetoTrace Read();

  private:
    void ReadEvents();
    void ReadEvent();
    void ReadArguments(KinetoEvent& event, KinetoWait& wait);
    int64_t ReadTime(const std::string& key, const std::string& text, const std::string& name);
    int64_t TakeCount();
    std::string TakeList();

    JsonScanner m_scanner;
    KinetoTrace m_trace;
};

/** @return a time of the GPU, in us, in ns; doubles are not exact enough for it */
int64_t
KinetoReader::ReadTime(const std::string& key, const std::string& text, const std::string& name)
{
    constexpr int MICROSECOND = 3; // powers of ten, in ns
    const auto time = ParseDecimal(text, MICROSECOND);
    constexpr int64_t MOST = int64_t{1} << 62;
    if (!time || *time < 0 || *time > MOST)
    {
        m_scanner.Fail("behind the time '" + MakePrintableName(text) + "', " + key + " of '" +
                       name + "': a time in microseconds, from 0 to 2^62 ns");
    }
    return *time;
}

/** @return a whole number, or -1 if it is none */
int64_t
KinetoReader::TakeCount()
{
    const auto number = ParseDecimal(m_scanner.TakeScalar(), 0);
    constexpr int64_t MOST = int64_t{1} << 48;
    return number && *number >= 0 && *number <= MOST ? *number : -1;
}

/** @return a list as text: it is written as a string, or as an array */
std::string
KinetoReader::TakeList()
{
    if (m_scanner.Peek() != '[')
    {
        return m_scanner.TakeScalar();
    }
    std::string text;
    for (m_scanner.Enter('['); m_scanner.NextElement();)
    {
        text += (text.empty() ? "" : ", ") + m_scanner.TakeScalar();
    }
    return "[" + text + "]";
}

/** @return whether a list has two different numbers */
bool
IsUneven(std::string list)
{
    std::replace_if(
        list.begin(),
        list.end(),
        [](char letter) { return letter < '0' || letter > '9'; },
        ' ');
    std::string first;
    for (std::size_t at = 0; (at = list.find_first_not_of(' ', at)) != std::string::npos;)
    {
        const std::size_t end = std::min(list.find(' ', at), list.size());
        const std::string number = list.substr(at, end - at);
        if (!first.empty() && number != first)
        {
            return true;
        }
        first = number;
        at = end;
    }
    return false;
}

void
KinetoReader::ReadArguments(KinetoEvent& event, KinetoWait& wait)
{
    std::string key;
    for (m_scanner.Enter('{'); m_scanner.NextMember(key);)
    {
        if (key == "stream")
        {
            event.stream = TakeCount();
        }
        else if (key == "correlation")
        {
            event.correlation = TakeCount();
        }
        else if (key == "wait_on_stream")
        {
            wait.source = TakeCount();
        }
        else if (key == "wait_on_cuda_event_record_corr_id")
        {
            wait.record = TakeCount();
        }
        else if (key == "Collective name")
        {
            event.collective = m_scanner.TakeScalar();
        }
        else if (key == "dtype")
        {
            event.type = m_scanner.TakeScalar();
        }
        else if (key == "In msg nelems")
        {
            event.inElements = TakeCount();
        }
        else if (key == "Out msg nelems")
        {
            event.outElements = TakeCount();
        }
        else if (key == "Group size")
        {
            event.groupSize = TakeCount();
        }
        else if (key == "Process Group Ranks")
        {
            event.groupRanks = TakeList();
        }
        else if (key == "Src Rank")
        {
            event.source = TakeCount();
        }
        else if (key == "Dst Rank")
        {
            event.target = TakeCount();
        }
        else if (key == "In split size" || key == "Out split size")
        {
            event.hasUnevenSplits = IsUneven(TakeList()) || event.hasUnevenSplits;
        }
        else
        {
            m_scanner.Skip();
        }
    }
}

void
KinetoReader::ReadEvent()
{
    KinetoEvent event;
    KinetoWait wait{-1, -1, -1, -1};
    std::string phase;
    std::string category;
    std::string start;
    std::string length;
    std::string key;
    for (m_scanner.Enter('{'); m_scanner.NextMember(key);)
    {
        if (key == "ph")
        {
            phase = m_scanner.TakeScalar();
        }
        else if (key == "cat")
        {
            category = m_scanner.TakeScalar();
        }
        else if (key == "name")
        {
            event.name = m_scanner.TakeScalar();
        }
        else if (key == "ts")
        {
            start = m_scanner.TakeScalar();
        }
        else if (key == "dur")
        {
            length = m_scanner.TakeScalar();
        }
        else if (key == "args" && m_scanner.Peek() == '{')
        {
            ReadArguments(event, wait);
        }
        else
        {
            m_scanner.Skip();
        }
    }
    const bool isOfGpu = category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
                         category == "gpu_memset";
    if (phase == "X" && isOfGpu)
    {
        event.name = MakePrintableName(event.name);
        event.start = ReadTime("ts", start, event.name);
        event.length = ReadTime("dur", length, event.name);
        m_trace.events.push_back(std::move(event));
    }
    else if (phase == "X" && category == "cuda_sync" && event.name == "Stream Wait Event")
    {
        wait.stream = event.stream;
        wait.correlation = event.correlation;
        if (std::min({wait.stream, wait.correlation, wait.source, wait.record}) >= 0)
        {
            m_trace.waits.push_back(wait);
        }
    }
}

void
KinetoReader::ReadEvents()
{
    for (m_scanner.Enter('['); m_scanner.NextElement();)
    {
        ReadEvent();
    }
}

KinetoTrace
KinetoReader::Read()
{
    if (m_scanner.Peek() == '[')
    {
        ReadEvents();
    }
    else
    {
        std::string key;
        for (m_scanner.Enter('{'); m_scanner.NextMember(key);)
        {
            if (key == "traceEvents")
            {
                ReadEvents();
            }
            else if (key == "distributedInfo" && m_scanner.Peek() == '{')
            {
                for (m_scanner.Enter('{'); m_scanner.NextMember(key);)
                {
                    if (key == "rank" || key == "world_size")
                    {
                        (key == "rank" ? m_trace.rank : m_trace.worldSize) = TakeCount();
                    }
                    else
                    {
                        m_scanner.Skip();
                    }
                }
            }
            else
            {
                m_scanner.Skip();
            }
        }
    }
    if (m_scanner.Peek() != 0)
    {
        m_scanner.Fail("the end of the file");
    }
    std::stable_sort(m_trace.events.begin(),
                     m_trace.events.end(),
                     [](const KinetoEvent& a, const KinetoEvent& b) { return a.start < b.start; });
    return std::move(m_trace);
}

} // namespace

KinetoTrace
ReadKinetoTrace(const std::string& path, const std::string& text)
{
    return KinetoReader(path, text).Read();
}

} // namespace ns3::training
