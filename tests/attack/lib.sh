# lib.sh - the flow tests' harness, for the attack tests too
# shellcheck shell=bash source=tests/flow/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../flow/lib.sh"
