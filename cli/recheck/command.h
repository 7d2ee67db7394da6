/* `hindsight recheck`: a recorded request stream computed again, offline. */
#ifndef HS_RECHECK_RECHECK_H
#define HS_RECHECK_RECHECK_H

/* argv[0] is the command's name. Returns an exit code: 0 fine, 1 something differs that should not
   or the file is broken, 2 wrong usage. */
int hs_recheck_main(int argc, char **argv);

#endif
