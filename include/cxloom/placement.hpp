// Placement of a workload's pages: PagePlacement.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/placement/page_placement.hpp"
