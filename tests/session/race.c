// A race that ThreadSanitizer must find: else it finds nothing at all. Two threads of Python call this at
// once.
#include <unistd.h>

static volatile int counter;

void count(void) {
  for (int i = 0; i < 100000; i++) counter = counter + 1;
  usleep(1000);
}
