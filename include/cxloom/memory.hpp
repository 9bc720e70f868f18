// The agent that serves memory, for devices: MemoryPart.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "component/memory_front.hpp"
#include "cxloom/device.hpp"
#include "device/memory/part.hpp"
