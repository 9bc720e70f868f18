#include "packets.hpp"
