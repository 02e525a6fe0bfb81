/* guard/git.h - libgit2's types, owned */
#pragma once
#include <git2.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>

static inline void git_odbp(git_odb **odb) {
        git_odb_free(*odb);
}

static inline void git_repositoryp(git_repository **repo) {
        git_repository_free(*repo);
}

static inline void git_commitp(git_commit **commit) {
        git_commit_free(*commit);
}

static inline void git_treep(git_tree **tree) {
        git_tree_free(*tree);
}

static inline void git_entryp(git_tree_entry **entry) {
        git_tree_entry_free(*entry);
}
