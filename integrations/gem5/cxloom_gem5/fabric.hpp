// A system of cxloom as what lies between hosts and their memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <base/statistics.hh>
#include <params/CxlFabric.hh>
#include <sim/eventq.hh>
#include "path.hpp"

struct cxloom_simulation;

namespace gem5::cxl {

class Medium;

/// A picosecond of the system is a tick. The system begins when gem5 starts or restores a checkpoint, and
/// wakes gem5 when an answer can come.
class Fabric : public Path {
 public:
  explicit Fabric(const CxlFabricParams& params);
  ~Fabric() override;

  Seat seat(Host& host) override;
  void give(unsigned host, const Access& access) override;
  void snooped(unsigned host, std::uint64_t number, Snooped held) override;
  Tick estimate(unsigned host, const Access& access) override;
  std::vector<std::string> segments() const override;

  /// The memory's bytes are stored by this medium. Gives the number of the memory.
  int store(Medium& medium);
  /// The access `id` of a memory's medium has ended.
  void stored(int memory, std::uint64_t id);

  void startup() override;
  DrainState drain() override;
  void drainResume() override;
  void serialize(CheckpointOut& checkpoint) const override;

  void resetStats() override;
  void preDumpStats() override;

 private:
  /// A host of gem5 and what it is in the system. The address of a seat stays.
  struct Member {
    Fabric* fabric;
    Host* host;
    int device;
    bool coherent;
  };
  struct SnoopAnswer {
    unsigned host;
    std::uint64_t number;
    Snooped held;
  };
  struct Close {
    void operator()(cxloom_simulation* simulation) const;
  };
  struct Stats : public statistics::Group {
    explicit Stats(Fabric& fabric, const std::vector<std::string>& measures);
    std::vector<std::unique_ptr<statistics::Scalar>> values;
  };

  void open();
  void join(Member& member);
  void join(Medium& medium);
  void check_addresses(const Member& member);
  void tell(const SnoopAnswer& answer);
  void pass_time();
  void wake();
  void new_window();
  void try_measures();
  void read_measures();
  void make_folder() const;
  void write_summary();
  [[noreturn]] void fail(const std::string& what) const;
  Tick time_here(std::int64_t picoseconds) const { return base_ + static_cast<Tick>(picoseconds); }
  std::int64_t time_there(Tick tick) const { return static_cast<std::int64_t>(tick - base_); }

  const std::string spec_;
  const std::vector<std::string> plugins_;
  const std::vector<std::string> measures_;
  const std::string summary_;
  std::unique_ptr<cxloom_simulation, Close> simulation_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Medium*> media_;
  std::vector<SnoopAnswer> snoop_answers_;  // that came while no time passed
  Tick base_ = 0;                           // when the system began
  bool binds_later_ = false;                // the spec binds memories to hosts as time passes
  bool started_ = false;
  bool time_passes_ = false;     // answers and snoops are being told
  std::uint64_t under_way_ = 0;  // accesses without their answers
  mutable bool checkpointed_ = false;
  EventFunctionWrapper wake_event_;
  Stats stats_;
};

}  // namespace gem5::cxl
