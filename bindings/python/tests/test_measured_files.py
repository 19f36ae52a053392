# SPDX-License-Identifier: GPL-2.0-only
"""read_measured(): outputs of benchmarks as they are printed."""

import pytest
from distributed_training.measured_files import read_measured

NCCL = """\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid    944 on node-a device  0 [0x0f] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid    945 on node-b device  0 [0x0f] NVIDIA A100-SXM4-40GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    20.00    0.00    0.00      0    21.00    0.00    0.00      0
node-a:944:944 [0] NCCL INFO Connected all rings
     1048576        262144     float     sum      -1    104.9   10.00   10.00      0    105.9    9.90    9.90    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 5
"""

PERFTEST = """\
---------------------------------------------------------------------------------------
                    RDMA_Write {test} Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Mtu             : 4096[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x40 QPN 0x038e PSN 0x85d384 RKey 0x1812d1 VAddr 0x007a176aa8c000
 remote address: LID 0x6e QPN 0x0562 PSN 0xef405d RKey 0x1832f1 VAddr 0x0073636820b000
---------------------------------------------------------------------------------------
{rows}
---------------------------------------------------------------------------------------
"""
LATENCY = """\
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
Conflicting CPU frequency values detected: 3393.693000 != 1500.000000. CPU Frequency is not max.
 2       1000          1.42           1.93         1.47                1.48             0.00            1.57                    1.93"""
BANDWIDTH = """\
 #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]
 65536      20000            112.00             100.00             0.213070"""

OSU = """\

# OSU MPI{kind} {title} Test v7.5
# Datatype: MPI_CHAR.
# Size       {column}
1024                   10.24
"""


def read(tmp_path, text, name="measured.txt", **options):
    path = tmp_path / name
    path.write_text(text)
    return [
        row._replace(place=row.place.rpartition(":")[2]) for row in read_measured(path, **options)
    ]


def test_nccl_tests(tmp_path):
    rows = read(tmp_path, NCCL)
    assert rows == [
        ("all-reduce", 2, 2, 8, 20.0, False, False, "11"),
        ("all-reduce", 2, 2, 1048576, 104.9, False, False, "13"),
    ]
    for test, operation in {"alltoall": "all-to-all", "sendrecv": "send-receive"}.items():
        assert read(tmp_path, NCCL.replace("all_reduce", test))[0].operation == operation


def test_operation_of_nccl_tests_without_its_name(tmp_path):
    text = NCCL.partition("\n")[2]
    lines = {
        ("sum      -1", "10.00   10.00"): "all-reduce",
        ("sum      -1", "10.00    5.00"): "reduce-scatter",
        ("sum       0", "10.00   10.00"): "reduce",
        ("none       0", "10.00   10.00"): "broadcast",
    }
    for (columns, rates), operation in lines.items():
        changed = text.replace("sum      -1", columns).replace("10.00   10.00", rates)
        changed = changed.replace("0.00    0.00      0  ", "0.01    0.01      0  ")
        assert read(tmp_path, changed)[-1].operation == operation
    none = text.replace("sum      -1", "none      -1")
    assert read(tmp_path, none, "2026 all-gather.log")[0].operation == "all-gather"
    with pytest.raises(ValueError, match="measured.txt:10: the operation is not in the file"):
        read(tmp_path, none)


def test_perftest(tmp_path):
    latency = PERFTEST.format(test="Latency", rows=LATENCY)
    assert read(tmp_path, latency) == [("write", 2, 2, 2, 1.48, False, True, "13")]
    rates = {"Gb/sec": 12.5e3, "MB/sec": 100 * 2**20 / 1e6}
    for unit, rate in rates.items():
        text = PERFTEST.format(test="BW", rows=BANDWIDTH.format(unit=unit))
        (row,) = read(tmp_path, text)
        assert row.streams and row.raw and row.time_us == pytest.approx(65536 / rate)


@pytest.mark.parametrize(
    "title, kind, operation, size, time_us",
    [
        ("Allreduce Latency", "", "all-reduce", 1024, 10.24),
        ("Allgather Latency", "-CUDA", "all-gather", 4096, 10.24),
        ("All-to-All Personalized Exchange Latency", "", "all-to-all", 4096, 10.24),
        ("Latency", "", "write", 1024, 10.24),
        ("Bandwidth", "-CUDA", "write", 1024, 100),
    ],
)
def test_osu(tmp_path, title, kind, operation, size, time_us):
    text = OSU.format(kind=kind, title=title, column="Avg Latency(us)")
    (row,) = read(tmp_path, text, ranks=4)
    assert row[:1] == (operation,) and row.bytes == size and row.time_us == pytest.approx(time_us)
    assert row.ranks == (2 if operation == "write" else 4) and row.servers == 0


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("104.9   10.00", "404.9   10.00", r"measured.txt:13: 10.00 GB/s with 1048576 bytes"),
        ("104.9   10.00", "104.9", r"measured.txt:13: 12 columns \(allowed: 8, 9 or 13"),
        ("20.00    0.00", "twenty   0.00", r"measured.txt:11: twenty \(allowed: a number above 0"),
        ("10.00      0", "10.00      3", r"measured.txt:13: 3 wrong results \(allowed: 0\)"),
        ("# Out of", "Out of", r"measured.txt:14: Out of bounds values : 0 OK \(allowed: rows"),
        ("all_reduce", "all_reduc", r"measured.txt:11: all_reduc_perf; did you mean 'all_reduce'"),
        ("#  Rank ", "#  rank ", r"measured.txt:11: the number of ranks is not in the file"),
        ("#       size", "#       Size", r"measured.txt:11: 8 2 float .* without a heading"),
    ],
)
def test_damaged_files(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, NCCL.replace(old, new))


def test_files_of_other_kinds(tmp_path):
    with pytest.raises(ValueError, match=r"no rows \(allowed: outputs of nccl-tests"):
        read(tmp_path, "# nothing\n")
    with pytest.raises(ValueError, match=":2: OSU's multiple bandwidth / message rate test"):
        read(
            tmp_path, OSU.format(kind="", title="Multiple Bandwidth / Message Rate", column="MB/s")
        )
    with pytest.raises(ValueError, match=":5: the number of ranks is not in the file"):
        read(tmp_path, OSU.format(kind="", title="Allreduce Latency", column="Avg Latency(us)"))
    with pytest.raises(FileNotFoundError):
        read_measured(tmp_path / "no.txt")
