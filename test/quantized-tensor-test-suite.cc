/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/quantized-tensor.h"
#include "quantized-test-common.h"
#include "test-case.h"

#include <memory>

namespace ns3::training::tests::quantized_tensor_test
{

/** @return numbers of both signs, with zeros, whose magnitudes differ from block to block */
Numbers
MakeNumbers(uint64_t count, uint32_t seed)
{
    Numbers numbers;
    for (uint64_t i = 0; i < count; i++)
    {
        const double wave = std::sin(static_cast<double>(i * (seed + 3)) + seed);
        numbers.push_back(i % 5 == 4 ? 0.0F : static_cast<float>(wave * std::pow(10, i % 13)));
    }
    return numbers;
}

void
Check(const TaskCode& code, uint32_t ranks)
{
    GraphTask task;
    task.kind = TaskKind::COLLECTIVE;
    task.code = std::make_shared<TaskCode>(code);
    task.bytes = ranks * code.GetPartBytes();
    const std::string what = std::to_string(code.count) + " numbers of " +
                             std::to_string(code.bits) + " bits, " + std::to_string(ranks) +
                             " ranks";
    const uint64_t bits =
        32 * ((code.count + code.block - 1) / code.block) + code.count * code.bits;
    NS_TEST_EXPECT_MSG_EQ(code.GetPartBytes(), 4 * ((bits + 31) / 32), what);
    std::vector<uint32_t> gathered;
    Numbers all;
    for (uint32_t place = 0; place < ranks; place++)
    {
        task.operation = CollectiveOperation::ALL_GATHER;
        const QuantizedTensor gather(task, ranks, place);
        NS_TEST_ASSERT_MSG_EQ(gather.GetCount(), code.count, what);
        const auto own = MakeNumbers(code.count, place);
        const Coded coded = Quantize(own, code.bits, code.block);
        NS_TEST_EXPECT_MSG_EQ(IsClose(coded, own), true, what << ": within half a step");
        const auto words = GetBits(gather.Encode(own));
        std::vector<uint32_t> expected(words.size());
        std::copy(coded.words.begin(),
                  coded.words.end(),
                  expected.begin() + static_cast<std::ptrdiff_t>(gathered.size()));
        NS_TEST_EXPECT_MSG_EQ(words, expected, what << ": its part only");
        gathered.insert(gathered.end(), coded.words.begin(), coded.words.end());
        all.insert(all.end(), coded.numbers.begin(), coded.numbers.end());
    }
    Numbers words;
    for (uint32_t word : gathered)
    {
        words.push_back(ToFloat(word));
    }
    const QuantizedTensor gather(task, ranks, 0);
    NS_TEST_EXPECT_MSG_EQ(GetBits(gather.Decode(words)), GetBits(all), what);

    task.operation = CollectiveOperation::ALL_TO_ALL;
    for (uint32_t place = 0; place < ranks; place++)
    {
        const QuantizedTensor exchange(task, ranks, place);
        NS_TEST_ASSERT_MSG_EQ(exchange.GetCount(), ranks * code.count, what);
        // What comes from the other ranks is what this one sends, which is no matter here.
        const auto own = MakeNumbers(ranks * code.count, place);
        std::vector<uint32_t> expected;
        Numbers sums;
        for (uint32_t part = 0; part < ranks; part++)
        {
            const Coded coded = Quantize(GetPart(own, part, code.count), code.bits, code.block);
            expected.insert(expected.end(), coded.words.begin(), coded.words.end());
            Add(sums, coded.numbers);
        }
        const auto sent = exchange.Encode(own);
        NS_TEST_EXPECT_MSG_EQ(GetBits(sent), expected, what << ": all parts");
        NS_TEST_EXPECT_MSG_EQ(GetBits(exchange.Decode(sent)),
                              GetBits(sums),
                              what << ": in the order of the senders");
    }
}

/** Words of tensors of one to five ranks, with parts that fill no word and no block. */
void
TestQuantizedTensor()
{
    for (uint32_t ranks : {1, 2, 3, 5})
    {
        for (uint32_t bits : {4, 8})
        {
            for (uint64_t count : {1, 2, 7, 8, 9, 64, 65, 1000})
            {
                for (uint64_t block : {1, 3, 8, 64, 8000})
                {
                    TaskCode code;
                    code.bits = bits;
                    code.block = block;
                    code.count = count;
                    Check(code, ranks);
                }
            }
        }
    }
}

const Suite g_suite("quantized-tensor",
                    Duration::QUICK,
                    {{"words of numbers in code, and numbers of words", TestQuantizedTensor}});

} // namespace ns3::training::tests::quantized_tensor_test
