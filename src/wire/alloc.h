/* wire/alloc.h - does jansson's memory hold out?
 *
 * In places jansson goes on where an allocation has failed, and what it makes is wrong and looks
 * right: a key that is left out while dumping (dump.c: do_dump), a byte that is left out while
 * lexing (load.c: lex_save). So whoever dumps or loads looks here before it believes. */
#pragma once
#include <stdbool.h>

/* Before a call of jansson's; the first one installs its memory functions (json_set_alloc_funcs).
 */
void alloc_watch(void);
/* An allocation of jansson's has failed since. */
bool alloc_failed(void);
