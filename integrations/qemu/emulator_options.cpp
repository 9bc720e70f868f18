#include "emulator_options.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace cxloom::qemu {

namespace {

// Text in an option of QEMU, whose commas are written twice.
void append_escaped(char*& at, const char* end, const char* text) {
  for (; *text != '\0' && at + 2 < end; ++text) {
    if (*text == ',') *at++ = ',';
    *at++ = *text;
  }
  *at = '\0';
}

}  // namespace

bool describe_emulator(const char* cpu, const char* folder, Emulator& emulator) {
  static char path[4096];
  static char plugin[kLongestPlugin];
  static char model[256];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  Dl_info own;
  if (length <= 0 || dladdr(reinterpret_cast<void*>(&describe_emulator), &own) == 0) return false;
  char* at = plugin;
  const char* const end = plugin + sizeof plugin - 64;  // for what execve adds
  append_escaped(at, end, own.dli_fname);
  at += std::snprintf(at, static_cast<std::size_t>(end - at), ",folder=");
  append_escaped(at, end, folder);
  at += std::snprintf(at, static_cast<std::size_t>(end - at), ",cpu=%s", cpu);
  std::snprintf(model, sizeof model, "%s", cpu);
  for (char& letter : model) {
    if (letter == ':') letter = ',';
  }
  emulator = {path, model, plugin};
  return true;
}

const char* name_of_program() {
  static char name[256];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return name;
  static char words[1U << 14U];
  const ssize_t count = read(file, words, sizeof words - 1);
  close(file);
  const char* const end = words + (count > 0 ? count : 0);
  for (const char* word = words; word < end; word += std::strlen(word) + 1) {
    if (std::strcmp(word, "-0") != 0) continue;
    word += std::strlen(word) + 1;
    if (word >= end) return name;
    const char* const last = std::strrchr(word, '/');
    std::snprintf(name, sizeof name, "%s", last == nullptr ? word : last + 1);
    return name;
  }
  return name;
}

}  // namespace cxloom::qemu
