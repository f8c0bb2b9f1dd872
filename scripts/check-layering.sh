#!/bin/sh
# Checks, from the #include lines alone, that the folders depend on one another as
# ARROWS says and on public headers as OWNERS says, that nothing includes itself in a
# circle, and that files and folders stay small. Prints file:line and the rule for
# each violation; exit status 1 if there is one.
#
# Usage: scripts/check-layering.sh [ROOT]
set -eu

# folder of src: what it may include besides itself, the folder's whole or one file.
ARROWS='
base:
core: base
io: base
async: base
sync: async base
net: io/contract.hpp io/operation.hpp io/address.hpp async sync base
kinds/behaviour: core async base
kinds/handlers: core async base
kinds/fiber: core async base
kinds/coroutine: core async base
supervise: core async base
observe: core async base
pool: core async base
drivers/loop: core io async base
drivers/workers: drivers/loop core io async base
drivers/sim: drivers/sim/world core async base io/contract.hpp io/operation.hpp io/address.hpp
drivers/sim/world: drivers/sim/choices.hpp base io/contract.hpp io/operation.hpp io/address.hpp io/signals.hpp
runtime: base core io async sync net kinds/behaviour kinds/handlers kinds/fiber kinds/coroutine supervise observe pool drivers/loop drivers/workers drivers/sim drivers/sim/world
capi: runtime core base
'

# public header: the folders of src that own it. Who may include an owner may include
# the header. "nobody": for users only.
OWNERS='
jzx.h: capi kinds/behaviour
jzx.hpp: nobody
errc.hpp: core
error.hpp: core
envelope.hpp: core
detail/message.hpp: core
pid.hpp: core
signals.hpp: core
future.hpp: async
detail/future_state.hpp: async
detail/handover.hpp: async
detail/tether.hpp: async
detail/future_link.hpp: async
detail/task_root.hpp: async
detail/gathering.hpp: async
detail/timed_ask.hpp: async
async/task.hpp: async
async/combinators.hpp: async
async/timeout.hpp: async
async/scope.hpp: async
detail/nursery.hpp: async
detail/ready_list.hpp: async
async/sleep.hpp: async
net/address.hpp: base
net/home.hpp: net
net/handle.hpp: net
net/stream.hpp: net
net/udp.hpp: net
net/file.hpp: net
net/resolve.hpp: net
net/process.hpp: net
net/buffered.hpp: net
net/net.hpp: nobody
async/self.hpp: kinds/handlers
detail/handling.hpp: kinds/handlers
detail/spawned_task.hpp: kinds/coroutine
detail/sync_wait.hpp: sync
detail/channel_core.hpp: sync
detail/ring_core.hpp: sync
sync/sync.hpp: nobody
sync/mutex.hpp: sync
sync/semaphore.hpp: sync
sync/channel.hpp: sync
sync/barrier.hpp: sync
sync/broadcast.hpp: sync
sync/notify.hpp: sync
sync/oneshot.hpp: sync
sync/rw_lock.hpp: sync
sync/select.hpp: sync
sync/watch.hpp: sync
async/spawn.hpp: kinds/coroutine
detail/down_watcher.hpp: runtime kinds/handlers
promise.hpp: async
actor_ref.hpp: kinds/handlers
context.hpp: kinds/handlers
supervisor.hpp: supervise
sim/simulation.hpp: runtime
sim/codecs.hpp: runtime
sim/recorder.hpp: runtime
sim/testkit.hpp: runtime
sim/world_faults.hpp: drivers/sim/world
loop.hpp: runtime
runtime.hpp: runtime
detail/export.hpp: base
observer.hpp: core
detail/port.hpp: core
detail/spawn_choices.hpp: runtime
actor.hpp: kinds/handlers
detail/become.hpp: kinds/handlers
manual.hpp: runtime
event_source.hpp: runtime
system.hpp: kinds/handlers
result.hpp: base
group.hpp: runtime
topic.hpp: runtime
router.hpp: runtime
worker_pool.hpp: runtime
handle_pool.hpp: pool
handle_pools.hpp: pool
fiber.hpp: kinds/fiber
detail/fiber.hpp: kinds/fiber
detail/fiber_body.hpp: kinds/fiber
detail/receive.hpp: kinds/fiber
detail/stack_switch.hpp: kinds/fiber
sim/codec.hpp: runtime
sim/command_log.hpp: runtime
sim/command_actor.hpp: runtime
sim/command_scheduler.hpp: runtime
detail/commands/core.hpp: runtime
detail/commands/actions.hpp: runtime
detail/commands/seat.hpp: runtime
'

# Other libraries, by the start of the header name: the only folder that may use them.
OTHERS='
liburing: io
boost/context/: kinds/fiber
'

MAX_LINES=600
MAX_FILES=25

cd "${1:-$(dirname "$0")/..}"
folders=
for folder in src include tests examples bench tools apps; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
export ARROWS OWNERS OTHERS MAX_LINES MAX_FILES

# What the fuzz targets are given is no source.
find $folders -path tests/fuzz/corpus -prune -o -type f -print | LC_ALL=C sort | awk '
function complain(where, rule) { print where ": " rule; violations++ }

# "a: b c" lines into table["a"] = " b c "
function read_table(text, table,    lines, count, i, colon) {
  count = split(text, lines, "\n")
  for (i = 1; i <= count; i++)
    if ((colon = index(lines[i], ":")) > 0)
      table[substr(lines[i], 1, colon - 1)] = substr(lines[i], colon + 1) " "
}

function lists(words, word) { return index(words, " " word " ") > 0 }

# The row of ARROWS a file under src belongs to.
function layer_of(path,    parts) {
  split(path, parts, "/")
  if (parts[2] "/" parts[3] "/" parts[4] in arrows) return parts[2] "/" parts[3] "/" parts[4]
  if (parts[2] == "kinds" || parts[2] == "drivers") return parts[2] "/" parts[3]
  return parts[2]
}

# What net and the simulator may see of io.
function is_io_contract(path) { return path ~ /^src\/io\/(contract|operation|address)\.hpp$/ }

function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }

function add_edge(from, to, where) {
  edge_to[from, ++edges[from]] = to
  edge_at[from, edges[from]] = where
}

function check_public_use(layer, header, where,    owners, list, count, i) {
  if (!("include/" header in exists)) {
    complain(where, "there is no public header <" header ">")
    return
  }
  owners = owner[substr(header, 5)]
  count = split(owners, list, " ")
  for (i = 1; i <= count; i++)
    if (list[i] == layer || lists(arrows[layer], list[i])) return
  if (count > 0)
    complain(where, layer " may not include <" header ">, which belongs to" owners)
}

function check_src(path, name, quoted, where,    layer, target, prefix) {
  layer = layer_of(path)
  if (name ~ /^jzx\//) {
    check_public_use(layer, name, where)
    add_edge(path, "include/" name, where)
    return
  }
  if (!quoted) {
    for (prefix in others)
      if (index(name, prefix) == 1 && !lists(others[prefix], layer))
        complain(where, "only" others[prefix] "may include <" name ">")
    return
  }
  # The model checker stands in for std::atomic; it is no part of the library.
  if (path == "src/base/atomic.hpp" && name == "model/atomic.hpp") return
  if (!("src/" name in exists)) {
    complain(where, "\"" name "\" is no file of src: write includes relative to src")
    return
  }
  add_edge(path, "src/" name, where)
  target = layer_of("src/" name)
  if (is_io_contract(path) && target == "io" && !is_io_contract("src/" name))
    complain(where, "the contract of io may include base only: the simulator must get no reactor through it")
  else if (target != layer && !lists(arrows[layer], target) && !lists(arrows[layer], name))
    complain(where, layer " may include itself," arrows[layer] "but not \"" name "\"")
}

function check_public(path, name, quoted, where) {
  if (name ~ /^jzx\//) {
    if (!("include/" name in exists)) complain(where, "there is no public header <" name ">")
    add_edge(path, "include/" name, where)
    if (path == "include/jzx/jzx.h") complain(where, "jzx.h includes <stddef.h> and <stdint.h> only")
  } else if (path ~ /\.h$/) {
    if (quoted || (name != "stddef.h" && name != "stdint.h"))
      complain(where, "a C header includes <stddef.h> and <stdint.h> only")
  } else if (quoted || name !~ /^[a-z_0-9]+$/) {
    complain(where, "a public header includes the standard library and <jzx/...> only")
  }
}

function check_user(path, name, quoted, where) {
  if (name ~ /^jzx\//) {
    if (!("include/" name in exists)) complain(where, "there is no public header <" name ">")
  } else if (quoted && !(folder_of(path) "/" name in exists)) {
    complain(where, "programs include public headers <jzx/...> and files beside them only")
  }
}

function scan(path,    line, number, name, quoted, where) {
  number = 0
  while ((getline line < path) > 0) {
    number++
    if (path !~ /\.(c|h|cpp|hpp)$/ || line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
    quoted = (line ~ /^[ \t]*#[ \t]*include[ \t]*"/)
    name = line
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", name)
    sub(/[">].*$/, "", name)
    where = path ":" number
    if (path ~ /^src\//) check_src(path, name, quoted, where)
    else if (path ~ /^include\//) check_public(path, name, quoted, where)
    else if (path ~ /^(examples|tools|apps)\//) check_user(path, name, quoted, where)
  }
  close(path)
  if (number > max_lines)
    complain(path ":" number, number " lines; no file has over " max_lines)
}

# Depth first; state 1 is on the path we came by, 2 is done.
function visit(node, trail,    i, next_node) {
  state[node] = 1
  for (i = 1; i <= edges[node]; i++) {
    next_node = edge_to[node, i]
    if (state[next_node] == 1)
      complain(edge_at[node, i], "includes in a circle: " \
               substr(trail, index(trail, next_node " ")) "-> " next_node)
    else if (state[next_node] != 2)
      visit(next_node, trail "-> " next_node " ")
  }
  state[node] = 2
}

BEGIN {
  read_table(ENVIRON["ARROWS"], arrows)
  read_table(ENVIRON["OWNERS"], owner)
  read_table(ENVIRON["OTHERS"], others)
  max_lines = ENVIRON["MAX_LINES"] + 0
  max_files = ENVIRON["MAX_FILES"] + 0
}

{ paths[++path_count] = $0; exists[$0] = 1; files_in[folder_of($0)]++ }

END {
  for (i = 1; i <= path_count; i++) {
    path = paths[i]
    if (path ~ /^src\// && !(layer_of(path) in arrows)) {
      complain(path ":1", "folder " layer_of(path) " is not in the table: add it to ARROWS")
      continue
    }
    if (path ~ /^include\/jzx\// && !(substr(path, 13) in owner))
      complain(path ":1", "public header without an owner: add it to OWNERS")
    scan(path)
  }
  for (i = 1; i <= path_count; i++)
    if (!state[paths[i]]) visit(paths[i], paths[i] " ")
  for (folder in files_in)
    if (files_in[folder] > max_files)
      complain(folder, files_in[folder] " files; no folder has over " max_files)
  if (violations) {
    printf "layering: %d violations (the rules are in scripts/check-layering.sh)\n", violations
    exit 1
  }
  printf "layering: %d files in order\n", path_count
}'
