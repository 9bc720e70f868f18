// For whoever reports to cxloom what a running program does: the plug-in of an emulator. It needs no library of cxloom.
#pragma once

#include "program/feed/block.hpp"   // what a basic block consists of
#include "program/feed/record.hpp"  // what a thread does
#include "program/feed/writer.hpp"  // where it is written
