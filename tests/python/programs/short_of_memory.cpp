// Calls the C interface with memory that runs out at the first allocation, at the second, and so on until
// there is enough. Whatever fails says why, and nothing is thrown into the program.
#include <cxloom/cxloom.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <string>

namespace {

long left = -1;  // allocations that succeed; negative: all
bool refused = false;

const char* const kUnknown = "a device with a name that is too long for a short string";

bool is_said(const char* error) {
  for (const char* said : {"out of memory", "bad_alloc", kUnknown, "no JSON"}) {
    if (error && std::strstr(error, said)) return true;
  }
  std::printf("said: %s\n", error ? error : "nothing");
  return false;
}

/// Calls `action` with less and less memory missing; false if it ever does not say why it failed.
template <class Action>
bool sweep(Action action) {
  int failures = 0;
  for (long allocations = 0;; ++allocations) {
    left = allocations;
    refused = false;
    const bool right = action();
    left = -1;
    if (!right) return false;
    if (!refused) break;
    ++failures;
  }
  std::printf("%d\n", failures);
  return failures > 0;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (left == 0) {
    refused = true;
    throw std::bad_alloc();
  }
  if (left > 0) --left;
  if (void* const made = std::malloc(bytes ? bytes : 1)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }

int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  char* error = nullptr;
  cxloom_simulation* const simulation = cxloom_open(json.c_str(), nullptr, &error);
  if (!simulation) return 2;
  try {
    const bool right = sweep([&] {
                         return cxloom_drive(simulation, kUnknown) == -1 && is_said(cxloom_error(simulation));
                       }) &&
                       sweep([&] {
                         char* why = nullptr;
                         const bool opened = cxloom_open(
                             "{\"devices\": {\"a name that is longer than a short one\"", nullptr, &why);
                         const long some = left;
                         left = -1;
                         const bool said = !opened && is_said(why);
                         left = some;
                         cxloom_free(why);
                         return said;
                       });
    cxloom_close(simulation);
    return right ? 0 : 1;
  } catch (const std::exception& thrown) {
    left = -1;
    std::printf("thrown into the program: %s\n", thrown.what());
    return 3;
  }
}
