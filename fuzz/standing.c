/* Put before a program with LD_PRELOAD: it is loaded once, and every order that comes over a socket runs its main in a
 * process forked from there. Loading takes longer than most of what dadsim does to a small file (34,000 relocations).
 *
 * DADSIM_STANDING is the descriptor of the socket (SOCK_SEQPACKET; without it the program runs as ever). An order is
 * one packet: the limits of address space and of files in bytes as two uint64 (0: none), a uint64 that is 1 where the
 * process shall end without what libraries do at their end (as much as the rest of a small run, and the same every
 * time), then the folder, the number of environment variables, these (NAME=VALUE), and the arguments, each ended by a
 * zero byte; with it come the descriptors of standard output and error. The answers are the process id, and when it has
 * ended its status as waitpid(2) gives it, an int32 each.
 *
 * An order whose first limit is all ones is carried out without a fork: what the program works out once and keeps (of
 * dadsim: the schema of scenarios, as long as the rest of a check) all that come after have. One answer: 0, or -1 where
 * it left threads behind, which no fork takes along. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDER_MOST = 1 << 18, WORDS_MOST = 4096 };

static int (*real_main)(int, char**, char**);
static char order[ORDER_MOST + 1];

static void limit(int resource, uint64_t bytes) {
  const struct rlimit both = {bytes, bytes};
  if (bytes != 0 && setrlimit(resource, &both) != 0) _exit(126);
}

static ssize_t take_order(int from, int* out, int* err) {
  struct iovec part = {order, ORDER_MOST};
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t size;
  do size = recvmsg(from, &message, 0);
  while (size < 0 && errno == EINTR);
  const struct cmsghdr* head = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (head == NULL || head->cmsg_len != CMSG_LEN(2 * sizeof(int))) return -1;
  memcpy(out, CMSG_DATA(head), sizeof *out);
  memcpy(err, CMSG_DATA(head) + sizeof *out, sizeof *err);
  return size;
}

static void answer(int to, int32_t number) {
  if (write(to, &number, sizeof number) != (ssize_t)sizeof number) _exit(0); /* nobody is there any more */
}

/* In the new process: what exec would have given it. Returns the number of arguments. */
static int become(char** arguments, char* name, ssize_t size, int out, int err) {
  if (setpgid(0, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  close(out);
  close(err);
  uint64_t limits[3];
  memcpy(limits, order, sizeof limits);
  limit(RLIMIT_AS, limits[0]);
  limit(RLIMIT_FSIZE, limits[1]);
  limit(RLIMIT_CORE, 0);
  char* at = order + sizeof limits;
  if (chdir(at) != 0) _exit(126);
  at += strlen(at) + 1;
  long variables = atol(at);
  at += strlen(at) + 1;
  for (; variables > 0; --variables, at += strlen(at) + 1) putenv(at);
  int count = 0;
  arguments[count++] = name;
  for (; at < order + size && count < WORDS_MOST; at += strlen(at) + 1) arguments[count++] = at;
  arguments[count] = NULL;
  return count;
}

static long threads(void) {
  long count = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (const struct dirent* task = NULL; tasks != NULL && (task = readdir(tasks)) != NULL;)
    count += task->d_name[0] != '.';
  if (tasks != NULL) closedir(tasks);
  return count;
}

static char* arguments[WORDS_MOST + 1];

static void warm_up(char* name, ssize_t size, int out, int err) {
  static char own[sizeof order]; /* what is kept may point into its arguments */
  memcpy(own, order, (size_t)size + 1);
  const char* folder = own + 3 * sizeof(uint64_t);
  const int kept_out = dup(1), kept_err = dup(2);
  if (chdir(folder) != 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  char* at = own + (folder - own) + strlen(folder) + 1;
  at += strlen(at) + 1; /* no variables */
  int count = 0;
  arguments[count++] = name;
  for (; at < own + size && count < WORDS_MOST; at += strlen(at) + 1) arguments[count++] = at;
  arguments[count] = NULL;
  if (real_main(count, arguments, environ) != 0) _exit(126);
  dup2(kept_out, 1);
  dup2(kept_err, 2);
  close(kept_out);
  close(kept_err);
}

static int serve(int argc, char** argv, char** environment) {
  const char* said = getenv("DADSIM_STANDING");
  if (said == NULL) return real_main(argc, argv, environment);
  const int orders = atoi(said);
  for (;;) {
    int out, err;
    const ssize_t size = take_order(orders, &out, &err);
    if (size <= 0) _exit(0);
    order[size] = '\0';
    uint64_t numbers[3];
    memcpy(numbers, order, sizeof numbers);
    const int hasty = numbers[2] == 1;
    if (numbers[0] == UINT64_MAX) {
      warm_up(argv[0], size, out, err);
      close(out);
      close(err);
      answer(orders, threads() == 1 ? 0 : -1);
      continue;
    }
    const pid_t process = fork();
    if (process == 0) {
      close(orders);
      unsetenv("DADSIM_STANDING");
      unsetenv("LD_PRELOAD");
      const int count = become(arguments, argv[0], size, out, err);
      const int code = real_main(count, arguments, environ);
      if (!hasty) exit(code);
      fflush(NULL);
      _exit(code);
    }
    close(out);
    close(err);
    answer(orders, process);
    int status = 0;
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    answer(orders, status);
  }
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
