/* crash/mutant-ledger.c - the ledger without its begin record: what the sweep must catch (the test of the test) */
#include "record/ledger.h"

int ledger_begin_real(const Ledger *l, const LedgerEntry *e);

#define ledger_begin ledger_begin_real
#include "record/ledger.c"
#undef ledger_begin

int ledger_begin(const Ledger *l, const LedgerEntry *e) {
        (void)l;
        (void)e;
        return 0;
}
