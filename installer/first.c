/* sealing_first: the seal that install makes */
#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "installer/sealing.h"

/* INTEGRITY of policy.conf; a file that doesn't hold is read as the strictest, as the gates do. */
static int first_integrity(const Layout *l, const Bridge *b, PolicyIntegrity *ret) {
        CLEANUP(table_freep) VerbTable *table = NULL;
        CLEANUP(setup_done) VerbSetup setup = {0};
        CLEANUP(policy_freep) Policy *policy = NULL;
        CLEANUP(str_freep) char *message = NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(fd_closep) int dir = -EBADF;
        PinRule rule = {geteuid(), 0022};
        int r = bridge_setup(b, &setup);

        *ret = POLICY_BOTH;
        if (r == 0)
                r = table_new(&setup, NULL, &table);
        if (r == 0)
                r = pin_host_dir(l->config, &rule, &dir);
        if (r == 0)
                r = pin_read_at(dir, "policy.conf", &rule, 0, POLICY_MAX_BYTES, &bytes);
        if (r == 0)
                r = policy_parse_built_in(bytes.data ? bytes.data : "", bytes.len, table, &policy,
                                          &message);
        if (r == 0)
                *ret = policy_integrity(policy);
        return r < 0 ? r : 0;
}

static int first_warn(const Layout *l, const char *head, const char *text, const char *command,
                      Strv *warnings) {
        CLEANUP(str_freep) char *warning = NULL;
        int r = str_printf(&warning, "%s%s\nspoolgate %s -s %s", head, text, command, l->slug);

        return r < 0 ? r : strv_add_take(warnings, &warning);
}

static int first_compare(const Layout *l, const Sealing *s, Strv *warnings) {
        CLEANUP(strv_done) Strv changes = STRV_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = sealing_changes(s, &changes);

        for (size_t i = 0; i < changes.len && r == 0; i++)
                r = str_addf(&text, "%s%s", i > 0 ? "\n" : "", changes.items[i]);
        if (r < 0 || changes.len == 0)
                return r;
        return first_warn(l, "not what was sealed; mutating verbs are refused:\n", text.data,
                          "seal", warnings);
}

static int first_seal(const SealingPlace *p, Sealing *s, Str *report, Strv *warnings) {
        CLEANUP(str_done) Str why = STR_NULL;
        int r = sealing_look(p, s, &why);

        if (r == SEALING_E_REFUSED)
                return first_warn(p->layout, "not sealed; mutating verbs are refused:\n",
                                  why.data ? why.data : "", "seal", warnings);
        if (r < 0)
                return r;
        if (s->had || s->damaged)
                return first_compare(p->layout, s, warnings);
        r = sealing_store(p, s);
        for (size_t i = 0; i < s->run.trusts.len && r == 0; i++)
                r = strv_add(warnings, s->run.trusts.items[i]);
        return r < 0 ? r : str_addf(report, "sealed %zu files\n", s->taken.len);
}

int sealing_first(const Layout *l, const Bridge *b, int checkout_fd, Str *report, Strv *warnings) {
        CLEANUP(sealing_done) Sealing s = SEALING_NULL;
        CLEANUP(fd_closep) int state = -EBADF;
        PinRule rule = {geteuid(), 0022};
        PolicyIntegrity integrity;
        int r = first_integrity(l, b, &integrity);

        if (r == 0)
                r = pin_host_dir(l->state, &rule, &state);
        if (r > 0)
                return err_new(EACCES); /* plan_apply has just made it */
        if (r < 0)
                return r;
        return first_seal(&(SealingPlace){l, b, checkout_fd, state, integrity}, &s, report,
                          warnings);
}
