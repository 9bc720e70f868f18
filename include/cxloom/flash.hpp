// Garbage collection of flash: GcPolicy.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "memory/flash/gc_policy.hpp"
