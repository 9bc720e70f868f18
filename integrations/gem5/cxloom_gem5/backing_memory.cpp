#include "backing_memory.hpp"
