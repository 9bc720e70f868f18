// Whose exception it is that is none of our errors: that of a part of a plug-in.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"

namespace cxloom {

class RunKernels;
class System;
struct Registry;
struct Spec;

class PluginFailure {
 public:
  /// All of these outlive it.
  PluginFailure(const Registry& registry, const Spec& spec, const System& system, const RunKernels& kernels)
      : registry_(registry), spec_(spec), system_(system), kernels_(kernels) {}

  /// Returns what `action` does. Throws SimulationError for what it throws that is none of our errors, with a
  /// sentence: "device 'r0' (kind 'retimer' of the plug-in libretimer.so) threw during the run: boom". Where
  /// what was at work is of no plug-in, every part that is may have been called by it. Without plug-ins it is
  /// thrown as it is.
  template <class Action>
  auto name_in(Action action) const {
    try {
      return action();
    } catch (const InputError&) {
      throw;
    } catch (const SimulationError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      fail(error.what());
    } catch (...) {
      fail("what is no std::exception");
    }
  }

 private:
  /// To be called while an exception is handled.
  [[noreturn]] void fail(const std::string& thrown) const;

  const Registry& registry_;
  const Spec& spec_;
  const System& system_;
  const RunKernels& kernels_;
};

}  // namespace cxloom
