// A part of the stand-in for Ramulator 2.
#pragma once

#include "ramulator/standin.hpp"
