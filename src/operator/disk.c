#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "operator/disk.h"

static void disk_closep(DIR **dir) {
        if (*dir)
                (void)closedir(*dir);
}

static int disk_walk(int at, const char *name, int depth, Disk *d);

static int disk_entry(int fd, const char *name, int depth, Disk *d) {
        struct stat st;

        if (str_eq(name, ".") || str_eq(name, ".."))
                return 0;
        if (d->entries >= DISK_ENTRIES_MAX || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                d->more = true;
                return 0;
        }
        d->entries++;
        d->bytes += (uint64_t)st.st_blocks * 512;
        return S_ISDIR(st.st_mode) ? disk_walk(fd, name, depth + 1, d) : 0;
}

static int disk_walk(int at, const char *name, int depth, Disk *d) {
        CLEANUP(disk_closep) DIR *dir = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        struct dirent *e;
        int r;

        if (depth > DISK_DEPTH_MAX) {
                d->more = true;
                return 0;
        }
        r = pin_dir_at(at, name, &any, PIN_SAME_MOUNT, &fd);
        if (r != 0) {
                d->more = true;
                return r < 0 ? r : 0;
        }
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd); /* dir's now */
        while (r == 0 && (e = readdir(dir)))
                r = disk_entry(dirfd(dir), e->d_name, depth, d);
        return r;
}

int disk_measure(int fd, Disk *ret) {
        Disk d = {0};
        struct statvfs fs;
        int r;

        if (fstatvfs(fd, &fs) < 0)
                return err_new(errno);
        d.free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
        d.free_inodes = fs.f_files == 0 ? UINT64_MAX : fs.f_favail; /* btrfs counts none */
        r = disk_walk(fd, ".", 0, &d);
        if (r == 0)
                *ret = d;
        return r;
}

int disk_text(uint64_t bytes, Str *out) {
        static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
        uint64_t unit = 1;
        size_t i = 0;

        while (i + 1 < sizeof(units) / sizeof(units[0]) && bytes / unit >= 1024) {
                unit *= 1024;
                i++;
        }
        if (i == 0 || bytes / unit >= 10)
                return str_addf(out, "%llu %s", (unsigned long long)(bytes / unit), units[i]);
        return str_addf(out, "%llu.%llu %s", (unsigned long long)(bytes / unit),
                        (unsigned long long)(bytes % unit * 10 / unit), units[i]);
}
