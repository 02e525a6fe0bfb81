#include "drain/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "wire/mac.h"
#include "wire/verbs.h"

enum { CONFIG_FILE_MAX = 1024 * 1024 };

PinRule config_rule(const Config *c) {
        return (PinRule){.owner = c->uid, .forbid = 0022};
}

void config_done(Config *c) {
        c->redact = redact_free(c->redact);
        c->policy = policy_free(c->policy);
        c->table = table_free(c->table);
        own_done(&c->own);
        setup_done(&c->setup);
        c->bridge = bridge_free(c->bridge);
        c->config_fd = fd_close(c->config_fd);
        c->state_fd = fd_close(c->state_fd);
        c->run_fd = fd_close(c->run_fd);
        c->checkout_fd = fd_close(c->checkout_fd);
        str_freep(&c->trouble);
        str_freep(&c->own_trouble);
        str_freep(&c->redact_trouble);
        str_freep(&c->record_trouble);
        strv_done(&c->keys);
        layout_done(&c->layout);
        *c = (Config){
                .config_fd = -EBADF, .state_fd = -EBADF, .run_fd = -EBADF, .checkout_fd = -EBADF};
}

static ConfigStamp config_stamp(int dirfd, const char *name) {
        struct stat st;

        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return (ConfigStamp){0};
        return (ConfigStamp){st.st_dev, st.st_ino, st.st_size, st.st_ctim};
}

static bool config_stamp_equal(const ConfigStamp *a, const ConfigStamp *b) {
        return a->device == b->device && a->inode == b->inode && a->size == b->size &&
               a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static int config_say(char **ret_message, const char *what, const char *where, const char *reason,
                      const char *slug) {
        int r = str_printf(ret_message, "%s %s %s\nspoolgate install --slug %s", what, where,
                           reason, slug);
        return r < 0 ? r : CONFIG_E_INVALID;
}

/* One host file; PIN_E_ABSENT and the other codes of fs/pin come back as they are. */
static int config_read(const Config *c, const char *name, Str *ret) {
        PinRule rule = config_rule(c);

        return pin_read_at(c->config_fd, name, &rule, 0, CONFIG_FILE_MAX, ret);
}

static int config_open_dir(Config *c, const char *path, int *ret_fd, char **ret_message) {
        PinRule rule = config_rule(c);
        int r = pin_host_dir(path, &rule, ret_fd);

        return r > 0 ? config_say(ret_message, "the directory", path, pin_reason(r), c->layout.slug)
                     : r;
}

static int config_open_checkout(Config *c, char **ret_message) {
        PinRule any = {(uid_t)-1, 0};
        const BridgePin *pin = &c->bridge->checkout;
        struct stat st;
        bool below;
        int r;

        r = pin_root(pin->path, &any, &c->checkout_fd);
        if (r > 0)
                return config_say(ret_message, "the checkout", pin->path, pin_reason(r),
                                  c->layout.slug);
        if (r < 0)
                return r;
        if (fstat(c->checkout_fd, &st) < 0)
                return err_new(errno);
        if (st.st_dev != pin->device || st.st_ino != pin->inode)
                return config_say(ret_message, "the checkout", pin->path,
                                  "is another directory than the one installed for",
                                  c->layout.slug);
        r = pin_is_below(c->config_fd, c->checkout_fd, &below);
        if (r < 0)
                return r;
        if (below)
                return config_say(ret_message, "the configuration", c->layout.config,
                                  "lies inside the checkout, where the agent writes",
                                  c->layout.slug);
        r = pin_is_below(c->state_fd, c->checkout_fd, &below);
        if (r < 0)
                return r;
        return below ? config_say(ret_message, "the state", c->layout.state,
                                  "lies inside the checkout, where the agent writes",
                                  c->layout.slug)
                     : 0;
}

static int config_load_bridge(Config *c, char **ret_message) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_freep) char *why = NULL;
        int r;

        r = config_read(c, "bridge.json", &bytes);
        if (r > 0)
                return config_say(ret_message, "bridge.json in", c->layout.config, pin_reason(r),
                                  c->layout.slug);
        if (r < 0)
                return r;
        r = bridge_parse(bytes.data, bytes.len, &c->bridge, &why);
        if (r == BRIDGE_E_INVALID)
                return config_say(ret_message, "bridge.json:", why, "", c->layout.slug);
        if (r < 0)
                return r;
        if (!str_eq(c->bridge->slug, c->layout.slug))
                return config_say(ret_message, "bridge.json in", c->layout.config,
                                  "is another project's", c->layout.slug);
        return bridge_setup(c->bridge, &c->setup);
}

/* verbs.json is optional; when it is there and wrong, every own verb is refused. */
static int config_load_own(Config *c) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        int r;

        r = config_read(c, "verbs.json", &bytes);
        if (r == PIN_E_ABSENT)
                return 0;
        if (r > 0)
                return str_printf(&c->own_trouble, "verbs.json %s", pin_reason(r));
        if (r < 0)
                return r;
        r = verbs_parse(bytes.data, bytes.len, c->bridge->checkout.path, &c->own, &c->own_trouble);
        return r == VERBS_E_INVALID ? 0 : r;
}

/* A key that is asked for and can't be had lets nothing run. */
static int config_load_key(Config *c, const char *name) {
        PinRule rule = {.owner = c->uid, .forbid = 0077};
        CLEANUP(str_done) Str bytes = STR_NULL;
        char key[MAC_KEY_HEX + 1];
        int r;

        r = pin_read_at(c->config_fd, name, &rule, 0, CONFIG_FILE_MAX, &bytes);
        if (r > 0)
                return str_printf(&c->trouble, "the key file %s %s", name, pin_reason(r));
        if (r == 0)
                r = mac_key(bytes.data, bytes.len, key);
        if (r == MAC_E_KEY)
                return str_printf(&c->trouble, "the key file %s holds no key", name);
        if (r == 0)
                r = strv_add(&c->keys, key);
        explicit_bzero(key, sizeof(key));
        if (bytes.data)
                explicit_bzero(bytes.data, bytes.cap);
        return r;
}

static int config_load_keys(Config *c) {
        int r = 0;

        strv_done(&c->keys);
        c->redact = redact_free(c->redact); /* the keys are among what it hides */
        for (size_t i = 0; r >= 0 && !c->trouble && i < c->bridge->keys.len; i++)
                r = config_load_key(c, c->bridge->keys.items[i]);
        c->key_trouble = c->trouble != NULL;
        if (c->trouble)
                c->policy = policy_free(c->policy);
        return r;
}

static int config_load_policy(Config *c) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        int r;

        c->policy = policy_free(c->policy);
        str_freep(&c->trouble);
        c->key_trouble = false;
        c->policy_stamp = config_stamp(c->config_fd, "policy.conf");
        r = config_read(c, "policy.conf", &bytes);
        if (r > 0)
                return str_printf(&c->trouble, "policy.conf %s", pin_reason(r));
        if (r < 0)
                return r;
        r = c->own_trouble ? policy_parse_built_in(bytes.data, bytes.len, c->table, &c->policy,
                                                   &c->trouble)
                           : policy_parse(bytes.data, bytes.len, c->table, &c->policy, &c->trouble);
        return r == 0 ? config_load_keys(c) : r == POLICY_E_INVALID ? 0 : r;
}

static int config_load_rest(Config *c, char **ret_message) {
        PinRule rule = config_rule(c);
        int r;

        r = config_open_checkout(c, ret_message);
        if (r != 0)
                return r;
        r = pin_make_dir_at(c->state_fd, "run", 0700, &rule, &c->run_fd);
        if (r > 0)
                return config_say(ret_message, "the directory run of", c->layout.state,
                                  pin_reason(r), c->layout.slug);
        if (r < 0)
                return r;
        r = config_load_own(c);
        if (r < 0)
                return r;
        r = table_new(&c->setup, &c->own, &c->table);
        if (r == TABLE_E_STACK)
                return config_say(ret_message, "bridge.json names the unknown stack",
                                  c->setup.stack, "", c->layout.slug);
        return r < 0 ? r : config_load_policy(c);
}

int config_load(const char *slug, Config *ret, char **ret_message) {
        CLEANUP(config_done)
        Config c = {.uid = geteuid(),
                    .config_fd = -EBADF,
                    .state_fd = -EBADF,
                    .run_fd = -EBADF,
                    .checkout_fd = -EBADF};
        int r;

        r = layout_init(&c.layout, slug);
        if (r == LAYOUT_E_SLUG || r == LAYOUT_E_HOME) {
                r = str_printf(
                        ret_message,
                        r == LAYOUT_E_SLUG
                                ? "'%s' is no project name ([a-z][a-z0-9-]{0,30})\nspoolgate verbs "
                                  "--help"
                                : "HOME is not an absolute path (project '%s')\nexport HOME=~",
                        slug);
                return r < 0 ? r : CONFIG_E_INVALID;
        }
        if (r < 0)
                return r;
        r = config_open_dir(&c, c.layout.config, &c.config_fd, ret_message);
        if (r != 0)
                return r;
        r = config_open_dir(&c, c.layout.state, &c.state_fd, ret_message);
        if (r != 0)
                return r;
        c.bridge_stamp = config_stamp(c.config_fd, "bridge.json");
        c.verbs_stamp = config_stamp(c.config_fd, "verbs.json");
        r = config_load_bridge(&c, ret_message);
        if (r != 0)
                return r;
        r = config_load_rest(&c, ret_message);
        if (r != 0)
                return r;
        *ret = c;
        c = (Config){
                .config_fd = -EBADF, .state_fd = -EBADF, .run_fd = -EBADF, .checkout_fd = -EBADF};
        return 0;
}

int config_refresh(Config *c, bool *ret_restart, bool *ret_policy) {
        ConfigStamp bridge = config_stamp(c->config_fd, "bridge.json");
        ConfigStamp verbs = config_stamp(c->config_fd, "verbs.json");
        ConfigStamp policy = config_stamp(c->config_fd, "policy.conf");

        *ret_restart = !config_stamp_equal(&bridge, &c->bridge_stamp) ||
                       !config_stamp_equal(&verbs, &c->verbs_stamp);
        *ret_policy = !config_stamp_equal(&policy, &c->policy_stamp);
        return *ret_policy ? config_load_policy(c) : 0;
}

/* The values of the env files, whoever owns them: a secret is one even in a file that the gate
 * would refuse. */
static int config_add_env(Config *c, Redact *redact) {
        PinRule any = {(uid_t)-1, 0};
        int r;

        for (size_t i = 0; i < c->bridge->env_files.len; i++) {
                CLEANUP(str_done) Str bytes = STR_NULL;
                r = pin_read_at(c->checkout_fd, c->bridge->env_files.items[i], &any, PIN_ANY_LINKS,
                                CONFIG_FILE_MAX, &bytes);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue; /* absent or no file: nothing to hide */
                r = redact_add_env(redact, bytes.data, bytes.len);
                if (r < 0)
                        return r;
        }
        return 0;
}

static ConfigStamp config_env_stamp(const Config *c) {
        ConfigStamp sum = {0};

        for (size_t i = 0; i < c->bridge->env_files.len; i++) {
                ConfigStamp one = config_stamp(c->checkout_fd, c->bridge->env_files.items[i]);
                sum.device ^= one.device;
                sum.inode += one.inode;
                sum.size += one.size;
                sum.changed.tv_sec += one.changed.tv_sec;
                sum.changed.tv_nsec += one.changed.tv_nsec;
        }
        return sum;
}

int config_redact(Config *c, char **ret_message) {
        CLEANUP(redact_freep) Redact *redact = NULL;
        CLEANUP(str_done) Str conf = STR_NULL;
        ConfigStamp own = config_stamp(c->config_fd, "redact.conf");
        ConfigStamp env = config_env_stamp(c);
        int r;

        if (c->redact && config_stamp_equal(&own, &c->redact_stamp) &&
            config_stamp_equal(&env, &c->env_stamp))
                return 0;
        r = redact_new(&redact);
        if (r < 0)
                return r;
        r = config_add_env(c, redact);
        for (size_t i = 0; r >= 0 && i < c->keys.len; i++)
                r = redact_add_value(redact, c->keys.items[i]);
        if (r < 0)
                return r;
        r = config_read(c, "redact.conf", &conf);
        if (r > 0 && r != PIN_E_ABSENT) {
                r = str_printf(ret_message, "redact.conf %s", pin_reason(r));
                return r < 0 ? r : CONFIG_E_INVALID;
        }
        if (r < 0)
                return r;
        if (conf.len > 0) {
                r = redact_add_conf(redact, conf.data, conf.len, ret_message);
                if (r == REDACT_E_PATTERN)
                        return CONFIG_E_INVALID;
                if (r < 0)
                        return r;
        }
        r = redact_compile(redact);
        if (r < 0)
                return r;
        c->redact = redact_free(c->redact);
        c->redact = redact;
        redact = NULL;
        c->redact_stamp = own;
        c->env_stamp = env;
        return 0;
}
