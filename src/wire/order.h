/* wire/order.h - what the operator's commands ask of the drain: STATE/orders/FILE, host-only
 *
 * The command writes the order (atomically, synced) and wakes the drain; the drain is the only one
 * who runs anything. FILE is a wire/name (order_file): the request's own for RUN and APPROVE, a
 * fresh one for the others, so that a run and its cancelling never meet in one file. The drain
 * answers in order_done_name(FILE) (a response line, wire/response.h), then removes the order; the
 * command removes the answer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/name.h"

typedef enum OrderKind {
        ORDER_RUN,     /* verb and arg by hand: every gate but policy mode and rate */
        ORDER_APPROVE, /* a request that policy refused, exactly as it was judged (audit log) */
        ORDER_CANCEL,  /* a waiting or running request of the agent or the operator */
        ORDER_NOTE,    /* something the operator did: a line for the audit log, nothing runs */
} OrderKind;

typedef struct Order {
        OrderKind kind;
        Name name;        /* RUN: a fresh one; APPROVE, CANCEL: the request's own; NOTE: a fresh
                             one, or the request it speaks of */
        char *verb, *arg; /* RUN, APPROVE: the name's verb; arg NULL: none. CANCEL, NOTE: NULL */
        char *by;         /* login name of the operator */
        int64_t at_ms;
        char *key;            /* APPROVE: ledger key (64 hex) of the refused request; else NULL */
        char *fingerprint;    /* APPROVE: its fingerprint (64 hex); else NULL */
        uint32_t timeout_sec; /* RUN, APPROVE; 0: policy's */
        const char *event;    /* NOTE: one of the words of order_event_at; static memory */
        char *detail;         /* NOTE: for people, one line, escaped; NULL: none */
} Order;
#define ORDER_NULL ((Order){0})
void order_done(Order *o);

enum { ORDER_E_INVALID = 1 };
enum {
        ORDER_MAX_BYTES = 8 * 1024,
        ORDER_DETAIL_MAX = 1024,
        ORDER_BY_MAX = 64,
        ORDER_TIMEOUT_MAX = 24 * 3600,
        ORDER_DONE_SIZE = NAME_MAX_LEN + 6,
};
/* Closed schema {"v":1,"order","request","verb","arg","by","at","key","fingerprint","timeout_sec",
 * "event","detail"}; what doesn't belong to the kind is absent or null. */
MUST_CHECK int order_parse(const char *bytes, size_t len, Order *ret);
/* One line, newline at the end. -EINVAL: order_parse would not take it. */
MUST_CHECK int order_format(const Order *o, char **ret);
const char *order_name(OrderKind k); /* "run" "approve" "cancel" "note" */
/* "paused" "resumed" "sealed" "told" "reaped" "resolved" "upgraded" "keyed" "edited"; NULL past the
 * end. */
const char *order_event_at(size_t i);

/* The file's name for a new order. */
void order_file(const Order *o, int64_t now_ms, Name *ret);
/* "X.json" becomes "X.done.json", which is no name (name_parse refuses it). */
void order_done_name(const Name *file, char ret[ORDER_DONE_SIZE]);
