#include "system/plugin/library_file.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace cxloom {

namespace {

using Header = ElfW(Ehdr);
using ProgramHeader = ElfW(Phdr);
using SectionHeader = ElfW(Shdr);
using Symbol = ElfW(Sym);

InputError refusal(const std::string& reason, const std::string& found = {},
                   const std::string& allowed = {}) {
  return InputError({"the plug-in cannot be loaded: " + reason, found, allowed, {}});
}

/// The header of the library that this code is in: what fits it, fits this machine.
const Header& own_header() {
  Dl_info here{};
  ensure(dladdr(reinterpret_cast<const void*>(&own_header), &here) != 0, "this code is in no library");
  return *static_cast<const Header*>(here.dli_fbase);
}

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_X86_64: return "x86-64";
    case EM_ARM: return "32-bit ARM";
    case EM_AARCH64: return "64-bit ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "64-bit POWER";
    case EM_S390: return "S/390";
    default: return "ELF machine " + std::to_string(machine);
  }
}

std::string described(const Header& header) {
  return std::string(header.e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64") + "-bit " +
         (header.e_ident[EI_DATA] == ELFDATA2MSB ? "big" : "little") + "-endian, " +
         machine_name(header.e_machine);
}

void check_header(const Header& header) {
  const Header& own = own_header();
  // The bytes of another byte order are not numbers to us.
  const bool same_order = header.e_ident[EI_DATA] == own.e_ident[EI_DATA];
  if (!same_order || header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || header.e_machine != own.e_machine) {
    const std::string found = same_order ? described(header) : "another byte order";
    throw refusal("built for another machine", found, described(own));
  }
  if (header.e_type == ET_REL)
    throw refusal("an object file, not a shared library", {}, "a library linked with -shared");
  if (header.e_type != ET_DYN) throw refusal("an ELF file, but not a shared library", {}, "a shared library");
  if (header.e_phentsize != sizeof(ProgramHeader) || header.e_shentsize != sizeof(SectionHeader))
    throw refusal("its ELF header is damaged");
}

}  // namespace

LibraryFile::LibraryFile(const std::string& path) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) throw refusal("no such file");
  if (problem) throw refusal(problem.message());
  if (std::filesystem::is_directory(status)) throw refusal("a directory, not a file");
  if (!std::filesystem::is_regular_file(status)) throw refusal("not a regular file");
  errno = 0;
  in_.open(path, std::ios::binary);
  size_ = std::filesystem::file_size(path, problem);
  if (!in_ || problem) throw refusal(problem ? problem.message() : std::strerror(errno));
  if (size_ == 0) throw refusal("an empty file");
  const std::vector<char> start = bytes({0, std::min<std::uint64_t>(size_, SELFMAG)});
  if (std::string_view(start.data(), start.size()) != ELFMAG)
    throw refusal("not a shared library", {}, "an ELF file linked with -shared");
  read_segments();
  read_symbols();
}

void LibraryFile::check(const Extent& extent) const {
  if (extent.size <= size_ && extent.start <= size_ - extent.size) return;
  throw refusal("the file is cut off", counted(size_, "byte"),
                "a complete file: its headers describe more bytes");
}

std::vector<char> LibraryFile::bytes(const Extent& extent) {
  check(extent);
  std::vector<char> bytes(extent.size);
  in_.seekg(static_cast<std::streamoff>(extent.start));
  in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in_) throw refusal("it cannot be read");
  return bytes;
}

template <class T>
std::vector<T> LibraryFile::records(const Extent& extent) {
  const std::vector<char> raw = bytes(extent);
  std::vector<T> records(raw.size() / sizeof(T));
  std::memcpy(records.data(), raw.data(), records.size() * sizeof(T));
  return records;
}

template <class T>
T LibraryFile::record(std::uint64_t start) {
  return records<T>({start, sizeof(T)})[0];
}

void LibraryFile::read_segments() {
  const auto header = record<Header>(0);
  check_header(header);
  const auto programs = records<ProgramHeader>({header.e_phoff, header.e_phnum * sizeof(ProgramHeader)});
  for (const ProgramHeader& program : programs) {
    const Extent in_file{program.p_offset, program.p_filesz};
    check(in_file);
    if (program.p_type == PT_LOAD) segments_.push_back({{program.p_vaddr, program.p_filesz}, in_file});
  }
}

void LibraryFile::read_symbols() {
  const auto header = record<Header>(0);
  const auto sections = records<SectionHeader>({header.e_shoff, header.e_shnum * sizeof(SectionHeader)});
  for (const SectionHeader& section : sections) {
    if (section.sh_type != SHT_NOBITS) check({section.sh_offset, section.sh_size});
    if (section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) throw refusal("its table of symbols is damaged");
    const SectionHeader& names = sections[section.sh_link];
    const std::vector<char> text = bytes({names.sh_offset, names.sh_size});
    for (const auto& symbol : records<Symbol>({section.sh_offset, section.sh_size})) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
      const char* const name = text.data() + symbol.st_name;
      symbols_.emplace(std::string(name, strnlen(name, text.size() - symbol.st_name)),
                       Extent{symbol.st_value, symbol.st_size});
    }
  }
}

std::vector<char> LibraryFile::contents(const std::string& symbol) {
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end()) return {};
  const Extent& wanted = found->second;
  for (const Segment& segment : segments_) {
    if (wanted.start < segment.memory.start) continue;
    const std::uint64_t within = wanted.start - segment.memory.start;
    if (within > segment.memory.size || wanted.size > segment.memory.size - within) continue;
    return bytes({segment.file.start + within, wanted.size});
  }
  return {};
}

}  // namespace cxloom
