/* fault/room.c - a drain whose spool or state has no room
 *
 *   room fill WORLD    as many of the mixed requests as find room, then three drains; WORLD/home/room remembers which
 *   room heal WORLD    once there is room again: one healthy drain, the invariants */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sweep.h"

enum { ROOM_DRAINS = 3, ROOM_SPIN = 60000 };

typedef struct RoomRun {
        unsigned long calls;
} RoomRun;

static TraceAct room_each(void *userdata, const TraceStop *stop) {
        RoomRun *run = userdata;

        run->calls = stop->n / 2;
        return run->calls > ROOM_SPIN ? TRACE_KILL : TRACE_ON;
}

static bool room_never(void *userdata) {
        (void)userdata;
        return false;
}

static FILE *room_note(const World *w, const char *mode) {
        char path[600];
        FILE *f;

        snprintf(path, sizeof(path), "%s/room", w->home.text);
        f = fopen(path, mode);
        if (!f)
                world_die(path);
        return f;
}

static void room_fill(World *w, CheckReport *r) {
        FILE *note;

        w->small = true;
        world_fill(w);
        note = room_note(w, "we");
        fprintf(note, "%s %llx %zu\n", w->now, (unsigned long long)w->sent, w->hostile);
        fclose(note);
        printf("%zu requests found room\n", world_sent_count(w));
        for (int i = 0; i < ROOM_DRAINS; i++) {
                RoomRun run = { 0 };
                TraceSpec spec = { .each = room_each, .over = room_never, .userdata = &run };
                TraceEnd end;
                int64_t began = trace_now_ms();
                sweep_drain(w, NULL, &spec, &end);
                (void)trace_wait_rest(15000);
                printf("drain %d: status %#x, %lu calls, %lld ms; %zu left in requests/, %zu in processing/\n", i + 1, (unsigned)end.status, run.calls,
                       (long long)(trace_now_ms() - began), world_visible(w->spool.text, "requests"), world_visible(w->spool.text, "processing"));
                if (end.late || run.calls > ROOM_SPIN)
                        check_breach(r, CHECK_SPIN, "%lu calls", run.calls);
                else if (!sweep_status_ok(end.status))
                        check_breach(r, CHECK_STATUS, "the drain ends with %#x", (unsigned)end.status);
                else if (trace_now_ms() - began < 200)
                        check_breach(r, CHECK_SPIN, "it has not paced itself");
        }
}

static void room_heal(World *w, SweepTotal *t) {
        FILE *note = room_note(w, "re");
        unsigned long long sent;

        if (fscanf(note, "%31s %llx %zu", w->now, &sent, &w->hostile) != 3)
                world_die("room");
        fclose(note);
        w->sent = sent;
        t->report.faulty = true;
        t->report.also = W_UNCERTAIN | W_FAILED;
        sweep_heal(w, true, t);
}

int main(int argc, char **argv) {
        static SweepTotal t = { .report = { .where = "no room" } };
        static World w;

        if (argc != 3)
                return 64;
        trace_begin();
        world_open(&w, argv[2]);
        if (strcmp(argv[1], "fill") == 0)
                room_fill(&w, &t.report);
        else
                room_heal(&w, &t);
        sweep_print(&t, "healed");
        return check_total(&t.report) == 0 ? 0 : 1;
}
