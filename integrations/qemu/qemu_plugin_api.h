/* The functions of QEMU's plug-in interface that are used here: version 1 (QEMU 7.2), or version 4 (QEMU 10),
 * as CXLOOM_QEMU_PLUGIN_VERSION says. No package has its header. */
#ifndef CXLOOM_QEMU_PLUGIN_API_H
#define CXLOOM_QEMU_PLUGIN_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef CXLOOM_QEMU_PLUGIN_VERSION
#define CXLOOM_QEMU_PLUGIN_VERSION 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  union {
    struct {
      int smp_vcpus;
      int max_vcpus;
    } system;
  };
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void* data);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu, void* data);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb* block);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                          void* data);
typedef void (*qemu_plugin_vcpu_syscall_cb_t)(qemu_plugin_id_t id, unsigned vcpu, int64_t call, uint64_t a1,
                                              uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                                              uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_vcpu_syscall_ret_cb_t)(qemu_plugin_id_t id, unsigned vcpu, int64_t call,
                                                  int64_t result);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, qemu_plugin_vcpu_udata_cb_t callback,
                                          enum qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            qemu_plugin_vcpu_udata_cb_t callback,
                                            enum qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction,
                                      qemu_plugin_vcpu_mem_cb_t callback, enum qemu_plugin_cb_flags flags,
                                      enum qemu_plugin_mem_rw directions, void* data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t callback);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                              qemu_plugin_vcpu_syscall_ret_cb_t callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback, void* data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
#if CXLOOM_QEMU_PLUGIN_VERSION >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction, void* destination, size_t length);
#else
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
#endif
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
void* qemu_plugin_insn_haddr(const struct qemu_plugin_insn* instruction);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
uint64_t qemu_plugin_start_code(void);

/* The place of an access, where a machine is emulated. It may be asked within the callback of the access. */
struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* where);

/* What an access reads or writes (version 4); `type` is the logarithm of its bytes. */
typedef struct qemu_plugin_mem_value {
  unsigned type;
  union {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    struct {
      uint64_t low;
      uint64_t high;
    } u128;
  } data;
} qemu_plugin_mem_value;
qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info);

/* A processor has nothing to do from now on, or has something to do again. */
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);

/* The registers and the memory of the processor whose callback this is. The arrays are those of GLib, which
 * QEMU brings along. */
typedef struct qemu_plugin_array {
  char* data;
  unsigned length;
} qemu_plugin_array;
typedef struct qemu_plugin_bytes {
  uint8_t* data;
  unsigned length;
} qemu_plugin_bytes;
typedef struct qemu_plugin_reg_descriptor {
  void* handle;
  const char* name;
  const char* feature;
} qemu_plugin_reg_descriptor;
qemu_plugin_array* qemu_plugin_get_registers(void);
int qemu_plugin_read_register(void* handle, qemu_plugin_bytes* value);
bool qemu_plugin_read_memory_vaddr(uint64_t address, qemu_plugin_bytes* value, size_t length);
qemu_plugin_bytes* g_byte_array_new(void);
qemu_plugin_bytes* g_byte_array_set_size(qemu_plugin_bytes* array, unsigned length);

/* Takes all callbacks away, and then calls `registers`, which registers others. */
void qemu_plugin_reset(qemu_plugin_id_t id, void (*registers)(qemu_plugin_id_t id));

#ifdef __cplusplus
}
#endif

#endif
