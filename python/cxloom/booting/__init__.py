"""A stock Linux on a machine with the CXL devices of a spec: set up without root, described to QEMU, booted.

`set_up` fetches QEMU, a kernel and the guest's tools by `apt` from a `mirror`, and `folder` finds them again;
`machine` is what a
spec comes to as a machine, and `arguments` says it to QEMU. Time is not here: it is that of the simulation.
"""
