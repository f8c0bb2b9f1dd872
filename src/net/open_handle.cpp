#include "net/open_handle.hpp"

#include <cstdio>
#include <new>
#include <utility>

namespace jzx::detail {

namespace {

void let_go_of(OpenHandle& handle) noexcept {
  // release: this holder is done; acquire: the last one frees after all. Pairs with itself.
  if (handle.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  handle.~OpenHandle();
  give_future_block(&handle, sizeof(OpenHandle));
}

void closed(io::Operation& operation) {
  auto& self = static_cast<OpenHandle&>(operation);
  self.keeper.store(nullptr, std::memory_order_relaxed);  // who finds it there is refused, too
  let_go_of(self);
}

void submit_close(OpenHandle& handle, base::Executor& executor) noexcept {
  if (executor.io().submit(handle) != io::Submitted::pending) closed(handle);
}

void close_here(base::Runnable& work, base::Executor&) {
  auto& self = static_cast<OpenHandle&>(work);
  base::Executor& executor = *self.keeper.load(std::memory_order_relaxed);  // not closed yet
  if (executor.end_list.remove(self)) submit_close(self, executor);
}

// The keeper ends, on the last thread that is left: its reactor is still there.
void ended(base::AtEnd& entry) {
  auto& self = static_cast<OpenHandle&>(entry);
  base::Executor& executor = *self.keeper.load(std::memory_order_relaxed);
  self.holders.fetch_add(1, std::memory_order_relaxed);  // by one of them, the keeper
  submit_close(self, executor);
  while (self.keeper.load(std::memory_order_relaxed) != nullptr) (void)executor.io().wait(0);
  let_go_of(self);
}

// By whoever was told to: once.
void begin_close(OpenHandle& handle) noexcept {
  base::Executor* executor = handle.keeper.load(std::memory_order_relaxed);  // set at its making
  if (executor == nullptr || !executor->end_list.remove(handle)) return;     // its end closes it
  if (executor->may_use_here()) return submit_close(handle, *executor);
  executor->end_list.add(handle);  // the loop may never run again: then its end closes it
  executor->post(handle);
}

}  // namespace

OpenHandle::OpenHandle(base::Executor& executor, io::Handle the_handle) noexcept
    : KeptBy(executor),
      Operation(io::Opcode::close, &closed),
      AtEnd(&ended),
      Runnable(&close_here) {
  handle = the_handle;
}

bool is_handle_open(const OpenHandle& handle) noexcept { return !handle.uses.is_closed(); }

void close_handle(OpenHandle& handle) noexcept {
  if (handle.uses.close()) begin_close(handle);
}

void give_up_handle(OpenHandle& handle) noexcept {
  close_handle(handle);
  let_go_of(handle);
}

void Use::end(OpenHandle& record) noexcept {
  if (record.uses.leave()) begin_close(record);
}

void Use::hold(OpenHandle& record) noexcept {
  record.holders.fetch_add(1, std::memory_order_relaxed);  // the owner is a holder
}

void Use::end_held(OpenHandle& record) noexcept {
  end(record);
  let_go_of(record);
}

Keeper* keeper_here() noexcept {
  base::Executor* here = base::Executor::current();
  return here != nullptr ? net::keeper_from(&here->keeper()) : nullptr;
}

}  // namespace jzx::detail

namespace jzx::net {

void nothing_to_do(io::Operation&) noexcept {}

Result<detail::Handle> keep(base::Executor& executor, io::Handle handle) noexcept {
  static_assert(alignof(detail::OpenHandle) <= detail::kFutureAlignment);
  void* block = detail::take_future_block(sizeof(detail::OpenHandle));
  if (block == nullptr) {
    io::Operation close(io::Opcode::close, &nothing_to_do);
    close.handle = handle;
    (void)operate_now(executor, close);
    return Error(Errc::no_memory);
  }
  auto* record = ::new (block) detail::OpenHandle(executor, handle);
  executor.end_list.add(*record);
  return detail::Handle(record);
}

Result<detail::Handle> keep_opened(base::Executor& executor, const Result<int64_t>& opened,
                                   const char* source) noexcept {
  if (!opened) return opened.error();
  if (*opened < 0) return error_of(*opened, source);
  return keep(executor, io::Handle{*opened});
}

namespace {

// What an operation on a handle is called where it fails.
const char* name_of(io::Opcode opcode) noexcept {
  using io::Opcode;
  switch (opcode) {
    case Opcode::read:
    case Opcode::read_vector:
    case Opcode::read_at:
      return "read";
    case Opcode::write:
    case Opcode::write_vector:
    case Opcode::write_at:
      return "write";
    case Opcode::connect:
      return "connect";
    case Opcode::accept:
      return "accept";
    case Opcode::receive_from:
      return "receive";
    case Opcode::send_to:
      return "send";
    case Opcode::sync:
    case Opcode::sync_data:
      return "sync";
    case Opcode::truncate:
      return "truncate";
    case Opcode::file_size:
      return "size";
    case Opcode::wait_exit:
      return "wait";
    case Opcode::next_signal:
      return "signal";
    default:
      return "";
  }
}

}  // namespace

Begun* begin_on(const detail::Handle& handle, io::Opcode opcode, Error& error) noexcept {
  const auto refuse = [&](Errc code, const char* text) {
    error = Error(code, text, name_of(opcode));
    return nullptr;
  };
  detail::Use use(handle);
  if (!use) return refuse(Errc::closed, "it is not open");
  // relaxed: a system that ends while others use it is its user's mistake.
  base::Executor* executor = use->keeper.load(std::memory_order_relaxed);
  if (executor == nullptr) return refuse(Errc::loop_closed, "");
  Begun* begun = Begun::make(*executor, opcode);
  if (begun == nullptr) return refuse(Errc::no_memory, "");
  begun->handle = use->handle;
  begun->record = use.pass_on();
  return begun;
}

Future<int64_t> rejected(const Error& error) noexcept { return Future<int64_t>::failed(error); }

int64_t operate_now(const detail::Handle& handle, io::Operation& operation) noexcept {
  const detail::Use use(handle);
  if (!use) return kNotOpen;
  base::Executor* executor = use->keeper.load(std::memory_order_relaxed);  // as above
  if (executor == nullptr) return kNotOpen;
  operation.handle = use->handle;
  return operate_now(*executor, operation);
}

bool try_now(const detail::Handle& handle, io::Operation& operation) noexcept {
  const detail::Use use(handle);
  if (!use) return false;
  base::Executor* executor = use->keeper.load(std::memory_order_relaxed);  // as above
  if (executor == nullptr) return false;
  operation.handle = use->handle;
  return try_now(*executor, operation);
}

// ---- what several have in common ----

Error no_home(const char* source) noexcept {
  return Error(Errc::invalid_arg, "outside of a system: say whose it is to be", source);
}

Error zero_byte_in(const char* what, const char* source) noexcept {
  char text[sizeof(ExitText)];
  std::snprintf(text, sizeof(text), "%s has a zero byte, where the system would cut it off", what);
  return Error(Errc::invalid_arg, text, source);
}

Result<detail::Handle> open_socket(base::Executor& executor, const Address& address,
                                   io::SocketType type) noexcept {
  if (address.family == Family::none) {
    return Error(Errc::invalid_arg, "the address is empty", "socket");
  }
  if (Address::is_cut_off(address.path())) return zero_byte_in("the path", "socket");
  Address family = address;
  io::Operation operation(io::Opcode::socket, &nothing_to_do);
  operation.value = static_cast<int64_t>(type);
  operation.address = &family;
  return keep_opened(executor, operate_now(executor, operation), "socket");
}

Result<void> bind_to(const detail::Handle& handle, const Address& address) noexcept {
  Address where = address;
  io::Operation operation(io::Opcode::bind, &nothing_to_do);
  operation.address = &where;
  return nothing_of(operate_now(handle, operation), "bind");
}

Result<void> set_option(const detail::Handle& handle, io::Option option, int64_t value,
                        const char* source) noexcept {
  io::Operation operation(io::Opcode::set_option, &nothing_to_do);
  operation.option = option;
  operation.value = value;
  return nothing_of(operate_now(handle, operation), source);
}

Result<Address> name_of(const detail::Handle& handle, io::Opcode opcode,
                        const char* source) noexcept {
  Address address;
  io::Operation operation(opcode, &nothing_to_do);
  operation.address = &address;
  const int64_t result = operate_now(handle, operation);
  if (result < 0) return error_of(result, source);
  return address;
}

}  // namespace jzx::net
