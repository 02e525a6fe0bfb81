#include "verb/stacks.h"

#include <stddef.h>
#include <string.h>

#define LIT(s)                                                                                     \
        { ELEM_LITERAL, s }
#define BIN(s)                                                                                     \
        { ELEM_BIN, s }
#define OF(kind)                                                                                   \
        { kind, NULL }
#define ARGV(...) ((const Elem[]){__VA_ARGS__, {ELEM_LITERAL, NULL}})

#define ROW_EXTRA /* what every row of a table has besides; taken where a row macro is used */
#define PING                                                                                       \
        {                                                                                          \
                .name = "ping", .class = VERB_READONLY, .launch = VERB_SELF,                       \
                .needs = VERB_SCOPE_READONLY, .timeout_sec = 60, .timeout_cap_sec = 600            \
        }
/* means the request of its own nonce: the agent's own, waiting or running */
#define CANCEL                                                                                     \
        {                                                                                          \
                .name = "cancel", .class = VERB_READONLY, .launch = VERB_SELF,                     \
                .needs = VERB_SCOPE_READONLY, .timeout_sec = 60, .timeout_cap_sec = 600            \
        }
#define READONLY(name_, arg_, ...)                                                                 \
        {                                                                                          \
                .name = name_, .class = VERB_READONLY, .launch = VERB_DIRECT, .arg = arg_,         \
                .needs = VERB_SCOPE_READONLY, .timeout_sec = 60, .timeout_cap_sec = 600,           \
                ROW_EXTRA.argv = ARGV(__VA_ARGS__)                                                 \
        }
#define MUTATING(name_, arg_, needs_, sec, cap, ...)                                               \
        {                                                                                          \
                .name = name_, .class = VERB_MUTATING, .launch = VERB_SCOPE, .arg = arg_,          \
                .needs = needs_, .timeout_sec = sec, .timeout_cap_sec = cap,                       \
                ROW_EXTRA.argv = ARGV(__VA_ARGS__)                                                 \
        }
#define STATUS(...) READONLY("status", VERB_ARG_NONE, __VA_ARGS__)
#define HEALTH(...) READONLY("health", VERB_ARG_NONE, __VA_ARGS__)
#define LOGS(...) READONLY("logs", VERB_ARG_SERVICE, __VA_ARGS__)
#define UP(...) MUTATING("up", VERB_ARG_NONE, VERB_SCOPE_EDIT, 600, 3600, __VA_ARGS__)
#define DOWN(...) MUTATING("down", VERB_ARG_NONE, VERB_SCOPE_EDIT, 300, 1800, __VA_ARGS__)
#define RESTART(...) MUTATING("restart", VERB_ARG_SERVICE, VERB_SCOPE_EDIT, 300, 1800, __VA_ARGS__)
#define REBUILD(...)                                                                               \
        MUTATING("rebuild", VERB_ARG_BUILDABLE, VERB_SCOPE_EDIT, 1800, 7200, __VA_ARGS__)
#define INIT(...) MUTATING("init", VERB_ARG_NONE, VERB_SCOPE_FULL, 1800, 7200, __VA_ARGS__)
#define JOIN(bin)                                                                                  \
        MUTATING("join-network", VERB_ARG_NONE, VERB_SCOPE_EDIT, 60, 300, BIN(bin),                \
                 LIT("network"), LIT("connect"), OF(ELEM_NETWORK), OF(ELEM_CONTAINER))

static const char *const script_bins[] = {"stack", "podman", NULL};
static const Verb script_verbs[] = {
        PING,
        CANCEL,
        STATUS(BIN("stack"), LIT("status")),
        HEALTH(BIN("stack"), LIT("health")),
        LOGS(BIN("stack"), LIT("logs"), OF(ELEM_ARG)),
        UP(BIN("stack"), LIT("start")),
        DOWN(BIN("stack"), LIT("stop")),
        RESTART(BIN("stack"), LIT("restart"), OF(ELEM_ARG)),
        REBUILD(BIN("stack"), LIT("build"), OF(ELEM_ARG)),
        INIT(BIN("stack"), LIT("init")),
        JOIN("podman"),
        {.name = NULL},
};

/* Version 1.0.3 has neither --env-file nor --project-directory: it reads .env beside the first
 * file. */
#define PODMAN_COMPOSE BIN("podman-compose"), OF(ELEM_FILES), LIT("-p"), OF(ELEM_PROJECT)
/* Its exit status is 0 whatever podman's was; unbuffered, its lines stand in the order of what
 * happened. */
static const char *const podman_compose_env[] = {"PYTHONUNBUFFERED=1", NULL};
#undef ROW_EXTRA
#define ROW_EXTRA .exit_lines = true, .env = podman_compose_env,
static const char *const podman_compose_bins[] = {"podman-compose", "podman", NULL};
static const Verb podman_compose_verbs[] = {
        PING,
        CANCEL,
        STATUS(PODMAN_COMPOSE, LIT("ps")),
        HEALTH(BIN("podman"), LIT("ps"), LIT("--all"), LIT("--filter"), OF(ELEM_PROJECT_LABEL),
               LIT("--format"), LIT("{{.Names}}  {{.Status}}")),
        LOGS(PODMAN_COMPOSE, LIT("logs"), LIT("--tail"), LIT("200"), OF(ELEM_ARG)),
        UP(PODMAN_COMPOSE, LIT("up"), LIT("-d")),
        DOWN(PODMAN_COMPOSE, LIT("down")),
        RESTART(PODMAN_COMPOSE, LIT("restart"), OF(ELEM_ARG)),
        REBUILD(PODMAN_COMPOSE, LIT("build"), OF(ELEM_ARG)),
        INIT(PODMAN_COMPOSE, LIT("up"), LIT("--no-start")),
        JOIN("podman"),
        {.name = NULL},
};

#undef ROW_EXTRA
#define ROW_EXTRA
#define DOCKER_COMPOSE                                                                             \
        BIN("docker"), LIT("compose"), OF(ELEM_FILES), LIT("-p"), OF(ELEM_PROJECT),                \
                LIT("--project-directory"), OF(ELEM_COMPOSE_DIR), OF(ELEM_ENV_FILES)
static const char *const docker_compose_bins[] = {"docker", NULL};
static const Verb docker_compose_verbs[] = {
        PING,
        CANCEL,
        STATUS(DOCKER_COMPOSE, LIT("ps"), LIT("--all")),
        HEALTH(DOCKER_COMPOSE, LIT("ps"), LIT("--all"), LIT("--format"), LIT("json")),
        LOGS(DOCKER_COMPOSE, LIT("logs"), LIT("--no-color"), LIT("--tail"), LIT("200"),
             OF(ELEM_ARG)),
        UP(DOCKER_COMPOSE, LIT("up"), LIT("--detach")),
        DOWN(DOCKER_COMPOSE, LIT("down")),
        RESTART(DOCKER_COMPOSE, LIT("restart"), OF(ELEM_ARG)),
        REBUILD(DOCKER_COMPOSE, LIT("build"), OF(ELEM_ARG)),
        INIT(DOCKER_COMPOSE, LIT("up"), LIT("--no-start")),
        JOIN("docker"),
        {.name = NULL},
};

#define SYSTEMCTL BIN("systemctl"), LIT("--user")
static const char *const quadlet_bins[] = {"systemctl", "journalctl", "podman", NULL};
static const Verb quadlet_verbs[] = {
        PING,
        CANCEL,
        STATUS(SYSTEMCTL, LIT("--no-pager"), LIT("status"), OF(ELEM_UNITS)),
        HEALTH(SYSTEMCTL, LIT("--no-pager"), LIT("show"),
               LIT("--property=Id,LoadState,ActiveState,SubState,Result,NRestarts"),
               OF(ELEM_UNITS)),
        LOGS(BIN("journalctl"), LIT("--user"), LIT("-u"), OF(ELEM_UNIT), LIT("-n"), LIT("200"),
             LIT("--no-pager")),
        UP(SYSTEMCTL, LIT("start"), OF(ELEM_UNITS)),
        DOWN(SYSTEMCTL, LIT("stop"), OF(ELEM_UNITS)),
        RESTART(SYSTEMCTL, LIT("restart"), OF(ELEM_UNIT)),
        REBUILD(SYSTEMCTL, LIT("restart"), OF(ELEM_BUILD_UNIT)),
        INIT(SYSTEMCTL, LIT("daemon-reload")),
        JOIN("podman"),
        {.name = NULL},
};

static const Stack stacks[] = {
        {"script", script_verbs, script_bins, false},
        {"podman-compose", podman_compose_verbs, podman_compose_bins, false},
        {"docker-compose", docker_compose_verbs, docker_compose_bins, true},
        {"quadlet", quadlet_verbs, quadlet_bins, false},
};

const Stack *stacks_at(size_t i) {
        return i < sizeof(stacks) / sizeof(stacks[0]) ? &stacks[i] : NULL;
}

const Stack *stacks_find(const char *name) {
        const Stack *s;

        for (size_t i = 0; name && (s = stacks_at(i)); i++)
                if (strcmp(s->name, name) == 0)
                        return s;
        return NULL;
}
