// Where an address lives: for agents that make requests of their own (`SystemContext::map`).
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/device.hpp"
#include "protocol/address_map.hpp"
