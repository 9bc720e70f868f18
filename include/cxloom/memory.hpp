// The agent that serves memory, for devices: MemoryPart.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "component/memory_front.hpp"
#include "cxloom/device.hpp"
#include "device/memory/part.hpp"

namespace cxloom {

// A parameter that is a memory: the library has what it takes of the compiler.
extern template SchemaField<MemoryControllerParams> add_field(SchemaFields&, std::string_view, std::size_t,
                                                              const MemoryControllerParams&);
extern template const SchemaFields& declared<MemoryControllerParams>();

}  // namespace cxloom
