/* The subcommands of the program, and the parser for their command lines. */
#ifndef HS_CLI_COMMAND_H
#define HS_CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

enum { HS_EXIT_FINE = 0, HS_EXIT_FAILED = 1, HS_EXIT_USAGE = 2 };

/* Each function runs one subcommand and returns its exit code. argv[0] is the name of the
   subcommand. */
int hs_check_config_main(int argc, char **argv);
int hs_token_main(int argc, char **argv);
int hs_play_main(int argc, char **argv);
int hs_recheck_main(int argc, char **argv);
int hs_show_main(int argc, char **argv);
int hs_demo_main(int argc, char **argv);
int hs_simulate_main(int argc, char **argv);

/* A long option. If `parse` is NULL, the option is a flag, which sets the bool at `target`. */
struct hs_argument {
    const char *name; /* without the dashes; NULL ends a list */
    bool (*parse)(const struct hs_argument *argument, const char *text);
    void *target; /* its type depends on `parse` */
    /* For a number, the allowed range, inclusive. For a word, the first and the last allowed index
       in `list`. */
    double min, max;
    const char *const *list; /* the words that hs_argument_word accepts */
};

/* Parse functions for `parse`. Each stores a value at `target`, and returns false if the text is
   not a valid value. The comment beside each function names the type of the value. */
bool hs_argument_text(const struct hs_argument *argument, const char *text);  /* const char * */
bool hs_argument_name(const struct hs_argument *argument, const char *text);  /* const char * */
bool hs_argument_whole(const struct hs_argument *argument, const char *text); /* uint64_t */
bool hs_argument_real(const struct hs_argument *argument, const char *text);  /* double */
/* Stores an int: the index of the word in `list`. Ignores case. */
bool hs_argument_word(const struct hs_argument *argument, const char *text);

struct hs_command {
    const char *name; /* printed in messages, for example "play" */
    const char *help; /* the whole text of --help */
    /* Describes the argument that is not an option, for example "one FILE". NULL: the command takes
       no such argument. */
    const char *operand;
};

/*
 * Reads the arguments of a command: at most 16 options, --help and the operand. Pass NULL as
 * `operand` for a command that takes no operand. On success, returns true; the texts at `target`
 * and *operand point into argv. After --help or a usage error, prints the help or the error, and
 * returns false. The command must then exit with *code.
 */
bool hs_command_read(const struct hs_command *command, const struct hs_argument *arguments,
                     int argc, char **argv, const char **operand, int *code);

/* Prints what is wrong with the command line, and returns HS_EXIT_USAGE. */
int hs_command_wrong(const struct hs_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
