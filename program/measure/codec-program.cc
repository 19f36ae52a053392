/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-program.h"

#include "core/memory.h"

#include "ns3/json-output.h"
#include "ns3/program-options.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/training-output-file.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ns3::training
{

namespace
{

/** The command line. */
struct CodecArguments
{
    std::string codec{"inceptionn"};
    std::string input;
    std::string output;
    bool decode{false};
    uint64_t count{0};
    uint64_t repetitions{0};
    bool list{false};
    std::string json;
};

/** @return the key of all codings: ns-3's run number gives other random numbers */
CodecKey
MakeKey()
{
    CodecKey key;
    key.seed = RngSeedManager::GetRun();
    return key;
}

/// Memory of a codec, as a multiple of its input: the input itself, the code, the decoded numbers,
/// and what the codec sorts.
constexpr double CODEC_MEMORY = 5;
/// The same of a codec of buckets: the largest needs powers of two of float64.
constexpr double BUCKET_MEMORY = 20;

/** @return a file as bytes; refuses one that would take more memory than there is */
std::vector<uint8_t>
ReadFile(const std::string& path, double memory)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    {
        throw ConfigurationError("--input=" + path + ": is no file that can be read");
    }
    CheckMemory(memory * static_cast<double>(status.st_size), "--input=" + path);
    std::ifstream file(path, std::ios::binary);
    std::vector<uint8_t> bytes(static_cast<std::size_t>(status.st_size));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file)
    {
        throw ConfigurationError("--input=" + path + ": cannot be read");
    }
    return bytes;
}

/** Writes a whole file. */
void
WriteFile(const std::string& path, const void* data, std::size_t bytes)
{
    if (!path.empty())
    {
        WriteOutputFile(path, std::string(static_cast<const char*>(data), bytes));
    }
}

/** @return megabytes of float32 per second of processor time that repeated work takes */
double
MeasureSpeed(uint64_t repetitions, uint64_t count, const std::function<void()>& work)
{
    const std::clock_t begin = std::clock();
    for (uint64_t i = 0; i < repetitions; i++)
    {
        work();
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return 4e-6 * static_cast<double>(count * repetitions) / seconds;
}

/** What coding has done to the numbers. */
struct CodedValues
{
    uint64_t codeBytes{0};
    std::vector<float> decoded;
    std::vector<CodecClass> classes;
    double encodeSpeed{0}; // MB/s of float32; 0: not measured
    double decodeSpeed{0}; // the same
};

/** @return the outcome of a codec of numbers */
CodedValues
Code(const CodecArguments& options, const std::vector<float>& values)
{
    const Ptr<GradientCodec> codec = MakeCodec(options.codec);
    const uint64_t count = values.size();
    const CodecKey key = MakeKey();
    CodedValues outcome;
    std::vector<uint8_t> code;
    codec->Encode(values.data(), count, key, code);
    outcome.codeBytes = code.size();
    outcome.decoded.resize(count);
    codec->Decode(code.data(), code.size(), key, outcome.decoded.data(), count);
    outcome.classes = codec->CountClasses(values.data(), count);
    if (options.repetitions > 0)
    {
        outcome.encodeSpeed = MeasureSpeed(options.repetitions, count, [&] {
            codec->Encode(values.data(), count, key, code);
        });
        outcome.decodeSpeed = MeasureSpeed(options.repetitions, count, [&] {
            codec->Decode(code.data(), code.size(), key, outcome.decoded.data(), count);
        });
    }
    WriteFile(options.output, code.data(), code.size());
    return outcome;
}

/** @return the outcome of a codec that only an exchange of ranks uses: with one rank */
CodedValues
CodeBucket(const CodecArguments& options, const std::vector<float>& values)
{
    if (!options.output.empty() || options.repetitions > 0)
    {
        MakeCodec(options.codec); // explains why there is no code
    }
    const Ptr<BucketCodec> codec = MakeBucketCodec(options.codec, {1, 0, values.size()});
    const CodecKey key = MakeKey();
    codec->Start(values.data(), key);
    CodedValues outcome;
    for (const BucketPhase& phase : codec->GetPhases())
    {
        const BucketPart part = codec->GetPart();
        outcome.codeBytes += part.code.size() + (part.numbers.size() * phase.bits + 7) / 8;
        codec->Continue({part.numbers, {part.code}});
    }
    outcome.decoded = codec->GetSum();
    return outcome;
}

/** CodedErrors of decoded numbers. */
struct CodedErrors
{
    double largest{0};
    double mean{0};
};

/** @return the errors; infinite if a finite number has become infinite */
CodedErrors
GetErrors(const std::vector<float>& values, const std::vector<float>& decoded)
{
    CodedErrors errors;
    for (std::size_t i = 0; i < values.size(); i++)
    {
        const bool isSame = std::memcmp(&values[i], &decoded[i], sizeof(float)) == 0;
        const double error = isSame ? 0 : std::abs(double{values[i]} - decoded[i]);
        errors.largest = std::max(errors.largest, std::isnan(error) ? INFINITY : error);
        errors.mean += std::isnan(error) ? INFINITY : error;
    }
    errors.mean /= values.empty() ? 1 : static_cast<double>(values.size());
    return errors;
}

/** Codes a file of float32. */
JsonValue
EncodeFile(const CodecArguments& options)
{
    const bool isBucket = Choose<CodecEntry>(options.codec).entry->make == nullptr;
    const std::vector<uint8_t> bytes =
        ReadFile(options.input, isBucket ? BUCKET_MEMORY : CODEC_MEMORY);
    if (bytes.size() % sizeof(float) != 0)
    {
        throw ConfigurationError("--input=" + options.input + ": " + std::to_string(bytes.size()) +
                                 " bytes (allowed: float32, a multiple of 4 bytes)");
    }
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty())
    {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    const CodedValues outcome = isBucket ? CodeBucket(options, values) : Code(options, values);
    const CodedErrors errors = GetErrors(values, outcome.decoded);
    const auto count = static_cast<double>(values.size());
    const auto code = static_cast<double>(outcome.codeBytes);
    const auto share = [](double part, double whole) { return whole == 0 ? 0 : part / whole; };
    auto classes = JsonValue::Array();
    for (const CodecClass& one : outcome.classes)
    {
        classes.Append(JsonValue::Object()
                           .Set("class", one.name)
                           .Set("bits", one.bits)
                           .Set("numbers", one.count)
                           .Set("share", share(static_cast<double>(one.count), count)));
    }
    auto document = JsonValue::Object();
    document.Set("codec", options.codec)
        .Set("numbers", uint64_t{values.size()})
        .Set("bytes", uint64_t{bytes.size()})
        .Set("code_bytes", outcome.codeBytes)
        .Set("ratio", share(4 * count, code))
        .Set("bits_per_number", share(8 * code, count))
        .Set("largest_error", errors.largest)
        .Set("mean_error", errors.mean)
        .Set("classes", classes)
        .Set("encode_MBps", outcome.encodeSpeed)
        .Set("decode_MBps", outcome.decodeSpeed);
    if (options.json == "-")
    {
        return document;
    }
    std::printf("codec            %s\n"
                "numbers          %zu\n"
                "code             %llu bytes of %zu\n"
                "ratio            %.4g\n"
                "bits per number  %.4g\n"
                "largest error    %.6g\n"
                "mean error       %.6g\n",
                options.codec.c_str(),
                values.size(),
                static_cast<unsigned long long>(outcome.codeBytes),
                bytes.size(),
                share(4 * count, code),
                share(8 * code, count),
                errors.largest,
                errors.mean);
    for (const CodecClass& one : outcome.classes)
    {
        std::printf("%-24s %6.4g bits  %12llu numbers  %6.2f %%\n",
                    one.name.c_str(),
                    one.bits,
                    static_cast<unsigned long long>(one.count),
                    100 * share(static_cast<double>(one.count), count));
    }
    if (options.repetitions > 0)
    {
        std::printf("speed            %.0f MB/s encoded, %.0f MB/s decoded (float32, one core)\n",
                    outcome.encodeSpeed,
                    outcome.decodeSpeed);
    }
    return document;
}

/** Decodes a file. */
JsonValue
DecodeFile(const CodecArguments& options)
{
    const Ptr<GradientCodec> codec = MakeCodec(options.codec);
    const std::vector<uint8_t> code = ReadFile(options.input, CODEC_MEMORY);
    CheckMemory(8.0 * static_cast<double>(options.count), "--count");
    std::vector<float> values(options.count);
    const CodecKey key = MakeKey();
    codec->Decode(code.data(), code.size(), key, values.data(), values.size());
    WriteFile(options.output, values.data(), values.size() * sizeof(float));
    if (options.json != "-")
    {
        std::printf("codec            %s\n"
                    "numbers          %llu\n"
                    "code             %zu bytes\n",
                    options.codec.c_str(),
                    static_cast<unsigned long long>(options.count),
                    code.size());
    }
    return JsonValue::Object()
        .Set("codec", options.codec)
        .Set("numbers", options.count)
        .Set("bytes", 4 * options.count)
        .Set("code_bytes", uint64_t{code.size()});
}

/** @return what may be done with the codes of a codec, with its default keys */
std::vector<std::string>
GetWords(const std::string& name, const CodecEntry& entry)
{
    std::vector<std::string> words;
    const auto add = [&](bool isTrue, const char* word) {
        if (isTrue)
        {
            words.emplace_back(word);
        }
    };
    if (entry.make)
    {
        const CodecTraits traits = MakeCodec(name)->GetTraits();
        add(traits.sums, "sums");
        add(traits.elementwise, "elementwise");
        add(traits.fixedSize, "fixed-size");
        add(traits.unbiased, "unbiased");
        add(traits.random, "random");
    }
    const auto phases = MakeBucketCodec(name, {2, 0, 1024})->GetPhases();
    add(phases.size() > 1, "phases");
    add(phases.back().exchange == BucketExchange::SUM, "bucket-sums");
    return words;
}

/** Prints all codecs. */
JsonValue
ListCodecs(const CodecArguments& options)
{
    const bool prints = options.json != "-";
    auto codecs = JsonValue::Array();
    for (const auto& [name, entry] : Registry<CodecEntry>::All())
    {
        const std::vector<std::string> words = GetWords(name, entry);
        auto traits = JsonValue::Array();
        std::string line;
        for (const std::string& word : words)
        {
            traits.Append(word);
            line += (line.empty() ? "" : ", ") + word;
        }
        if (prints)
        {
            std::printf("%s\n    %s\n    traits: %s\n",
                        name.c_str(),
                        entry.help.c_str(),
                        line.empty() ? "none" : line.c_str());
            for (const Key& key : entry.keys)
            {
                std::printf("    %s=%s: %s\n",
                            key.name.c_str(),
                            key.initial.empty() ? key.GetAllowed().c_str() : key.initial.c_str(),
                            key.help.c_str());
            }
        }
        auto costs = JsonValue::Object();
        const auto addCost = [&](const char* place, const std::optional<CodecTime>& time) {
            if (time)
            {
                costs.Set(place,
                          JsonValue::Object()
                              .Set("encode_ns", time->encode)
                              .Set("decode_ns", time->decode));
                if (prints)
                {
                    std::printf("    %s: %.3g ns to encode a number, %.3g ns to decode it\n",
                                place,
                                time->encode,
                                time->decode);
                }
            }
        };
        addCost("gpu", entry.cost.gpu);
        addCost("cpu", entry.cost.cpu);
        addCost("nic", entry.cost.nic);
        if (prints && !entry.cost.source.empty())
        {
            std::printf("    source: %s\n", entry.cost.source.c_str());
        }
        codecs.Append(JsonValue::Object()
                          .Set("name", name)
                          .Set("help", entry.help)
                          .Set("traits", traits)
                          .Set("cost", costs)
                          .Set("source", entry.cost.source));
    }
    return JsonValue::Object().Set("codecs", codecs);
}

/** Refuses options that would have no effect. */
void
CheckCodecArguments(const CodecArguments& options, const ProgramOptions& given)
{
    const auto refuse = [&](const std::string& name, const std::string& reason) {
        if (given.IsGiven(name))
        {
            throw ConfigurationError("--" + name + " has no effect " + reason);
        }
    };
    if (options.list)
    {
        for (const char* name : {"codec", "input", "output", "decode", "count", "repetitions"})
        {
            refuse(name, "with --list");
        }
        return;
    }
    if (options.input.empty())
    {
        throw ConfigurationError("--input: no file (allowed: one of float32, or of a code)");
    }
    if (options.decode)
    {
        refuse("repetitions", "with --decode");
        if (!given.IsGiven("count"))
        {
            throw ConfigurationError("--count: is needed by --decode, because a code does not "
                                     "contain the count of its numbers");
        }
    }
    else
    {
        refuse("count", "without --decode");
    }
}

} // namespace

int
RunGradientCodec(const std::vector<std::string>& arguments)
{
    CodecArguments options;
    ProgramOptions given("gradient-codec",
                         "Codes files of float32 by a gradient codec, and prints the ratio and the "
                         "errors.");
    given.Group("Files");
    given.AddKind("codec",
                  "codec",
                  "gradient codec",
                  options.codec,
                  &DescribeAlternatives<CodecEntry>);
    given.AddString("input", "file of float32, or of a code with --decode", options.input);
    given.AddOutput("output",
                    "file for the code, or for float32 with --decode",
                    options.output,
                    OutputKind::ANY);
    given.AddBool("decode", "whether to decode instead of encode", options.decode);
    given.AddUnsigned("count",
                      "numbers of the code, for --decode",
                      options.count,
                      0,
                      uint64_t{1} << 40);
    given.AddUnsigned("repetitions",
                      "of encoding and of decoding, for their speed; 0: it is not measured",
                      options.repetitions,
                      0,
                      1000000);
    given.AddBool("list", "whether to list all codecs", options.list);
    given.AddJson(options.json);
    given.Parse(arguments);
    CheckCodecArguments(options, given);
    const JsonOutput json(options.json);
    JsonValue document = JsonValue::Object();
    try
    {
        document = options.list     ? ListCodecs(options)
                   : options.decode ? DecodeFile(options)
                                    : EncodeFile(options);
    }
    catch (const CodecError& error)
    {
        throw ConfigurationError("--input=" + options.input + ": " + error.what());
    }
    document.Set("configuration", given.ToJson()).Set("version", GetVersion());
    json.Write(document);
    return 0;
}

} // namespace ns3::training
