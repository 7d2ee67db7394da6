/* The subcommand `hindsight simulate`: players and networks made up, to see how well is judged. */
#ifndef HS_SIMULATE_SIMULATE_H
#define HS_SIMULATE_SIMULATE_H

/* argv[0] is the name of the subcommand. Returns the program's exit code. */
int hs_simulate_main(int argc, char **argv);

/* One of its own subcommands each. */
int hs_simulate_hits_main(int argc, char **argv);
int hs_simulate_timing_main(int argc, char **argv);

#endif
