// Devices: a Component, or an Endpoint of agents. Agents that cxloom has: requester.hpp, memory.hpp; a
// switch: switch.hpp. Agents of one's own: for CXL.io io.hpp, for requests to memory address_map.hpp.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/resource.hpp"
#include "cxloom/plugin.hpp"
#include "device/context/context.hpp"
#include "kernel/distribution.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request.hpp"
