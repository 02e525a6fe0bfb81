#include <errno.h>
#include <getopt.h>

#include "installer/registry.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/unitstate.h"
#include "wire/record.h"

static const char list_help[] = "usage: spoolgate list [--json]\n"
                                "\n"
                                "Every project on this host: its checkout, stack and units.\n";

typedef struct ListRow {
        Layout layout;
        Bridge *bridge; /* NULL: trouble says why */
        Str trouble, units;
} ListRow;

static void list_row_done(ListRow *row) {
        layout_done(&row->layout);
        row->bridge = bridge_free(row->bridge);
        str_done(&row->trouble);
        str_done(&row->units);
}

static int list_units(const char *slug, Str *out) {
        CLEANUP(unitstates_done) UnitStates s = {0};
        CLEANUP(str_done) Str why = STR_NULL;
        int r = unitstates_read(slug, &s, &why);

        if (r > 0)
                return str_adds(out, "no user manager");
        if (r < 0)
                return r;
        if (unitstates_good(&s))
                return str_adds(out, "ok");
        r = str_adds(out, "path ");
        if (r == 0)
                r = unitstate_word(&s.units[0], out);
        if (r == 0)
                r = str_adds(out, ", timer ");
        return r == 0 ? unitstate_word(&s.units[2], out) : r;
}

static int list_load(const char *slug, ListRow *row) {
        int r = layout_init(&row->layout, slug);

        if (r == 0)
                r = registry_read(&row->layout, &row->bridge, &row->trouble);
        if (r < 0)
                return r;
        if (!row->bridge && row->trouble.len == 0)
                r = str_adds(&row->trouble, "bridge.json is gone");
        return r < 0 ? r : list_units(slug, &row->units);
}

static int list_json(const ListRow *row, Record *root) {
        CLEANUP(record_freep) Record *one = NULL;
        const Bridge *b = row->bridge;
        int r = record_new(&one);

        if (r == 0)
                r = record_put_str(one, "project", row->layout.slug);
        if (r == 0)
                r = record_put_str(one, "checkout", b ? b->checkout.path : NULL);
        if (r == 0)
                r = record_put_str(one, "stack", b ? b->stack : NULL);
        if (r == 0)
                r = record_put_str(one, "version", b ? b->version : NULL);
        if (r == 0)
                r = record_put_str(one, "units", row->units.data);
        if (r == 0)
                r = record_put_str(one, "trouble", b ? NULL : row->trouble.data);
        return r == 0 ? record_append_take(root, "projects", &one) : r;
}

static int list_text(const ListRow *row, Str *out) {
        const Bridge *b = row->bridge;
        int r = str_addf(out, "%-16s %-14s ", row->layout.slug, b ? b->stack : "-");

        if (r == 0)
                r = str_addf(out, "units %s\n    %s\n", row->units.data,
                             b ? b->checkout.path : row->trouble.data);
        if (r == 0 && !b)
                r = str_addf(out, "spoolgate install --slug %s\n", row->layout.slug);
        return r;
}

static int list_print(bool json, const Strv *slugs, bool *ret_trouble) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_list(root, "projects");
        for (size_t i = 0; i < slugs->len && r == 0; i++) {
                CLEANUP(list_row_done) ListRow row = {0};

                r = list_load(slugs->items[i], &row);
                if (r == 0)
                        r = json ? list_json(&row, root) : list_text(&row, &out);
                *ret_trouble = *ret_trouble || !row.bridge;
        }
        if (r == 0 && json)
                r = record_format_pretty(root, &text);
        if (r == 0 && json)
                return command_help(text);
        if (r == 0 && slugs->len == 0)
                r = str_adds(&out, "no project is installed\nspoolgate install\n");
        if (r == 0)
                command_print(&out);
        return r;
}

int list_command(int argc, char **argv) {
        static const struct option options[] = {
                {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        bool json = false, trouble = false;
        int opt, r;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(list_help);
                if (opt != 'j')
                        return command_usage("list", opt, argv + optind - 1);
                json = true;
        }
        if (optind < argc)
                return command_usage("list", '?', argv + optind);
        r = layout_list(&slugs);
        if (r > 0) {
                command_fail("list", "HOME is not set to an absolute path");
                return COMMAND_BROKEN;
        }
        if (r == 0)
                r = list_print(json, &slugs, &trouble);
        if (r < 0)
                return command_broken("list", r);
        return trouble ? COMMAND_FINDING : COMMAND_OK;
}
