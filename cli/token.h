/* `hindsight token new`: makes a token and its entry for the token file. */
#ifndef HS_SERVICE_TOKEN_COMMAND_H
#define HS_SERVICE_TOKEN_COMMAND_H

/* argv[0] is "token". Returns an exit code: 0 fine, 1 failed, 2 wrong usage. */
int hs_token_main(int argc, char **argv);

#endif
