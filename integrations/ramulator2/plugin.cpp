// The plug-in: `cxloom run SPEC --plugin libcxloom_ramulator2.so`.
#include "ramulator2_media.hpp"

extern "C" void cxloom_register(cxloom::Registry& registry) {
  registry.media.add<cxloom::integrations::Ramulator2Media>("ramulator2");
}
