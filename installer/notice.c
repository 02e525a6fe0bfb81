#include "installer/notice.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "fs/pin.h"
#include "fs/publish.h"

enum { NOTICE_DETAIL = ORDER_DETAIL_MAX / 4 }; /* an escaped byte is four */

int notice_by(char **ret) {
        const struct passwd *pw = getpwuid(geteuid());

        return pw && pw->pw_name[0] && strlen(pw->pw_name) <= ORDER_BY_MAX
                       ? str_dup(pw->pw_name, ret)
                       : str_printf(ret, "uid %u", geteuid());
}

int notice_dir(int state_fd, int *ret_fd) {
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        int r = pin_make_dir_at(state_fd, "orders", 0700, &rule, ret_fd);

        return r > 0 ? err_new(EACCES) : r;
}

int notice_send(int state_fd, Order *o, Name *ret_file) {
        CLEANUP(fd_closep) int dir = -EBADF;
        CLEANUP(str_freep) char *line = NULL;
        Name file;
        int r = 0;

        o->at_ms = clock_wall_ms();
        if (!o->by)
                r = notice_by(&o->by);
        if (r == 0)
                r = order_format(o, &line);
        if (r == 0)
                r = notice_dir(state_fd, &dir);
        if (r < 0)
                return r;
        order_file(o, o->at_ms, &file);
        r = publish_file(dir, file.text, line, strlen(line), 0600, PUBLISH_SYNC);
        if (r != 0)
                return r > 0 ? err_new(EACCES) : r;
        *ret_file = file;
        return 0;
}

int notice_note(int state_fd, const char *event, const Name *name, const char *detail) {
        CLEANUP(order_done) Order o = {.kind = ORDER_NOTE, .event = event};
        CLEANUP(str_done) Str line = STR_NULL;
        Name file;
        int r = 0;

        if (name)
                o.name = *name;
        else
                name_make("note", clock_wall_ms(), &o.name);
        if (detail && *detail) {
                r = str_add_escaped(&line, detail, strnlen(detail, NOTICE_DETAIL), false);
                if (r == 0)
                        r = str_take(&line, &o.detail);
        }
        return r < 0 ? r : notice_send(state_fd, &o, &file);
}
