// Tiering of a workload's pages: TieringPolicy.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/tiering/tiering_policy.hpp"
