#include "integrations/qemu/decode.hpp"

#include <gtest/gtest.h>

#include <cxloom/roi.h>
#include <vector>

namespace cxloom::qemu {
namespace {

using Bytes = std::vector<unsigned char>;

BlockInstruction decoded(const Bytes& bytes) { return decode(bytes.data(), bytes.size()); }

constexpr RegisterSet bit(unsigned number) { return RegisterSet{1} << number; }
constexpr RegisterSet kRax = bit(0), kRcx = bit(1), kRdx = bit(2), kRbx = bit(3), kRsp = bit(4),
                      kRsi = bit(6), kRdi = bit(7), kR8 = bit(8), kFlags = bit(16), kXmm0 = bit(17),
                      kXmm1 = bit(18);

void expect(const BlockInstruction& is, InstructionClass kind, RegisterSet address, RegisterSet data,
            RegisterSet results, RegisterSet pointers, unsigned bytes) {
  EXPECT_EQ(is.kind, kind);
  EXPECT_EQ(is.address_reads, address);
  EXPECT_EQ(is.data_reads, data);
  EXPECT_EQ(is.data_writes, results);
  EXPECT_EQ(is.pointer_writes, pointers);
  EXPECT_EQ(is.operand_bytes, bytes);
}

TEST(QemuDecode, LoadsAndStores) {
  // mov rax, [rbx + 8 * rcx]
  expect(decoded({0x48, 0x8b, 0x04, 0xcb}), InstructionClass::kMove, kRbx | kRcx, 0, kRax, 0, 8);
  // mov [rbx], rax
  expect(decoded({0x48, 0x89, 0x03}), InstructionClass::kMove, kRbx, kRax, 0, 0, 8);
  // add [rbx], eax
  expect(decoded({0x01, 0x03}), InstructionClass::kInteger, kRbx, kRax, kFlags, 0, 4);
  // add rax, [rbx]
  expect(decoded({0x48, 0x03, 0x03}), InstructionClass::kInteger, kRbx, kRax, kRax | kFlags, 0, 8);
  // mov rax, [rip + 0]
  expect(decoded({0x48, 0x8b, 0x05, 0, 0, 0, 0}), InstructionClass::kMove, 0, 0, kRax, 0, 8);
}

TEST(QemuDecode, AnAddressThatIsOnlyComputedIsData) {
  // lea rax, [rbx + rcx]
  expect(decoded({0x48, 0x8d, 0x04, 0x0b}), InstructionClass::kInteger, 0, kRbx | kRcx, kRax, 0, 0);
}

TEST(QemuDecode, TheStackPointerDoesNotDependOnWhatIsPopped) {
  expect(decoded({0x50}), InstructionClass::kMove, kRsp, kRax, 0, kRsp, 8);  // push rax
  expect(decoded({0x58}), InstructionClass::kMove, kRsp, 0, kRax, kRsp, 8);  // pop rax
  const BlockInstruction back = decoded({0xc3});
  EXPECT_EQ(back.kind, InstructionClass::kReturn);
  EXPECT_EQ(back.pointer_writes, kRsp);
  EXPECT_EQ(back.data_writes, 0U);
}

TEST(QemuDecode, PartsOfRegistersKeepTheRest) {
  expect(decoded({0x8a, 0x03}), InstructionClass::kMove, kRbx, kRax, kRax, 0, 1);  // mov al, [rbx]
  expect(decoded({0x8b, 0x03}), InstructionClass::kMove, kRbx, 0, kRax, 0,
         4);  // mov eax, [rbx]: clears the rest
  expect(decoded({0x8a, 0x23}), InstructionClass::kMove, kRbx, kRax, kRax, 0, 1);  // mov ah, [rbx]
  EXPECT_EQ(decoded({0x48, 0x0f, 0x44, 0xc3}).data_reads, kRax | kRbx | kFlags);   // cmove rax, rbx
}

TEST(QemuDecode, WhatClearsARegisterDoesNotReadIt) {
  expect(decoded({0x31, 0xc0}), InstructionClass::kInteger, 0, 0, kRax | kFlags, 0, 0);  // xor eax, eax
  EXPECT_EQ(decoded({0x31, 0xd8}).data_reads, kRax | kRbx);                              // xor eax, ebx
  EXPECT_EQ(decoded({0x0f, 0x57, 0xc0}).data_reads, 0U);                                 // xorps xmm0, xmm0
}

TEST(QemuDecode, StringsMoveTheirPointersAndRepeat) {
  const BlockInstruction repeated = decoded({0xf3, 0xa4});  // rep movsb
  EXPECT_EQ(repeated.kind, InstructionClass::kString);
  EXPECT_TRUE(repeated.has(BlockInstruction::kRepeated));
  EXPECT_EQ(repeated.address_reads, kRsi | kRdi);
  EXPECT_EQ(repeated.pointer_writes, kRsi | kRdi | kRcx);
  EXPECT_FALSE(decoded({0xa4}).has(BlockInstruction::kRepeated));
  EXPECT_FALSE(
      decoded({0xf3, 0xc3}).has(BlockInstruction::kRepeated));  // a return with a prefix without effect
}

TEST(QemuDecode, Vectors) {
  const BlockInstruction load = decoded({0xc5, 0xfc, 0x10, 0x03});  // vmovups ymm0, [rbx]
  EXPECT_EQ(load.operand_bytes, 32U);
  EXPECT_EQ(load.data_writes, kXmm0);
  EXPECT_EQ(load.kind, InstructionClass::kMove);
  const BlockInstruction times = decoded({0xf2, 0x0f, 0x59, 0xc1});  // mulsd xmm0, xmm1
  EXPECT_EQ(times.kind, InstructionClass::kFloatMultiply);
  EXPECT_EQ(times.data_reads, kXmm0 | kXmm1);
  EXPECT_EQ(decoded({0xf2, 0x0f, 0x5e, 0xc1}).kind, InstructionClass::kFloatDivide);          // divsd
  EXPECT_EQ(decoded({0xf2, 0x0f, 0x58, 0xc1}).kind, InstructionClass::kFloat);                // addsd
  EXPECT_EQ(decoded({0x66, 0x0f, 0xfe, 0xc1}).kind, InstructionClass::kVector);               // paddd
  EXPECT_EQ(decoded({0xc4, 0xe2, 0xf1, 0xb8, 0xc2}).kind, InstructionClass::kFloatMultiply);  // vfmadd231pd
}

TEST(QemuDecode, Classes) {
  EXPECT_EQ(decoded({0x74, 0x00}).kind, InstructionClass::kBranch);          // je
  EXPECT_EQ(decoded({0x74, 0x00}).data_reads, kFlags);                       //
  EXPECT_EQ(decoded({0xeb, 0x00}).kind, InstructionClass::kJump);            // jmp
  EXPECT_EQ(decoded({0xe8, 0, 0, 0, 0}).kind, InstructionClass::kCall);      // call
  EXPECT_EQ(decoded({0x48, 0xf7, 0xf1}).kind, InstructionClass::kDivide);    // div rcx
  EXPECT_EQ(decoded({0x48, 0xf7, 0xf1}).data_writes, kRax | kRdx | kFlags);  //
  EXPECT_EQ(decoded({0x0f, 0xaf, 0xc3}).kind, InstructionClass::kMultiply);  // imul eax, ebx
  EXPECT_EQ(decoded({0x0f, 0xae, 0xf0}).kind, InstructionClass::kFence);     // mfence
  EXPECT_EQ(decoded({0x0f, 0x05}).kind, InstructionClass::kSystemCall);      // syscall
  EXPECT_EQ(decoded({0x0f, 0x18, 0x0b}).kind, InstructionClass::kPrefetch);  // prefetcht0 [rbx]
  EXPECT_EQ(decoded({0x0f, 0x1f, 0x00}).kind, InstructionClass::kNothing);   // nop [rax]
  EXPECT_EQ(decoded({0x0f, 0x1f, 0x00}).address_reads, 0U);                  //
  EXPECT_EQ(decoded({0x0f, 0xa2}).kind, InstructionClass::kOther);           // cpuid
  EXPECT_EQ(decoded({0x06}).kind, InstructionClass::kOther);                 // none in 64 bits
}

TEST(QemuDecode, AtomicOperations) {
  const BlockInstruction swap = decoded({0xf0, 0x4c, 0x0f, 0xb1, 0x03});  // lock cmpxchg [rbx], r8
  EXPECT_TRUE(swap.has(BlockInstruction::kAtomic));
  EXPECT_EQ(swap.address_reads, kRbx);
  EXPECT_EQ(swap.data_reads, kRax | kR8);
  EXPECT_TRUE(decoded({0x87, 0x03}).has(BlockInstruction::kAtomic));   // xchg [rbx], eax
  EXPECT_FALSE(decoded({0x87, 0xc3}).has(BlockInstruction::kAtomic));  // xchg ebx, eax
  EXPECT_FALSE(decoded({0x01, 0x03}).has(BlockInstruction::kAtomic));
}

// The bytes of the header itself, found in a function that consists of them.
[[gnu::noinline]] void both_marks() {
  cxloom_roi_begin();
  cxloom_roi_end();
}

TEST(QemuDecode, TheMarksOfTheHeader) {
  both_marks();  // they do nothing
  const auto* code = reinterpret_cast<const unsigned char*>(&both_marks);
  std::uint16_t found = 0;
  for (int i = 0; i < 64 && found != (BlockInstruction::kRegionBegin | BlockInstruction::kRegionEnd); ++i) {
    found = static_cast<std::uint16_t>(found | decode(code + i, 7).flags);
  }
  EXPECT_EQ(found, BlockInstruction::kRegionBegin | BlockInstruction::kRegionEnd);
  EXPECT_EQ(decoded({0x0f, 0x1f, 0x80, 0, 0, 0, 0}).flags, 0U);  // what assemblers fill gaps with
}

}  // namespace
}  // namespace cxloom::qemu
