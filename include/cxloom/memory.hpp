// The agent that serves memory, for devices: MemoryController.
#pragma once

#include "cxloom/device.hpp"
#include "device/memory/controller.hpp"
