/*
 * Frames of reference: the same scene in another unit of length, orientation, place or time.
 * Verdicts must not depend on the frame of reference. So every scenario is written once, in metres
 * with z up, and the tests play it in all frames of reference.
 *
 * The conversion applies to whole JSON documents (rulesets, requests, expected answers). The key of
 * a value decides how the value is converted (reference.c).
 */
#ifndef HS_PLAY_REFERENCE_H
#define HS_PLAY_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The kind of a value. The kind decides how the value is converted. */
enum hs_quantity {
    HS_QUANTITY_PLAIN,  /* not converted: counts, durations, factors, damage */
    HS_QUANTITY_LENGTH, /* scaled: lengths; also speeds and accelerations that are single numbers */
    HS_QUANTITY_POINT,  /* scaled, turned and, outside rigs, shifted */
    HS_QUANTITY_DISPLACEMENT, /* scaled and turned: velocities */
    HS_QUANTITY_DIRECTION,    /* turned: normals, aims */
    HS_QUANTITY_EXTENTS,      /* scaled, with the axes swapped: half extents */
    HS_QUANTITY_ROTATION,     /* [x,y,z,w], converted to the turned axes */
    HS_QUANTITY_BONES,        /* arrays of point, rotation and an optional scale */
    HS_QUANTITY_FALLOFF,      /* pairs of length and factor */
    HS_QUANTITY_TIME,         /* a time on the game server's clock */
    HS_QUANTITY_UP,           /* the name of an axis, such as "+z" */
    HS_QUANTITY_MEASURE,      /* scaled if hs_measures_length() returns true */
};

enum hs_quantity hs_quantity_of(const char *key);

/* Returns whether "measured" and "limit" in this object are lengths or speeds. The object's "unit"
   decides. If a blast does not reach a victim, the victim's entry has no unit. The numbers in this
   entry are lengths. */
bool hs_measures_length(const json_t *object);

struct hs_reference {
    const char *name; /* for example "metres"; letters, digits and dashes */
    double unit;      /* units of length per metre */
    int axis[3]; /* the new coordinate i is sign[i] times the old coordinate axis[i]; a rotation or
                    a mirror */
    int sign[3];
    double turn[4];  /* the rotation that `axis` and `sign` describe, as a quaternion [x, y, z, w];
                        for capsules in rigs */
    double shift[3]; /* added to points, in the new units and axes */
    double time_shift; /* added to times; seconds */
};

/* In this order: metres; centimetres; metres with y up; centimetres with y up, turned and far from
   the origin; metres with times since 1970. */
enum { HS_REFERENCES = 5 };
extern const struct hs_reference hs_references[HS_REFERENCES];

/* Returns a copy of `document`, converted to the frame of reference. The caller owns the copy.
   Malformed values, for example a string instead of a number, are copied unchanged, so that bad
   requests stay bad. The arguments of expectation operators ("$near" etc.) are converted too.
   Returns NULL if memory runs out. */
json_t *hs_reference_apply(const struct hs_reference *reference, const json_t *document);

#endif
