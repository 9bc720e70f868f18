#include "cxloom_gem5/backing_memory.hpp"
