/*
 * Each public header puts its declarations between these two macros. The declarations then have C
 * linkage in C++ programs, and libhindsight.so exports them. The library is compiled with hidden
 * symbols, so it exports nothing else.
 */
#ifndef HS_LINKAGE_H
#define HS_LINKAGE_H

#ifdef __cplusplus
#define HS_PUBLIC_BEGIN                                                                            \
    extern "C" {                                                                                   \
    _Pragma("GCC visibility push(default)")
#define HS_PUBLIC_END                                                                              \
    _Pragma("GCC visibility pop")                                                                  \
    }
#else
#define HS_PUBLIC_BEGIN _Pragma("GCC visibility push(default)")
#define HS_PUBLIC_END   _Pragma("GCC visibility pop")
#endif

#endif
