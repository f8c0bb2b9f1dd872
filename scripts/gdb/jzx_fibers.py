"""Fibers in gdb: who there is, and where each of them waits.

    (gdb) source scripts/gdb/jzx_fibers.py
    (gdb) jzx fibers
    (gdb) jzx fiber 3 bt
    (gdb) jzx gcore FILE

For a live process and for a core, on x86-64. The library must have debug information with types
(-g, not -g1); the program may have none, but then its frames have no lines.

A fiber that waits is found from the process's list of systems, by their tables of actors. Its place
is FiberSeat::inside, where the switch has left it:

    inline switch      [resume address][rbp], then 128 bytes that the frame may use
    Boost.Context      [mxcsr, x87 word][guard][r12][r13][r14][r15][rbx][rbp][return address]

A core's registers cannot be set. So an unwinder is asked, for one command, to take the innermost
frame of the selected thread for a call made by the fiber's; what comes after that gdb does itself.
"""

import bisect
import re

import gdb
import gdb.unwinder


class Trouble(gdb.GdbError):
    """Something that the user should read."""


# ---- reading the library's structures ----------------------------------------------------------

def type_named(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        raise Trouble(f"jzx: there is no debug information about {name}: the library is not there, "
                      "or was compiled without -g")


def raw(value, kind):
    """What an atomic holds."""
    return value.address.cast(kind.pointer()).dereference()


def number(value):
    return int(value.cast(gdb.lookup_type("unsigned long")))


def text(pointer):
    try:
        return pointer.string() if int(pointer) != 0 else ""
    except (gdb.error, UnicodeDecodeError):
        return "?"


def word_at(address):
    pointer = gdb.Value(address).cast(gdb.lookup_type("unsigned long").pointer())
    return number(pointer.dereference())


# As in core/state_word.hpp.
SCHEDULED = 1
EXIT_BITS = 7 << 4  # all of them: the slot is free


def state_word(actor):
    return number(raw(actor["state"]["word_"], gdb.lookup_type("unsigned long")))


class Fiber:
    def __init__(self, actor, record):
        self.record = record
        self.id = number(actor["own_id"])
        self.type = text(record["type_"]["name"])
        self.name = text(actor["label"])
        self.low = number(record["low"])
        self.top = number(record["top"])
        self.inside = number(record["inside"])
        self.thread = None
        self.thread_sp = 0
        self.is_ready = state_word(actor) & SCHEDULED != 0
        self.stage = str(record["stage_"]).rsplit("::", 1)[-1]

    @property
    def slot(self):
        return self.id & 0xffffffff

    @property
    def state(self):
        if self.thread is not None:
            return f"running on thread {self.thread.num}"
        if self.top == 0:
            return "not in the core"
        if self.stage == "made":
            return "not started"
        if self.stage == "ended":
            return "ended"
        return "ready" if self.is_ready else "waiting"

    @property
    def depth(self):
        if self.thread is not None:
            return self.top - self.thread_sp
        return self.top - self.inside if self.has_frames else 0

    @property
    def has_frames(self):
        return self.top != 0 and self.stage == "running"

    def registers(self):
        """Those with which it will go on."""
        at = self.inside
        if any(field.name == "main_" for field in type_named("jzx::kinds::Switch").fields()):
            names = ["r12", "r13", "r14", "r15", "rbx", "rbp", "rip"]
            values = {name: word_at(at + 16 + 8 * i) for i, name in enumerate(names)}
            values["rsp"] = at + 16 + 8 * len(names)
            return values
        return {"rip": word_at(at), "rbp": word_at(at + 8), "rsp": at + 16 + 128}


def actors_of(system):
    """In one row, or in chunks; see src/core/table/actor_table.hpp."""
    table = system["actors"]
    row = table["row_"]
    made = number(raw(row["made_"], gdb.lookup_type("unsigned int")))
    for i in range(min(made, number(row["max_size_"]))):
        yield row["first_"][i]
    array = table["chunks_"]
    actor_type = type_named("jzx::core::Actor")
    size = number(array["size_"])
    # A directory is followed by its chunk pointers.
    directory = raw(array["directory_"], gdb.lookup_type("unsigned long"))
    chunks = number(directory) + 16
    chunk_size = int(array.type.strip_typedefs().template_argument(1))
    for first in range(0, size, chunk_size):
        chunk = gdb.Value(word_at(chunks + first // chunk_size * 8)).cast(actor_type.pointer())
        for i in range(min(chunk_size, size - first)):
            yield chunk[i]


def systems():
    """The stacks of each system, and by them the system."""
    head = gdb.lookup_global_symbol("jzx::kinds::systems_with_fibers")
    if head is None:
        type_named("jzx::kinds::SystemStacks")  # says what is missing
        raise Trouble("jzx: the library has no list of its systems")
    stacks = head.value()
    while int(stacks) != 0:
        yield stacks
        stacks = stacks["next"]


def all_fibers():
    fibers = []
    for stacks in systems():
        fiber_type = type_named("jzx::kinds::Fiber")
        kind = gdb.lookup_global_symbol("jzx::kinds::fiber_kind").value()
        fiber_kind = number(kind.referenced_value().address)
        for actor in actors_of(stacks["system"]):
            if state_word(actor) & EXIT_BITS != EXIT_BITS and number(actor["kind"]) == fiber_kind:
                record = actor["body"]["words"][0].cast(fiber_type.pointer())
                fibers.append(Fiber(actor, record))
    note_running(fibers)
    return fibers


def note_running(fibers):
    """A thread runs a fiber if it is on its stack. The innermost frames may be those of a signal
    handler, which has a stack of its own."""
    by_top = sorted(fibers, key=lambda fiber: fiber.top)
    tops = [fiber.top for fiber in by_top]
    selected = gdb.selected_thread()
    frame = gdb.selected_frame() if selected is not None else None
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            for sp in stack_pointers(gdb.newest_frame()):
                i = bisect.bisect_right(tops, sp)
                if i < len(tops) and by_top[i].low <= sp and by_top[i].thread is None:
                    by_top[i].thread = thread
                    by_top[i].thread_sp = sp
    finally:
        if selected is not None:
            selected.switch()
            frame.select()


def stack_pointers(frame):
    for _ in range(64):
        yield number(frame.read_register("rsp"))
        try:
            frame = frame.older()
        except gdb.error:
            return
        if frame is None:
            return


def find_fiber(what):
    """By slot, id, or name."""
    def fits(fiber):
        return what in (str(fiber.slot), f"{fiber.id:x}", f"{fiber.id:#x}", fiber.name)
    found = [fiber for fiber in all_fibers() if fits(fiber)]
    if not found:
        raise Trouble(f"jzx: there is no fiber {what}; see 'jzx fibers'")
    if len(found) > 1:
        ids = ", ".join(f"{fiber.id:x}" for fiber in found)
        raise Trouble(f"jzx: {what} could be any of {ids}")
    return found[0]


# ---- the stack of one that waits ---------------------------------------------------------------

class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class FiberUnwinder(gdb.unwinder.Unwinder):
    """While it has a fiber: the innermost frame of the selected thread was called by it."""

    def __init__(self):
        super().__init__("jzx fiber")
        self.registers = None
        self.innermost = None

    def __call__(self, pending):
        if self.registers is None:
            return None
        if number(pending.read_register("rsp")) != self.innermost[0] or \
                number(pending.read_register("rip")) != self.innermost[1]:
            return None
        # Below the fiber's: gdb stops where a caller seems to be further down than who it called.
        own = FrameId(gdb.Value(self.registers["rsp"] - 16), gdb.Value(self.innermost[1]))
        info = pending.create_unwind_info(own)
        for name, value in self.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info

    def show(self, fiber):
        frame = gdb.newest_frame()
        self.innermost = (number(frame.read_register("rsp")), number(frame.read_register("rip")))
        self.registers = fiber.registers()
        gdb.invalidate_cached_frames()

    def hide(self):
        self.registers = None
        gdb.invalidate_cached_frames()


unwinder = FiberUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)


def backtrace(command):
    """Without the frame that is the thread's, and the one that ends the fiber's stack."""
    longer = re.sub(r"(?<=\s)\d+$", lambda match: str(int(match[0]) + 1), command)
    output = gdb.execute(longer, to_string=True)
    begin = re.search(r"^#1 ", output, re.MULTILINE)
    kept = output[begin.start():] if begin else ""
    kept = re.sub(r"^#\d+ +0x0+ in \?\? \(\)\n", "", kept, flags=re.MULTILINE)
    return re.sub(r"^#(\d+) +", lambda match: f"#{int(match[1]) - 1:<3}", kept, flags=re.MULTILINE)


def run_in(fiber, command):
    if fiber.thread is not None:
        before = gdb.selected_thread()
        fiber.thread.switch()
        try:
            gdb.execute(command)
        finally:
            before.switch()
        return
    if not fiber.has_frames:
        raise Trouble(f"jzx: fiber {fiber.id:x} has no frames: {fiber.state}")
    is_backtrace = re.match(r"(bt|backtrace|where)\b", command) is not None
    unwinder.show(fiber)
    try:
        if is_backtrace:
            gdb.write(backtrace(command))
        else:
            gdb.newest_frame().older().select()
            gdb.execute(command)
    finally:
        unwinder.hide()


# ---- a core of a live process ------------------------------------------------------------------

MADV_GUARD_INSTALL = 102
MADV_GUARD_REMOVE = 103
PAGE = 4096


def madvise(address, size, advice):
    call = "((int (*)(void *, unsigned long, int)) madvise)"
    if int(gdb.parse_and_eval(f"{call}((void *) {address}, {size}, {advice})")) != 0:
        raise Trouble(f"jzx: madvise({address:#x}, {size}, {advice}) has failed")


def marked_slabs():
    for stacks in systems():
        slab = stacks["memory"]["slabs_"]
        while int(slab) != 0:
            if str(slab["guard"]).endswith("marked"):
                yield slab
            slab = slab["next"]


def save_core(file):
    """gdb gives a mapping up at the first page that cannot be read, and guards cannot. So they are
    taken away meanwhile; the process is stopped."""
    locking = gdb.parameter("scheduler-locking")
    gdb.execute("set scheduler-locking on")
    slabs = [(int(slab), 1 << (14 + number(slab["stack_class"])), number(slab["carved"]))
             for slab in marked_slabs()]
    try:
        for start, _, _ in slabs:
            madvise(start, 64 << 20, MADV_GUARD_REMOVE)
        gdb.execute(f"generate-core-file {file}")
    finally:
        for start, slot, carved in slabs:
            for guard in range(start + slot, start + slot * carved, slot):
                madvise(guard, PAGE, MADV_GUARD_INSTALL)
        gdb.execute(f"set scheduler-locking {locking}")


# ---- commands ----------------------------------------------------------------------------------

class JzxCommand(gdb.Command):
    """Commands for programs that use jazz."""

    def __init__(self):
        super().__init__("jzx", gdb.COMMAND_STACK, prefix=True)


class FibersCommand(gdb.Command):
    """List all fibers: place in the table, id, state, stack in use and its size, name and type."""

    def __init__(self):
        super().__init__("jzx fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        fibers = all_fibers()
        if not fibers:
            print("There are no fibers.")
            return
        print(f"{'slot':>6}  {'id':<16} {'state':<20} {'depth':>8} {'stack':>8}  name, type")
        for fiber in fibers:
            size = f"{(fiber.top - fiber.low + 1023) // 1024}K"
            label = f"{fiber.name}, " if fiber.name else ""
            print(f"{fiber.slot:>6}  {fiber.id:<16x} {fiber.state:<20} {fiber.depth:>8} {size:>8}  "
                  f"{label}{fiber.type}")


class FiberCommand(gdb.Command):
    """Run a command in the innermost frame of a fiber: jzx fiber ID [COMMAND]

ID is the slot or the id that 'jzx fibers' shows, or the fiber's name. COMMAND is bt if it
is left out; others are 'bt full' or 'info locals', for example."""

    def __init__(self):
        super().__init__("jzx fiber", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        what, _, command = argument.strip().partition(" ")
        if not what:
            raise Trouble("jzx: which fiber? See 'jzx fibers'")
        run_in(find_fiber(what), command.strip() or "bt")


class GcoreCommand(gdb.Command):
    """Save a core with the stacks of all fibers: jzx gcore [FILE]

Where the kernel has MADV_GUARD_INSTALL (Linux 6.13), gdb's own gcore leaves them out. A core that
the kernel writes has them."""

    def __init__(self):
        super().__init__("jzx gcore", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        save_core(argument)


JzxCommand()
FibersCommand()
FiberCommand()
GcoreCommand()
