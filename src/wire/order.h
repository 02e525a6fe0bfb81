/* wire/order.h - what the operator's commands ask of the drain: STATE/orders/NAME.json, host-only
 *
 * The command writes the order (atomically, synced) and wakes the drain; the drain is the only one who runs
 * anything. It answers in STATE/orders/NAME.done.json (a response line, wire/response.h) and removes the order. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/name.h"

typedef enum OrderKind {
        ORDER_RUN,     /* verb and arg by hand: every gate but policy mode and rate */
        ORDER_APPROVE, /* a request that policy refused, exactly as it was judged (from the audit log) */
        ORDER_CANCEL,  /* a waiting or running request of the agent or the operator */
} OrderKind;

typedef struct Order {
        OrderKind kind;
        Name name;          /* RUN: a fresh one; APPROVE, CANCEL: the request's own */
        char *verb, *arg;   /* arg NULL: none. CANCEL: verb NULL */
        char *by;           /* login name of the operator */
        int64_t at_ms;
        char *key;          /* APPROVE: ledger key (64 hex) of the refused request; else NULL */
        char *fingerprint;  /* APPROVE: its fingerprint (64 hex); else NULL */
        uint32_t timeout_sec; /* 0: policy's */
} Order;
#define ORDER_NULL ((Order){0})
void order_done(Order *o);

enum { ORDER_E_INVALID = 1 };
/* Closed schema {"v":1,"order","request","verb","arg","by","at","key","fingerprint","timeout_sec"}. */
MUST_CHECK int order_parse(const char *bytes, size_t len, Order *ret);
MUST_CHECK int order_format(const Order *o, char **ret); /* one line, newline at the end */
