"""A small trace of our own making in each form of other tools, and the accesses that it stands for."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cxloom.trace import FLUSH_KEEPING, READ, WRITE, TraceBatch


@dataclass(frozen=True)
class Form:
    """What one form of trace looks like."""

    content: bytes
    batch: TraceBatch
    """With a tick of 1 ns, if there are ticks."""
    garbage: bytes = b"rubbish\n"
    """What no line of it is; of a form with records there is no such thing."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What has to be said beside it, but for a tick."""
    ticks: bool = False
    needs_format: bool = False
    """Whether its content could be of another form."""

    @property
    def has_lines(self) -> bool:
        """Whether it is text."""
        return b"\0" not in self.content


def lines(address: int, count: int) -> list[int]:
    """The addresses of so many lines."""
    return [address + 64 * i for i in range(count)]


def champsim(written: list[int], read: list[int], cloudsuite: bool = False) -> bytes:
    """A record: address, flags of a branch, registers, addresses written and read."""
    most = 4 if cloudsuite else 2
    places = [*written, *[0] * (most - len(written)), *read, *[0] * (4 - len(read))]
    head = struct.pack("<QBB", 0x400000, 1, 1) + bytes(14 if cloudsuite else 6)
    return head + struct.pack(f"<{len(places)}Q", *places) + bytes(8 if cloudsuite else 0)


def _champsim(cloudsuite: bool) -> Form:
    content = champsim([], [], cloudsuite) + champsim([0x88], [0x7FFF0000], cloudsuite)
    content += champsim([], [0x40], cloudsuite) * 3
    return Form(
        content,
        TraceBatch.of(
            [0x7FFF0000, 0x80, 0x40, 0x40, 0x40],
            [READ, WRITE, READ, READ, READ],
            instruction_gap=[2, 0, 1, 1, 1],
        ),
    )


_BLKPARSE = b"""\
  8,0    3        1     0.000000000   697  %c   W 16 + 8 [kjournald]
  8,0    3        2     0.000002000   697  %c  RA 32 + 1 [cp]
  8,0    3        3     0.500000000     0  C   W 16 + 8 [0]
CPU3 (8,0):
 Reads Queued:           1,        1KiB
"""
_BLOCKS = TraceBatch.of(
    [*lines(8192, 64), *lines(16384, 8)],
    [*[WRITE] * 64, *[READ] * 8],
    timestamp=[*[0] * 64, *[2_000_000] * 8],
)

FORMS: dict[str, Form] = {
    "dramsim3": Form(
        b"0x40 READ 0\n0x1f40 WRITE 3\n0x80 READ 3\n",
        TraceBatch.of([0x40, 0x1F40, 0x80], [READ, WRITE, READ], timestamp=[0, 3000, 3000]),
        ticks=True,
    ),
    "dramsim2-mase": Form(
        b"0x40 IFETCH 0\n0x1f40 WRITE 3\n",
        TraceBatch.of([0x40, 0x1F40], [READ, WRITE], timestamp=[0, 3000]),
        ticks=True,
    ),
    "dramsim2-k6": Form(
        b"0x40 P_MEM_RD 1\n0x1F40 P_MEM_WR 3\n0x80 BOFF 3\n0x80 P_FETCH 4\n",
        TraceBatch.of(
            [0x40, 0x1F40, 0x80, 0x80], [READ, WRITE, WRITE, READ], timestamp=[1000, 3000, 3000, 4000]
        ),
        ticks=True,
    ),
    "ramulator-dram": Form(
        b"0x12345680 R\n0x4cbd56c8 W\n", TraceBatch.of([0x12345680, 0x4CBD56C0], [READ, WRITE])
    ),
    "ramulator2-load-store": Form(b"LD 0x40\nST 8000\n", TraceBatch.of([0x40, 8000], [READ, WRITE])),
    "ramulator2-read-write": Form(
        b"R 0,0,3\nW 1,2,3\n",  # of 2 channels with 3 banks of 4 bursts
        TraceBatch.of([3 * 64, (12 + 2 * 4 + 3) * 64], [READ, WRITE]),
        options={"levels": [2, 3, 4]},
    ),
    "ramulator2-simple-o3": Form(
        b"3 8000 16000\n0 64\n",
        TraceBatch.of([8000, 16000, 64], [READ, WRITE, READ], instruction_gap=[4, 0, 1]),
    ),
    "dramsys-stl": Form(
        b"# of a player\n31: read 0x400140\n33:\t(128) write 0x400180 0x0123\n",
        TraceBatch.of([0x400140, 0x400180], [READ, WRITE], size=[64, 128], timestamp=[31_000, 33_000]),
        ticks=True,
        needs_format=True,
    ),
    "dramsys-rstl": Form(
        b"31: read 0x400140\n2: write 0x400180\n",
        TraceBatch.of([0x400140, 0x400180], [READ, WRITE], timestamp=[31_000, 33_000]),
        ticks=True,
        needs_format=True,
    ),
    "champsim": _champsim(cloudsuite=False),
    "champsim-cloudsuite": _champsim(cloudsuite=True),
    "dinero": Form(
        b"2 400\n0 1fc4\n1 10\n4 20\n",
        TraceBatch.of([0x1FC4, 0x10, 0x20], [READ, WRITE, FLUSH_KEEPING], size=4, instruction_gap=[1, 0, 0]),
    ),
    "dinero-extended": Form(
        b"i 400 4\nr 1fc7 8\nw 10 2\n",
        TraceBatch.of([0x1FC7, 0x10], [READ, WRITE], size=[8, 2], instruction_gap=[1, 0]),
    ),
    "pinatrace": Form(
        b"0x7f0c4: R 0x7ffe48\n0x7f0c8: W 0x80\n#eof\n", TraceBatch.of([0x7FFE40, 0x80], [READ, WRITE])
    ),
    "prospero": Form(
        b"0 R 10 8\n4 W 4096 64\n",
        TraceBatch.of([10, 4096], [READ, WRITE], size=[8, 64], timestamp=[0, 4000]),
        ticks=True,
    ),
    "msr": Form(
        b"128166372003061629,hm,1,Read,4096,512,413\n128166372003061654,hm,1,Write,1024,128,1\n",
        TraceBatch.of(
            [*lines(4096, 8), 1024, 1088],
            [*[READ] * 8, WRITE, WRITE],
            thread=1,
            timestamp=[*[0] * 8, 2_500_000, 2_500_000],
        ),
    ),
    "blkparse": Form(_BLKPARSE % (b"D", b"D"), _BLOCKS),
    "blkparse-queued": Form(_BLKPARSE % (b"Q", b"Q"), _BLOCKS, needs_format=True),
    "mqsim": Form(
        b"938513000 4 16 1 0\n938513002 4 1 1 1\n",
        TraceBatch.of(
            [*lines(8192, 8), *lines(512, 8)],
            [*[WRITE] * 8, *[READ] * 8],
            thread=4,
            timestamp=[*[0] * 8, *[2000] * 8],
        ),
        ticks=True,
    ),
}
