// All of cxloom that is public. A plug-in compiles in a fraction of the time with the header of its kind
// alone.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cxloom/address_map.hpp"
#include "cxloom/arbitration.hpp"
#include "cxloom/device.hpp"
#include "cxloom/dram.hpp"
#include "cxloom/embedding.hpp"
#include "cxloom/flash.hpp"
#include "cxloom/io.hpp"
#include "cxloom/kv.hpp"
#include "cxloom/media.hpp"
#include "cxloom/memory.hpp"
#include "cxloom/pattern.hpp"
#include "cxloom/placement.hpp"
#include "cxloom/plugin.hpp"
#include "cxloom/prefetcher.hpp"
#include "cxloom/requester.hpp"
#include "cxloom/routing.hpp"
#include "cxloom/switch.hpp"
#include "cxloom/tiering.hpp"
#include "cxloom/topology.hpp"
#include "cxloom/victim.hpp"
