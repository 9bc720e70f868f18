"""Linux in the guest: its CXL modules, the regions of the address map, and how programs get at them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from cxloom.base.errors import InputError, SimulationError
from cxloom.booting.decoded import KernelMap
from cxloom.booting.guest import Guest
from cxloom.booting.kernel_modules import CXL, DISKS, EARLY, NODES
from cxloom.booting.machine import Machine

MODES = ("kernel", "device", "swap")
"""kernel: memory on CXL is nodes without processors. device: it is devices that a program maps. swap: it is disks for
pages that RAM has no room for."""
SWAP = MODES[2]

_LOOKS = 300
"""How often is looked for devices that have not appeared, once their modules are loaded: half a minute on an idle
computer. Each look is work of the guest, so that these are more seconds where it gets less of the computer."""
_BETWEEN = 0.1  # seconds


def check_mode(mode: str, machine: Machine) -> None:
    """Raises InputError for what is none of MODES, and for devices or disks where no memory is on CXL."""
    if mode not in MODES:
        raise InputError("no mode", found=f"'{mode}'", allowed=" or ".join(MODES), path="--mode")
    if mode != MODES[0] and not machine.sets:
        raise InputError(
            "no memory of this machine is on CXL, that could be devices or disks",
            found=mode,
            allowed=f"{MODES[0]}; or a system with such memory",
            path="--mode",
        )


def load_modules(guest: Guest, mode: str) -> None:
    """Loads the kernel's modules; devices are found then. Raises SimulationError."""
    for name in (*EARLY, *(DISKS if mode == SWAP else ()), *CXL):
        _load(guest, name)


def use_as_nodes(guest: Guest) -> None:
    """Has the kernel use the memory of all regions, as nodes. Raises SimulationError."""
    _load(guest, NODES)


def _load(guest: Guest, name: str) -> None:
    guest.run(f"insmod /cxloom/modules/{name}.ko", f"loading the kernel's module {name}")


def find_again(guest: Guest) -> None:
    """Has the kernel find the CXL devices of a guest that was resumed, which are as at their start.

    Raises SimulationError. What the kernel knew of their bridges goes, and all buses are looked at again.
    """
    guest.run(
        "for port in /sys/bus/acpi/devices/ACPI0016:*/physical_node/0000:*; do echo 1 >$port/remove; done; "
        "echo 1 >/sys/bus/pci/rescan",
        "finding the devices again",
    )


def memory_devices(guest: Guest, machine: Machine) -> dict[str, str]:
    """The kernel's names of the devices, once all are there. Raises SimulationError if one does not appear."""
    names = {endpoint.serial: endpoint.name for endpoint in machine.endpoints()}
    found: dict[str, str] = {}
    for _ in range(_LOOKS):
        # A device that the kernel has not finished with has no driver yet.
        listed = guest.ask("cd /sys/bus/cxl/devices && grep -H . mem*/serial; ls -d mem*/driver")[1]
        serials = dict(line.split("/serial:") for line in listed.splitlines() if "/serial:" in line)
        found = {
            names[int(serial, 0)]: device
            for device, serial in serials.items()
            if f"{device}/driver" in listed.splitlines() and int(serial, 0) in names
        }
        if len(found) == len(names):
            return found
        time.sleep(_BETWEEN)
    lost = ", ".join(name for name in names.values() if name not in found)
    said = guest.ask("dmesg | grep -i cxl | tail -n 1")[1].strip()
    raise SimulationError(f"the kernel has not found {lost}{f': {said}' if said else ''}")


def create_regions(guest: Guest, machine: Machine, devices: Mapping[str, str], mode: str) -> None:
    """Makes a region of each interleave set. Raises SimulationError."""
    kind = "pmem" if mode == SWAP else "ram"
    for number, wanted in enumerate(machine.sets):
        targets = " ".join(devices[name] for name in wanted.targets)
        guest.run(
            f"cxl create-region -m -t {kind} -d decoder0.{number} -w {len(wanted.targets)} -g {wanted.granularity} "
            f"-s {wanted.size} {targets}",
            f"making a region of {wanted.place}",
        )


def kernel_map(guest: Guest) -> KernelMap:
    """The decoders that the kernel has programmed. Raises SimulationError."""
    listed = guest.run("cxl list -BPTEMD -i 2>/dev/null", "listing the decoders")
    buses = json.loads(listed)
    return KernelMap(buses if isinstance(buses, list) else [buses])


def nodes_of(guest: Guest, machine: Machine) -> list[int]:
    """The guest's node of each interleave set. Raises SimulationError."""
    nodes = []
    for number in range(len(machine.sets)):
        path = f"/sys/bus/cxl/devices/decoder0.{number}/region*/dax_region*/dax*/target_node"
        nodes.append(int(guest.run(f"cat {path}", "finding the node of a region")))
    return nodes


def map_devices(guest: Guest, machine: Machine) -> list[str]:
    """Gives each set to programs as a device; gives the devices, in the order of the sets. Raises SimulationError."""
    devices = []
    for number in range(len(machine.sets)):
        path = f"/sys/bus/cxl/devices/decoder0.{number}/region*/dax_region*"
        name = guest.run(f"basename {path}/dax*.*", "finding the device of a region").strip()
        guest.run(f"echo {name} >/sys/bus/dax/drivers/device_dax/new_id", f"making a device of {name}")
        devices.append(f"/dev/{name}")
    return devices


def use_as_swap(guest: Guest) -> list[str]:
    """Has the kernel use the memory of all regions for pages that RAM has no room for; gives its disks.

    Raises SimulationError. Each region becomes one namespace without a table of blocks, whose disk copies pages to and
    from it at once.
    """
    guest.run(
        "cd /sys/bus/nd/devices && for each in region*; do name=namespace${each#region}.0; "
        "cat /proc/sys/kernel/random/uuid >$name/uuid && cat $each/size >$name/size && "
        "echo $name >/sys/bus/nd/drivers/nd_pmem/bind || exit 1; done",
        "making disks of the memory on CXL",
    )
    disks = guest.run("ls /dev/pmem*", "finding the disks").split()
    for disk in disks:
        guest.run(f"mkswap {disk} && swapon {disk}", f"using {disk} for swapping")
    return disks
