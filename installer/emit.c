#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "installer/emit.h"

struct Emit {
        yaml_emitter_t yaml;
        bool open, full;
        Str out;
};

Emit *emit_free(Emit *e) {
        if (e) {
                if (e->open)
                        yaml_emitter_delete(&e->yaml);
                str_done(&e->out);
                free(e);
        }
        return NULL;
}

void emit_freep(Emit **e) {
        *e = emit_free(*e);
}

static int emit_write(void *data, unsigned char *bytes, size_t len) {
        Emit *e = data;

        e->full = e->full || len > EMIT_MAX - e->out.len;
        return !e->full && str_add(&e->out, bytes, len) == 0;
}

/* Takes the event. made: libyaml could make it. */
static int emit_event(Emit *e, yaml_event_t *event, int made) {
        if (!made)
                return err_new(ENOMEM);
        if (yaml_emitter_emit(&e->yaml, event))
                return 0;
        if (e->full)
                return EMIT_E_TOO_BIG;
        return err_new(e->yaml.error == YAML_EMITTER_ERROR ? EINVAL : ENOMEM);
}

int emit_new(Emit **ret) {
        CLEANUP(emit_freep) Emit *e = calloc(1, sizeof(*e));
        yaml_event_t event;
        int r;

        if (!e || !yaml_emitter_initialize(&e->yaml))
                return err_new(ENOMEM);
        e->open = true;
        yaml_emitter_set_output(&e->yaml, emit_write, e);
        yaml_emitter_set_unicode(&e->yaml, 1);
        yaml_emitter_set_width(&e->yaml, -1);
        r = emit_event(e, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
        if (r == 0)
                r = emit_event(e, &event,
                               yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
        if (r != 0)
                return r;
        *ret = e;
        e = NULL;
        return 0;
}

int emit_map(Emit *e) {
        yaml_event_t event;

        return emit_event(e, &event,
                          yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                              YAML_BLOCK_MAPPING_STYLE));
}

int emit_map_end(Emit *e) {
        yaml_event_t event;

        return emit_event(e, &event, yaml_mapping_end_event_initialize(&event));
}

int emit_list(Emit *e) {
        yaml_event_t event;

        return emit_event(e, &event,
                          yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                               YAML_BLOCK_SEQUENCE_STYLE));
}

int emit_list_end(Emit *e) {
        yaml_event_t event;

        return emit_event(e, &event, yaml_sequence_end_event_initialize(&event));
}

static bool emit_printable(const char *text) {
        for (; *text; text++)
                if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
                        return false;
        return true;
}

/* Whatever is not printable ASCII is a text to every reader, plain or not. */
int emit_text(Emit *e, const char *text, bool plain) {
        yaml_scalar_style_t style = !emit_printable(text) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                                    : plain               ? YAML_PLAIN_SCALAR_STYLE
                                                          : YAML_SINGLE_QUOTED_SCALAR_STYLE;
        CLEANUP(str_freep) char *copy = NULL;
        yaml_event_t event;
        int r;

        r = str_dup(plain && !*text ? "null" : text, &copy);
        if (r < 0)
                return r;
        return emit_event(e, &event,
                          yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)copy,
                                                       (int)strlen(copy), 1, 1, style));
}

int emit_end(Emit *e, Str *ret) {
        yaml_event_t event;
        int r;

        r = emit_event(e, &event, yaml_document_end_event_initialize(&event, 1));
        if (r == 0)
                r = emit_event(e, &event, yaml_stream_end_event_initialize(&event));
        return r != 0 ? r : str_add(ret, e->out.data ? e->out.data : "", e->out.len);
}
