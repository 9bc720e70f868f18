// A device with a workload that serves memory besides, and may crash as a whole, and boot again.
#pragma once

#include "component/endpoint.hpp"

namespace cxloom {

/// What its memory has when it crashes, and what comes to that afterwards, is lost. The answers to its own
/// requests end these: nobody waits for them.
class CrashingDevice : public Endpoint {
 public:
  using Endpoint::Endpoint;

  void routes_changed(bool failed) override {
    if (failed && !crashed_) lose_memory();
    if (!failed && crashed_) serve_again();
    crashed_ = failed;
  }

 protected:
  /// Its memory, and the agent that keeps it coherent, lose what they have.
  virtual void lose_memory() = 0;
  /// It has booted: they work again.
  virtual void serve_again() = 0;

 private:
  bool crashed_ = false;
};

}  // namespace cxloom
