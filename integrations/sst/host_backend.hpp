// A host of a system of cxloom as what is behind a memory controller of SST's memHierarchy; docs/sst.md.
#pragma once

#include <cxloom/cxloom.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include <sst/core/event.h>
#include <sst/core/link.h>
#include <sst/core/params.h>
#include <sst/core/unitAlgebra.h>
#include <sst/elements/memHierarchy/membackend/memBackend.h>

namespace cxloom::integrations {

// Accesses of the controller are those of the host; the controller keeps their bytes. It has a system of its
// own, whose picoseconds are SST's. An event to itself wakes it when an answer can come, so that it needs no
// clock.
class HostBackend : public SST::MemHierarchy::SimpleMemBackend {
 public:
  SST_ELI_REGISTER_SUBCOMPONENT(HostBackend, "cxloomsst", "host", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                                "A host of a system of cxloom, with the memories that it reaches",
                                SST::MemHierarchy::SimpleMemBackend)
  SST_ELI_DOCUMENT_PARAMS(
      MEMBACKEND_ELI_PARAMS,
      {"system", "(string) The file of the system, as `cxloom resolve` prints it", NULL},
      {"host", "(string) The host's name in it, where it has no workload", "host"},
      {"offset", "(string) Where the controller's memory begins in its address map. With units (SI ok).",
       "0B"},
      {"most", "(uint) Accesses under way at most; more wait in the controller", "256"},
      {"summary", "(string) Where the summary goes at the end; nowhere if empty", ""})

  HostBackend(SST::ComponentId_t id, SST::Params& params)
      : SimpleMemBackend(id, params),
        summary_(params.find<std::string>("summary", "")),
        offset_(params.find<SST::UnitAlgebra>("offset", SST::UnitAlgebra("0B")).getRoundedValue()),
        most_(params.find<std::uint64_t>("most", 256)),
        picosecond_(getTimeConverter("1ps")),
        alarm_(configureSelfLink("alarm", "1ps",
                                 new SST::Event::Handler<HostBackend, &HostBackend::wake>(this))) {
    if (most_ == 0) stop("most is 0: no access could be made");
    open(params.find<std::string>("system", ""));
    const std::string host = params.find<std::string>("host", "host");
    device_ = cxloom_device(simulation_.get(), host.c_str());
    if (device_ < 0) stop("host: there is no device \"" + host + "\" in the system");
    if (cxloom_answers(simulation_.get(), device_, &HostBackend::answered, this) != 0) fail();
    check_map();
  }

  bool issueRequest(ReqId id, SST::MemHierarchy::Addr address, bool is_write, unsigned bytes) override {
    if (under_way_ == most_) return false;
    cxloom_access access{};
    access.address = offset_ + address;
    access.tag = id;
    access.ready = now();
    access.bytes = bytes;
    access.intent = is_write ? CXLOOM_WRITE : CXLOOM_READ;
    access.memory = CXLOOM_MAPPED;
    if (cxloom_give(simulation_.get(), device_, &access) != 0) fail();
    ++under_way_;
    set_alarm();
    return true;
  }
  bool isClocked() override { return false; }

  void finish() override {
    if (summary_.empty()) return;
    // Its own time has not passed since the last answer: that of SST counts.
    if (cxloom_run_until(simulation_.get(), now()) < 0 || cxloom_new_window(simulation_.get()) != 0) fail();
    char* const text = cxloom_summary(simulation_.get());
    std::ofstream file(summary_);
    if (text == nullptr || !(file << text << '\n')) stop("summary: \"" + summary_ + "\" cannot be written");
    cxloom_free(text);
  }

 private:
  struct Close {
    void operator()(cxloom_simulation* simulation) const { cxloom_close(simulation); }
  };
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  [[noreturn]] void stop(const std::string& text) const {
    output->fatal(CALL_INFO, 2, "%s: %s\n", getName().c_str(), text.c_str());
    throw std::logic_error(text);  // SST has ended
  }
  [[noreturn]] void fail() const { stop(cxloom_error(simulation_.get())); }

  void open(const std::string& path) {
    if (path.empty()) stop("system names no file: `cxloom resolve SPEC` prints what it wants");
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) stop("system: \"" + path + "\" cannot be read");
    char* error = nullptr;
    simulation_.reset(cxloom_open(text.str().c_str(), nullptr, &error));
    if (simulation_) return;
    const std::string why = error != nullptr ? error : "out of memory";
    cxloom_free(error);
    stop(path + ": " + why);
  }

  // An address that no memory has is seen before the first access.
  void check_map() {
    for (const std::uint64_t address : {offset_, offset_ + getMemSize() - 1}) {
      cxloom_access access{};
      access.address = address / 64 * 64;
      access.bytes = 64;
      access.intent = CXLOOM_READ;
      access.memory = CXLOOM_MAPPED;
      if (cxloom_estimate(simulation_.get(), device_, &access) < 0) fail();
    }
  }

  static void answered(void* user, const cxloom_answer* answer) {
    auto& backend = *static_cast<HostBackend*>(user);
    if (answer->failed != 0) backend.stop("an access was answered without data");
    --backend.under_way_;
    backend.handleMemResponse(answer->tag);
  }

  std::int64_t now() const { return static_cast<std::int64_t>(getCurrentSimTime(picosecond_)); }

  // An event that is under way cannot be called back: one that has become too late is let be, and one that
  // comes too early wakes for nothing.
  void set_alarm() {
    const std::int64_t next = cxloom_next_call(simulation_.get());
    if (next < 0) fail();
    if (next == kNever || next >= alarm_at_) return;
    const std::int64_t at = std::max(next, now());
    alarm_at_ = at;
    alarm_->send(static_cast<SST::SimTime_t>(at - now()), nullptr);
  }
  void wake(SST::Event* /*nothing*/) {
    if (now() >= alarm_at_) alarm_at_ = kNever;
    if (cxloom_run_until(simulation_.get(), now()) < 0) fail();
    set_alarm();
  }

  const std::string summary_;
  const std::uint64_t offset_;
  const std::uint64_t most_;
  const SST::TimeConverter picosecond_;
  SST::Link* const alarm_;
  std::unique_ptr<cxloom_simulation, Close> simulation_;
  int device_ = -1;
  std::uint64_t under_way_ = 0;
  std::int64_t alarm_at_ = kNever;  // the earliest event that is on its way
};

}  // namespace cxloom::integrations
