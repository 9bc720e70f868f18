// Arbitration among the inputs of a switch: Arbiter.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "interconnect/arbitration/arbitration.hpp"
