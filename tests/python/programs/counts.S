# A program of 5013 instructions with 2102 loads and 2102 stores, of which the last are wide, repeated and atomic.
.globl _start
_start:
  mov $1000, %ecx             # 2 before the loop
  lea buffer(%rip), %rsi
1:
  mov (%rsi), %rax            # a thousand times 5 instructions, 2 loads, 2 stores
  add %rax, 8(%rsi)
  mov %rax, 16(%rsi)
  dec %ecx
  jnz 1b
  lea buffer(%rip), %rsi      # 4, the last of which loads and stores 100 bytes one by one
  lea buffer+4096(%rip), %rdi
  mov $100, %ecx
  rep movsb
  vmovups buffer(%rip), %ymm0  # 2: a load and a store of 32 bytes
  vmovups %ymm0, buffer+64(%rip)
  mov $5, %eax                # 2: a load and a store at once
  lock cmpxchg %rcx, buffer(%rip)
  mov $60, %eax               # 3: exit(0)
  xor %edi, %edi
  syscall
.bss
.balign 64
buffer: .skip 16384
.section .note.GNU-stack,"",@progbits
