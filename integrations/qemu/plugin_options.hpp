// The options that the plug-in is loaded with.
#pragma once

#include <cstdint>

#include "region_function.hpp"

namespace cxloom::qemu {

/// folder=WHERE the rings are made; cpu=MODEL of the emulator, with colons for commas; region=PLACE of the
/// function that is the region of interest (RegionFunction::parse); after=PROCESS:THREAD:ORDER, for a program
/// in the place of another one: the rings of the process and of the thread that called execve, and that call.
struct PluginOptions {
  char folder[4096];
  const char* cpu = "max";
  RegionFunction region;
  bool replaces_another = false;
  std::uint32_t replaced_process = 0;
  std::uint32_t replaced_thread = 0;
  std::uint64_t replacing_call = 0;

  /// False: one of them is none of these, or says nothing.
  bool parse(int count, char** arguments);
};

}  // namespace cxloom::qemu
