// Prefetchers of a cache: Prefetcher.
#pragma once

#include "cxloom/plugin.hpp"
#include "tags/prefetcher.hpp"
#include "tags/prefetcher_schema.hpp"
