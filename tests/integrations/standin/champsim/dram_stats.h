// The counts of a channel of ChampSim's DRAM.
#pragma once

struct dram_stats {};
