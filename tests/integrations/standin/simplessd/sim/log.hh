// Stands in for SimpleSSD where it is not installed: see hil/hil.hh.
#pragma once

#include <iostream>

namespace SimpleSSD {

inline std::ostream* errors = nullptr;
inline void initLogSystem(std::ostream* /*out*/, std::ostream* err) { errors = err; }

}  // namespace SimpleSSD
