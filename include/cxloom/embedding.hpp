// A simulation that a program drives itself: EmbeddedSystem.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "embed/embedded_system.hpp"
