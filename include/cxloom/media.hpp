// Media of a memory: Media, and what its accesses are.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/measure_table.hpp"
#include "component/resource.hpp"
#include "cxloom/plugin.hpp"
#include "kernel/kernel.hpp"
#include "kernel/windowed.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"
