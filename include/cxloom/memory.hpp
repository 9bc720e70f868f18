// The agent that serves memory, for devices: MemoryController.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/device.hpp"
#include "device/memory/controller.hpp"
