#include "tests/peers/bullet_peer.h"

#include <new>

#include <btBulletCollisionCommon.h>

struct hs_bullet_mesh {
    btTriangleIndexVertexArray triangles;
    btBvhTriangleMeshShape *shape;
    btCollisionObject object;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher;
    btDbvtBroadphase broadphase;
    btCollisionWorld world;

    hs_bullet_mesh()
        : shape(nullptr), dispatcher(&configuration),
          world(&dispatcher, &broadphase, &configuration)
    {
    }
};

hs_bullet_mesh *hs_bullet_mesh_create(const float (*vertices)[3], size_t vertex_count,
                                      const int (*triangles)[3], size_t triangle_count)
{
    hs_bullet_mesh *mesh = new (std::nothrow) hs_bullet_mesh;
    if (mesh == nullptr)
        return nullptr;
    btIndexedMesh part;
    part.m_numTriangles = static_cast<int>(triangle_count);
    part.m_triangleIndexBase = reinterpret_cast<const unsigned char *>(triangles);
    part.m_triangleIndexStride = sizeof *triangles;
    part.m_numVertices = static_cast<int>(vertex_count);
    part.m_vertexBase = reinterpret_cast<const unsigned char *>(vertices);
    part.m_vertexStride = sizeof *vertices;
    part.m_indexType = PHY_INTEGER;
    part.m_vertexType = PHY_FLOAT;
    mesh->triangles.addIndexedMesh(part, PHY_INTEGER);
    mesh->shape = new btBvhTriangleMeshShape(&mesh->triangles, true, true);
    mesh->shape->setMargin(0);
    mesh->object.setCollisionShape(mesh->shape);
    mesh->world.addCollisionObject(&mesh->object);
    return mesh;
}

void hs_bullet_mesh_destroy(hs_bullet_mesh *mesh)
{
    if (mesh == nullptr)
        return;
    mesh->world.removeCollisionObject(&mesh->object);
    delete mesh->shape;
    delete mesh;
}

static btVector3 vector(const double v[3])
{
    return btVector3(static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]),
                     static_cast<btScalar>(v[2]));
}

bool hs_bullet_sphere_cast(hs_bullet_mesh *mesh, const double from[3], const double to[3],
                           double radius, double *fraction)
{
    btSphereShape sphere(static_cast<btScalar>(radius));
    btTransform start(btQuaternion::getIdentity(), vector(from));
    btTransform end(btQuaternion::getIdentity(), vector(to));
    btCollisionWorld::ClosestConvexResultCallback result(start.getOrigin(), end.getOrigin());
    mesh->world.convexSweepTest(&sphere, start, end, result);
    *fraction = static_cast<double>(result.m_closestHitFraction);
    return result.hasHit();
}

bool hs_bullet_ray_cast(hs_bullet_mesh *mesh, const double from[3], const double to[3],
                        double *fraction)
{
    btVector3 start = vector(from), end = vector(to);
    btCollisionWorld::ClosestRayResultCallback result(start, end);
    mesh->world.rayTest(start, end, result);
    *fraction = static_cast<double>(result.m_closestHitFraction);
    return result.hasHit();
}
