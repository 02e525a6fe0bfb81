/* drain.pml - the state table of drain/step.h: an agent, two drains, crashes, recovery
 *
 * Two requests, with keys of their own or one key for both; two drains under one lock; CRASHES deaths, of a drain between any
 * two steps or of a keeper before or after its effect. Keepers outlive their drain. Only what directories hold is durable. The
 * gates may decide otherwise when they are asked about the same request again (rate, paused).
 *
 *   I1  every request ends in exactly one terminal answer    ltl answered; assert in respond
 *   I2  a mutating verb starts at most once per key          assert in verb
 *   I3  nothing starts before its audit line and entry       assert in verb
 *   I4  nothing stays in requests/ or processing/            ltl cleared
 *   I8  any crash is mended by the next drain                the ltls hold with CRASHES deaths
 *
 * -DMUTANT: the begin entry is left out; the assert of I2 must fail.
 * -DFORGETFUL: recovery doesn't look whether a claimed request was told; the assert of I1 must fail. */
#ifndef CRASHES
#define CRASHES 2
#endif
#define REQUESTS 2
#define NONE 255

mtype = { absent, waiting, claimed, gone };                /* a request's file: -, requests/, processing/, archive/ */
mtype = { no_answer, done, uncertain, denied, replayed };  /* its response */
mtype = { no_keeper, alive, finished, lost };              /* of a key: -, lock held, result there, neither */

mtype file[REQUESTS] = absent;
mtype answer[REQUESTS] = no_answer;
byte key[REQUESTS];
bool audited[REQUESTS];              /* by key from here on */
bool begun[REQUESTS];
bool ended[REQUESTS];
mtype stored[REQUESTS] = no_answer;  /* in ledger/ended */
byte owner[REQUESTS] = NONE;         /* the request that began the key */
mtype keeper[REQUESTS] = no_keeper;
byte effects[REQUESTS];
byte crashes;
bool locked;

#define CLEAR (file[0] == gone && file[1] == gone && !begun[0] && !begun[1])
#define ANSWERED (answer[0] != no_answer && answer[1] != no_answer)

ltl cleared { <>[] CLEAR }
ltl answered { <>[] ANSWERED }

inline respond(who, what) {
        d_step {
                assert(answer[who] == no_answer || answer[who] == what); /* I1 */
                answer[who] = what
        }
}

/* A keeper: what it does is done whether or not its drain lives. */
proctype verb(byte k) {
        assert(audited[k]);                                              /* I3 */
#ifndef MUTANT
        assert(begun[k]);
#endif
        if
        :: true -> effects[k]++; assert(effects[k] <= 1)                 /* I2 */
        :: atomic { crashes < CRASHES -> crashes++; keeper[k] = lost; goto over }
        fi;
        if
        :: true -> keeper[k] = finished
        :: atomic { crashes < CRASHES -> crashes++; keeper[k] = lost }
        fi;
over:   skip
}

/* A drain may die between any two steps: its lock goes, what is durable stays. */
#define DIE if :: atomic { crashes < CRASHES -> crashes++; locked = false; goto dead } :: true fi

/* The keeper of k is gone: outcome, ledger (ended, then begun away), answer, archive, result away. */
inline finish(k) {
        d_step {
                if
                :: keeper[k] == finished -> stored[k] = done
                :: else -> stored[k] = uncertain
                fi;
                ended[k] = true
        }
        DIE;
        begun[k] = false;
        DIE;
        respond(owner[k], stored[k]);
        DIE;
        if :: file[owner[k]] == claimed -> file[owner[k]] = gone :: else fi;
        DIE;
        keeper[k] = no_keeper
}

inline recover_begun() {
        k = 0;
        do
        :: k < REQUESTS && begun[k] && ended[k] -> begun[k] = false; DIE
        :: k < REQUESTS && begun[k] && !ended[k] ->
                keeper[k] != alive;                                      /* it runs: watched until its end */
                finish(k);
                DIE
        :: k < REQUESTS && !begun[k] -> k++
        :: k == REQUESTS -> break
        od
}

inline recover_processing() {
        i = 0;
        do
        :: i < REQUESTS && file[i] == claimed && ended[key[i]] && owner[key[i]] == i ->
                respond(i, stored[key[i]]);
                DIE;
                file[i] = gone;
                DIE
        :: i < REQUESTS && file[i] == claimed && !(ended[key[i]] && owner[key[i]] == i) ->
                if
#ifndef FORGETFUL
                :: answer[i] != no_answer -> file[i] = gone              /* told, and not yet tidied: its answer stands */
#endif
                :: else -> file[i] = waiting
                fi;
                i++;
                DIE
        :: i < REQUESTS && file[i] != claimed -> i++
        :: i == REQUESTS -> break
        od
}

/* Claimed, and the gates have granted it. */
inline start(i, k) {
        audited[k] = true;
        DIE;
#ifdef MUTANT
        owner[k] = i;
#else
        assert(!begun[k]);                                               /* recovery has settled every one */
        d_step { begun[k] = true; owner[k] = i }
#endif
        DIE;
        atomic { keeper[k] = alive; run verb(k) }
        DIE;
        keeper[k] != alive;
        finish(k)
}

inline take(i, k) {
        file[i] = claimed;
        DIE;
        if
        :: ended[k] && owner[k] == i -> respond(i, stored[k]); DIE; file[i] = gone
        :: ended[k] && owner[k] != i -> respond(i, replayed); DIE; file[i] = gone
        :: !ended[k] -> respond(i, denied); DIE; file[i] = gone
        :: !ended[k] -> start(i, k)
        fi
}

#define WORK (file[0] == waiting || file[1] == waiting || file[0] == claimed || file[1] == claimed || begun[0] || begun[1])

proctype drain() {
        byte i, k;

again:
end_idle:
        atomic { !locked && WORK -> locked = true }                      /* path unit, sweep timer, re-arm */
        recover_begun();
        recover_processing();
        i = 0;
        do
        :: i < REQUESTS && file[i] == waiting -> k = key[i]; take(i, k); DIE; i++
        :: i < REQUESTS && file[i] != waiting -> i++
        :: i == REQUESTS -> break
        od;
        locked = false;
dead:   i = 0;
        k = 0;
        goto again
}

init {
        byte r = 0;

        atomic {
                key[0] = 0;
                if :: key[1] = 0 :: key[1] = 1 fi;
                run drain();
                run drain()
        }
        file[0] = waiting;
        file[1] = waiting
}
