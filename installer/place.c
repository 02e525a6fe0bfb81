#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "installer/compose.h"
#include "installer/place.h"

void place_done(Place *p) {
        strv_done(&p->copies);
        strv_done(&p->sources);
        strv_done(&p->trusts);
}

static int place_refuse(Str *why, const char *where, const char *text, const char *what) {
        int r = str_addf(why, "%s: %s: %s", where, text, what);

        return r < 0 ? r : PLACE_E_REFUSED;
}

int place_trust(Place *p, const char *where, const char *text, const char *what) {
        CLEANUP(str_freep) char *line = NULL;
        int r = str_printf(&line, "%s: %s %s", where, text, what);

        if (r < 0)
                return r;
        return strv_find(&p->trusts, line) ? 0 : strv_add_take(&p->trusts, &line);
}

const Taken *place_taken(const Place *p, const char *beneath) {
        for (size_t i = 0; i < p->taken->len; i++)
                if (str_eq(p->taken->items[i].path, beneath))
                        return &p->taken->items[i];
        return NULL;
}

int place_name(const char *prefix, const char *beneath, char **ret) {
        char hex[HASH_HEX_SIZE];

        hash_sha256(beneath, strlen(beneath), hex);
        return str_printf(ret, "%s-%.16s", prefix, hex);
}

static int place_once(Strv *v, const char *text) {
        return strv_find(v, text) ? 0 : strv_add(v, text);
}

/* What no reading of the text may turn into another path; NULL: nothing. */
static const char *place_fault(PlaceKind kind, const char *text) {
        if (!*text)
                return "an empty path";
        if (strchr(text, '$'))
                return "a path with a variable in it can't be sealed; write it out";
        if (strstr(text, "://") || str_starts(text, "git@") || str_starts(text, "github.com/") ||
            (kind == PLACE_CONTEXT && str_eq(text, "-")))
                return "is fetched from elsewhere: it can't be sealed";
        if (text[0] == '~' && (kind != PLACE_BIND || (text[1] && text[1] != '/')))
                return "a home folder is not looked up here; write the path out";
        for (; *text; text++)
                if ((unsigned char)*text < 0x20 || *text == 0x7f)
                        return "a control character in a path";
        return NULL;
}

/* As written, absolute; *ret_text is text or points into *buffer. */
static int place_home(const Place *p, const char *text, const char *where, char **buffer,
                      const char **ret_text, Str *why) {
        int r;

        *ret_text = text;
        if (text[0] != '~')
                return 0;
        if (!p->home)
                return place_refuse(why, where, text, "no home folder is known");
        r = str_printf(buffer, "%s%s", p->home, text + 1);
        *ret_text = *buffer;
        return r;
}

static bool place_climbs(const char *path) {
        return strstr(path, "/../") || str_ends(path, "/..");
}

/* No link on the way; what is not there yet, or is of any other type, is none. */
static int place_links(const Place *p, const char *beneath, const char *where, const char *text,
                       Str *why) {
        int r;

        if (!*beneath)
                return 0;
        r = pin_see_at(p->checkout_fd, beneath);
        if (r == PIN_E_LINK)
                return place_refuse(why, where, text,
                                    "a symlink in the checkout, which the agent can turn anywhere");
        if (r == PIN_E_ACCESS) /* the gate could not look there either */
                return place_refuse(why, where, text, pin_reason(r));
        return r < 0 ? r : 0;
}

/* Sealed: its copy. Otherwise it stays where it is, which is worth a line. */
static int place_copy(Place *p, PlaceKind kind, const char *beneath, const char *where,
                      const char *text, char **ret, Str *why) {
        const Taken *t = place_taken(p, beneath);
        CLEANUP(str_freep) char *name = NULL;
        int r;

        if (!t) {
                r = place_trust(p, where, text,
                                kind == PLACE_DOCKERFILE
                                        ? "is a Dockerfile that is not guarded: the agent can "
                                          "change it"
                                        : "is not guarded: the agent can change it");
                if (r == 0)
                        r = place_once(&p->sources, beneath);
                return r < 0 ? r : str_printf(ret, "%s/%s", p->checkout, beneath);
        }
        if (t->refused != 0 && t->refused != PIN_E_ABSENT)
                return place_refuse(why, where, text, pin_reason(t->refused));
        r = place_name("file", beneath, &name);
        if (r == 0)
                r = place_once(&p->copies, beneath);
        return r < 0 ? r : str_printf(ret, "%s/%s", p->run, name);
}

static int place_beneath(Place *p, PlaceKind kind, const char *beneath, const char *where,
                         const char *text, char **ret, Str *why) {
        int r;

        if (str_eq(beneath, ".git") || str_starts(beneath, ".git/"))
                return place_refuse(why, where, text, "lies in git's own folder");
        r = place_links(p, beneath, where, text, why);
        if (r != 0)
                return r;
        if (kind == PLACE_FILE || kind == PLACE_DOCKERFILE)
                return place_copy(p, kind, beneath, where, text, ret, why);
        r = *beneath ? place_once(&p->sources, beneath) : 0;
        return r < 0 ? r : str_printf(ret, "%s%s%s", p->checkout, *beneath ? "/" : "", beneath);
}

int place_path(Place *p, PlaceKind kind, const char *base, const char *text, const char *where,
               char **ret, char **ret_beneath, Str *why) {
        CLEANUP(str_freep) char *buffer = NULL;
        CLEANUP(str_freep) char *beneath = NULL;
        const char *fault = place_fault(kind, text), *path;
        int r;

        if (fault)
                return place_refuse(why, where, text, fault);
        r = place_home(p, text, where, &buffer, &path, why);
        if (r == 0 && path[0] == '/' && place_climbs(path))
                return place_refuse(why, where, text, "an absolute path with .. in it");
        if (r == 0)
                r = compose_beneath(p->checkout, base ? base : p->folder, path, &beneath);
        if (r != 0)
                return r;
        if (!beneath && path[0] != '/')
                return place_refuse(why, where, text, "leads out of the checkout");
        if (beneath) {
                r = place_beneath(p, kind, beneath, where, text, ret, why);
        } else {
                r = place_trust(p, where, text, "lies outside the checkout");
                if (r == 0)
                        r = str_dup(path, ret);
        }
        if (r == 0 && ret_beneath) {
                *ret_beneath = beneath;
                beneath = NULL;
        }
        return r;
}

int place_source(Place *p, const char *base, const char *text, const char *where, Str *why) {
        CLEANUP(str_freep) char *buffer = NULL;
        CLEANUP(str_freep) char *beneath = NULL;
        const char *path = text;
        int r;

        if (place_fault(PLACE_BIND, text) || (text[0] == '~' && !p->home) ||
            (text[0] == '/' && place_climbs(text)))
                return place_trust(p, where, text, "is not followed: it may lead anywhere");
        r = place_home(p, text, where, &buffer, &path, why);
        if (r == 0)
                r = compose_beneath(p->checkout, base, path, &beneath);
        if (r != 0)
                return r;
        if (!beneath)
                return place_trust(p, where, text, "lies outside the checkout");
        r = place_links(p, beneath, where, text, why);
        return r != 0 || !*beneath ? r : place_once(&p->sources, beneath);
}

int place_compose(Place *p, const char *text, const char *where, const Taken **ret, Str *why) {
        CLEANUP(str_freep) char *beneath = NULL;
        const char *fault = place_fault(PLACE_FILE, text);
        const Taken *t;
        int r;

        if (fault)
                return place_refuse(why, where, text, fault);
        r = compose_beneath(p->checkout, p->folder, text, &beneath);
        if (r < 0)
                return r;
        if (!beneath || !*beneath)
                return place_refuse(why, where, text, "is no file in the checkout");
        t = place_taken(p, beneath);
        if (!t) {
                r = place_refuse(why, where, text, "is a compose file that is not guarded");
                if (r == PLACE_E_REFUSED &&
                    str_addf(why, "\nspoolgate install --guard %s", beneath) < 0)
                        return -ENOMEM;
                return r;
        }
        if (t->refused != 0)
                return place_refuse(why, where, text, pin_reason(t->refused));
        *ret = t;
        return 0;
}

int place_dockerfile(const Place *p, const char *context_beneath, const char **ret) {
        static const char *const names[] = {"Containerfile", "ContainerFile", "containerfile",
                                            "Dockerfile",    "DockerFile",    "dockerfile"};

        *ret = "Dockerfile";
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                CLEANUP(str_freep) char *path = NULL;
                struct stat st;
                int r = str_printf(&path, "%s%s%s", context_beneath, *context_beneath ? "/" : "",
                                   names[i]);

                if (r < 0)
                        return r;
                if (fstatat(p->checkout_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                        *ret = names[i];
                        return 0;
                }
        }
        return 0;
}
