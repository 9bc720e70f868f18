// The hosts that agents of bias ask for lines.
#pragma once

namespace cxloom {

class System;

/// Tells each home of a region kept coherent by bias (HDM-D) which device may hold its lines, if one alone
/// has a cache and reaches it. Of several it is the first that asks for a copy. To be called when there are
/// routes.
void tell_bias_hosts(System& system);

}  // namespace cxloom
