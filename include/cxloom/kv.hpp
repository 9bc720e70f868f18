// Eviction policies of KV caches: KvPolicy.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/kv/policy/kv_policy.hpp"
#include "workload/kv/request/kv_future.hpp"
