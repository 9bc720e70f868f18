// Victim policies of a cache: VictimPolicy.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "tags/tag_array.hpp"
#include "tags/victim_policy.hpp"
