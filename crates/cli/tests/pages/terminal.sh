# A terminal of a page. It is told the files of blocks, a line each, and runs them in this one shell, as if each were typed. A block
# stops at its first command that fails. Behind each block stand \036, its exit code and the line that failed; it stands on a line of its own.
exec 3<&0 </dev/null 2>&1
# Ctrl-C ends what runs, not the shell.
trap : INT
while IFS= read -r __block <&3; do
    __line=0
    trap '__code=$?; if [[ ${BASH_SOURCE[0]} == "$__block" ]]; then __line=$LINENO; return "$__code"; fi' ERR
    . "$__block" 3<&-
    __code=$?
    trap - ERR
    printf '\n\036%s %s\n' "$__code" "$__line"
done
