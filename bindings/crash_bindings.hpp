// The loss of power, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "system/crash/loss_history.hpp"
#include "system/crash/power_loss.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

/// The outcome of a loss of power, as plain data.
nanobind::dict to_python(const PowerLossFound& found);
/// Calls a function of Python now and then, which may raise to end what goes on without the GIL.
Look python_look(nanobind::object look);
/// The search for the history of a loss that a run has shown.
nanobind::object python_search(std::unique_ptr<LossSearch> search);

void bind_crash(nanobind::module_& m);

}  // namespace cxloom
