// Writes that fail when a test says so. Loaded before the C library (LD_PRELOAD), it counts the calls that
// change files of one directory; from a chosen one on, or there alone, they fail with a chosen error or write
// half of what they should.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { kHalf = -1 };

static char directory[4096];
static long seen, first, last;
static int code;

// Calls number `from` to `to` fail, counted from 1 now on.
void fail_writes(const char* where, long from, long to, int error) {
  snprintf(directory, sizeof directory, "%s", where);
  seen = 0, first = from, last = to, code = error;
}

// How many calls there were since.
long writes_seen(void) { return seen; }

static int strikes_path(const char* path) {
  if (directory[0] == '\0' || strncmp(path, directory, strlen(directory)) != 0) return 0;
  seen++;
  return first <= seen && seen <= last;
}

static int strikes(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = '\0';
  return strikes_path(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FAIL_IF(condition)       \
  if ((condition) && code > 0) { \
    errno = code;                \
    return -1;                   \
  }

ssize_t write(int descriptor, const void* data, size_t size) {
  int struck = strikes(descriptor);
  FAIL_IF(struck)
  return REAL(write)(descriptor, data, struck && code == kHalf ? (size + 1) / 2 : size);
}

#define PWRITE(name, offset_type)                                                   \
  ssize_t name(int descriptor, const void* data, size_t size, offset_type offset) { \
    int struck = strikes(descriptor);                                               \
    FAIL_IF(struck)                                                                 \
    return REAL(name)(descriptor, data, struck ? (size + 1) / 2 : size, offset);    \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)              \
  int name(int descriptor, offset_type length) { \
    FAIL_IF(strikes(descriptor))                 \
    return REAL(name)(descriptor, length);       \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                 \
  int name(int descriptor) {       \
    FAIL_IF(strikes(descriptor))   \
    return REAL(name)(descriptor); \
  }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char* from, const char* to) {
  FAIL_IF(strikes_path(to))
  return REAL(rename)(from, to);
}

// A new file needs room as well.
#define OPEN(name)                                                         \
  int name(const char* path, int flags, ...) {                             \
    va_list more;                                                          \
    va_start(more, flags);                                                 \
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;              \
    va_end(more);                                                          \
    FAIL_IF((flags & O_CREAT) && access(path, F_OK) && strikes_path(path)) \
    return REAL(name)(path, flags, mode);                                  \
  }
OPEN(open)
OPEN(open64)
