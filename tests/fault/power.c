/* fault/power.c - a power cut at fixed points of the workload: the state's filesystem is shut down without its log, the drain
 * dies, the filesystem is mounted again, one healthy drain
 *
 *   power DEVICE TYPE UID EVERY WORLD    as root; the filesystem is mounted at the world's state directory by this program */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep.h"

#define POWER_SHUTDOWN _IOR('X', 125, uint32_t)
enum { POWER_NO_LOG_FLUSH = 2, POWER_TRIES = 200 };

typedef struct Power {
        World *world;
        const char *device, *type;
        uid_t uid;
        unsigned long at;
        bool hit;
} Power;

static void power_be(uid_t uid) {
        if (seteuid(0) < 0 || (uid != 0 && seteuid(uid) < 0))
                world_die("seteuid");
}

static void power_mount(const Power *p) {
        char lost[600];

        power_be(0);
        if (mount(p->device, p->world->state.text, p->type, MS_NOATIME, NULL) < 0)
                world_die("mount");
        snprintf(lost, sizeof(lost), "%s/lost+found", p->world->state.text);
        (void)rmdir(lost); /* of ext4 */
        if (chown(p->world->state.text, p->uid, p->uid) < 0 || chmod(p->world->state.text, 0700) < 0)
                world_die("the mounted directory");
        power_be(p->uid);
}

static void power_unmount(const Power *p) {
        power_be(0);
        for (int i = 0; umount2(p->world->state.text, 0) < 0; i++) {
                if (errno != EBUSY || i == POWER_TRIES)
                        world_die("umount");
                usleep(10000); /* a process that was killed closes its files now */
        }
        power_be(p->uid);
}

static void power_cut(const Power *p) {
        uint32_t how = POWER_NO_LOG_FLUSH;
        int fd = open(p->world->state.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        power_be(0);
        if (fd < 0 || ioctl(fd, POWER_SHUTDOWN, &how) < 0)
                world_die("shutdown of the filesystem");
        power_be(p->uid);
        close(fd);
}

static TraceAct power_each(void *userdata, const TraceStop *stop) {
        Power *p = userdata;

        if (stop->n != p->at)
                return TRACE_ON;
        p->hit = true;
        power_cut(p);
        return TRACE_KILL;
}

static bool power_over(void *userdata) {
        const Power *p = userdata;

        return world_settled(p->world);
}

static bool power_point(Power *p, SweepTotal *t) {
        TraceSpec spec = { .each = power_each, .over = power_over, .userdata = p };
        char where[64];
        TraceEnd end;

        world_reset(p->world);
        sync();
        world_fill(p->world);
        p->hit = false;
        snprintf(where, sizeof(where), "%s, cut at %lu", p->type, p->at);
        t->report.where = where;
        sweep_drain(p->world, NULL, &spec, &end);
        (void)trace_wait_rest(15000);
        if (p->hit) {
                power_unmount(p);
                power_mount(p);
        }
        t->report.cut = p->hit;
        t->report.also = p->hit ? W_UNCERTAIN : 0;
        sweep_heal(p->world, true, t);
        return p->hit;
}

int main(int argc, char **argv) {
        static SweepTotal t;
        static World w;
        Power p = { .world = &w, .at = 1 };
        unsigned long every;

        if (argc != 6 || geteuid() != 0)
                return 64;
        p.device = argv[1];
        p.type = argv[2];
        p.uid = (uid_t)strtoul(argv[3], NULL, 10);
        every = strtoul(argv[4], NULL, 10);
        world_open(&w, argv[5]);
        if (setgid(p.uid) < 0 || setresuid(p.uid, p.uid, 0) < 0 || every == 0)
                world_die("setresuid");
        (void)prctl(PR_SET_DUMPABLE, 1);
        trace_begin();
        power_mount(&p);
        while (power_point(&p, &t))
                p.at += every;
        power_unmount(&p);
        printf("%s: ", p.type);
        sweep_print(&t, "power cuts");
        return check_total(&t.report) == 0 && t.points > 1 ? 0 : 1;
}
