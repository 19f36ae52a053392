/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INPUT_MANIFEST_H
#define DISTRIBUTED_TRAINING_INPUT_MANIFEST_H

#include "training-json-writer.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * What the readers of a process do with the parts of their files: each part that a reader meets is
 * used, ignored, or assumed, so the three sum up to the parts that are read.
 */
class InputManifest
{
  public:
    /** Parts of one name. */
    struct Part
    {
        uint64_t count{0}; ///< their number
        std::string first; ///< place of the first one
    };

    /** A file. */
    struct File
    {
        uint64_t read{0};                    ///< parts
        uint64_t used{0};                    ///< of them
        std::map<std::string, Part> ignored; ///< parts without effect
        std::map<std::string, Part>
            assumed;        ///< parts that are missing or damaged, and their values
        bool isSaid{false}; ///< whether problems of the format say what is assumed

        /** @param count parts that have an effect */
        void Use(uint64_t count = 1)
        {
            read += count;
            used += count;
        }

        /**
         * @param what name of a part that has no effect
         * @param where returns its place, or that of the first one
         * @param count parts of this name
         * @throw ConfigurationError with --strict
         */
        template <class Where>
        void Ignore(const std::string& what, const Where& where, uint64_t count = 1)
        {
            Add(ignored[what], what, "ignored", where, count);
        }

        /**
         * @param what is assumed, and its value
         * @param where its place
         * @throw ConfigurationError with --strict
         */
        void Assume(const std::string& what, const std::string& where)
        {
            Add(
                assumed[what],
                what,
                "assumed",
                [&where] { return where; },
                1);
        }

      private:
        template <class Where>
        void Add(Part& part,
                 const std::string& what,
                 const char* fate,
                 const Where& where,
                 uint64_t count)
        {
            read += count;
            part.count += count;
            if (part.count == count)
            {
                part.first = where();
                CheckStrict(part.first + ": " + what + " is " + fate);
            }
        }
    };

    /**
     * Begins a file anew.
     * @param path of a file
     * @return its record, which stays
     */
    static File& Begin(const std::string& path);

    /** @param path of a file @return its record as it is, which stays */
    static File& Get(const std::string& path)
    {
        return GetAll()[path];
    }

    /** @return all files by path */
    static const std::map<std::string, File>& GetFiles();

    /** @return a line for each file of which something was ignored or assumed */
    static std::vector<std::string> GetLines();

    /** @return `files`: a list with `path`, `read`, `used`, `ignored` and `assumed` of each */
    static JsonValue ToJson();

    /// Whether parts that are ignored or assumed are refused.
    static inline bool strict = false;

  private:
    static void CheckStrict(const std::string& what);
    static std::map<std::string, File>& GetAll();
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_INPUT_MANIFEST_H
