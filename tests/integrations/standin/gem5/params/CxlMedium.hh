#include "parameters.hpp"
