#!/bin/sh
# End the monitor, the message server and what depends on them; jobs that run are started again at the next start.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../../../../bin/sonde" fleet down
