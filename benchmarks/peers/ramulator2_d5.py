"""Prints the preset ``test-D5`` for Ramulator 2: ``PYTHONPATH=RAMULATOR/python python ramulator2_d5.py``."""

import ramulator
from ramulator.export import dict_to_yaml

dram = ramulator.dram.DDR5(
    org_preset="DDR5_16Gb_x8",
    timing_preset="DDR5_4800C",
    rank=1,
    nCL=40,
    nRCD=39,
    nRP=39,
    nRAS=77,
    nRC=116,
    nWR=72,
    nRTP=18,
    nCWL=38,
    nRRDS=8,
    nRRDL=12,
    nFAW=48,
    nCCDS=8,
    nCCDL=12,
    nCCDS_WR=8,
    nCCDL_WR=12,
    nWTRS=6,
    nWTRL=24,
    nRFC=710,
    nREFI=9375,
)
controller = ramulator.controller.GenericDDR(
    dram=dram,
    scheduler=ramulator.scheduler.FRFCFS(),
    refresh_manager=ramulator.refresh_manager.AllBank(),
    row_policy=ramulator.row_policy.Open(),
    addr_mapper=ramulator.addr_mapper.RoBaRaCoCh(),
)
memory = ramulator.memory_system.GenericDRAM(
    clock_ratio=1,
    controllers=[controller],
    channel_mapper=ramulator.channel_mapper.CacheLineInterleave(),
)
frontend = ramulator.frontend.External(clock_ratio=1)
print(dict_to_yaml({"frontend": frontend.to_config(), "memory_system": memory.to_config()}))
