// Routing among equally short ways: RoutingStrategy.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "interconnect/routing/strategy.hpp"
