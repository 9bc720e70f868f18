#include "workload/tiering/kernel_costs.hpp"

#include "base/schema.hpp"

namespace cxloom {

void KernelCosts::describe(Schema<KernelCosts>& schema) {
  schema.doc("What the kernel's work on pages costs the program.");
  schema.field("fault", &KernelCosts::fault)
      .doc("A hint fault: from the access until its page is accessible again.")
      .source("own choice: a minor fault of Linux takes 0.5 to 1 us on servers");
  schema.field("protect", &KernelCosts::protect)
      .doc("Making a page inaccessible, so that the next access to it faults; the shoot-down is extra.")
      .source("own choice: an entry of the page table, and finding it");
  schema.field("scan", &KernelCosts::scan)
      .doc("Reading and clearing the accessed bit of a page.")
      .source("own choice: an entry of the page table, and finding it");
  schema
      .choice("scanner", &KernelCosts::scanner, {{"program", Scanner::kProgram}, {"other", Scanner::kOther}})
      .doc(
          "Who protects and scans pages. program: its own threads, each its part, as task_numa_work does. "
          "other: a thread of the kernel on another core, as kswapd does; the program goes on.")
      .source("Linux, kernel/sched/fair.c: hint faults are prepared by the task");
  schema.field("sample", &KernelCosts::sample)
      .doc("A sampled access, to the thread that made it.")
      .source("own choice: 200 to 300 ns a record of PEBS, Akiyama and Hirofuchi, ROSS 2017");
  schema.field("unmap", &KernelCosts::unmap)
      .doc("The kernel's own work on a page that moves: locking, unmapping and mapping it.")
      .source("own choice");
  schema.field("shootdown", &KernelCosts::shootdown)
      .doc(
          "From the interrupts to the cores that may hold a translation until all have answered: before a "
          "page is copied, and behind pages that were protected.")
      .source("own choice: a few microseconds on two sockets, Kumar et al., LATR, ASPLOS 2018");
  schema.field("interrupt", &KernelCosts::interrupt)
      .doc("What a shoot-down takes of each core that the program runs on.")
      .source("own choice: a quarter of the shoot-down");
  schema.field("copy_lines", &KernelCosts::copy_lines)
      .min(1)
      .max(1U << 16U)
      .doc("Lines of a page that are being copied at the same time.")
      .source(
          "Intel 64 and IA-32 Architectures Optimization Reference Manual: a core of Golden Cove has 16 fill "
          "buffers");
}

}  // namespace cxloom
