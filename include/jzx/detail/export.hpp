// What the shared library shows. The same macro as in jzx.h.
#pragma once

#ifndef JZX_API
#if defined(__GNUC__) && !defined(JZX_STATIC)
#define JZX_API __attribute__((visibility("default")))
#else
#define JZX_API
#endif
#endif
