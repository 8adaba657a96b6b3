/* Stands between a process and the C library: records what it does to the files below one folder, or lets one operation
 * fail. Built by the campaigns with `cc -shared -fPIC` and loaded with LD_PRELOAD.
 *
 *   BAILIWICK_SHIM_ROOT     the folder
 *   BAILIWICK_SHIM_LOG      record into this file; what goes to standard output is recorded as an acknowledgement
 *   BAILIWICK_SHIM_FAIL_AT  number of the operation that fails, from 1
 *   BAILIWICK_SHIM_FAULT    e: input/output error, f: disk full, s: half of a write and an error, p: half of a write,
 *                           l: input/output error of a write or a sync that comes late
 *   BAILIWICK_SHIM_COUNT    write the number of operations into this file at the end
 *   BAILIWICK_SHIM_LIE      syncs in this folder (/log/) do nothing, as on a journal that forgot them
 *
 * One record: kind, two lengths of names (u16), two numbers (u64), the names, and as many bytes as the second number says.
 *   W write: offset, length     T cut or extend: length     C create, emptied     R rename     U remove
 *   s sync begins: number       S sync has ended well: number       A acknowledgement: -, length
 * A write holds the lock while it is done, so the order of records is the order of writes. A sync begins and ends apart.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root = "";
static size_t root_len;
static int log_fd = -1;
static long fail_at, operations, syncs;
static char fault = 'e';
static const char *lies;

#define REAL(name) static __typeof__(name) *real_##name
REAL(open64); REAL(openat64); REAL(pwrite64); REAL(write); REAL(ftruncate64); REAL(fsync); REAL(fdatasync);
REAL(rename); REAL(unlink); REAL(unlinkat);

__attribute__((constructor)) static void begin(void) {
#define FIND(name) real_##name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
    FIND(open64); FIND(openat64); FIND(pwrite64); FIND(write); FIND(ftruncate64); FIND(fsync); FIND(fdatasync);
    FIND(rename); FIND(unlink); FIND(unlinkat);
    const char *text = getenv("BAILIWICK_SHIM_ROOT");
    if (text) { root = strdup(text); root_len = strlen(root); }
    text = getenv("BAILIWICK_SHIM_LOG");
    if (text) log_fd = real_open64(text, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    text = getenv("BAILIWICK_SHIM_FAIL_AT");
    if (text) fail_at = atol(text);
    text = getenv("BAILIWICK_SHIM_FAULT");
    if (text) fault = text[0];
    lies = getenv("BAILIWICK_SHIM_LIE");
}

__attribute__((destructor)) static void end(void) {
    const char *text = getenv("BAILIWICK_SHIM_COUNT");
    if (!text) return;
    int fd = real_open64(text, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    char line[32];
    int length = snprintf(line, sizeof line, "%ld\n", operations);
    if (fd >= 0 && real_write(fd, line, (size_t)length) == length) close(fd);
}

static int below(const char *path) {
    return root_len && !strncmp(path, root, root_len) && (path[root_len] == '/' || path[root_len] == 0);
}

/* The path of an open file, if it is below the folder and still has a name. */
static int path_of(int fd, char *path) {
    char link[64];
    if (!root_len || fd < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path) && !strstr(path, " (deleted)");
}

static void record(char kind, const char *one, const char *two, uint64_t first, uint64_t second, const void *bytes, size_t count) {
    if (log_fd < 0) return;
    uint16_t lengths[2] = { (uint16_t)strlen(one), (uint16_t)strlen(two) };
    uint64_t numbers[2] = { first, second };
    char head[21];
    head[0] = kind;
    memcpy(head + 1, lengths, 4);
    memcpy(head + 5, numbers, 16);
    int ok = real_write(log_fd, head, 21) == 21 && real_write(log_fd, one, lengths[0]) == lengths[0]
        && real_write(log_fd, two, lengths[1]) == lengths[1];
    while (ok && count) {
        ssize_t done = real_write(log_fd, bytes, count);
        ok = done > 0;
        if (ok) { bytes = (const char *)bytes + done; count -= (size_t)done; }
    }
    if (!ok) abort();
}

/* Counts one operation; whether it is the one that fails. */
static int fails(void) {
    return __sync_add_and_fetch(&operations, 1) == fail_at;
}

static int refuse(void) {
    errno = fault == 'f' ? ENOSPC : EIO;
    return -1;
}

/* The fault that comes late: meanwhile others go on. */
static void take_time(void) {
    if (fault == 'l') usleep(300000);
}

static int opened(int (*again)(int, const char *, int, mode_t), int dir, const char *path, int flags, mode_t mode) {
    int changes = below(path) && (flags & (O_CREAT | O_TRUNC)) && (flags & O_ACCMODE) != O_RDONLY;
    if (!changes) return again(dir, path, flags, mode);
    pthread_mutex_lock(&lock);
    int new = access(path, F_OK) != 0;
    int emptied = (flags & O_TRUNC) != 0;
    int result;
    if ((new || emptied) && fails()) result = refuse();
    else {
        result = again(dir, path, flags, mode);
        if (result >= 0 && (new || emptied)) record(new ? 'C' : 'T', path, "", 0, 0, NULL, 0);
    }
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

static int by_open(int dir, const char *path, int flags, mode_t mode) { (void)dir; return real_open64(path, flags, mode); }
static int by_openat(int dir, const char *path, int flags, mode_t mode) { return real_openat64(dir, path, flags, mode); }

#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(by_open, -1, path, flags, mode); }
int open(const char *path, int flags, ...) { MODE(flags) return opened(by_open, -1, path, flags, mode); }
int openat64(int dir, const char *path, int flags, ...) { MODE(flags) return opened(by_openat, dir, path, flags, mode); }
int openat(int dir, const char *path, int flags, ...) { MODE(flags) return opened(by_openat, dir, path, flags, mode); }

static ssize_t written(int fd, const void *bytes, size_t count, off64_t at, int moves) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return moves ? real_write(fd, bytes, count) : real_pwrite64(fd, bytes, count, at);
    pthread_mutex_lock(&lock);
    ssize_t result;
    int ends_badly = 0;
    if (fails()) {
        ends_badly = fault != 'p';
        count = fault == 's' || fault == 'p' ? (count + 1) / 2 : 0;
    }
    if (moves) at = lseek64(fd, 0, SEEK_CUR);
    if (ends_badly && count == 0) result = 0;
    else result = moves ? real_write(fd, bytes, count) : real_pwrite64(fd, bytes, count, at);
    if (result > 0) record('W', path, "", (uint64_t)at, (uint64_t)result, bytes, (size_t)result);
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    if (!ends_badly) return result;
    take_time();
    return refuse();
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return written(fd, bytes, count, at, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return written(fd, bytes, count, at, 0); }

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fd == 1 && log_fd >= 0) {
        pthread_mutex_lock(&lock);
        record('A', "", "", 0, count, bytes, count);
        pthread_mutex_unlock(&lock);
    }
    return written(fd, bytes, count, 0, 1);
}

int ftruncate64(int fd, off64_t length) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return real_ftruncate64(fd, length);
    pthread_mutex_lock(&lock);
    int result = fails() ? refuse() : real_ftruncate64(fd, length);
    if (result == 0) record('T', path, "", (uint64_t)length, 0, NULL, 0);
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int (*again)(int), int fd) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return again(fd);
    if (lies && strstr(path + root_len, lies)) return 0;
    if (fails()) { take_time(); return refuse(); }
    pthread_mutex_lock(&lock);
    uint64_t number = (uint64_t)++syncs;
    record('s', path, "", number, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    int result = again(fd), kept = errno;
    pthread_mutex_lock(&lock);
    if (result == 0) record('S', path, "", number, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

int fsync(int fd) { return synced(real_fsync, fd); }
int fdatasync(int fd) { return synced(real_fdatasync, fd); }

/* Copying inside the kernel is not recorded: whoever asks for it is sent to reading and writing. */
ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t count, unsigned flags) {
    (void)in; (void)in_at; (void)out; (void)out_at; (void)count; (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int out, int in, off64_t *at, size_t count) {
    (void)out; (void)in; (void)at; (void)count;
    errno = ENOSYS;
    return -1;
}

int rename(const char *from, const char *to) {
    if (!below(from) && !below(to)) return real_rename(from, to);
    pthread_mutex_lock(&lock);
    int result = fails() ? refuse() : real_rename(from, to);
    if (result == 0) record('R', from, to, 0, 0, NULL, 0);
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

int unlinkat(int dir, const char *name, int flags) {
    char path[PATH_MAX];
    if (name[0] == '/') snprintf(path, sizeof path, "%s", name);
    else if (path_of(dir, path)) strncat(strcat(path, "/"), name, PATH_MAX - strlen(path) - 2);
    else return real_unlinkat(dir, name, flags);
    if (!below(path)) return real_unlinkat(dir, name, flags);
    pthread_mutex_lock(&lock);
    int result = fails() ? refuse() : real_unlinkat(dir, name, flags);
    if (result == 0) record('U', path, "", 0, 0, NULL, 0);
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
    return result;
}

int unlink(const char *path) {
    return below(path) ? unlinkat(AT_FDCWD, path, 0) : real_unlink(path);
}
int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
