/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-file.h"
#include "gradient-source.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

namespace ns3::training
{

namespace
{

constexpr const char* RANK = "{rank}";
constexpr const char* ITERATION = "{iteration}";
constexpr const char* BUCKET = "{bucket}";

/// Numbers read at a time by Check().
constexpr std::size_t PIECE = 1 << 20;

/** Numbers of a user's own training: raw float32 files in the byte order of the machine. */
class FileGradients : public GradientSource
{
  public:
    explicit FileGradients(const std::string& pattern)
        : m_pattern(pattern)
    {
    }

    std::vector<float> Make(const GradientPlace& place, std::size_t count) const override
    {
        return Read(GetPath(place), GetStart(place), count);
    }

    void Check(uint32_t ranks,
               uint32_t iterations,
               const std::vector<uint64_t>& buckets) const override
    {
        GradientPlace place;
        for (place.rank = 0; place.rank < (Has(RANK) ? ranks : 1); place.rank++)
        {
            for (place.iteration = 0; place.iteration < (Has(ITERATION) ? iterations : 1);
                 place.iteration++)
            {
                place.first = 0;
                for (place.bucket = 0; place.bucket < buckets.size(); place.bucket++)
                {
                    CheckBucket(place, buckets[place.bucket]);
                    place.first += buckets[place.bucket];
                }
            }
        }
    }

  private:
    bool Has(const char* part) const
    {
        return m_pattern.find(part) != std::string::npos;
    }

    /** @return index of the bucket's first number in its file */
    uint64_t GetStart(const GradientPlace& place) const
    {
        return Has(BUCKET) ? 0 : place.first;
    }

    std::string GetPath(const GradientPlace& place) const
    {
        std::string path = m_pattern;
        const auto fill = [&](const std::string& part, uint32_t number) {
            for (auto at = path.find(part); at != std::string::npos; at = path.find(part))
            {
                path.replace(at, part.size(), std::to_string(number));
            }
        };
        fill(RANK, place.rank);
        fill(ITERATION, place.iteration);
        fill(BUCKET, place.bucket);
        return path;
    }

    void CheckBucket(const GradientPlace& place, uint64_t count) const
    {
        const std::string path = GetPath(place);
        for (uint64_t done = 0; done < count; done += PIECE)
        {
            const uint64_t start = GetStart(place) + done;
            const auto values = Read(path, start, std::min<uint64_t>(PIECE, count - done));
            const auto bad = std::find_if(values.begin(), values.end(), [](float value) {
                return !std::isfinite(value);
            });
            if (bad != values.end())
            {
                throw ConfigurationError("gradients: " + MakePrintableName(path) + ": number " +
                                         std::to_string(start + (bad - values.begin())) + " is " +
                                         std::to_string(*bad) + " (allowed: finite numbers)");
            }
        }
    }

    std::vector<float> Read(const std::string& path, uint64_t start, std::size_t count) const
    {
        if (IsNamedPipe(path))
        {
            throw ConfigurationError("gradients: " + MakePrintableName(path) +
                                     " is a named pipe (allowed: files of float32)");
        }
        std::ifstream file(path, std::ios::binary | std::ios::ate);
        if (!file)
        {
            throw ConfigurationError("gradients: cannot read " + MakePrintableName(path));
        }
        const auto bytes = static_cast<uint64_t>(file.tellg());
        std::vector<float> values;
        if (bytes % sizeof(float) == 0 && bytes / sizeof(float) >= start + count)
        {
            values.resize(count);
            file.seekg(static_cast<std::streamoff>(start * sizeof(float)));
            file.read(reinterpret_cast<char*>(values.data()),
                      static_cast<std::streamsize>(count * sizeof(float)));
        }
        if (values.size() != count || !file)
        {
            throw ConfigurationError("gradients: " + MakePrintableName(path) + " has " +
                                     std::to_string(bytes) + " bytes (allowed: float32, at least " +
                                     std::to_string(start + count) + " of them)");
        }
        return values;
    }

    std::string m_pattern;
};

std::shared_ptr<const GradientSource>
MakeFile(const KeyValues& values)
{
    return std::make_shared<FileGradients>(values.GetFirst());
}

const Registry<GradientSourceEntry>::Entry g_file(
    "file",
    {"raw float32 files, of a training of your own",
     &MakeFile,
     {},
     FirstValue{
         "PATH",
         "the files: {rank}, {iteration} and {bucket} in it stand for these numbers, from 0; "
         "without {bucket} a file has all buckets in turn",
         true,
         true,
         {}}});

} // namespace

} // namespace ns3::training
