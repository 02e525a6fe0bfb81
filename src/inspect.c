/* spoolgate-inspect: one answer about one hostile repository, from inside a jail */
#include <unistd.h>

#include "guard/inspect.h"

int main(int argc, char **argv) {
        _exit(inspect_main(argc, argv)); /* no exit handler of a library runs after the verdict */
}
