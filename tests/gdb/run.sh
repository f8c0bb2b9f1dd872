#!/bin/sh
# Shows that scripts/gdb/jzx_fibers.py finds all fibers of waiting_fibers.cpp and where each of them
# waits: in the process, stopped at a breakpoint, or in a core of it.
# Usage: run.sh process|core SCRIPT PROGRAM SCRATCH_FOLDER
# Exit status 77: it cannot be shown here, and why.
set -eu
what=$1
script=$2
program=$3
scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
output=$scratch/output

skip() {
  echo "skipped: $1"
  exit 77
}

# run_gdb PROGRAM-AND-CORE COMMAND ... : appends what it prints.
run_gdb() {
  files=$1
  shift
  for command in "$@"; do echo "$command"; done >"$scratch/commands"
  # shellcheck disable=SC2086  # two files
  gdb -nx -batch -iex 'set debuginfod enabled off' -x "$script" -x "$scratch/commands" $files \
    >>"$output" 2>&1 </dev/null || true
}

command -v gdb >/dev/null || skip "gdb is not installed: scripts/setup.sh test"
[ "$(uname -m)" = x86_64 ] || skip "the script knows the stacks of x86-64 only"
gdb -nx -batch -ex 'python print("has python")' 2>/dev/null | grep -q 'has python' ||
  skip "gdb has no Python"

start='break stop_here
run'
# A guard that could not be read before can not be read after it either.
guard='python
low = [fiber.low for fiber in all_fibers()][0]
try:
    gdb.selected_inferior().read_memory(low - 8, 1)
    print("guard: readable")
except gdb.MemoryError:
    print("guard: not readable")
end'
look='jzx fibers
jzx fiber reader bt
jzx fiber sleeper
jzx fiber asker bt
jzx fiber stopper bt
python
for name in ("newcomer", "nobody"):
    try:
        gdb.execute(f"jzx fiber {name} bt")
    except gdb.error as error:
        print(error)
end'

if [ "$what" = process ]; then
  run_gdb "$program" "$start" "$look" 'jzx fiber reader info locals' 'python print("THE-END")' continue
else
  run_gdb "$program" "$start" "$guard" "jzx gcore $scratch/core" "$guard" continue
  mv "$output" "$scratch/saving"
  cat "$scratch/saving"
  ! grep -q 'ptrace: \|Could not trace' "$scratch/saving" || skip "this process may not be traced"
  [ "$(grep '^guard:' "$scratch/saving" | uniq | wc -l)" -eq 1 ] || {
    echo "the guards are not as they were"
    exit 1
  }
  run_gdb "$program $scratch/core" "$look" 'python print("THE-END")'
fi
cat "$output"
! grep -q 'ptrace: \|Could not trace' "$output" || skip "this process may not be traced"
! grep -q 'no debug information' "$output" || skip "the library has no debug information"

# expect PATTERN ... : lines that fit, in this order.
failures=0
expect() {
  for pattern in "$@"; do
    found=$(tail -n "+$from" "$output" | grep -n -m 1 -E -- "$pattern" | cut -d : -f 1)
    if [ -z "$found" ]; then
      echo "missing, from line $from on: $pattern"
      failures=$((failures + 1))
      return
    fi
    from=$((from + found))
  done
}
from=1
expect '^ +slot  id  +state  +depth  +stack  +name, type$'
expect '^ +0  [0-9a-f]+ +waiting +[1-9][0-9]+ +60K +reader, ' '^ +1  .* +waiting .*sleeper, '
expect '^ +2  .* +waiting .*asker, ' '^ +3  .* +not started +0 .*newcomer, '
expect '^ +4  .* +running on thread 1 +[1-9][0-9]+ .*stopper, '
expect 'wait_for_a_letter \(patience=.*4711\)' ' in read_letters \(\)' 'jzx::kinds::Fiber::main '
expect 'wait_for_an_hour \(\)' 'jzx::kinds::Fiber::main '
expect 'wait_for_an_answer \(' 'jzx::kinds::Fiber::main '
expect '^#0 +stop_here \(\)'
expect 'fiber [0-9a-f]+ has no frames: not started' 'there is no fiber nobody'
expect 'THE-END'
[ "$what" = core ] || expect 'exited normally'
[ "$failures" -eq 0 ]
