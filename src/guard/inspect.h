/* guard/inspect.h - spoolgate-inspect: is each file what HEAD's tree says?
 *
 *   spoolgate-inspect landlock|seccomp ADDRESS_SPACE MODE:PATH ...
 *
 * Started by guard/ask alone, with no environment: fd 0 is the git directory, 1 the verdict pipe, 2
 * the directory two above it, 3 and on the bytes of each file whose MODE (octal) is not "absent".
 * HEAD -> commit -> tree -> entry by path, the raw bytes hashed as a blob, id and mode compared.
 * Never index, work tree, filters, attributes, replace refs, alternates, hooks, config includes. */
#pragma once

enum { INSPECT_GIT_FD = 0, INSPECT_VERDICT_FD = 1, INSPECT_UP_FD = 2, INSPECT_FIRST_FD = 3 };

/* 0 when a verdict was written (refusals included), 70 when it could not be, 64 for a wrong call.
 */
int inspect_main(int argc, char **argv);
