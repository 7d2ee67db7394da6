/* Where a client thinks he is, aims and is in time; and what leaves him. */
#include "cli/simulate/client.h"

#include <stdlib.h>

#define PREDICTION 0.015 /* metres: deviation of where he has himself */

struct hs_hit_claim hs_mail_hit(const struct hs_mail *mail)
{
    struct hs_hit_claim claim = mail->hit;
    claim.pellets = mail->pellets;
    claim.victims = mail->victims;
    return claim;
}

void hs_mailbox_send(struct hs_mailbox *box, const struct hs_mail *mail)
{
    if (box->count == box->capacity) {
        size_t capacity = box->capacity * 2 + 16;
        struct hs_mail *mails = realloc(box->mails, capacity * sizeof *mails);
        if (mails == NULL) {
            box->failed = true;
            return;
        }
        box->mails = mails;
        box->capacity = capacity;
    }
    box->mails[box->count] = *mail;
    box->mails[box->count++].order = box->sent++;
}

struct hs_vec hs_client_true_eye(const struct hs_client *client, const struct hs_game *game,
                                 double time)
{
    double at = time + client->up;
    size_t tick = hs_crowd_tick(game->crowd, at);
    bool crouched = hs_crowd_at(game->crowd, client->me, tick)->crouched;
    return hs_vec_add(hs_crowd_place(game->crowd, client->me, at),
                      game->arena->rig->stances[crouched ? 1 : 0].eye);
}

struct hs_vec hs_client_eye(struct hs_client *client, const struct hs_game *game, double time)
{
    struct hs_vec eye = hs_client_true_eye(client, game, time);
    eye.x += PREDICTION * hs_dice_normal(&client->dice);
    eye.y += PREDICTION * hs_dice_normal(&client->dice);
    return hs_to_single(eye);
}

double hs_client_stamp(const struct hs_client *client, double time)
{
    return time + client->clock_error + client->up + client->up_error;
}

struct hs_vec hs_client_aim(const struct hs_client *client)
{
    struct hs_vec side = {-client->look.y, client->look.x, 0};
    double length = hs_vec_length(side);
    side = length > 1e-9 ? hs_vec_scale(side, 1 / length) : (struct hs_vec){0, 1, 0};
    struct hs_vec up = hs_vec_cross(client->look, side);
    struct hs_vec along = hs_vec_add_scaled(client->look, side, client->off_yaw);
    along = hs_vec_add_scaled(along, up, client->off_pitch);
    return hs_vec_scale(along, 1 / hs_vec_length(along));
}
