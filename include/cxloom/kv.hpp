// Eviction policies of KV caches: KvPolicy.
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/kv/policy/kv_policy.hpp"
#include "workload/kv/request/kv_future.hpp"
