/* spoolgate-drain(8) */
#include "drain/loop.h"

int main(int argc, char **argv) {
        return drain_main(argc, argv);
}
