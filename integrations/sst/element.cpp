// The library of elements that SST loads, libcxloomsst.so; docs/sst.md says how it is compiled.
#include "host_backend.hpp"
