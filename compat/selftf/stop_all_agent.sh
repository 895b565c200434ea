#!/bin/sh
# End the agents; their jobs go back to the queue.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../../../../bin/sonde" fleet halt
