// KV caches of language models, a part of the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace cxloom {

void bind_kv(nanobind::module_& m);

}  // namespace cxloom
