// Devices that are switches: SwitchingDevice, and SwitchingEndpoint, which has agents besides.
#pragma once

#include "cxloom/device.hpp"
#include "device/switch/switch.hpp"
#include "device/switch/switching_endpoint.hpp"
