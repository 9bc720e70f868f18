// The plug-in: `cxloom run SPEC --plugin libcxloom_dramsim3.so`.
#include "dramsim3_media.hpp"

CXLOOM_PLUGIN(registry) { registry.media.add<cxloom::integrations::Dramsim3Media>("dramsim3"); }
