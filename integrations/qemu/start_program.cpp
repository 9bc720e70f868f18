// Runs a program in a guest and marks its time: from when it is put in the place of a fork of this process,
// to when that has ended. cxloom_start_program PROGRAM ARGS...; gives the program's exit code, 128 and the
// signal's number if one ended it, 126 or 127 if it cannot be run. It is linked to no library, as it has none
// in a guest.
#define NUMBER(text) #text
#define MARK(number) \
  __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80, " NUMBER(number) ", 0x4c, 0x58, 0x43" ::: "memory")

namespace {

constexpr long kFork = 57;
constexpr long kExecve = 59;
constexpr long kExit = 60;
constexpr long kWait4 = 61;
constexpr long kNoEntry = -2;      // errors of the kernel
constexpr long kInterrupted = -4;  // a signal came while it waited
constexpr long kCannotRun = 126;   // exit codes of shells
constexpr long kNotFound = 127;
constexpr int kNoStatus = kNotFound << 8;

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long fourth __asm__("r10") = d;
  __asm__ __volatile__("syscall"
                       : "+a"(number)
                       : "D"(a), "S"(b), "d"(c), "r"(fourth)
                       : "rcx", "r11", "memory");
  return number;
}

[[noreturn]] void leave(long code) {
  for (;;) call(kExit, code);
}

long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

}  // namespace

// The kernel puts the number of arguments on the stack, the arguments, and the environment.
extern "C" [[noreturn, gnu::used]] void start(long* stack) {
  const long count = stack[0];
  char** const arguments = reinterpret_cast<char**>(stack + 1);
  char** const environment = arguments + count + 1;
  if (count < 2) leave(kNotFound);
  const long child = call(kFork);
  if (child == 0) {
    MARK(6);
    const long error = call(kExecve, address(arguments[1]), address(arguments + 1), address(environment));
    leave(error == kNoEntry ? kNotFound : kCannotRun);
  }
  int status = kNoStatus;
  if (child > 0) {
    while (call(kWait4, child, address(&status)) == kInterrupted) {
    }
  }
  MARK(7);
  const int signal = status & 127;
  leave(signal != 0 ? 128 + signal : status >> 8 & 255);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
