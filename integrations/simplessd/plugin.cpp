// The plug-in: `cxloom run SPEC --plugin libcxloom_simplessd.so`.
#include "simplessd_media.hpp"

CXLOOM_PLUGIN(registry) { registry.media.add<cxloom::integrations::SimpleSsdMedia>("simplessd"); }
