/* Put before a program with LD_PRELOAD: makes one call of the C library fail, the N-th of a kind in all of its
 * processes together, from main on. Variables of the environment say which:
 *
 * - DADSIM_INJECT_KIND: alloc, write, read, open, stdio, fork, pipe, mmap, sync, rename, unlink, thread, wait
 *
 * - DADSIM_INJECT_NUMBER: which of them, from 1; 0: none, they are counted only
 *
 * - DADSIM_INJECT_FAULT: the errno, as a number; 0: a short write or read of half of the bytes, at least one
 *
 * - DADSIM_INJECT_LOG: a file, to which lines are added: at the end of the first process "count KIND N" for every kind;
 * at the fault "fault" and the libraries that the call came through, and "at FILE OFFSET" for each of its functions
 * (addr2line -f -e FILE OFFSET)
 *
 * - DADSIM_INJECT_PATHS: a file of numbers of 8 bytes: the N-th says by which way, through which functions, the N-th
 * call of the kind was come to
 *
 * What glibc calls within itself (the write behind fwrite, the open behind fopen) does not come past here: that is why
 * fwrite, fflush and fopen are here too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { ALLOC, WRITE, READ, OPEN, STDIO, FORK, PIPE, MMAP, SYNC, RENAME, UNLINK, THREAD, WAIT, KINDS };
static const char* const names[KINDS] = {"alloc", "write", "read",   "open",   "stdio",  "fork", "pipe",
                                         "mmap",  "sync",  "rename", "unlink", "thread", "wait"};

struct shared {
  atomic_long counts[KINDS];
  atomic_int armed;
};
static struct shared before_main; /* until there is memory that children share */
static struct shared* state = &before_main;
static int kind = -1;
static long number = 0;
static int fault = 0;
static char log_path[4096];
enum { PATHS_MOST = 1 << 21 };
static unsigned long* paths = NULL; /* in memory: children close descriptors that they do not know */
static pid_t first_process = 0;
static __thread int inside = 0;

static void add_to_log(const char* text, size_t size) {
  if (log_path[0] == '\0') return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  if (syscall(SYS_write, file, text, size) < 0) { /* nobody to be told */
  }
  syscall(SYS_close, file);
}

/* The libraries on the way to the call, each once in a row, those of allocation itself left out. */
static void note_fault(void) {
  void* frames[64];
  char line[4096] = "fault";
  size_t length = strlen(line);
  const char* last = "";
  const int depth = backtrace(frames, 64);
  for (int i = 2; i < depth; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL) continue;
    const char* slash = strrchr(info.dli_fname, '/');
    const char* library = slash == NULL ? info.dli_fname : slash + 1;
    if (strcmp(library, last) == 0) continue;
    last = library;
    if (length + strlen(library) + 3 > sizeof line) break;
    line[length++] = ' ';
    strcpy(line + length, library);
    length += strlen(library);
  }
  line[length++] = '\n';
  add_to_log(line, length);
  for (int i = 2; i < depth; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL) continue;
    const long offset = (const char*)frames[i] - (const char*)info.dli_fbase;
    length = (size_t)snprintf(line, sizeof line, "at %s %#lx\n", info.dli_fname, (unsigned long)offset);
    add_to_log(line, length < sizeof line ? length : sizeof line - 1);
  }
}

/* A number for the way to the N-th call (FNV-1a of the addresses to return to). */
static void note_path(long count) {
  void* frames[64];
  const int depth = backtrace(frames, 64);
  unsigned long hash = 14695981039346656037UL;
  for (int i = 2; i < depth; ++i) hash = (hash ^ (unsigned long)frames[i]) * 1099511628211UL;
  if (count <= PATHS_MOST) paths[count - 1] = hash;
}

/* Whether this call is the one. */
static int is_it(enum kind of) {
  if (inside || !atomic_load(&state->armed)) return 0;
  const long count = atomic_fetch_add(&state->counts[of], 1) + 1;
  if ((int)of == kind && paths != NULL) {
    inside = 1;
    note_path(count);
    inside = 0;
  }
  if ((int)of != kind || count != number) return 0;
  inside = 1;
  note_fault();
  inside = 0;
  return 1;
}

static void write_counts(void) {
  if (getpid() != first_process) return;
  for (int i = 0; i < KINDS; ++i) {
    char line[100];
    const int length = snprintf(line, sizeof line, "count %s %ld\n", names[i], atomic_load(&state->counts[i]));
    add_to_log(line, (size_t)length);
  }
}

#define NEXT(name)                      \
  static __typeof__(name)* next = NULL; \
  if (next == NULL) next = (__typeof__(name)*)dlsym(RTLD_NEXT, #name)

/* dlsym may allocate while it looks for these. */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  if (is_it(ALLOC)) return errno = ENOMEM, NULL;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  if (is_it(ALLOC)) return errno = ENOMEM, NULL;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  if (is_it(ALLOC)) return errno = ENOMEM, NULL;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  if (is_it(ALLOC)) return errno = ENOMEM, NULL;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

static size_t half(size_t size) { return size > 1 ? size / 2 : size; }

ssize_t write(int file, const void* bytes, size_t size) {
  NEXT(write);
  if (!is_it(WRITE)) return next(file, bytes, size);
  if (fault == 0) return next(file, bytes, half(size));
  return errno = fault, -1;
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  NEXT(writev);
  if (!is_it(WRITE)) return next(file, parts, count);
  if (fault == 0 && count > 0) return write(file, parts[0].iov_base, half(parts[0].iov_len));
  return errno = fault, -1;
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  NEXT(pwrite);
  if (!is_it(WRITE)) return next(file, bytes, size, at);
  if (fault == 0) return next(file, bytes, half(size), at);
  return errno = fault, -1;
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) { return pwrite(file, bytes, size, at); }

ssize_t read(int file, void* bytes, size_t size) {
  NEXT(read);
  if (!is_it(READ)) return next(file, bytes, size);
  if (fault == 0) return next(file, bytes, half(size));
  return errno = fault, -1;
}
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  NEXT(pread);
  if (!is_it(READ)) return next(file, bytes, size, at);
  if (fault == 0) return next(file, bytes, half(size), at);
  return errno = fault, -1;
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t at) { return pread(file, bytes, size, at); }

#define MODE(flags)                      \
  mode_t mode = 0;                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list more;                        \
    va_start(more, flags);               \
    mode = (mode_t)va_arg(more, int);    \
    va_end(more);                        \
  }
int open(const char* path, int flags, ...) {
  MODE(flags)
  if (is_it(OPEN)) return errno = fault, -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  if (is_it(OPEN)) return errno = fault, -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE(flags)
  if (is_it(OPEN)) return errno = fault, -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  if (is_it(OPEN)) return errno = fault, NULL;
  return next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  NEXT(fopen64);
  if (is_it(OPEN)) return errno = fault, NULL;
  return next(path, mode);
}
int mkstemp(char* name) {
  NEXT(mkstemp);
  if (is_it(OPEN)) return errno = fault, -1;
  return next(name);
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  NEXT(fwrite);
  if (is_it(STDIO)) return errno = fault, 0;
  return next(bytes, size, count, file);
}
int fflush(FILE* file) {
  NEXT(fflush);
  if (is_it(STDIO)) return errno = fault, EOF;
  return next(file);
}

pid_t fork(void) {
  NEXT(fork);
  if (is_it(FORK)) return errno = fault, -1;
  return next();
}
int pipe(int ends[2]) {
  NEXT(pipe);
  if (is_it(PIPE)) return errno = fault, -1;
  return next(ends);
}
int pipe2(int ends[2], int flags) {
  NEXT(pipe2);
  if (is_it(PIPE)) return errno = fault, -1;
  return next(ends, flags);
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (is_it(MMAP)) return errno = fault, MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  return mmap(at, size, protection, flags, file, offset);
}

int fsync(int file) {
  NEXT(fsync);
  if (is_it(SYNC)) return errno = fault, -1;
  return next(file);
}
/// SQLite ignores errors of synchronising a folder, so dadsim calls fsync itself.
int fdatasync(int file) {
  NEXT(fdatasync);
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return next(file);
  if (is_it(SYNC)) return errno = fault, -1;
  return next(file);
}
int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  if (is_it(SYNC)) return errno = fault, -1;
  return next(file, size);
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }
int rename(const char* from, const char* to) {
  NEXT(rename);
  if (is_it(RENAME)) return errno = fault, -1;
  return next(from, to);
}
int unlink(const char* path) {
  NEXT(unlink);
  if (is_it(UNLINK)) return errno = fault, -1;
  return next(path);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  NEXT(pthread_create);
  if (is_it(THREAD)) return fault; /* as its result */
  return next(thread, attributes, start, argument);
}
pid_t waitpid(pid_t process, int* status, int options) {
  NEXT(waitpid);
  if (is_it(WAIT)) return errno = fault, -1;
  return next(process, status, options);
}
int poll(struct pollfd* files, nfds_t count, int timeout) {
  NEXT(poll);
  if (is_it(WAIT)) return errno = fault, -1;
  return next(files, count, timeout);
}

static int (*real_main)(int, char**, char**);
static void read_order(void) {
  const char* of = getenv("DADSIM_INJECT_KIND");
  const char* count = getenv("DADSIM_INJECT_NUMBER");
  const char* code = getenv("DADSIM_INJECT_FAULT");
  const char* log = getenv("DADSIM_INJECT_LOG");
  const char* file = getenv("DADSIM_INJECT_PATHS");
  for (int i = 0; i < KINDS; ++i)
    if (of != NULL && strcmp(of, names[i]) == 0) kind = i;
  if (count != NULL) number = atol(count);
  if (code != NULL) fault = atoi(code);
  if (log != NULL && strlen(log) < sizeof log_path) strcpy(log_path, log);
  if (file != NULL && *file != '\0') {
    const int opened = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const long size = PATHS_MOST * (long)sizeof *paths;
    if (opened < 0 || syscall(SYS_ftruncate, opened, size) != 0) _exit(126);
    paths = (unsigned long*)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0L);
    if (paths == MAP_FAILED) _exit(126);
    syscall(SYS_close, opened);
  }
  unsetenv("LD_PRELOAD"); /* programs that are started (dot) are no part of it */
  void* memory =
      (void*)syscall(SYS_mmap, NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
  if (memory != MAP_FAILED) state = memory;
  first_process = getpid();
}

/* A process that stands ready (fuzz/standing.c) comes here in every one that it forks. */
static int armed_main(int argc, char** argv, char** environment) {
  read_order();
  atomic_store(&state->armed, 1);
  return real_main(argc, argv, environment);
}

__attribute__((constructor)) static void prepare(void) {
  void* frames[4];
  backtrace(frames, 4); /* loads what it needs now */
}

__attribute__((destructor)) static void end(void) { write_counts(); }

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}
