/*
 * A disk that can lose its power, run full or refuse to sync, for the process it is preloaded into.
 * It looks after the database file and its write-ahead log: files below FAULTS_HOME whose names end
 * in ".db" or ".db-wal".
 *
 * Power: what is written is remembered until a sync of the file succeeds; only then is it copied to
 * the file of the same name in FAULTS_SHADOW. What lies there is what a power loss leaves. A write
 * that happens during a sync belongs to the next one.
 *
 * Full, or broken: FAULTS_CONTROL is a file of two bytes. The first one set to '1' makes every write
 * fail with ENOSPC, the second one every sync with EIO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define FILES 8

struct change {
  struct change *next;
  off_t offset;
  /* Negative: the file is cut to `offset`. */
  ssize_t size;
  char bytes[];
};

struct tracked {
  char name[256];
  struct change *first;
  struct change **last;
};

static pthread_mutex_t changes_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sync_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracked files[FILES];
static volatile const char *control;

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("FAULTS_CONTROL");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *mapped = mmap(NULL, 2, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) control = mapped;
  close(fd);
}

static int is_full(void) { return control && control[0] == '1'; }
static int is_broken(void) { return control && control[1] == '1'; }

/* The name of a file that is looked after, or 0. */
static int name_of(int fd, char *name, size_t size) {
  const char *home = getenv("FAULTS_HOME");
  char link[64], path[PATH_SIZE];
  if (!home) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, home, strlen(home)) != 0) return 0;
  if (!ends_with(path, ".db") && !ends_with(path, ".db-wal")) return 0;
  const char *base = strrchr(path, '/');
  snprintf(name, size, "%s", base ? base + 1 : path);
  return 1;
}

static struct tracked *tracked_file(const char *name) {
  for (int n = 0; n < FILES; n++) {
    if (files[n].name[0] == 0) {
      snprintf(files[n].name, sizeof files[n].name, "%s", name);
      files[n].last = &files[n].first;
    }
    if (strcmp(files[n].name, name) == 0) return &files[n];
  }
  abort();
}

static void remember(const char *name, off_t offset, const void *bytes, ssize_t size) {
  if (!getenv("FAULTS_SHADOW")) return;
  size_t length = size > 0 ? (size_t)size : 0;
  struct change *change = malloc(sizeof *change + length);
  if (!change) abort();
  change->next = NULL;
  change->offset = offset;
  change->size = size;
  if (length > 0) memcpy(change->bytes, bytes, length);
  pthread_mutex_lock(&changes_lock);
  struct tracked *file = tracked_file(name);
  *file->last = change;
  file->last = &change->next;
  pthread_mutex_unlock(&changes_lock);
}

static struct change *take(const char *name) {
  pthread_mutex_lock(&changes_lock);
  struct tracked *file = tracked_file(name);
  struct change *first = file->first;
  file->first = NULL;
  file->last = &file->first;
  pthread_mutex_unlock(&changes_lock);
  return first;
}

typedef ssize_t (*write_at)(int, const void *, size_t, off_t);
typedef int (*truncate_at)(int, off_t);
typedef int (*sync_one)(int);

static ssize_t real_write(int fd, const void *bytes, size_t size, off_t offset) {
  static write_at real;
  if (!real) real = (write_at)dlsym(RTLD_NEXT, "pwrite64");
  return real(fd, bytes, size, offset);
}

static int real_truncate(int fd, off_t size) {
  static truncate_at real;
  if (!real) real = (truncate_at)dlsym(RTLD_NEXT, "ftruncate64");
  return real(fd, size);
}

static void keep(const char *name, struct change *change) {
  const char *shadow = getenv("FAULTS_SHADOW");
  char path[PATH_SIZE];
  if (!shadow) return;
  snprintf(path, sizeof path, "%s/%s", shadow, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) abort();
  while (change) {
    struct change *next = change->next;
    if (change->size < 0) {
      if (real_truncate(fd, change->offset) != 0) abort();
    } else if (real_write(fd, change->bytes, (size_t)change->size, change->offset) != change->size) {
      abort();
    }
    free(change);
    change = next;
  }
  close(fd);
}

static int sync_file(int fd, const char *function) {
  char name[256];
  sync_one real = (sync_one)dlsym(RTLD_NEXT, function);
  if (!name_of(fd, name, sizeof name)) return real(fd);
  if (is_broken()) {
    errno = EIO;
    return -1;
  }
  pthread_mutex_lock(&sync_lock);
  struct change *changes = getenv("FAULTS_SHADOW") ? take(name) : NULL;
  int result = real(fd);
  if (getenv("FAULTS_SHADOW")) keep(name, changes);
  pthread_mutex_unlock(&sync_lock);
  return result;
}

static ssize_t write_file(int fd, const void *bytes, size_t size, off_t offset) {
  char name[256];
  if (!name_of(fd, name, sizeof name)) return real_write(fd, bytes, size, offset);
  if (is_full()) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t written = real_write(fd, bytes, size, offset);
  if (written > 0) remember(name, offset, bytes, written);
  return written;
}

static int truncate_file(int fd, off_t size) {
  char name[256];
  int result = real_truncate(fd, size);
  if (result == 0 && name_of(fd, name, sizeof name)) remember(name, size, NULL, -1);
  return result;
}

int fsync(int fd) { return sync_file(fd, "fsync"); }
int fdatasync(int fd) { return sync_file(fd, "fdatasync"); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  return write_file(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
  return write_file(fd, bytes, size, offset);
}
int ftruncate(int fd, off_t size) { return truncate_file(fd, size); }
int ftruncate64(int fd, off_t size) { return truncate_file(fd, size); }
