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

TEST(QemuDecode, FlushesAndTheirFences) {
  const BlockInstruction out = decoded({0x0f, 0xae, 0x3b});  // clflush [rbx]
  EXPECT_EQ(out.flags, BlockInstruction::kFlushDropping);
  EXPECT_EQ(out.address_reads, kRbx);
  EXPECT_EQ(decoded({0x66, 0x0f, 0xae, 0x3b}).flags, BlockInstruction::kFlushDropping);  // clflushopt [rbx]
  EXPECT_EQ(decoded({0x66, 0x0f, 0xae, 0x33}).flags, BlockInstruction::kFlushKeeping);   // clwb [rbx]
  EXPECT_EQ(decoded({0x0f, 0xae, 0xf8}).flags, BlockInstruction::kOrdersFlushes);        // sfence
  EXPECT_EQ(decoded({0x0f, 0xae, 0xf0}).flags, BlockInstruction::kOrdersFlushes);        // mfence
  EXPECT_EQ(decoded({0x0f, 0xae, 0xe8}).flags, 0);                                       // lfence
}

TEST(QemuDecode, MarksOfPersists) {
  // testl $0x43584cXX, (%rbx)
  const auto mark = [](unsigned char number) { return decoded({0xf7, 0x03, number, 0x4c, 0x58, 0x43}); };
  EXPECT_EQ(mark(3).flags, BlockInstruction::kFlushDropping);
  EXPECT_EQ(mark(4).flags, BlockInstruction::kFlushKeeping);
  EXPECT_EQ(mark(5).flags, 0);
  EXPECT_EQ(mark(3).operand_bytes, 4U);
  EXPECT_EQ(decoded({0xf7, 0xc3, 3, 0x4c, 0x58, 0x43}).flags, 0);  // of a register
  const BlockInstruction fence = decoded({0x0f, 0x1f, 0x80, 5, 0x4c, 0x58, 0x43});
  EXPECT_EQ(fence.flags, BlockInstruction::kOrdersFlushes);
  EXPECT_EQ(fence.kind, InstructionClass::kFence);
}

TEST(QemuDecode, Increments) {
  const auto by = [](const Bytes& bytes) {
    const Increment found = increment(bytes.data(), bytes.size());
    return found.of == AddressForm::kNone ? std::pair(-1, std::int64_t{0})
                                          : std::pair(int{found.of}, found.by);
  };
  using By = std::pair<int, std::int64_t>;
  EXPECT_EQ(by({0x48, 0x83, 0xc3, 0x40}), By(3, 64));           // add rbx, 64
  EXPECT_EQ(by({0x49, 0x81, 0xef, 0, 1, 0, 0}), By(15, -256));  // sub r15, 256
  EXPECT_EQ(by({0x48, 0x83, 0xc0, 0xc0}), By(0, -64));          // add rax, -64
  EXPECT_EQ(by({0x48, 0xff, 0xc1}), By(1, 1));                  // inc rcx
  EXPECT_EQ(by({0x48, 0xff, 0xc9}), By(1, -1));                 // dec rcx
  EXPECT_EQ(by({0x48, 0x8d, 0x5b, 0x40}), By(3, 64));           // lea rbx, [rbx + 64]
  EXPECT_EQ(by({0x48, 0x8d, 0x43, 0x40}).first, -1);            // lea rax, [rbx + 64]
  EXPECT_EQ(by({0x48, 0x01, 0xc3}).first, -1);                  // add rbx, rax
  EXPECT_EQ(by({0x83, 0xc3, 0x40}).first, -1);                  // add ebx, 64: clears the rest
  EXPECT_EQ(by({0x48, 0x8d, 0x5c, 0x0b, 0x40}).first, -1);      // lea rbx, [rbx + rcx + 64]
}

TEST(QemuDecode, FormsOfAddresses) {
  const auto form = [](const Bytes& bytes) { return address_form(bytes.data(), bytes.size()); };
  const auto one = form({0x66, 0x0f, 0xae, 0x74, 0xcb, 0x40});  // clwb [rbx + 8 * rcx + 64]
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, (AddressForm{.base = 3, .index = 1, .scale = 8, .displacement = 64}));
  const auto relative = form({0x0f, 0xae, 0x3d, 0xf0, 0xff, 0xff, 0xff});  // clflush [rip - 16]
  ASSERT_TRUE(relative);
  EXPECT_TRUE(relative->relative);
  EXPECT_EQ(relative->displacement, -16);
  EXPECT_EQ(form({0x49, 0x8b, 0x07})->base, 15);             // mov rax, [r15]
  EXPECT_FALSE(form({0x64, 0x0f, 0xae, 0x3b}));              // clflush fs:[rbx]
  EXPECT_FALSE(form({0x67, 0x0f, 0xae, 0x3b}));              // clflush [ebx]
  EXPECT_FALSE(form({0x50}));                                // push rax
  EXPECT_FALSE(form({0x48, 0x89, 0xd8}));                    // mov rax, rbx
  EXPECT_FALSE(form({0xc4, 0xe2, 0x6d, 0x92, 0x04, 0x8b}));  // vgatherdps ymm0, [rbx + 4 * ymm1], ymm2
}

}  // namespace
}  // namespace cxloom::qemu
