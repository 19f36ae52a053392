/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_INCEPTIONN_VECTORS_H
#define DISTRIBUTED_TRAINING_INCEPTIONN_VECTORS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/**
 * A code of INCEPTIONN, made by an implementation in Python that shares nothing with the module.
 */
struct InceptionnVector
{
    std::string name;    ///< what it shows
    std::string variant; ///< key variant
    std::string bound;   ///< key bound
    std::string input;   ///< float32 in hexadecimal, 8 digits each
    std::string code;    ///< bytes in hexadecimal
    std::string decoded; ///< float32 in hexadecimal
};

/** @return the vectors */
inline const std::vector<InceptionnVector>&
GetInceptionnVectors()
{
    static const std::vector<InceptionnVector> vectors{
        {"special values",
         "paper",
         "-6",
         "000000008000000000000001807fffff008000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7fffffbf7fffff3f800001",
         "00fcffff7f7f0000807f000080ffffeb0000c07f4523c1ff0100807f0000803f000080bfff7fffff0100803f",
         "00000000000000000000000000000000000000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7ffe00bf7ffe003f800001"},
        {"around the limits of the classes",
         "paper",
         "-6",
         "3c7fffff3c8000003c800001bc8000003dffffff3e0000003e000001be0000003f7fffff3f8000003f800001"
         "bf8000003bffffff3c0000003c000001bc00000037ffffff3800000038000001b8000000",
         "54a90202820f001000100090fe00ff7f0000803f0100803f000080bf0000",
         "000000003c8000003c800000bc8000003df000003e0000003e000000be0000003f7ffe003f8000003f800001"
         "bf8000000000000000000000000000000000000000000000000000000000000000000000"},
        {"one group of zeros",
         "paper",
         "-6",
         "0000000000000000000000000000000000000000000000000000000000000000",
         "0000",
         "0000000000000000000000000000000000000000000000000000000000000000"},
        {"a float of each class",
         "paper",
         "-6",
         "398000003dc00000be99999a3fc0000000000000bf8000003f19999abc800000",
         "e46c0c66a60000c03f000080bfcc4c82",
         "000000003dc00000be9998003fc0000000000000bf8000003f199800bc800000"},
        {"one float", "paper", "-6", "bf333333", "020099d9", "bf333200"},
        {"nine floats",
         "paper",
         "-6",
         "3d100416bdf707a8bd6b8e133c9f94febdd401adbba6cc603bdaa6edbd9d600f3c5c28e0",
         "5541048f87028d890000",
         "3d000000bdf00000bd6000003c800000bdd000000000000000000000bd90000000000000"},
        {"three groups of all exponents",
         "paper",
         "-6",
         "3ef46419bf6a5262402d313bc0cc54ca385c9e72bd39a2a03e3ade47bd4cdcc3c094ccbdbd16a50338d720af"
         "c0282d23bc8f8bf2b8dff172bdaaf4fc3959b796ba08dd63",
         "fa64193d29f53b312d40ca54ccc0855b1786c711bdcc94c084232d28c0828a0000",
         "3ef46400bf6a5200402d313bc0cc54ca00000000bd2000003e3ad800bd400000c094ccbdbd00000000000000"
         "c0282d23bc80000000000000bda000000000000000000000"},
        {"any bits",
         "paper",
         "-6",
         "36e582519c8a2310696aa097b7ca77bd3010759622805378359e06efefae81698a0363ce3a54efa0df7ba267"
         "0cfd9ba575e7e9b1",
         "30c097a06a696981aeef300367a27bdfb1e9e775",
         "0000000000000000696aa09700000000000000000000000000000000efae81690000000000000000df7ba267"
         "0000000075e7e9b1"},
        {"special values",
         "paper",
         "-8",
         "000000008000000000000001807fffff008000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7fffffbf7fffff3f800001",
         "00fcffff7f7f0000807f000080ffffeb0000c07f4523c1ff0100807f0000803f000080bfff7fffff0100803f",
         "00000000000000000000000000000000000000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7ffe00bf7ffe003f800001"},
        {"around the limits of the classes",
         "paper",
         "-8",
         "3b7fffff3b8000003b800001bb8000003d7fffff3d8000003d800001bd8000003f7fffff3f8000003f800001"
         "bf8000003bffffff3c0000003c000001bc00000037ffffff3800000038000001b8000000",
         "54a900008007000800080088fe55ff7f0000803f0100803f000080bf000101810000",
         "000000000000000000000000000000003d6000003d8000003d800000bd8000003f7ffe003f8000003f800001"
         "bf800000000000003c0000003c000000bc00000000000000000000000000000000000000"},
        {"one group of zeros",
         "paper",
         "-8",
         "0000000000000000000000000000000000000000000000000000000000000000",
         "0000",
         "0000000000000000000000000000000000000000000000000000000000000000"},
        {"a float of each class",
         "paper",
         "-8",
         "398000003d400000be99999a3fc0000000000000bf8000003f19999abb800000",
         "e46c0666a60000c03f000080bfcc4c80",
         "000000003d400000be9998003fc0000000000000bf8000003f19980000000000"},
        {"one float", "paper", "-8", "bf333333", "020099d9", "bf333200"},
        {"nine floats",
         "paper",
         "-8",
         "3c58b9f0bdac77b03ca4afdb3c0a89e6bd2b3b203c818496bd0f32bb3da3dd033d155ff5",
         "599501c78a02018502843d0a010004",
         "3c000000bdac70003c8000003c000000bd2000003c800000bd0000003da3d0003d000000"},
        {"three groups of all exponents",
         "paper",
         "-8",
         "bf56e8833cd564b43c222c9439f5e582beb9a9b93b12f94ebb42cea8bbfc22953ad14a5ebdfbb150b8363138"
         "c05426c1bc0c0774bf7bfd2eb860523d3f237f92ba5e56e3",
         "164274eb03016aae80c889bb8fc12654c081fefdbf510000",
         "bf56e8003cc000003c00000000000000beb9a80000000000000000000000000000000000bdfbb00000000000"
         "c05426c1bc000000bf7bfc00000000003f237e0000000000"},
        {"any bits",
         "paper",
         "-8",
         "1d1f1b6c3407822bcfc0fdbeaff79ad06aee0f2cc28e8ab73d3e7bfea31575908a498046d60427c3c508fcc7"
         "9036cc4609573851",
         "301fbefdc0cf2c0fee6ab78a8ec2053c00c32704d6c7fc08c5",
         "0000000000000000cfc0fdbe000000006aee0f2cc28e8ab73d2000000000000000000000d60427c3c508fcc7"
         "0000000000000000"},
        {"special values",
         "paper",
         "-10",
         "000000008000000000000001807fffff008000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7fffffbf7fffff3f800001",
         "00fcffff7f7f0000807f000080ffffeb0000c07f4523c1ff0100807f0000803f000080bfff7fffff0100803f",
         "00000000000000000000000000000000000000007f7fffff7f800000ff8000007fc00000ffc123457f800001"
         "3f800000bf8000003f7ffe00bf7ffe003f800001"},
        {"around the limits of the classes",
         "paper",
         "-10",
         "3a7fffff3a8000003a800001ba8000003cffffff3d0000003d000001bd0000003f7fffff3f8000003f800001"
         "bf8000003bffffff3c0000003c000001bc00000037ffffff3800000038000001b8000000",
         "54a900008003000400040084fe55ff7f0000803f0100803f000080bf000101810000",
         "000000000000000000000000000000003cc000003d0000003d000000bd0000003f7ffe003f8000003f800001"
         "bf800000000000003c0000003c000000bc00000000000000000000000000000000000000"},
        {"one group of zeros",
         "paper",
         "-10",
         "0000000000000000000000000000000000000000000000000000000000000000",
         "0000",
         "0000000000000000000000000000000000000000000000000000000000000000"},
        {"a float of each class",
         "paper",
         "-10",
         "398000003cc00000be99999a3fc0000000000000bf8000003f19999aba800000",
         "e46c0366a60000c03f000080bfcc4c80",
         "000000003cc00000be9998003fc0000000000000bf8000003f19980000000000"},
        {"one float", "paper", "-10", "bf333333", "020099d9", "bf333200"},
        {"nine floats",
         "paper",
         "-10",
         "3d80404abc0549733c9571e8bca96c5abb4e0b4dbcb5cc423d845f17bc6f350d3d5c8569",
         "5665040881028280824508810200e406",
         "3d804000bc0000003c800000bc80000000000000bc8000003d845000bc0000003d5c8000"},
        {"three groups of all exponents",
         "paper",
         "-10",
         "b8da8b39406712513b0f7e193c082db03d9812d3bc83c449bb37282eba8ecb433e2f8c753eb0e9153e509502"
         "bcebdc38388273643cbbea5eb83c7b59388b2e263f3b5b55",
         "5c5651126740000181098280806a04f1153a2c121a83020200ad5d",
         "0000000040671251000000003c0000003d981000bc80000000000000000000003e2f88003eb0e8003e509000"
         "bcc00000000000003c80000000000000000000003f3b5a00"},
        {"any bits",
         "paper",
         "-10",
         "5789d1f576799568be574821ea397d86aaf34ee5b8ccb0aa5025b9a5ef8e29be6692b29427c82464b7972dbb"
         "256a07fd7c608047",
         "eff0f5d1895768957976e99a867d39eaa5b92550be298eef030394b292664780607c",
         "5789d1f576799568be574800ea397d8600000000000000005025b9a5ef8e29be6692b2940000000000000000"
         "000000007c608047"},
        {"no floats", "paper", "-10", "", "", ""},
        {"all of the largest code",
         "paper",
         "-10",
         "40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb",
         "ffffdb0f4940db0f4940db0f4940db0f4940db0f4940db0f4940db0f4940db0f4940",
         "40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb40490fdb"},
        {"fractions whose 8-bit code is 0",
         "paper",
         "-10",
         "3b800000ba8000003bfc5048bbff9724",
         "550000800080",
         "00000000000000000000000000000000"},
        {"limits of the classes and sigma 0.03",
         "bounded",
         "-6",
         "3c7fffff3c8000003c800001bc8000003dffffff3e0000003e000001be0000003f7fffff3f8000003f800001"
         "bf800000bb98712c3b37732cba72c47bbd8b3360",
         "54a91010907f001000100090fe40ff7f0000803f0100803f000080bfc5",
         "000000003c8000003c800000bc8000003dfe00003e0000003e000000be0000003f7ffe003f8000003f800001"
         "bf800000000000000000000000000000bd8a0000"},
        {"limits of the classes and sigma 0.03",
         "grace",
         "-6",
         "3c7fffff3c8000003c800001bc8000003dffffff3e0000003e000001be0000003f7fffff3f8000003f800001"
         "bf800000bb98712c3b37732cba72c47bbd8b3360",
         "54a901018107000800080088fe40ff3f0000803f0100803f000080bf84",
         "000000003c8000003c800000bc8000003de000003e0000003e000000be0000003f7ffc003f8000003f800001"
         "bf800000000000000000000000000000bd800000"},
        {"two groups of all exponents",
         "bounded",
         "-6",
         "bbf708513b35f1d43d59ed0fba182e63408cafe33eedb4533dd9a33ab89489cbc0e797a23e396d463f12812e"
         "b983a58cbfef90e33f0325bb3e0c1b993ac7be07",
         "101b36e3af8c406d3b6c2b2ba297e7c02d174049e390efbf92418311",
         "00000000000000003d58000000000000408cafe33eedb4003dd8000000000000c0e797a23e3968003f128000"
         "00000000bfef90e33f0324003e0c180000000000"},
        {"limits of the classes and sigma 0.03",
         "bounded",
         "-8",
         "3b7fffff3b8000003b800001bb8000003d7fffff3d8000003d800001bd8000003f7fffff3f8000003f800001"
         "bf8000003d1aaf943b28ab263d51bbfc3bdde448",
         "54a90808887f000800080088fe51ff7f0000803f0100803f000080bf4d680d",
         "000000003b8000003b800000bb8000003d7e00003d8000003d800000bd8000003f7ffe003f8000003f800001"
         "bf8000003d1a0000000000003d5000003bd00000"},
        {"limits of the classes and sigma 0.03",
         "grace",
         "-8",
         "3b7fffff3b8000003b800001bb8000003d7fffff3d8000003d800001bd8000003f7fffff3f8000003f800001"
         "bf8000003d1aaf943b28ab263d51bbfc3bdde448",
         "54a900008003000400040084fe51ff3f0000803f0100803f000080bf020300",
         "000000003c0000003c000000bc0000003d4000003d8000003d800000bd8000003f7ffc003f8000003f800001"
         "bf8000003d000000000000003d4000003c000000"},
        {"two groups of all exponents",
         "bounded",
         "-8",
         "b97a48de3e932cd4bc24ed0340cdef8d3ad6411abdda15dcc0353f4d3869be3c3ddb095839c0edb93974621b"
         "40318543394692cfb9bfd9e73cfeaa76bd7f2b6e",
         "d838cb24948defcd40a18d4d3f35c0c250b00d438531403fff",
         "000000003e932c00bc20000040cdef8d00000000bdda1000c0353f4d000000003ddb00000000000000000000"
         "4031854300000000000000003cfc0000bd7e0000"},
        {"limits of the classes and sigma 0.03",
         "bounded",
         "-10",
         "3a7fffff3a8000003a800001ba8000003cffffff3d0000003d000001bd0000003f7fffff3f8000003f800001"
         "bf800000bad135433cbc5369bc8ccdf0bc45c271",
         "54a90404847f000400040084fe55ff7f0000803f0100803f000080bf865ec6b1",
         "000000003a8000003a800000ba8000003cfe00003d0000003d000000bd0000003f7ffe003f8000003f800001"
         "bf800000bac000003cbc0000bc8c0000bc440000"},
        {"limits of the classes and sigma 0.03",
         "grace",
         "-10",
         "3a7fffff3a8000003a800001ba8000003cffffff3d0000003d000001bd0000003f7fffff3f8000003f800001"
         "bf800000bad135433cbc5369bc8ccdf0bc45c271",
         "54a900008001000200020082fe55ff3f0000803f0100803f000080bf80018180",
         "000000003c0000003c000000bc0000003c8000003d0000003d000000bd0000003f7ffc003f8000003f800001"
         "bf800000bc0000003c800000bc800000bc000000"},
        {"two groups of all exponents",
         "bounded",
         "-10",
         "baa1a9bab9657565be80ac69389dd7223960ae813cde883b39a33b15c0b044e93fd5c701be7c677b3fae1731"
         "3937c5eabda55bcfbdb0dd24bcc0e4943e8c845d",
         "21c4852ba06fe944b0c03b9a01c7d53f8c9f3117ae3f558a0d8be02123",
         "baa0000000000000be80ac0000000000000000003cde000000000000c0b044e93fd5c701be7c60003fae1731"
         "00000000bda55000bdb0d000bcc000003e8c8400"},
    };
    return vectors;
}

/**
 * Codes of 362 floats, the payload of a TCP segment, in variant paper: 0.01 times the sum of 12
 * uniform numbers less 6. Number i of float f is the upper 24 bits of MixBits(seed + (12 f + i)
 * 0x9e3779b97f4a7c15), over 2^24.
 */
struct InceptionnSegment
{
    std::string bound;   ///< key bound
    uint64_t seed;       ///< of the floats
    uint64_t bytes;      ///< size of the code
    uint32_t inputCrc;   ///< CRC-32 of the floats as bytes
    uint32_t codeCrc;    ///< CRC-32 of the code
    uint32_t decodedCrc; ///< CRC-32 of the decoded floats
};

/** @return the segments */
inline const std::vector<InceptionnSegment>&
GetInceptionnSegments()
{
    static const std::vector<InceptionnSegment> segments{
        {"-6", 206, 130, 0x0ee83a05, 0x9f8d60fc, 0x0659162e},
        {"-8", 208, 342, 0xec75c06b, 0xc8451fcb, 0x95a86710},
        {"-10", 210, 420, 0xf1768bec, 0xe09249da, 0xa3b358ee},
    };
    return segments;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_INCEPTIONN_VECTORS_H
