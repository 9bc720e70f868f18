"""Pools of memory for the demand of many servers: how much, how long its accesses take, and what it costs.

`plan_file` reads the file, whose sections are `inputs`. `generated`, `traced` and `packing` give a `demand`,
`placement` puts its VMs on servers, `reach` says which server may use which device, `allocation` plays a pool of some
size, `sizing` finds the size that is enough, `bound` the least that any allocator needs. `levels` has what is in use
over time, `stranding` what nobody can use. `parts` counts what is bought, `worst` finds the worst minute, `pod` makes a
system of it and `latency` simulates that. `point` is one design under one seed, `plan` all of them, and `outcome` what
they found.
``docs/plan.md`` defines the numbers.
"""
