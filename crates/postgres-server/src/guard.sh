# Ends a server when nobody uses it any more, and removes its directory, which is $0.
#
# Whoever uses the server holds the standard input open: of a server of a test's own that is one process, which never writes;
# of the shared server every process that writes a line when it comes. The input ends with the last of them, however they
# end.
while read -r _; do
    while read -r _; do :; done
    # Who comes now finds the server running, and the line it wrote is read next.
    sleep 3 </dev/null
done

# From here on nobody finds the server; who came in the last moment keeps it.
rm -f "$0/users"
while read -r _; do :; done

# The file begins with the id of the process, which removes it when it ends. A paused one must go on to end.
status=$0/data/postmaster.pid
if read -r id <"$status"; then
    kill -s QUIT "$id"
    kill -s CONT "$id"
fi
looks=0
while [ -e "$status" ] && [ "$looks" -lt 100 ]; do
    looks=$((looks + 1))
    sleep 0.1
done
rm -rf "$0"
