// Devices: a Component, or an Endpoint of agents. Agents that cxloom has: requester.hpp, memory.hpp; a
// switch: switch.hpp.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/io_roles.hpp"
#include "component/resource.hpp"
#include "cxloom/plugin.hpp"
#include "device/context/context.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request.hpp"
