/* drain/orders.h - what the operator's commands ask for (wire/order.h): STATE/orders/FILE.json
 *
 * An order is host-only, so it needs no proof of who wrote it. A run or an approval becomes a
 * Request like an agent's and meets the same gates (but policy mode and rate); whoever waits reads
 * FILE.done.json, the response line. The order's file goes when its answer is there: an order whose
 * drain died is taken up again, and the ledger answers. */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

/* Makes STATE/orders when absent and opens it: d->orders_fd. */
MUST_CHECK int orders_open(Drain *d);
/* Takes each order that a lane is free for. */
MUST_CHECK int orders_run(Drain *d);
/* FILE.done.json, then FILE.json goes. */
MUST_CHECK int orders_answer(Drain *d, const char *file, const Str *line);
