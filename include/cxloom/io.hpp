// Agents that make CXL.io traffic or answer it, and the record of its packets.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "component/io_record.hpp"
#include "component/io_roles.hpp"
#include "cxloom/device.hpp"
