/*
 * Brackets of each public header: they give C linkage in C++ programs, and put what the header
 * declares into libhindsight.so. The library is compiled with hidden symbols: nothing else leaves
 * it.
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
