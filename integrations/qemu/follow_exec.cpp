#include "follow_exec.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cxloom::qemu {

namespace {

constexpr std::size_t kMostWords = 1U << 20U;
constexpr int kMostScripts = 4;  // that interpret each other, as Linux allows

// Reads memory of the program, which may have given us any number for an address.
bool readable(const void* from, void* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// The text at an address; null if it does not end in memory that there is.
char* text_at(const char* begin) {
  for (const char* at = begin;; ++at) {
    char letter = 0;
    if (!readable(at, &letter, 1)) return nullptr;
    // The rest of the page is readable too.
    for (; *at != '\0'; ++at) {
      if ((reinterpret_cast<std::uintptr_t>(at + 1) & 4095U) == 0) break;
    }
    if (*at == '\0') return const_cast<char*>(begin);
  }
}

// A list of texts that grows; what it holds is never given back, as what follows is another program or none.
struct Words {
  char** all = nullptr;
  std::size_t count = 0;
  std::size_t room = 0;

  bool add(char* word) {
    if (count + 1 >= room) {
      room = room == 0 ? 64 : room * 2;
      auto* const larger = static_cast<char**>(std::realloc(all, room * sizeof(char*)));
      if (larger == nullptr) return false;
      all = larger;
    }
    all[count++] = word;
    all[count] = nullptr;
    return true;
  }
  bool add(const char* word) { return add(const_cast<char*>(word)); }
};

bool add_texts(Words& words, std::uint64_t offset, std::uint64_t array, std::size_t from) {
  if (array == 0) return true;
  for (std::size_t i = from; i < kMostWords; ++i) {
    std::uint64_t pointer = 0;
    if (!readable(reinterpret_cast<const void*>(array + offset + i * 8), &pointer, 8)) return false;
    if (pointer == 0) return true;
    char* const text = text_at(reinterpret_cast<const char*>(pointer + offset));
    if (text == nullptr || !words.add(text)) return false;
  }
  return false;
}

// The first bytes of a file that may be executed; 0 if it is none.
std::size_t begin_of(const char* path, char* bytes, std::size_t room, bool& privileged) {
  struct stat status{};
  if (access(path, X_OK) != 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  privileged = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t count = read(file, bytes, room - 1);
  close(file);
  if (count <= 0) return 0;
  bytes[count] = '\0';
  return static_cast<std::size_t>(count);
}

bool is_ours(const char* bytes, std::size_t count) {
  Elf64_Ehdr head;
  if (count < sizeof head) return false;
  std::memcpy(&head, bytes, sizeof head);
  return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_machine == EM_X86_64;
}

// What finds libraries is for the program, and not for the emulator, which is linked with others.
bool is_for_the_loader(const char* variable) { return std::strncmp(variable, "LD_", 3) == 0; }

}  // namespace

Exec follow_exec(const Emulator& emulator, std::uint64_t offset, std::uint64_t path, std::uint64_t arguments,
                 std::uint64_t environment) {
  char* program = text_at(reinterpret_cast<const char*>(path + offset));
  if (program == nullptr) return Exec::kFails;
  Words given;
  if (!add_texts(given, offset, arguments, 0)) return Exec::kFails;
  const char* name = given.count > 0 ? given.all[0] : program;

  // A script is an argument of its interpreter: #!/bin/sh -e script arguments.
  Words front;
  bool scripted = false;
  for (int scripts = 0;; ++scripts) {
    static char bytes[kMostScripts + 1][256];
    bool privileged = false;
    if (scripts > kMostScripts) return Exec::kFails;
    const std::size_t count = begin_of(program, bytes[scripts], sizeof bytes[scripts], privileged);
    if (count == 0) return Exec::kFails;
    if (is_ours(bytes[scripts], count)) {
      if (privileged) return Exec::kEscapes;  // the emulator would not get the rights
      break;
    }
    if (std::strncmp(bytes[scripts], "#!", 2) != 0) return Exec::kEscapes;
    char* at = bytes[scripts] + 2;
    char* const end = std::strchr(at, '\n');
    if (end == nullptr) return Exec::kFails;
    *end = '\0';
    for (char* last = end; last > at && (last[-1] == ' ' || last[-1] == '\t'); *--last = '\0') {
    }
    at += std::strspn(at, " \t");
    char* const interpreter = at;
    at += std::strcspn(at, " \t");
    char* const argument = *at == '\0' ? nullptr : at + 1 + std::strspn(at + 1, " \t");
    *at = '\0';
    if (*interpreter == '\0') return Exec::kFails;
    Words longer;
    if (argument != nullptr && !longer.add(argument)) return Exec::kFails;
    if (!longer.add(program)) return Exec::kFails;
    for (std::size_t i = scripted ? 0 : front.count; i < front.count; ++i) longer.add(front.all[i]);
    front = longer;
    scripted = true;
    name = program = interpreter;
  }

  Words words;
  Words variables;
  bool fits = words.add(emulator.path) && words.add("-cpu") && words.add(emulator.cpu) &&
              words.add("-plugin") && words.add(emulator.plugin) && words.add("-0") && words.add(name);
  if (environment != 0) {
    Words all;
    fits = fits && add_texts(all, offset, environment, 0) && variables.add(static_cast<char*>(nullptr));
    variables.count = 0;
    // The emulator gives them to the program in the reverse order.
    for (std::size_t i = all.count; fits && i-- > 0;) {
      if (is_for_the_loader(all.all[i]) && std::strchr(all.all[i], ',') == nullptr) {
        fits = words.add("-E") && words.add(all.all[i]);
      } else {
        fits = variables.add(all.all[i]);
      }
    }
  }
  fits = fits && words.add(program);
  for (std::size_t i = 0; fits && i < front.count; ++i) fits = words.add(front.all[i]);
  for (std::size_t i = 1; fits && i < given.count; ++i) fits = words.add(given.all[i]);
  if (!fits) return Exec::kFails;
  char* none = nullptr;
  execve(emulator.path, words.all, variables.all != nullptr ? variables.all : &none);
  return Exec::kEscapes;
}

}  // namespace cxloom::qemu
