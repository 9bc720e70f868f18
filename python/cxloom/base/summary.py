"""The keys of a summary, for type checkers. Made by scripts/summary_types.py of what the core declares.

A component has those of the keys that its kind declares, and its media; what kinds of plug-ins declare is not here.
Values are of any type: whether one is a number, null where nothing was measured, or a text is not declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class ComponentLatencyNs(TypedDict, total=False):
    mean: Any
    ci95: Any
    min: Any
    p50: Any
    p90: Any
    p99: Any
    p999: Any
    max: Any
    p50_ci95: Any
    p90_ci95: Any
    p99_ci95: Any
    p999_ci95: Any


class ComponentErrors(TypedDict, total=False):
    requests: Any
    latency_ns: ComponentLatencyNs


class ComponentThrottle(TypedDict, total=False):
    devload_mean: Any
    throttled: Any
    rate_gb_per_s: Any
    rate_min_gb_per_s: Any
    rate_max_gb_per_s: Any


class ComponentTiering(TypedDict, total=False):
    faults: Any
    fault_ns: Any
    protected_pages: Any
    scanned_pages: Any
    samples: Any
    shootdowns: Any
    interrupted_ns: Any
    promoted_bytes: Any
    demoted_bytes: Any


class ComponentCoreCriticalPath(TypedDict, total=False):
    instructions: Any
    time_ns: Any
    busy_ns: Any
    chain_ns: Any
    mshr_ns: Any
    walk_ns: Any
    idle_ns: Any
    kernel_ns: Any
    memory_ns: Any


class ComponentCorePerThread(TypedDict, total=False):
    begun_ns: Any
    on_path_ns: Any
    instructions: Any
    time_ns: Any
    busy_ns: Any
    chain_ns: Any
    mshr_ns: Any
    walk_ns: Any
    idle_ns: Any
    kernel_ns: Any
    memory_ns: Any


class ComponentCore(TypedDict, total=False):
    threads: Any
    instructions: Any
    time_ns: Any
    longest_ns: Any
    instructions_per_cycle: Any
    busy_ns: Any
    chain_ns: Any
    mshr_ns: Any
    walk_ns: Any
    idle_ns: Any
    kernel_ns: Any
    memory_ns: Any
    waits_ns: Any
    fill_buffers_mean: Any
    critical_path: ComponentCoreCriticalPath
    per_thread: Mapping[str, ComponentCorePerThread]


class ComponentLogicalDevices(TypedDict, total=False):
    requests: Any
    refused: Any
    bandwidth_gb_per_s: Any
    wait_ns: Any
    queue_mean: Any
    queue_max: Any


class ComponentPersistBuffer(TypedDict, total=False):
    persists: Any
    coalesced: Any
    drains: Any
    drained: Any
    drain_errors: Any
    refused: Any
    resident_before: Any
    resident: Any
    lost_acknowledged: Any
    read_hits: Any
    detours: Any
    held_reads: Any
    stalls: Any
    entries_mean: Any
    dirty_mean: Any
    drain_mean: Any
    queue_mean: Any
    queue_max: Any


class ComponentReplication(TypedDict, total=False):
    writes: Any
    stalls: Any
    entries_mean: Any
    waiting_mean: Any


class ComponentCacheAccesses(TypedDict, total=False):
    reads: Any
    writes: Any
    bandwidth_gb_per_s: Any
    breakdown_ns: Mapping[str, Any]


class Component(TypedDict, total=False):
    latency_ns: ComponentLatencyNs
    errors: ComponentErrors
    requests: Any
    write_backs: Any
    prefetches: Any
    drains: Any
    copied_lines: Any
    reads: Any
    writes: Any
    atomics: Any
    bandwidth_gb_per_s: Any
    read_gb_per_s: Any
    write_gb_per_s: Any
    breakdown_ns: Mapping[str, Any]
    filter_hits: Any
    filter_misses: Any
    filter_evictions: Any
    filter_evictions_capacity: Any
    filter_evictions_conflict: Any
    filter_entries: Any
    snoops_sent: Any
    bisnp_sent: Any
    lines_invalidated: Any
    invalidation_wait_ns: Any
    conflicts: Any
    bias_flips_to_device: Any
    bias_flips_to_host: Any
    snoops_timed_out: Any
    lines_reclaimed: Any
    lines_poisoned: Any
    lines_cured: Any
    poisoned_lines: Any
    poison_delivered: Any
    transactions_mean: Any
    bandwidth_ci95: Any
    in_flight_mean: Any
    poison_consumed: Any
    fences: Any
    fence_wait_ns: Any
    throttle: Mapping[str, ComponentThrottle]
    large_accesses: Any
    large_access_ns: Any
    pages: Any
    pages_moved: Any
    pages_not_moved: Any
    page_moves_ns: Any
    page_wait_ns: Any
    tiering: ComponentTiering
    core: ComponentCore
    combined_full: Any
    combined_partial: Any
    combining_mean: Any
    cache_hit_rate: Any
    cache_levels: Any
    clean_evictions: Any
    upgrades: Any
    lines_snooped: Any
    lines_lost: Any
    cache_atomics: Any
    home_atomics: Any
    dirty_lines_lost: Any
    prefetches_useful: Any
    prefetches_late: Any
    prefetches_useless: Any
    prefetches_failed: Any
    prefetches_dropped: Any
    queue_mean: Any
    queue_p99: Any
    queue_max: Any
    read_places_mean: Any
    read_places_max: Any
    write_places_mean: Any
    write_places_max: Any
    buffer_hits: Any
    extent_errors: Any
    viral_errors: Any
    extent_bytes: Any
    logical_devices: Mapping[str, ComponentLogicalDevices]
    devload_mean: Any
    spared: Any
    spare_copy_ns: Any
    spare_waits: Any
    spare_wait_ns: Any
    corrected_errors: Any
    suspicious_parts: Any
    unspared_parts: Any
    threshold_ns: Any
    downstream_utilization: Any
    downstream_payload_gb_per_s: Any
    downstream_queue_mean: Any
    downstream_queue_p99: Any
    downstream_queue_max: Any
    upstream_utilization: Any
    upstream_payload_gb_per_s: Any
    upstream_queue_mean: Any
    upstream_queue_p99: Any
    upstream_queue_max: Any
    utilization: Any
    turnaround: Any
    efficiency: Any
    messages: Any
    queue_p99_worst_port: Any
    utilization_worst_port: Any
    persist_buffer: ComponentPersistBuffer
    replication: ComponentReplication
    isolation_errors: Any
    removal_errors: Any
    overtaking_writes: Any
    request_queue_mean: Any
    request_queue_max: Any
    request_queue_outside_mean: Any
    packets: Any
    sent: Any
    lost: Any
    unfinished: Any
    copies_failed: Any
    tags_mean: Any
    posted_mean: Any
    media_queue_mean: Any
    media_queue_max: Any
    media_read_gb_per_s: Any
    media_write_gb_per_s: Any
    read_amplification: Any
    write_amplification: Any
    write_buffer_mean: Any
    write_buffer_max: Any
    merged_writes: Any
    forwarded_reads: Any
    read_buffer_hits: Any
    wear_max: Any
    wear_mean: Any
    written_lines: Any
    worn_lines: Any
    page_reads: Any
    page_programs: Any
    block_erases: Any
    dies_busy_mean: Any
    joined_reads: Any
    erases_max: Any
    erases_mean: Any
    worn_blocks: Any
    curve_load: Any
    curve_reads: Any
    throttled: Any
    row_hits: Any
    row_misses: Any
    row_conflicts: Any
    row_hit_rate: Any
    data_bus_utilization: Any
    read_queue_mean: Any
    read_queue_max: Any
    write_queue_mean: Any
    write_queue_max: Any
    activates: Any
    refreshes: Any
    refresh_share: Any
    power_down_share: Any
    refresh_managements: Any
    row_alerts: Any
    energy_uj: Any
    energy_background_uj: Any
    energy_activate_uj: Any
    energy_read_uj: Any
    energy_write_uj: Any
    energy_refresh_uj: Any
    power_mw: Any
    page_hits: Any
    page_misses: Any
    page_joins: Any
    page_hit_rate: Any
    page_write_backs: Any
    page_prefetches: Any
    page_prefetches_useful: Any
    page_prefetches_late: Any
    page_prefetches_useless: Any
    page_prefetches_dropped: Any
    misses_mean: Any
    misses_max: Any
    cache_accesses: ComponentCacheAccesses
    backing_accesses: ComponentCacheAccesses
    ecc_hits: Any
    ecc_misses: Any
    ecc_joins: Any
    ecc_hit_rate: Any
    ecc_reads: Any
    ecc_write_backs: Any
    blocks_decompressed: Any
    blocks_compressed: Any
    blocks_merged: Any
    stored_share: Any
    engines_busy_mean: Any
    cache_media_queue_mean: Any
    cache_media_queue_max: Any
    cache_media_read_gb_per_s: Any
    cache_media_write_gb_per_s: Any
    cache_read_amplification: Any
    cache_write_amplification: Any
    cache_write_buffer_mean: Any
    cache_write_buffer_max: Any
    cache_merged_writes: Any
    cache_forwarded_reads: Any
    cache_read_buffer_hits: Any
    cache_wear_max: Any
    cache_wear_mean: Any
    cache_written_lines: Any
    cache_worn_lines: Any
    cache_page_reads: Any
    cache_page_programs: Any
    cache_pages_moved: Any
    cache_block_erases: Any
    cache_dies_busy_mean: Any
    cache_joined_reads: Any
    cache_erases_max: Any
    cache_erases_mean: Any
    cache_worn_blocks: Any
    cache_curve_load: Any
    cache_curve_reads: Any
    cache_throttled: Any
    cache_row_hits: Any
    cache_row_misses: Any
    cache_row_conflicts: Any
    cache_row_hit_rate: Any
    cache_data_bus_utilization: Any
    cache_read_queue_mean: Any
    cache_read_queue_max: Any
    cache_write_queue_mean: Any
    cache_write_queue_max: Any
    cache_activates: Any
    cache_refreshes: Any
    cache_refresh_share: Any
    cache_power_down_share: Any
    cache_refresh_managements: Any
    cache_row_alerts: Any
    cache_energy_uj: Any
    cache_energy_background_uj: Any
    cache_energy_activate_uj: Any
    cache_energy_read_uj: Any
    cache_energy_write_uj: Any
    cache_energy_refresh_uj: Any
    cache_power_mw: Any
    cache_page_hits: Any
    cache_page_misses: Any
    cache_page_joins: Any
    cache_page_hit_rate: Any
    cache_page_write_backs: Any
    cache_page_prefetches: Any
    cache_page_prefetches_useful: Any
    cache_page_prefetches_late: Any
    cache_page_prefetches_useless: Any
    cache_page_prefetches_dropped: Any
    cache_misses_mean: Any
    cache_misses_max: Any
    cache_cache_accesses: ComponentCacheAccesses
    cache_backing_accesses: ComponentCacheAccesses
    cache_ecc_hits: Any
    cache_ecc_misses: Any
    cache_ecc_joins: Any
    cache_ecc_hit_rate: Any
    cache_ecc_reads: Any
    cache_ecc_write_backs: Any
    cache_blocks_decompressed: Any
    cache_blocks_compressed: Any
    cache_blocks_merged: Any
    cache_stored_share: Any
    cache_engines_busy_mean: Any
    backing_media_queue_mean: Any
    backing_media_queue_max: Any
    backing_media_read_gb_per_s: Any
    backing_media_write_gb_per_s: Any
    backing_read_amplification: Any
    backing_write_amplification: Any
    backing_write_buffer_mean: Any
    backing_write_buffer_max: Any
    backing_merged_writes: Any
    backing_forwarded_reads: Any
    backing_read_buffer_hits: Any
    backing_wear_max: Any
    backing_wear_mean: Any
    backing_written_lines: Any
    backing_worn_lines: Any
    backing_page_reads: Any
    backing_page_programs: Any
    backing_pages_moved: Any
    backing_block_erases: Any
    backing_dies_busy_mean: Any
    backing_joined_reads: Any
    backing_erases_max: Any
    backing_erases_mean: Any
    backing_worn_blocks: Any
    backing_curve_load: Any
    backing_curve_reads: Any
    backing_throttled: Any
    backing_row_hits: Any
    backing_row_misses: Any
    backing_row_conflicts: Any
    backing_row_hit_rate: Any
    backing_data_bus_utilization: Any
    backing_read_queue_mean: Any
    backing_read_queue_max: Any
    backing_write_queue_mean: Any
    backing_write_queue_max: Any
    backing_activates: Any
    backing_refreshes: Any
    backing_refresh_share: Any
    backing_power_down_share: Any
    backing_refresh_managements: Any
    backing_row_alerts: Any
    backing_energy_uj: Any
    backing_energy_background_uj: Any
    backing_energy_activate_uj: Any
    backing_energy_read_uj: Any
    backing_energy_write_uj: Any
    backing_energy_refresh_uj: Any
    backing_power_mw: Any
    backing_page_hits: Any
    backing_page_misses: Any
    backing_page_joins: Any
    backing_page_hit_rate: Any
    backing_page_write_backs: Any
    backing_page_prefetches: Any
    backing_page_prefetches_useful: Any
    backing_page_prefetches_late: Any
    backing_page_prefetches_useless: Any
    backing_page_prefetches_dropped: Any
    backing_misses_mean: Any
    backing_misses_max: Any
    backing_cache_accesses: ComponentCacheAccesses
    backing_backing_accesses: ComponentCacheAccesses
    backing_ecc_hits: Any
    backing_ecc_misses: Any
    backing_ecc_joins: Any
    backing_ecc_hit_rate: Any
    backing_ecc_reads: Any
    backing_ecc_write_backs: Any
    backing_blocks_decompressed: Any
    backing_blocks_compressed: Any
    backing_blocks_merged: Any
    backing_stored_share: Any
    backing_engines_busy_mean: Any


class LinkDirectionFlits(TypedDict, total=False):
    flits: Any
    slots: Any
    slots_by_class: Any
    messages_by_class: Any
    flits_by_fill: Any
    byte_shares: Mapping[str, Any]
    io_bytes: Any
    errors: Any
    retry_share: Any


class LinkDirection(TypedDict, total=False):
    utilization: Any
    turnaround: Any
    efficiency: Any
    messages: Any
    bytes: Any
    payload_gb_per_s: Any
    queue_mean: Any
    queue_p50: Any
    queue_p99: Any
    queue_max: Any
    credit_blocked_ns: Any
    credit_blocked_ns_by_class: Any
    flits: LinkDirectionFlits


class SummaryErrorsFirst(TypedDict, total=False):
    address: Any
    requester: Any
    answered_by: Any
    at_ns: Any


class SummaryErrors(TypedDict, total=False):
    requests: Any
    latency_ns: ComponentLatencyNs
    first: SummaryErrorsFirst


class SummaryByHops(TypedDict, total=False):
    requests: Any
    mean_ns: Any
    min_ns: Any
    max_ns: Any


class SummaryMixWindows(TypedDict, total=False):
    windows: Any
    mix_degree: Any
    bandwidth_gb_per_s: Any
    slope_gb_per_s: Any
    determination: Any


class SummaryVersions(TypedDict, total=False):
    stale_reads: Any
    lost_updates: Any
    unreachable_lines: Any


class SummarySharingPerLine(TypedDict, total=False):
    stale_reads: Any
    lost_updates: Any


class SummarySharing(TypedDict, total=False):
    stale_reads: Any
    lost_updates: Any
    lines: Any
    per_line: Mapping[str, SummarySharingPerLine]
    per_pair: Mapping[str, SummarySharingPerLine]


class SummaryRead(TypedDict, total=False):
    requests: Any
    bandwidth_gb_per_s: Any
    bandwidth_ci95: Any
    latency_ns: ComponentLatencyNs
    breakdown_ns: Mapping[str, Any]
    errors: ComponentErrors


class SummaryCoherence(TypedDict, total=False):
    filter_hits: Any
    filter_misses: Any
    filter_evictions: Any
    filter_evictions_capacity: Any
    filter_evictions_conflict: Any
    filter_entries: Any
    snoops_sent: Any
    bisnp_sent: Any
    lines_invalidated: Any
    invalidation_wait_ns: Any
    conflicts: Any
    bias_flips_to_device: Any
    bias_flips_to_host: Any
    snoops_timed_out: Any
    lines_reclaimed: Any
    lines_poisoned: Any
    lines_cured: Any
    poisoned_lines: Any
    poison_delivered: Any
    lines_invalidated_live: Any


class SummaryTasksPerTask(TypedDict, total=False):
    kind: Any
    lane: Any
    start_ns: Any
    end_ns: Any
    waited_for: Any
    bytes: Any
    failed: Any


class SummaryTasksCriticalPath(TypedDict, total=False):
    task: Any
    time_ns: Any


class SummaryTasksPerLane(TypedDict, total=False):
    tasks: Any
    busy_ns: Any


class SummaryTasksWindowsTransfers(TypedDict, total=False):
    transfer: Any
    gb_per_s: Any


class SummaryTasksWindows(TypedDict, total=False):
    transfers: Sequence[SummaryTasksWindowsTransfers]
    relative_error: Any
    stood_for_ns: Any
    used: Any


class SummaryTasks(TypedDict, total=False):
    time_ns: Any
    error_ns: Any
    skipped_ns: Any
    per_task: Mapping[str, SummaryTasksPerTask]
    critical_path: Sequence[SummaryTasksCriticalPath]
    per_lane: Mapping[str, SummaryTasksPerLane]
    per_link: Any
    windows: Sequence[SummaryTasksWindows]


class SummaryEventsRequesters(TypedDict, total=False):
    requests_before: Any
    latency_before_ns: Any
    requests: Any
    latency_ns: Any
    errors: Any
    dirty_lines_lost: Any


class SummaryEvents(TypedDict, total=False):
    rerouted: Any
    failed: Any
    lost: Any
    lasted_ns: Any
    away_ns: Any
    never_made: Any
    requesters: Mapping[str, SummaryEventsRequesters]


class SummaryRemovalsRequesters(TypedDict, total=False):
    requests_before: Any
    latency_before_ns: Any
    requests_during: Any
    latency_during_ns: Any
    requests_after: Any
    latency_after_ns: Any
    errors: Any


class SummaryRemovals(TypedDict, total=False):
    took_ns: Any
    moved_bytes: Any
    pages_left: Any
    flushed_lines: Any
    requesters: Mapping[str, SummaryRemovalsRequesters]


class SummaryReplication(TypedDict, total=False):
    reads: Any
    writes: Any
    copies: Any
    met_failure: Any
    failed: Any
    left: Any
    degraded_ns: Any
    resyncs: Any
    given_up: Any
    resynced_bytes: Any
    state: Any
    lost_writes: Any
    lag_ns: Any
    stale_reads: Any
    reversed_reads: Any
    differing_lines: Any


class SummaryUnlimited(TypedDict, total=False):
    links: Any
    buses: Any
    memories: Any


class Summary(TypedDict, total=False):
    requests: Any
    reads: Any
    writes: Any
    atomics: Any
    flushes: Any
    write_backs: Any
    prefetches: Any
    errors: SummaryErrors
    failed_write_backs: Any
    simulated_time_ns: Any
    bandwidth_gb_per_s: Any
    bandwidth_ci95: Any
    latency_ns: ComponentLatencyNs
    breakdown_ns: Mapping[str, Any]
    mean_hops: Any
    by_hops: Mapping[str, SummaryByHops]
    mix_windows: SummaryMixWindows
    versions: SummaryVersions
    sharing: SummarySharing
    read: SummaryRead
    write: SummaryRead
    atomic: SummaryRead
    flush: SummaryRead
    coherence: SummaryCoherence
    tasks: SummaryTasks
    events: Mapping[str, SummaryEvents]
    removals: Mapping[str, SummaryRemovals]
    replication: Mapping[str, SummaryReplication]
    unlimited: SummaryUnlimited
    stationary: Any
    completed: Any
    truncated: Any
    stop_reason: Any
    notes: Any
    seed: Any
    per_requester: Mapping[str, Component]
    per_memory: Mapping[str, Component]
    per_io: Mapping[str, Component]
    per_link: Mapping[str, Mapping[str, LinkDirection]]
    per_switch: Mapping[str, Component]
    per_device: Mapping[str, Component]
    per_home: Mapping[str, Component]
    spec_hash: Any
    version: Any
    cost: Any
