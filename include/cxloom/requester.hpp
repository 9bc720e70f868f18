// The agent that makes requests, for devices: Sequencer.
#pragma once

#include "cxloom/device.hpp"
#include "device/requester/sequencer.hpp"
