#include "decode.hpp"

#include <Zydis/Zydis.h>

#include "marks.hpp"

namespace cxloom::qemu {

namespace {

// Bits of a RegisterSet: 16 of general purpose, the flags, 32 vectors, the stack of the x87 as one, 8 of MMX.
// The masks of AVX-512, which QEMU does not have, share the bit of the x87's.
constexpr unsigned kFlags = 16;
constexpr unsigned kVectors = 17;
constexpr unsigned kX87 = 49;
constexpr unsigned kMmx = 50;

RegisterSet set_of(ZydisRegister part) {
  if (part == ZYDIS_REGISTER_NONE) return 0;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
  if (whole == ZYDIS_REGISTER_NONE) whole = part;
  const int number = ZydisRegisterGetId(whole);
  if (number < 0) return 0;
  const auto bit = static_cast<unsigned>(number);
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64: return RegisterSet{1} << (bit & 15U);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM: return RegisterSet{1} << (kVectors + (bit & 31U));
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MASK: return RegisterSet{1} << kX87;
    case ZYDIS_REGCLASS_MMX: return RegisterSet{1} << (kMmx + (bit & 7U));
    default: return 0;
  }
}

// Flags have no number, and what the others are made of (the instruction pointer, segments) hardly ever
// changes.
RegisterSet register_of(ZydisRegister name) {
  switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_FLAGS: return RegisterSet{1} << kFlags;
    default: return set_of(name);
  }
}

// Some only set a part of the register, and keep the rest of it.
bool keeps_the_rest(ZydisRegister name) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(name);
  return kind == ZYDIS_REGCLASS_GPR8 || kind == ZYDIS_REGCLASS_GPR16;
}

// The result is zero whatever the register holds, and processors know it.
bool clears(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
  unsigned first = 0;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD: break;
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD: first = 1; break;
    default: return false;
  }
  const ZydisDecodedOperand& one = operands[first];
  const ZydisDecodedOperand& other = operands[first + 1];
  return one.type == ZYDIS_OPERAND_TYPE_REGISTER && other.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         one.reg.value == other.reg.value;
}

// These move a pointer on by what they access, whatever is read there.
bool moves_pointers(ZydisInstructionCategory category) {
  return category == ZYDIS_CATEGORY_PUSH || category == ZYDIS_CATEGORY_POP ||
         category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET ||
         category == ZYDIS_CATEGORY_STRINGOP;
}

bool starts(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

// By its name without the v of AVX: mulsd, vmulps, vfmadd231pd, vsqrtsd.
InstructionClass float_class(const char* name) {
  if (*name == 'v') ++name;
  if (starts(name, "div") || starts(name, "sqrt") || starts(name, "fdiv") || starts(name, "fidiv") ||
      starts(name, "fsqrt")) {
    return InstructionClass::kFloatDivide;
  }
  if (starts(name, "mul") || starts(name, "fmul") || starts(name, "fimul") || starts(name, "fmadd") ||
      starts(name, "fmsub") || starts(name, "fnmadd") || starts(name, "fnmsub")) {
    return InstructionClass::kFloatMultiply;
  }
  if (starts(name, "mov") || starts(name, "broadcast") || starts(name, "fld") || starts(name, "fst")) {
    return InstructionClass::kMove;
  }
  if (*name == 'p') return InstructionClass::kVector;
  return InstructionClass::kFloat;
}

InstructionClass class_of(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MULX: return InstructionClass::kMultiply;
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV: return InstructionClass::kDivide;
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_SFENCE: return InstructionClass::kFence;
    case ZYDIS_MNEMONIC_LEA: return InstructionClass::kInteger;
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_PAUSE: return InstructionClass::kNothing;
    default: break;
  }
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return InstructionClass::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR: return InstructionClass::kJump;
    case ZYDIS_CATEGORY_CALL: return InstructionClass::kCall;
    case ZYDIS_CATEGORY_RET: return InstructionClass::kReturn;
    case ZYDIS_CATEGORY_STRINGOP: return InstructionClass::kString;
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1: return InstructionClass::kPrefetch;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP: return InstructionClass::kNothing;
    case ZYDIS_CATEGORY_SYSCALL: return InstructionClass::kSystemCall;
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP: return InstructionClass::kMove;
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_SEMAPHORE: return InstructionClass::kInteger;
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_SHA: return InstructionClass::kVector;
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_FMA4:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_X87_ALU: return float_class(ZydisMnemonicGetString(instruction.mnemonic));
    default: return InstructionClass::kOther;
  }
}

void add_memory(const ZydisDecodedOperand& operand, BlockInstruction& result) {
  const RegisterSet parts = register_of(operand.mem.base) | register_of(operand.mem.index);
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {  // LEA computes an address, and accesses nothing
    result.data_reads |= parts;
    return;
  }
  result.address_reads |= parts;
  // The size of XSAVE is not known beforehand.
  const auto bytes = static_cast<std::uint16_t>(operand.size < 8 ? 1 : operand.size / 8);
  if (bytes > result.operand_bytes) result.operand_bytes = bytes;
}

// What the marks of <cxloom/roi.h>, and that of a fence of <cxloom/persist.h>, mean.
std::uint16_t flags_of_mark(const void* data, std::size_t size) {
  switch (mark_of(data, size)) {
    case kRegionBegins: return BlockInstruction::kRegionBegin;
    case kRegionEnds: return BlockInstruction::kRegionEnd;
    case kFence: return BlockInstruction::kOrdersFlushes;
    default: return 0;
  }
}

// Flushes: the processor's own, and testl $0x43584cXX, (address), which <cxloom/persist.h> has for them.
std::uint16_t persist_flags(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
  constexpr std::uint64_t kDroppingMark = 0x43584c03;
  constexpr std::uint64_t kKeepingMark = 0x43584c04;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT: return BlockInstruction::kFlushDropping;
    case ZYDIS_MNEMONIC_CLWB: return BlockInstruction::kFlushKeeping;
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_SFENCE: return BlockInstruction::kOrdersFlushes;
    case ZYDIS_MNEMONIC_TEST:
      if (operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return 0;
      if (operands[1].imm.value.u == kDroppingMark) return BlockInstruction::kFlushDropping;
      return operands[1].imm.value.u == kKeepingMark ? BlockInstruction::kFlushKeeping : std::uint16_t{0};
    default: return 0;
  }
}

// The number of a general register; false if it is another one.
bool number_of(ZydisRegister name, std::uint8_t& number) {
  if (name == ZYDIS_REGISTER_NONE) return true;
  number = static_cast<std::uint8_t>(ZydisRegisterGetId(name));
  return ZydisRegisterGetClass(name) == ZYDIS_REGCLASS_GPR64;
}

ZydisDecoder made_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

const ZydisDecoder& shared_decoder() {
  static const ZydisDecoder decoder = made_decoder();
  return decoder;
}

}  // namespace

BlockInstruction decode(const void* data, std::size_t size) {
  BlockInstruction result;
  result.length = static_cast<std::uint8_t>(size);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&shared_decoder(), data, size, &instruction, operands))) {
    result.operand_bytes = 1;
    return result;
  }
  result.kind = class_of(instruction);
  result.flags = flags_of_mark(data, size);
  if (result.has(BlockInstruction::kOrdersFlushes)) result.kind = InstructionClass::kFence;
  if (result.flags != 0 || result.kind == InstructionClass::kNothing) return result;

  RegisterSet written = 0;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_memory(operand, result);
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const RegisterSet name = register_of(operand.reg.value);
    const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    const bool perhaps = (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 ||
        (writes && (perhaps || keeps_the_rest(operand.reg.value)))) {
      result.data_reads |= name;
    }
    if (writes) written |= name;
  }
  if (clears(instruction, operands)) result.data_reads = 0;
  if (moves_pointers(instruction.meta.category)) {
    constexpr RegisterSet kCounter = RegisterSet{1} << 1U;  // of a repeated one
    const bool repeated = (instruction.attributes &
                           (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0 &&
                          instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
    if (repeated) result.flags |= BlockInstruction::kRepeated;
    result.pointer_writes = written & (result.address_reads | (repeated ? kCounter : 0));
    result.data_reads &= ~result.pointer_writes;
  }
  result.data_writes = written & ~result.pointer_writes;
  if ((instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
      (instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && result.operand_bytes != 0)) {
    result.flags |= BlockInstruction::kAtomic;
  }
  result.flags |= persist_flags(instruction, operands);
  return result;
}

std::optional<AddressForm> address_form(const void* data, std::size_t size) {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&shared_decoder(), data, size, &instruction, operands)) ||
      instruction.address_width != 64) {
    return std::nullopt;
  }
  const ZydisDecodedOperand* found = nullptr;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (found != nullptr || operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) return std::nullopt;
    found = &operands[i];
  }
  if (found == nullptr || found->mem.segment == ZYDIS_REGISTER_FS || found->mem.segment == ZYDIS_REGISTER_GS)
    return std::nullopt;
  AddressForm form;
  form.displacement = found->mem.disp.value;
  form.relative = found->mem.base == ZYDIS_REGISTER_RIP;
  form.scale = found->mem.scale;
  const bool known =
      number_of(found->mem.index, form.index) && (form.relative || number_of(found->mem.base, form.base));
  return known ? std::optional(form) : std::nullopt;
}

Increment increment(const void* data, std::size_t size) {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  Increment found;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&shared_decoder(), data, size, &instruction, operands))) return {};
  const ZydisDecodedOperand& to = operands[0];
  const ZydisDecodedOperand& by = operands[1];
  if (to.type != ZYDIS_OPERAND_TYPE_REGISTER || !number_of(to.reg.value, found.of)) return {};
  const bool constant = by.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ADD: found.by = by.imm.value.s; return constant ? found : Increment{};
    case ZYDIS_MNEMONIC_SUB: found.by = -by.imm.value.s; return constant ? found : Increment{};
    case ZYDIS_MNEMONIC_INC: found.by = 1; return found;
    case ZYDIS_MNEMONIC_DEC: found.by = -1; return found;
    case ZYDIS_MNEMONIC_LEA:
      found.by = by.mem.disp.value;
      return by.mem.base == to.reg.value && by.mem.index == ZYDIS_REGISTER_NONE ? found : Increment{};
    default: return {};
  }
}

}  // namespace cxloom::qemu
