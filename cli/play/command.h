/* The commands that play matches. argv[0] is the command's name; the result is an exit code:
   0 fine, 1 failed, 2 wrong usage. */
#ifndef HS_PLAY_PLAY_H
#define HS_PLAY_PLAY_H

/* `hindsight play`: a recording, a CSV pair or a file of scenarios against a running service. */
int hs_play_main(int argc, char **argv);

/* `hindsight demo`: a made-up match against a service started for it (cli/demo/demo.c). */
int hs_demo_main(int argc, char **argv);

#endif
