# SPDX-License-Identifier: GPL-2.0-only
"""Wireshark reads the files of --pcap as RoCEv2 and 802.1Qbb."""

import collections
import shutil
import struct
import subprocess
import zlib

import pytest

SENDERS = 8
BYTES = 500001
MTU = 4096
PACKETS = 123  # of a message, the last one shorter
CONGESTED = [
    f"--ranks={SENDERS + 1}",
    f"--pattern=incast:{SENDERS}",
    f"--bytes={BYTES}",
    f"--mtu={MTU}",
    "--buffer=1M",
]
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMMEDIATE, ACKNOWLEDGE, CNP = 6, 7, 9, 17, 129


@pytest.fixture(scope="module")
def capture(program_json, tmp_path_factory):
    """The prefix of the capture files of an incast, and its JSON output."""
    prefix = tmp_path_factory.mktemp("capture") / "incast"
    result = program_json("fabric-benchmark", *CONGESTED, f"--pcap={prefix}")
    assert result["dropped_frames"] == 0 and result["pause_frames"] > 0
    return prefix, result


@pytest.fixture(scope="module")
def decode(capture):
    """Decode the capture file of a port with tshark: a dictionary of the fields of each frame."""
    tshark = shutil.which("tshark")
    if not tshark:
        pytest.skip("tshark is not installed (Debian: apt-get install tshark)")

    def run(port, *fields):
        command = [tshark, "-n", "-o", "ip.check_checksum:TRUE", "-r", f"{capture[0]}-{port}.pcap"]
        command += ["-T", "fields", "-E", "occurrence=f"]
        command += [word for field in fields for word in ("-e", field)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in process.stdout.splitlines()]
        return [dict(zip(fields, row)) for row in rows]

    return run


def read_frames(path):
    """Return the time in ns and the bytes of every frame of a capture file."""
    data = path.read_bytes()
    assert struct.unpack_from("<IHHiIII", data) == (0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    frames, at = [], 24
    while at < len(data):
        seconds, nanoseconds, size, original = struct.unpack_from("<IIII", data, at)
        assert size == original
        frames.append((seconds * 10**9 + nanoseconds, data[at + 16 : at + 16 + size]))
        at += 16 + size
    return frames


def get_invariant_crc(packet):
    """Return the invariant CRC of a RoCEv2 packet, starting at its IPv4 header (annex A17.3.3)."""
    masked = bytearray(packet[:-4])
    for at in (1, 8, 10, 11, 26, 27, 32):  # fields that routers may change
        masked[at] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def test_every_frame_of_every_port_is_captured(capture):
    prefix, result = capture
    ports = [f"host{host}-0" for host in range(SENDERS + 1)]
    ports += [f"switch0-{port}" for port in range(SENDERS + 1)]
    assert {path.name for path in prefix.parent.iterdir()} == {
        f"{prefix.name}-{port}.pcap" for port in ports
    }
    ethertypes = collections.Counter()
    for port in ports:
        frames = read_frames(prefix.with_name(f"{prefix.name}-{port}.pcap"))
        assert [time for time, _ in frames] == sorted(time for time, _ in frames)
        ethertypes.update(frame[12:14] for _, frame in frames)
    # Each frame is sent by one port and received by another; a few are in flight at the end.
    hops = result["data_packet_hops"] + result["ack_packet_hops"]
    assert hops * 2 - 2 * SENDERS <= ethertypes[b"\x08\x00"] <= hops * 2
    pauses = result["pause_frames"]
    assert pauses * 2 - 2 * SENDERS <= ethertypes[b"\x88\x08"] <= pauses * 2


def test_invariant_crcs(capture):
    path = capture[0].with_name(f"{capture[0].name}-host0-0.pcap")
    packets = [frame[14:] for _, frame in read_frames(path)]
    assert len(packets) > SENDERS * PACKETS
    for packet in packets:
        assert packet[-4:] == get_invariant_crc(packet)


def test_a_run_is_the_same_with_a_capture(capture, program_json):
    without = program_json("fabric-benchmark", *CONGESTED)
    for name in ("events", "simulated_time_us", "data_packet_hops", "pause_frames"):
        assert capture[1][name] == without[name]


@pytest.mark.parametrize("name", ["fabric-benchmark", "collective-benchmark"])
def test_no_data_are_for_the_queue_pairs_of_management(program_json, tmp_path, name):
    options = ["--ranks=3", "--bytes=30000", f"--pcap={tmp_path}/x"]
    program_json(name, *options)
    for host in range(3):
        frames = [frame for _, frame in read_frames(tmp_path / f"x-host{host}-0.pcap")]
        numbers = {int.from_bytes(frame[47:50], "big") for frame in frames}  # after IPv4 and UDP
        assert min(numbers) >= 2, "Wireshark takes 0 and 1 for management datagrams"


def test_tshark_decodes_rocev2(decode):
    bth = "infiniband.bth."
    frames = decode(
        "host0-0",
        "frame.protocols",
        "ip.checksum.status",
        "udp.dstport",
        "udp.length",
        "ip.src",
        "ip.dsfield.dscp",
        "ip.dsfield.ecn",
        f"{bth}opcode",
        f"{bth}psn",
        f"{bth}padcnt",
        f"{bth}p_key",
        f"{bth}destqp",
        "infiniband.reth.dmalen",
        "infiniband.aeth.syndrome.opcode",
        "_ws.expert.message",
    )
    by_opcode = collections.defaultdict(list)
    for frame in frames:
        assert frame["frame.protocols"].startswith("eth:ethertype:ip:udp:infiniband")
        assert frame["ip.checksum.status"] == "1", "good"
        assert frame["udp.dstport"] == "4791"
        assert frame[f"{bth}p_key"] in ("0xffff", "65535")
        assert frame["_ws.expert.message"] == ""
        by_opcode[int(frame[f"{bth}opcode"])].append(frame)
    assert set(by_opcode) == {WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMMEDIATE, ACKNOWLEDGE, CNP}
    counts = {opcode: len(found) for opcode, found in by_opcode.items()}
    assert counts[WRITE_FIRST] == counts[WRITE_LAST_IMMEDIATE] == SENDERS
    assert counts[WRITE_MIDDLE] == SENDERS * (PACKETS - 2)
    assert {f["infiniband.reth.dmalen"] for f in by_opcode[WRITE_FIRST]} == {str(BYTES)}
    # UDP, base transport header, RETH or immediate, payload with pad bytes, invariant CRC.
    lengths = {opcode: {int(f["udp.length"]) for f in found} for opcode, found in by_opcode.items()}
    rest = BYTES - (PACKETS - 1) * MTU
    assert lengths[WRITE_FIRST] == {8 + 12 + 16 + MTU + 4}
    assert lengths[WRITE_MIDDLE] == {8 + 12 + MTU + 4}
    assert lengths[WRITE_LAST_IMMEDIATE] == {8 + 12 + 4 + rest + -rest % 4 + 4}
    assert {f[f"{bth}padcnt"] for f in by_opcode[WRITE_LAST_IMMEDIATE]} == {str(-rest % 4)}
    assert lengths[ACKNOWLEDGE] == {8 + 12 + 4 + 4} and lengths[CNP] == {8 + 12 + 16 + 4}
    assert {f["infiniband.aeth.syndrome.opcode"] for f in by_opcode[ACKNOWLEDGE]} == {"0"}

    numbers = collections.defaultdict(list)
    for frame in frames:
        if int(frame[f"{bth}opcode"]) in (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMMEDIATE):
            numbers[frame["ip.src"]].append(int(frame[f"{bth}psn"]))
            assert frame["ip.dsfield.dscp"] == "26" and frame["ip.dsfield.ecn"] in ("2", "3")
        else:
            is_cnp = int(frame[f"{bth}opcode"]) == CNP
            assert frame["ip.dsfield.dscp"] == ("48" if is_cnp else "26")
            assert frame["ip.src"] == "10.0.0.1"
    assert set(numbers) == {f"10.0.0.{2 + sender}" for sender in range(SENDERS)}
    assert all(found == list(range(PACKETS)) for found in numbers.values())
    # Without a marked packet there would be no CNP.
    assert any(f["ip.dsfield.ecn"] == "3" for f in frames)


def test_tshark_decodes_pauses(decode):
    cbfc = "macc.cbfc."
    frames = decode(
        "host1-0",
        "frame.protocols",
        "frame.len",
        "eth.dst",
        "macc.opcode",
        f"{cbfc}enbv",
        *(f"{cbfc}pause_time.c{priority}" for priority in range(8)),
        "_ws.expert.message",
    )
    pauses = [frame for frame in frames if frame["macc.opcode"]]
    assert pauses and len(pauses) < len(frames)
    for pause in pauses:
        assert pause["frame.protocols"] == "eth:ethertype:macc"
        assert pause["frame.len"] == "60"
        assert pause["eth.dst"] == "01:80:c2:00:00:01"
        assert int(pause["macc.opcode"], 16) == 0x0101
        assert int(pause[f"{cbfc}enbv"], 16) == 1 << 3
        assert pause["_ws.expert.message"] == ""
    assert {pause[f"{cbfc}pause_time.c3"] for pause in pauses} == {"0", "65535"}


@pytest.mark.parametrize("name", ["training-job", "collective-benchmark", "fabric-benchmark"])
def test_refused_before_the_run(program, name, tmp_path):
    process = program(name, f"--pcap={tmp_path}/missing/x", "--json=-")
    assert process.returncode == 2
    assert f"--pcap={tmp_path}/missing/x: " in process.stderr and "allowed" in process.stderr
    assert process.stderr.count("\n") == 1 and process.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_more_ports_than_files_that_can_be_open(build, tmp_path):
    command = [build.get_program("fabric-benchmark"), "--ranks=64", f"--pcap={tmp_path}/x"]
    process = subprocess.run(
        ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", *command],
        env=build.get_environment(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2 and "128 ports" in process.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 1000000])  # detected at the end, or earlier
def test_a_full_disk_ends_the_run(program, tmp_path, size):
    (tmp_path / "x-host0-0.pcap").symlink_to("/dev/full")
    arguments = ["--ranks=2", f"--bytes={size}", f"--pcap={tmp_path}/x"]
    process = program("fabric-benchmark", *arguments)
    assert process.returncode == 1
    assert process.stderr == (
        f"fabric-benchmark: capture file '{tmp_path}/x-host0-0.pcap' cannot be written\n"
    )
