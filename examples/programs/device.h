// Memory of a program in a device such as /dev/dax0.0, or in a file.
#ifndef CXLOOM_EXAMPLES_DEVICE_H
#define CXLOOM_EXAMPLES_DEVICE_H

#include <cxloom/dax.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// So many bytes of a device, with whatever is in them. Ends the program if there are none.
static inline void* in_device(cxloom_dax* device, const char* name, uint64_t bytes) {
  void* found = device == NULL ? NULL : cxloom_dax_allocate(device, bytes);
  if (found == NULL) {
    perror(name);
    exit(1);
  }
  return found;
}

#endif
