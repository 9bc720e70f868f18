// For the plug-in of an emulator, which reports how a program runs. It needs no library of cxloom.
// SPDX-FileCopyrightText: 2026 The cxloom authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program/feed/block.hpp"        // what a basic block consists of
#include "program/feed/known_pages.hpp"  // where a processor's pages are
#include "program/feed/record.hpp"       // what a thread does
#include "program/feed/system_call.hpp"  // by which threads wait for each other
#include "program/feed/writer.hpp"       // where it is written
