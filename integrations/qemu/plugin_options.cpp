#include "plugin_options.hpp"

#include <cstdio>
#include <cstring>

#include "option_value.hpp"

namespace cxloom::qemu {

bool PluginOptions::parse(int count, char** arguments) {
  for (int i = 0; i < count; ++i) {
    if (const char* value = value_of(arguments[i], "folder"); value != nullptr) {
      if (std::strlen(value) >= sizeof folder) return false;
      std::strcpy(folder, value);
    } else if (value = value_of(arguments[i], "cpu"); value != nullptr) {
      cpu = value;
    } else if (value = value_of(arguments[i], "region"); value != nullptr) {
      if (!region.parse(value)) return false;
    } else if (value = value_of(arguments[i], "after"); value != nullptr) {
      unsigned long long call = 0;
      if (std::sscanf(value, "%u:%u:%llu", &replaced_process, &replaced_thread, &call) != 3) return false;
      replacing_call = call;
      replaces_another = true;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace cxloom::qemu
