/* base/err.h - the one error convention
 *
 *   0                done; every ret_* is set
 *   > 0 MODULE_E_X   a foreseen no, listed in the header, answered by the direct caller
 *   < 0 -errno       the host failed or an invariant broke; passed up unchanged
 *
 * ret_* parameters are touched on 0 only. A negative is born through err_new(), which keeps the
 * place for the one debug line that a main prints. */
#pragma once

#define MUST_CHECK __attribute__((warn_unused_result))
#define CLEANUP(f) __attribute__((cleanup(f)))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* Gives -errno_value (or -EIO when errno_value is 0) and remembers where it was born. */
#define err_new(errno_value) err_born((errno_value), __FILE__, __LINE__)
int err_born(int errno_value, const char *file, int line);

/* "file:line: text" of the last err_new() of this process, "" when there was none. Static memory.
 */
const char *err_last(void);
