#include "lacking.hpp"

#include <Zydis/Zydis.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cxloom::qemu {

namespace {

// By the manual of QEMU 7.2 and its processor "max": what came later, or was dropped by all makers.
bool lacks(const ZydisDecodedInstruction& instruction) {
  switch (instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
    case ZYDIS_INSTRUCTION_ENCODING_MVEX: return true;
    default: break;
  }
  switch (instruction.meta.isa_ext) {
    case ZYDIS_ISA_EXT_AMX_BF16:
    case ZYDIS_ISA_EXT_AMX_INT8:
    case ZYDIS_ISA_EXT_AMX_TILE:
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
    case ZYDIS_ISA_EXT_AVX_VNNI:
    case ZYDIS_ISA_EXT_ENQCMD:
    case ZYDIS_ISA_EXT_FMA4:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_KEYLOCKER:
    case ZYDIS_ISA_EXT_KEYLOCKER_WIDE:
    case ZYDIS_ISA_EXT_MOVDIR:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_TBM:
    case ZYDIS_ISA_EXT_VPCLMULQDQ:
    case ZYDIS_ISA_EXT_WAITPKG: return true;
    case ZYDIS_ISA_EXT_VAES: return instruction.avx.vector_length > 128;
    default: return false;
  }
}

// Up to the end of the page, which the emulator has read from; the rest may not be there.
std::size_t read_memory(const void* memory, unsigned char* bytes, std::size_t room) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t in_page = std::min<std::size_t>(room, 4096 - at % 4096);
  for (const std::size_t most : {room, in_page}) {
    const iovec local{bytes, most};
    const iovec remote{const_cast<void*>(memory), most};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(most)) return most;
  }
  return 0;
}

}  // namespace

bool is_lacking(const void* data, std::size_t size, const void* memory, std::uint64_t address, char* text,
                std::size_t room) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  unsigned char bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
  std::size_t count = std::min(size, sizeof bytes);
  std::memcpy(bytes, data, count);
  const auto decodes = [&] {
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, count, &instruction, operands));
  };
  if (!decodes()) {
    if (memory == nullptr) return false;
    count = read_memory(memory, bytes, sizeof bytes);
    if (count == 0 || !decodes()) return false;
  }
  if (!lacks(instruction)) return false;
  ZydisFormatter formatter;
  char name[160] = "";
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  ZydisFormatterFormatInstruction(&formatter, &instruction, operands, instruction.operand_count_visible, name,
                                  sizeof name, address, nullptr);
  std::snprintf(text, room, "%s of %s", name, ZydisISASetGetString(instruction.meta.isa_set));
  return true;
}

}  // namespace cxloom::qemu
