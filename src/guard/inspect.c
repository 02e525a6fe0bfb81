#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "guard/git.h"
#include "guard/head.h"
#include "guard/inspect.h"
#include "guard/jail.h"
#include "guard/take.h"
#include "guard/verdict.h"

enum {
        INSPECT_COMMIT_MAX = 1024 * 1024,
        INSPECT_TREE_MAX = 16 * 1024 * 1024,
        INSPECT_WINDOW = 1024 * 1024,
        INSPECT_MAPPED = 32 * 1024 * 1024,
        INSPECT_CACHE = 16 * 1024 * 1024,
        INSPECT_ARGS = 3, /* before the files */
};

typedef struct InspectCall {
        bool landlock;
        uint64_t address_space;
        char **files; /* MODE:PATH */
        size_t len;
} InspectCall;

typedef struct InspectAnswer {
        VerdictHead head;
        VerdictFile files[TAKE_FILES];
} InspectAnswer;

static bool inspect_parse(int argc, char **argv, InspectCall *ret) {
        unsigned long long address_space;

        if (argc < INSPECT_ARGS || argc - INSPECT_ARGS > TAKE_FILES ||
            !str_parse_uint(argv[2], UINT64_MAX, &address_space))
                return false;
        *ret = (InspectCall){str_eq(argv[1], "landlock"), address_space, argv + INSPECT_ARGS,
                             (size_t)(argc - INSPECT_ARGS)};
        if (!ret->landlock && !str_eq(argv[1], "seccomp"))
                return false;
        for (size_t i = 0; i < ret->len; i++)
                if (!strchr(ret->files[i], ':'))
                        return false;
        return true;
}

/* What went wrong inside libgit2, in our words. */
static int inspect_git_error(int r) {
        const git_error *e = git_error_last();

        if (r == GIT_ENOTFOUND)
                return INSPECT_MISSING;
        if (e && e->klass == GIT_ERROR_NOMEMORY)
                return INSPECT_MEMORY;
        return INSPECT_CORRUPT;
}

static int inspect_init(size_t files) {
        int r = jail_files(false, files);

        if (r < 0)
                return r;
        if (git_libgit2_init() < 0)
                return INSPECT_MEMORY;
        for (int level = GIT_CONFIG_LEVEL_PROGRAMDATA; level <= GIT_CONFIG_LEVEL_GLOBAL; level++)
                if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "") < 0)
                        return INSPECT_MEMORY;
        if (git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1) < 0 ||
            git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1) < 0 ||
            git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)INSPECT_WINDOW) < 0 ||
            git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)INSPECT_MAPPED) < 0 ||
            git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)INSPECT_CACHE) < 0)
                return INSPECT_MEMORY;
        return jail_files(true, files);
}

/* The object store of this repository and no other: by name relative to its pinned directory,
 * alternates not looked at. */
static int inspect_open(git_odb **ret_odb, git_repository **ret_repo) {
        git_odb_backend *backend;
        int r;

        r = git_odb_new(ret_odb);
        if (r < 0)
                return inspect_git_error(r);
        r = git_odb_backend_pack(&backend, ".");
        if (r == 0)
                r = git_odb_add_backend(*ret_odb, backend, 2);
        if (r < 0)
                return inspect_git_error(r);
        r = git_odb_backend_loose(&backend, ".", -1, 0, 0, 0);
        if (r == 0)
                r = git_odb_add_backend(*ret_odb, backend, 1);
        if (r == 0)
                r = git_repository_wrap_odb(ret_repo, *ret_odb);
        return r < 0 ? inspect_git_error(r) : 0;
}

/* The header says type and size before the whole is unpacked: a bomb of a few KiB may be a
 * gigabyte. */
static int inspect_weigh(git_odb *odb, const git_oid *id, git_object_t type, size_t max) {
        git_object_t seen;
        size_t size;
        int r = git_odb_read_header(&size, &seen, odb, id);

        if (r < 0)
                return inspect_git_error(r);
        if (seen != type)
                return INSPECT_CORRUPT;
        return size > max ? INSPECT_MEMORY : 0;
}

static int inspect_tree(git_odb *odb, git_repository *repo, const char *hex, git_tree **ret) {
        CLEANUP(git_commitp) git_commit *commit = NULL;
        git_oid id;
        int r;

        if (git_oid_fromstr(&id, hex) < 0)
                return INSPECT_HEAD;
        r = inspect_weigh(odb, &id, GIT_OBJECT_COMMIT, INSPECT_COMMIT_MAX);
        if (r != 0)
                return r;
        r = git_commit_lookup(&commit, repo, &id);
        if (r < 0)
                return inspect_git_error(r);
        r = inspect_weigh(odb, git_commit_tree_id(commit), GIT_OBJECT_TREE, INSPECT_TREE_MAX);
        if (r != 0)
                return r;
        r = git_commit_tree(ret, commit);
        return r < 0 ? inspect_git_error(r) : 0;
}

/* By path, each tree on the way weighed first. 0 with *ret NULL: no such entry. */
static int inspect_entry(git_odb *odb, git_repository *repo, const git_tree *root, const char *path,
                         git_tree_entry **ret) {
        CLEANUP(git_treep) git_tree *below = NULL;
        CLEANUP(str_freep) char *name = NULL;
        const git_tree_entry *entry;
        size_t len = strcspn(path, "/");
        int r;

        r = str_printf(&name, "%.*s", (int)len, path);
        if (r < 0)
                return r;
        entry = git_tree_entry_byname(root, name);
        if (!entry)
                return 0;
        if (!path[len]) {
                r = git_tree_entry_dup(ret, entry);
                return r < 0 ? inspect_git_error(r) : 0;
        }
        if (git_tree_entry_type(entry) != GIT_OBJECT_TREE)
                return 0;
        r = inspect_weigh(odb, git_tree_entry_id(entry), GIT_OBJECT_TREE, INSPECT_TREE_MAX);
        if (r != 0)
                return r;
        r = git_tree_lookup(&below, repo, git_tree_entry_id(entry));
        if (r < 0)
                return inspect_git_error(r);
        return inspect_entry(odb, repo, below, path + len + 1, ret);
}

static int inspect_bytes(const git_tree_entry *entry, mode_t mode, int fd, uint32_t *ret) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        git_filemode_t want = mode & S_IXUSR ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
        git_oid id;
        int r;

        if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB ||
            git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK) {
                *ret = INSPECT_FILE_KIND;
                return 0;
        }
        r = io_read_file(fd, TAKE_MAX, &bytes);
        if (r != 0)
                return r > 0 ? INSPECT_USAGE : r;
        r = git_odb_hash(&id, bytes.data ? bytes.data : "", bytes.len, GIT_OBJECT_BLOB);
        if (r < 0)
                return inspect_git_error(r);
        if (!git_oid_equal(&id, git_tree_entry_id(entry)))
                *ret = INSPECT_FILE_BYTES;
        else
                *ret = git_tree_entry_filemode(entry) == want ? INSPECT_FILE_SAME
                                                              : INSPECT_FILE_MODE;
        return 0;
}

static int inspect_file(git_odb *odb, git_repository *repo, const git_tree *root, const char *file,
                        int *fd, uint32_t *ret) {
        CLEANUP(git_entryp) git_tree_entry *entry = NULL;
        const char *path = strchr(file, ':') + 1;
        bool here = !str_starts(file, "absent:");
        int r;

        r = inspect_entry(odb, repo, root, path, &entry);
        if (r != 0)
                return r;
        if (!here) {
                *ret = entry ? INSPECT_FILE_GONE : INSPECT_FILE_SAME;
                return 0;
        }
        if (!entry) {
                (*fd)++;
                *ret = INSPECT_FILE_UNTRACKED;
                return 0;
        }
        return inspect_bytes(entry, (mode_t)strtoul(file, NULL, 8), (*fd)++, ret);
}

static int inspect_files(const InspectCall *call, const char *hex, InspectAnswer *a) {
        CLEANUP(git_odbp) git_odb *odb = NULL;
        CLEANUP(git_repositoryp) git_repository *repo = NULL;
        CLEANUP(git_treep) git_tree *root = NULL;
        int fd = INSPECT_FIRST_FD;
        int r;

        r = inspect_open(&odb, &repo);
        if (r != 0)
                return r;
        r = inspect_tree(odb, repo, hex, &root);
        if (r != 0)
                return r;
        for (size_t i = 0; i < call->len; i++) {
                a->files[i] = (VerdictFile){.magic = VERDICT_MAGIC, .index = (uint32_t)i};
                r = inspect_file(odb, repo, root, call->files[i], &fd, &a->files[i].file);
                if (r != 0)
                        return r;
        }
        return 0;
}

/* Everything that is opened by name for libgit2: after this only what lies beneath the objects'
 * directory is named. */
static int inspect_enter(const InspectCall *call, char hex[VERDICT_HEX + 1]) {
        CLEANUP(fd_closep) int common_fd = -EBADF;
        CLEANUP(fd_closep) int objects_fd = -EBADF;
        PinRule any = {.owner = (uid_t)-1};
        int r;

        r = head_common(INSPECT_GIT_FD, INSPECT_UP_FD, &common_fd);
        if (r != 0)
                return r;
        if (call->landlock) {
                r = jail_landlock((int[]){INSPECT_GIT_FD, common_fd}, 2);
                if (r != 0)
                        return r == JAIL_E_NO_LANDLOCK ? INSPECT_LANDLOCK : INSPECT_JAIL;
        }
        r = head_extensions(common_fd);
        if (r != 0)
                return r;
        r = head_resolve(INSPECT_GIT_FD, common_fd, hex);
        if (r != 0)
                return r;
        r = pin_dir_at(common_fd, "objects", &any, 0, &objects_fd);
        if (r != 0)
                return r > 0 ? INSPECT_MISSING : r;
        return fchdir(objects_fd) < 0 ? err_new(errno) : 0;
}

static int inspect_run(const InspectCall *call, InspectAnswer *a) {
        char hex[VERDICT_HEX + 1] = {0};
        int r;

        if (jail_limits(call->address_space, call->len) < 0)
                return INSPECT_JAIL;
        r = inspect_enter(call, hex);
        if (r != 0)
                return r;
        memcpy(a->head.head, hex, VERDICT_HEX);
        r = inspect_init(call->len);
        if (r != 0)
                return r;
        if (jail_seccomp(INSPECT_VERDICT_FD) != 0)
                return INSPECT_JAIL;
        return inspect_files(call, hex, a);
}

int inspect_main(int argc, char **argv) {
        InspectAnswer a = {.head = {.magic = VERDICT_MAGIC, .version = VERDICT_VERSION}};
        InspectCall call;
        int r;

        if (!inspect_parse(argc, argv, &call))
                return 64;
        r = inspect_run(&call, &a);
        if (r < 0) /* ENOMEM of the jail or a failing disk: no answer either way */
                r = r == -ENOMEM ? INSPECT_MEMORY : INSPECT_CORRUPT;
        a.head.code = r == 0 ? INSPECT_OK : (uint32_t)r;
        a.head.count = r == 0 ? (uint32_t)call.len : 0;
        r = io_write_all(INSPECT_VERDICT_FD, &a, sizeof(a.head) + a.head.count * sizeof(*a.files));
        return r < 0 ? 70 : 0;
}
