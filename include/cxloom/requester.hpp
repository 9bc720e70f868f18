// The agent that makes requests, for devices: RequesterPart.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/device.hpp"
#include "device/requester/part.hpp"
