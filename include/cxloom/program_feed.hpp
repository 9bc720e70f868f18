// For whoever reports to cxloom what a running program does: the plug-in of an emulator. It needs no library of cxloom.
#pragma once

#include "program/block.hpp"        // what a basic block consists of
#include "program/feed_record.hpp"  // what a thread does
#include "program/feed_writer.hpp"  // where it is written
