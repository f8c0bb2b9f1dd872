// All of I/O: sockets, files, processes, names.
#pragma once

#include <jzx/net/address.hpp>
#include <jzx/net/buffered.hpp>
#include <jzx/net/file.hpp>
#include <jzx/net/process.hpp>
#include <jzx/net/resolve.hpp>
#include <jzx/net/stream.hpp>
#include <jzx/net/udp.hpp>
