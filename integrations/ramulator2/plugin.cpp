// The plug-in: `cxloom run SPEC --plugin libcxloom_ramulator2.so`.
#include "ramulator2_media.hpp"

CXLOOM_PLUGIN(registry) { registry.media.add<cxloom::integrations::Ramulator2Media>("ramulator2"); }
