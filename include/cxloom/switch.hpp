// Devices that are switches: SwitchingDevice, and SwitchingEndpoint, which has agents besides.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/device.hpp"
#include "device/switch/switching_device.hpp"
