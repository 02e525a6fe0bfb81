/* installer/notice.h - writing an order for the drain: STATE/orders (wire/order.h) */
#pragma once
#include "base/err.h"
#include "wire/order.h"

/* Who gives orders: the login name of this uid, else its number. */
MUST_CHECK int notice_by(char **ret);
/* Opens STATE/orders, which is made when absent. */
MUST_CHECK int notice_dir(int state_fd, int *ret_fd);
/* Fills in by and at, and writes the order, synced. */
MUST_CHECK int notice_send(int state_fd, Order *o, Name *ret_file);
/* A NOTE: a line for the audit log, which the next drain writes. event as of wire/order, name NULL:
 * none, detail: its beginning, escaped. */
MUST_CHECK int notice_note(int state_fd, const char *event, const Name *name, const char *detail);
