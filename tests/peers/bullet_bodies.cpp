#include "tests/peers/bullet_bodies.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <btBulletCollisionCommon.h>

namespace
{

struct bone_pose {
    btVector3 position;
    btQuaternion rotation;
};

/* A body and its shape are never moved in memory, because the world holds pointers to them. */
struct first_body : btCollisionWorld::ClosestConvexResultCallback {
    int shooter;

    first_body(const btVector3 &from, const btVector3 &to, int who)
        : ClosestConvexResultCallback(from, to), shooter(who)
    {
    }

    bool needsCollision(btBroadphaseProxy *proxy) const override
    {
        auto body = static_cast<const btCollisionObject *>(proxy->m_clientObject);
        return body->getUserIndex() != shooter;
    }
};

btVector3 vector(const double v[3])
{
    return btVector3(static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]),
                     static_cast<btScalar>(v[2]));
}

} // namespace

struct hs_bullet_bodies {
    size_t players, bones;
    btCapsuleShapeZ capsule;
    std::vector<btCollisionObject> bodies;
    std::vector<btTransform> present; /* the original places of the moved bodies */
    std::vector<int64_t> times;
    std::vector<std::vector<bone_pose>> frames;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher;
    btDbvtBroadphase broadphase;
    btCollisionWorld world;

    explicit hs_bullet_bodies(const hs_bullet_rig *rig)
        : players(rig->players), bones(rig->bones),
          capsule(static_cast<btScalar>(rig->radius), static_cast<btScalar>(2 * rig->half_length)),
          bodies(rig->players * rig->bones), present(rig->players * rig->bones),
          dispatcher(&configuration), world(&dispatcher, &broadphase, &configuration)
    {
        /* The peer does not need overlapping pairs. By default Bullet would search for them each
           time a body moves. */
        broadphase.m_deferedcollide = true;
        for (size_t i = 0; i < bodies.size(); i++) {
            bodies[i].setCollisionShape(&capsule);
            bodies[i].setUserIndex(static_cast<int>(i / bones));
            world.addCollisionObject(&bodies[i]);
        }
    }

    ~hs_bullet_bodies()
    {
        for (btCollisionObject &body : bodies)
            world.removeCollisionObject(&body);
    }

    void move(size_t body, const btTransform &to)
    {
        bodies[body].setWorldTransform(to);
        world.updateSingleAabb(&bodies[body]);
    }

    void rewind(size_t player, size_t frame, btScalar alpha)
    {
        const bone_pose *from = &frames[frame][player * bones];
        const bone_pose *to = &frames[std::min(frame + 1, frames.size() - 1)][player * bones];
        for (size_t b = 0; b < bones; b++) {
            size_t body = player * bones + b;
            present[body] = bodies[body].getWorldTransform();
            move(body, btTransform(from[b].rotation.slerp(to[b].rotation, alpha),
                                   from[b].position.lerp(to[b].position, alpha)));
        }
    }

    void restore(size_t player)
    {
        for (size_t b = 0; b < bones; b++)
            move(player * bones + b, present[player * bones + b]);
    }

    /* Returns the frame at or before a time. *alpha gets the fraction of the way from it to the
       next frame. */
    size_t find(int64_t time_us, btScalar *alpha) const
    {
        auto after = std::upper_bound(times.begin(), times.end(), time_us);
        size_t frame = static_cast<size_t>(after - times.begin()) - 1;
        *alpha = after == times.end() ? 0
                                      : static_cast<btScalar>(time_us - times[frame]) /
                                            static_cast<btScalar>(*after - times[frame]);
        return frame;
    }

    bool sweep(const hs_bullet_claim *claim, size_t *player, double *fraction)
    {
        btSphereShape sphere(static_cast<btScalar>(claim->radius));
        btTransform from(btQuaternion::getIdentity(), vector(claim->from));
        btTransform to(btQuaternion::getIdentity(), vector(claim->to));
        first_body found(from.getOrigin(), to.getOrigin(), static_cast<int>(claim->shooter));
        world.convexSweepTest(&sphere, from, to, found);
        *fraction = static_cast<double>(found.m_closestHitFraction);
        if (!found.hasHit())
            return false;
        *player = static_cast<size_t>(found.m_hitCollisionObject->getUserIndex());
        return true;
    }
};

hs_bullet_bodies *hs_bullet_bodies_create(const hs_bullet_rig *rig)
{
    try {
        return new hs_bullet_bodies(rig);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void hs_bullet_bodies_destroy(hs_bullet_bodies *bodies)
{
    delete bodies;
}

void hs_bullet_bodies_frame(hs_bullet_bodies *bodies, int64_t time_us, const hs_bullet_pose *poses)
{
    std::vector<bone_pose> frame(bodies->bodies.size());
    for (size_t i = 0; i < frame.size(); i++) {
        const double *q = poses[i].rotation;
        frame[i].position = vector(poses[i].position);
        frame[i].rotation = btQuaternion(static_cast<btScalar>(q[0]), static_cast<btScalar>(q[1]),
                                         static_cast<btScalar>(q[2]), static_cast<btScalar>(q[3]));
        bodies->move(i, btTransform(frame[i].rotation, frame[i].position));
    }
    bodies->times.push_back(time_us);
    bodies->frames.push_back(std::move(frame));
}

bool hs_bullet_verify_target(hs_bullet_bodies *bodies, const hs_bullet_claim *claim, size_t *player,
                             double *fraction)
{
    btScalar alpha;
    size_t frame = bodies->find(claim->time_us, &alpha);
    bodies->rewind(claim->target, frame, alpha);
    bool hit = bodies->sweep(claim, player, fraction);
    bodies->restore(claim->target);
    return hit;
}

bool hs_bullet_verify_all(hs_bullet_bodies *bodies, const hs_bullet_claim *claim, size_t *player,
                          double *fraction)
{
    btScalar alpha;
    size_t frame = bodies->find(claim->time_us, &alpha);
    for (size_t i = 0; i < bodies->players; i++)
        if (i != claim->shooter)
            bodies->rewind(i, frame, alpha);
    bool hit = bodies->sweep(claim, player, fraction);
    for (size_t i = 0; i < bodies->players; i++)
        if (i != claim->shooter)
            bodies->restore(i);
    return hit;
}
