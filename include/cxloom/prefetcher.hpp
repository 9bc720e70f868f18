// Prefetchers of a cache: Prefetcher.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/plugin.hpp"
#include "tags/prefetcher.hpp"
#include "tags/prefetcher_schema.hpp"
