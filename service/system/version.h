/* The version of the program; the Makefile reads it from here. */
#ifndef HS_SERVICE_VERSION_H
#define HS_SERVICE_VERSION_H

#define HS_VERSION "0.1.0"

#endif
