# Waits until its input ends, which it also does when the test is killed, and ends everything that was started for the page whose mark
# is $1: the groups of processes that it was told, a line each, and whoever else has the mark in its environment. Prints what it found.
trap '' INT TERM HUP
groups=()
while IFS= read -r group; do groups+=("$group"); done

# Those who have left their group are found where the system shows environments.
marked() { grep -lzxF "PAGE_MARK=$1" /proc/[0-9]*/environ 2>/dev/null | tr -cd '0-9\n'; }

for id in $(marked "$1"); do
    # It may have ended since.
    { tr '\0' ' ' <"/proc/$id/cmdline" && echo; } 2>/dev/null
done
for group in "${groups[@]}"; do kill -KILL -- "-$group" 2>/dev/null; done
# Whoever starts others while they are looked for is found the next time.
for _ in 1 2 3 4 5; do
    left=$(marked "$1")
    [[ -n $left ]] || break
    kill -KILL $left 2>/dev/null
done
