// The plug-in: `cxloom run SPEC --plugin libcxloom_dramsim3.so`.
#include "dramsim3_media.hpp"

extern "C" void cxloom_register(cxloom::Registry& registry) {
  registry.media.add<cxloom::integrations::Dramsim3Media>("dramsim3");
}
