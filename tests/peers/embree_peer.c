#include "tests/peers/embree_peer.h"

#include <embree3/rtcore.h>
#include <stdlib.h>
#include <string.h>

struct hs_embree_mesh {
    RTCDevice device;
    RTCScene scene;
};

static bool build(struct hs_embree_mesh *mesh, const float (*vertices)[3], size_t vertex_count,
                  const int (*triangles)[3], size_t triangle_count)
{
    mesh->device = rtcNewDevice(NULL);
    if (mesh->device == NULL)
        return false;
    mesh->scene = rtcNewScene(mesh->device);
    RTCGeometry geometry = rtcNewGeometry(mesh->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void *v = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                      sizeof *vertices, vertex_count);
    void *t = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                      sizeof *triangles, triangle_count);
    if (v == NULL || t == NULL)
        return false;
    memcpy(v, vertices, vertex_count * sizeof *vertices);
    memcpy(t, triangles, triangle_count * sizeof *triangles);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(mesh->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(mesh->scene);
    return rtcGetDeviceError(mesh->device) == RTC_ERROR_NONE;
}

struct hs_embree_mesh *hs_embree_mesh_create(const float (*vertices)[3], size_t vertex_count,
                                             const int (*triangles)[3], size_t triangle_count)
{
    struct hs_embree_mesh *mesh = calloc(1, sizeof *mesh);
    if (mesh != NULL && build(mesh, vertices, vertex_count, triangles, triangle_count))
        return mesh;
    hs_embree_mesh_destroy(mesh);
    return NULL;
}

void hs_embree_mesh_destroy(struct hs_embree_mesh *mesh)
{
    if (mesh == NULL)
        return;
    if (mesh->scene != NULL)
        rtcReleaseScene(mesh->scene);
    if (mesh->device != NULL)
        rtcReleaseDevice(mesh->device);
    free(mesh);
}

bool hs_embree_ray_cast(const struct hs_embree_mesh *mesh, const double from[3],
                        const double direction[3], double length, double *distance)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRayHit query = {
        .ray = {.org_x = (float)from[0],
                .org_y = (float)from[1],
                .org_z = (float)from[2],
                .dir_x = (float)direction[0],
                .dir_y = (float)direction[1],
                .dir_z = (float)direction[2],
                .tfar = (float)length,
                .mask = ~0u},
        .hit = {.geomID = RTC_INVALID_GEOMETRY_ID, .instID = {RTC_INVALID_GEOMETRY_ID}},
    };
    rtcIntersect1(mesh->scene, &context, &query);
    *distance = (double)query.ray.tfar;
    return query.hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

bool hs_embree_blocks(const struct hs_embree_mesh *mesh, const double from[3],
                      const double direction[3], double length)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRay ray = {
        .org_x = (float)from[0],
        .org_y = (float)from[1],
        .org_z = (float)from[2],
        .dir_x = (float)direction[0],
        .dir_y = (float)direction[1],
        .dir_z = (float)direction[2],
        .tfar = (float)length,
        .mask = ~0u,
    };
    rtcOccluded1(mesh->scene, &context, &ray);
    return ray.tfar < 0;
}
