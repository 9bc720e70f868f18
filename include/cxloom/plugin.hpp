// What a plug-in of any kind needs: declared parameters, the lists of kinds, and the entry. The header of its
// kind brings it along. Everything is in namespace cxloom.
//
// A plug-in is a shared library with one entry, which also says for which cxloom it was built:
//
//   #include <cxloom/device.hpp>
//   CXLOOM_PLUGIN(registry) { registry.devices.add<MyDevice>("my-device"); }
//
// Compile it with -std=c++20 -shared -fPIC and the include directory that `cxloom.include_dir()` gives in
// Python, and use it as `cxloom run SPEC --plugin libmine.so`. examples/plugin/ has one.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/kind_registry.hpp"     // where a kind is added
#include "base/memory_estimate.hpp"   // what parameters take of the memory of the machine
#include "base/schema.hpp"            // declared parameters
#include "base/units.hpp"             // Time, Bytes, Bandwidth, ...
#include "system/kinds/registry.hpp"  // Registry: the lists of kinds
#include "system/plugin/stamp.hpp"    // CXLOOM_PLUGIN
